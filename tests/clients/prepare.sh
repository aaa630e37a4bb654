# shellcheck shell=bash
# Sourced by `run` and `record`. `prepare` installs the pinned SDKs and builds retape; it leaves the
# interpreters in $python, $mcp, $providers, $ag_ui and $bedrock and the binary in $retape. `sort_scenarios` puts
# the names that were asked for into $letta_scenarios, $typescript_scenarios, $mcp_scenarios, $providers_scenarios and
# $ag_ui_scenarios and so on, and says in $letta_asked, $page_asked and so on whether there is anything to do.

clients=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$clients/../.." && pwd)

fail() {
    echo "tests/clients: $*" >&2
    exit 2
}

need() {
    command -v "$1" >/dev/null || fail "$1 is missing; $2"
}

need_python() {
    need python3 "install Python 3.11 or later"
    python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
        fail "Python 3.11 or later is needed, found $(python3 --version)"
}

# Installs what the requirements.txt in a folder names, into a .venv beside it.
install_python_sdk() {
    local folder=$1/.venv
    cmp -s "$1/requirements.txt" "$folder/installed.txt" && return
    python3 -m venv --clear "$folder" ||
        fail "python3 -m venv failed; on Debian and Ubuntu it is in the package python3-venv"
    "$folder/bin/python" -m pip install --quiet --disable-pip-version-check \
        --requirement "$1/requirements.txt" || fail "the SDK in $1 cannot be installed"
    cp "$1/requirements.txt" "$folder/installed.txt"
}

install_typescript_sdk() {
    need node "install Node.js 20 or later"
    need npm "it comes with Node.js"
    node -e 'process.exit(Number(process.versions.node.split(".")[0]) < 20 ? 1 : 0)' ||
        fail "Node.js 20 or later is needed, found $(node --version)"
    local folder=$clients/typescript
    cmp -s "$folder/package-lock.json" "$folder/node_modules/installed.json" && return
    npm ci --prefix "$folder" --silent --no-audit --no-fund ||
        fail "the TypeScript SDK cannot be installed"
    cp "$folder/package-lock.json" "$folder/node_modules/installed.json"
}

# Finds a Chromium, or installs that of the distribution.
need_chromium() {
    local name
    for name in "${CHROMIUM:-}" chromium chromium-browser google-chrome; do
        chromium=$(command -v "$name") && return
    done
    if [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null; then
        apt-get install -y chromium >/dev/null 2>&1 ||
            { apt-get update && apt-get install -y chromium; } >/dev/null 2>&1
    fi
    chromium=$(command -v chromium) || fail "Chromium is missing; install it, or name it in CHROMIUM"
}

# Leaves the folder of the program in $tools.
install_insta() {
    tools=$root/target/tools
    [ -x "$tools/bin/cargo-insta" ] ||
        cargo install --quiet --locked --debug --root "$tools" cargo-insta --version 1.49.0
}

# Prints the folder of a client's cassettes that its scenarios do not name.
prefix_of() {
    case $1 in
    python) echo letta/ ;;
    typescript) echo letta/typescript/ ;;
    esac
}

# Prints a new folder below $said with the cassettes of one client, those of some scenarios or all of them:
# `replay --strict` wants each one in its folder to be opened.
cassettes_of() {
    local client=$1 prefix folder name
    local -a names=("$client")
    shift
    case $client in
    python) names=(letta/cancel letta/e2e letta/errors letta/hitl letta/integration) ;;
    typescript) names=(letta/typescript) ;;
    providers) names=(openai anthropic) ;;
    esac
    prefix=$(prefix_of "$client")
    (($# == 0)) || names=("${@/#/$prefix}")
    folder=$(mktemp -d -p "$said")
    for name in "${names[@]}"; do
        mkdir -p "$folder/$(dirname "$name")"
        if [ -d "$root/cassettes/$name" ]; then
            cp -R "$root/cassettes/$name" "$folder/$name"
        else
            cp -R "$root/cassettes/$name".* "$folder/$(dirname "$name")"
        fi
    done
    echo "$folder"
}

# RETAPE names a binary that is there already.
build_retape() {
    retape=${RETAPE:-}
    [ -z "$retape" ] || return 0
    need cargo "install Rust from https://rustup.rs"
    (cd "$root" && cargo build --quiet --release --bin retape) || fail "retape cannot be built"
    retape=${CARGO_TARGET_DIR:-$root/target}/release/retape
}

sort_scenarios() {
    # Those of Letta, and those of them that are there in TypeScript too.
    letta_scenarios=() typescript_scenarios=()
    mcp_scenarios=() providers_scenarios=() ag_ui_scenarios=() bedrock_scenarios=()
    page_asked=$(($# == 0))
    letta_asked=$(($# == 0))
    for scenario in "$@"; do
        case $scenario in
        page) page_asked=1 ;;
        letta) letta_asked=1 ;;
        mcp/*) mcp_scenarios+=("$scenario") ;;
        openai/* | anthropic/*) providers_scenarios+=("$scenario") ;;
        ag-ui/*) ag_ui_scenarios+=("$scenario") ;;
        bedrock/*) bedrock_scenarios+=("$scenario") ;;
        *) letta_scenarios+=("$scenario") ;;
        esac
    done
    letta_asked=$((letta_asked || ${#letta_scenarios[@]} > 0))
    typescript_asked=$letta_asked
    for scenario in "${letta_scenarios[@]}"; do
        [ ! -f "$root/cassettes/letta/typescript/$scenario.json" ] ||
            typescript_scenarios+=("$scenario")
    done
    if ((${#letta_scenarios[@]} > 0 && ${#typescript_scenarios[@]} == 0)); then
        typescript_asked=0
    fi
    mcp_asked=$(($# == 0 || ${#mcp_scenarios[@]} > 0))
    providers_asked=$(($# == 0 || ${#providers_scenarios[@]} > 0))
    ag_ui_asked=$(($# == 0 || ${#ag_ui_scenarios[@]} > 0))
    bedrock_asked=$(($# == 0 || ${#bedrock_scenarios[@]} > 0))
}

prepare() {
    need_python
    if ((letta_asked)); then
        install_python_sdk "$clients/python"
        python=$clients/python/.venv/bin/python
        install_typescript_sdk
    fi
    if ((mcp_asked || letta_asked)); then
        install_python_sdk "$clients/mcp"
        mcp=$clients/mcp/.venv/bin/python
    fi
    if ((page_asked)); then
        need node "install Node.js 20 or later"
        need_chromium
    fi
    if ((providers_asked)); then
        install_python_sdk "$clients/providers"
        providers=$clients/providers/.venv/bin/python
    fi
    if ((ag_ui_asked)); then
        install_python_sdk "$clients/ag-ui"
        ag_ui=$clients/ag-ui/.venv/bin/python
    fi
    if ((bedrock_asked)); then
        install_python_sdk "$clients/bedrock"
        bedrock=$clients/bedrock/.venv/bin/python
    fi
    build_retape
}
