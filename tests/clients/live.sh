# shellcheck shell=bash
# Sourced by websocket/replay, stdio/replay and on-cassette/run, to record.

# An empty folder to work in, $WORK, and an empty home beside it, $home, in which Codex asks the model $provider.
empty_home() {
    provider=${PROVIDER_URL:-http://127.0.0.1:9191}
    home=$(dirname "$WORK")/home
    rm -rf "$home" "$WORK" && mkdir -p "$home/.codex" "$WORK"
    cat >"$home/.codex/config.toml" <<END
model = "gpt-4o"
model_provider = "stub"
[model_providers.stub]
name = "stub"
base_url = "$provider/v1"
wire_api = "responses"
END
}

# Records the cassette of a name by a command. One that differs is recorded again from the cassette that it had, three
# times in all: what differs not each time is chance. One that fails costs no other; `lost` lists them.
lost=()
thrice() {
    local name=$1 cassette=$root/cassettes/$1.json
    shift
    cp "$cassette" "$said/before"
    for _ in first second third; do
        cp "$said/before" "$cassette"
        "$@" || {
            lost+=("$name")
            return 0
        }
        ! cmp -s "$cassette" "$said/before" || return 0
        echo "$name differs:" >&2
        { diff "$said/before" "$cassette" | grep '^[<>]' | cut -c 1-200 | head -n 20; } >&2 || true
    done
}

tell_lost() {
    ((${#lost[@]} == 0)) || {
        echo "these failed: ${lost[*]}" >&2
        return 1
    }
}
