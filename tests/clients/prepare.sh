# shellcheck shell=bash
# Sourced by `run` and `record`. `prepare` installs the pinned SDKs and builds retape; it leaves the
# interpreter in $python and the binary in $retape.

clients=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$clients/../.." && pwd)

fail() {
    echo "tests/clients: $*" >&2
    exit 2
}

need() {
    command -v "$1" >/dev/null || fail "$1 is missing; $2"
}

install_python_sdk() {
    need python3 "install Python 3.11 or later"
    python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
        fail "Python 3.11 or later is needed, found $(python3 --version)"
    local folder=$clients/python/.venv
    python=$folder/bin/python
    cmp -s "$clients/python/requirements.txt" "$folder/installed.txt" && return
    python3 -m venv --clear "$folder" ||
        fail "python3 -m venv failed; on Debian and Ubuntu it is in the package python3-venv"
    "$python" -m pip install --quiet --disable-pip-version-check \
        --requirement "$clients/python/requirements.txt" || fail "the Python SDK cannot be installed"
    cp "$clients/python/requirements.txt" "$folder/installed.txt"
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

build_retape() {
    need cargo "install Rust from https://rustup.rs"
    (cd "$root" && cargo build --quiet --release --bin retape) || fail "retape cannot be built"
    retape=${CARGO_TARGET_DIR:-$root/target}/release/retape
}

prepare() {
    install_python_sdk
    install_typescript_sdk
    build_retape
}
