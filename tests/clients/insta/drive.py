"""Drives cargo-insta over a crate that asserts with retape, as a person would.

Usage: drive.py RETAPE CARGO_INSTA TAPE [TARGET]
  RETAPE       the folder of retape's own crate
  CARGO_INSTA  the cargo-insta binary
  TAPE         a cassette with a stream
  TARGET       where the crate is built, to be quicker the next time

Says `N passed, M failed`.
"""

import os
import pty
import re
import select
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

retape, insta, tape = (Path(path).resolve() for path in sys.argv[1:4])
PATIENCE = 900
os.environ["PATH"] = f"{insta.parent}{os.pathsep}{os.environ['PATH']}"

MANIFEST = f"""\
[package]
name = "asserting"
version = "0.0.0"
edition = "2024"

[workspace]

[dev-dependencies]
retape = {{ path = {str(retape)!r}, default-features = false, features = ["insta"] }}
insta = {{ version = "1", default-features = false, features = ["redactions"] }}
serde_json = "1"
"""

TEST = """\
#[test]
fn the_contract_is_kept() {
    retape::assert_contract!("cassettes");
}

#[test]
fn an_order_is_learned() {
    retape::assert_order!(["call", "return", "[DONE]"], @"");
}

#[test]
fn a_shape_is_learned() {
    let value = serde_json::json!({"count": 7, "names": ["a"]});
    insta::with_settings!({redactions => vec![(".count", "[count]".into())]}, {
        retape::assert_shape!(value, @"");
    });
}
"""

results = []


def check(name, passed, told=""):
    results.append(passed)
    print(f"{'ok' if passed else 'FAILED'}: {name}", flush=True)
    if not passed:
        print(*told.splitlines()[-60:], sep="\n", flush=True)


def run(folder, *arguments, **environment):
    clean = {k: v for k, v in os.environ.items() if k not in ("CI", "INSTA_UPDATE")}
    command = ["cargo", "insta", *arguments]
    told = subprocess.run(command, cwd=folder, env=clean | environment, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=PATIENCE)
    return told.returncode, told.stdout


def review(folder, key):
    """`cargo insta review` on a terminal, one key pressed when it asks; what the screen said."""
    clean = {k: v for k, v in os.environ.items() if k != "CI"} | {"TERM": "xterm"}
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(folder)
        os.execvpe("cargo", ["cargo", "insta", "review"], clean)
    said, end = "", time.monotonic() + 60
    while time.monotonic() < end:
        ready, _, _ = select.select([terminal], [], [], 1)
        try:
            said += os.read(terminal, 65536).decode(errors="replace") if ready else ""
        except OSError:
            break
        if key and "toggle snapshot diff" in said:
            os.write(terminal, key.encode())
            key = None
    else:
        os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", said)


with tempfile.TemporaryDirectory() as folder:
    crate = Path(folder)
    (crate / "src").mkdir()
    (crate / "tests").mkdir()
    (crate / "cassettes").mkdir()
    (crate / "Cargo.toml").write_text(MANIFEST)
    # What the repository builds with, and not what was published since.
    (crate / "Cargo.lock").write_bytes((retape / "Cargo.lock").read_bytes())
    (crate / "src/lib.rs").write_text("")
    (crate / "tests/asserting.rs").write_text(TEST)
    (crate / "cassettes/tape.json").write_bytes(tape.read_bytes())
    if len(sys.argv) > 4:
        os.environ["CARGO_TARGET_DIR"] = str(Path(sys.argv[4]).resolve())
    contracts = crate / "cassettes/contracts"

    status, told = run(crate, "test")
    check("what is new waits", status != 0 and any(contracts.glob("*.snap.new")), told)

    status, told = run(crate, "accept")
    test = (crate / "tests/asserting.rs").read_text()
    check("contracts are accepted", any(contracts.glob("*.snap")), told)
    check("an order is written into the test", '@"call return [DONE]"' in test, test)
    check("a redacted value is a string in the shape", "count: string" in test, test)

    status, told = run(crate, "test", "--check")
    check("what was accepted is kept", status == 0, told)

    recorded = (crate / "cassettes/tape.json").read_text()
    broken = recorded.replace('"reasoning": "The"', '"reasoning": 7')
    (crate / "cassettes/tape.json").write_text(broken)
    status, told = run(crate, "test")
    pending = list(contracts.glob("*.snap.new"))
    check("what is broken waits", status != 0 and len(pending) == 1 and broken != recorded, told)

    told = review(crate, "a")
    check("a review shows the change", "reasoning: integer | string" in told, told)
    accepted = "".join(file.read_text() for file in contracts.glob("*.snap"))
    waits = list(contracts.glob("*.snap.new"))
    check("a review accepts it", "reasoning: integer | string" in accepted and not waits, told)

    status, told = run(crate, "test", "--check")
    check("what was reviewed is kept", status == 0, told)

print(f"{sum(results)} passed, {len(results) - sum(results)} failed")
sys.exit(0 if all(results) else 1)
