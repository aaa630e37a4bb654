"""Runs the official SDKs of Letta, OpenAI and Anthropic under each chunking and each fault, and writes what each does.

Usage: main.py RETAPE PYTHON_OF_LETTA PYTHON_OF_PROVIDERS OUT [--jobs N]

Each SDK asks once for a stream, with its own defaults. One that has not ended after two minutes hangs; where the
server falls silent, after 20 seconds.
"""

import argparse
import json
import re
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
SILENCE = 20
LIMIT = 120
CHUNKS = ["event", "coalesced", "1", "split-utf8", "crlf", "random:1"]
FAULTS = [
    "429 x1",
    "429 retry-after=1 x1",
    "429",
    "500 x1",
    "503 x1",
    "503 retry-after=1 x2",
    "503",
    "529 x1",
    "refuse x1",
    "reset x1",
    "hang x1",
    "cut after=2",
    "reset after=2",
    "hang after=2",
    "malformed after=2",
    "oversized after=2",
    "drip size=64 every=2ms",
]
ASKED = {
    "letta": ("letta/e2e/ids", 4),
    "openai": ("openai/chat_stream", 1),
    "anthropic": ("anthropic/stream", 1),
}
PACKAGES = {
    "letta": ("letta-client", "@letta-ai/letta-client"),
    "openai": ("openai", "openai"),
    "anthropic": ("anthropic", "@anthropic-ai/sdk"),
}
CALLED = {"letta": "Letta", "openai": "OpenAI", "anthropic": "Anthropic"}


def run(options, sdk, language, how):
    """What the SDK said, and how often it asked."""
    cassette, number = ASKED[sdk]
    file = ROOT / "cassettes" / f"{cassette}.json"
    if language == "Python":
        interpreter = options.letta if sdk == "letta" else options.providers
        ask = [interpreter, HERE / "ask.py"]
    else:
        ask = ["node", HERE / "ask.mjs"]
    limit = SILENCE if any(word.startswith("hang") for word in how) else LIMIT
    command = [options.retape, "replay", "--cassettes", ROOT / "cassettes", *how, cassette]
    command += ["--", "timeout", "--kill-after=1", limit, *ask, sdk, "{url}", file, number]
    with tempfile.TemporaryFile("w+") as said:
        done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=said, text=True)
        said.seek(0)
        told = said.read()
    attempts = re.search(r"\((\d+) attempts?\)", told)
    if re.search(r"[1-9]\d* miss", told):
        raise SystemExit(f"{sdk} in {language}, {how}: what it asks was not recorded\n{told}")
    result = json.loads(done.stdout) if done.stdout.strip() else None
    return result, int(attempts[1]) if attempts else 1


def outcome(result, attempts, usual):
    """What the SDK does, in a few words."""
    tried = f", {attempts} attempts" if attempts > 1 else ""
    if result is None:
        return f"hangs{tried}"
    got = len(result["events"])
    if result["error"]:
        name = result["error"].rsplit(".", 1)[-1]
        events = "1 event" if got == 1 else f"{got} events"
        return f"raises `{name}`" + (f" after {events}" if got else "") + tried
    if result["events"] == usual["events"]:
        return f"same answer{tried}"
    if got < len(usual["events"]):
        return f"**ends silently** after {got} of {len(usual['events'])} events{tried}"
    return f"**another answer**, {got} events{tried}"


def version(options, sdk, language):
    python, typescript = PACKAGES[sdk]
    if language == "TypeScript":
        lock = json.loads((HERE / "package-lock.json").read_text())
        return lock["packages"][f"node_modules/{typescript}"]["version"]
    folder = HERE.parent / ("python" if sdk == "letta" else "providers")
    return re.search(rf"^{python}==(.+)$", (folder / "requirements.txt").read_text(), re.M)[1]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("retape")
    parser.add_argument("letta")
    parser.add_argument("providers")
    parser.add_argument("out", type=Path)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()

    ways = [(f"`--chunks {chunks}`", ["--chunks", chunks]) for chunks in CHUNKS]
    ways += [(f"`{fault}`", ["--fault", fault]) for fault in FAULTS]
    clients = [(sdk, language) for sdk in ASKED for language in ("Python", "TypeScript")]
    with ThreadPoolExecutor(options.jobs) as pool:
        usual = dict(zip(clients, pool.map(lambda client: run(options, *client, [])[0], clients)))
        for client, result in usual.items():
            if not result or result["error"]:
                raise SystemExit(f"{client}: fails without a fault: {result}")
        cells = {
            (client, name): pool.submit(run, options, *client, how) for client in clients for name, how in ways
        }
        done = {key: outcome(*cell.result(), usual[key[0]]) for key, cell in cells.items()}

    lines = [
        "# SDKs under faults",
        "",
        "What the official SDKs do with their own defaults when a stream comes in other pieces, and when something goes",
        "wrong ([faults](faults.md)). Each asks once for a recorded stream. A script writes this page",
        "(`tests/clients/faults/main.py`).",
        "",
        f"- *same answer*: as without the fault. *hangs*: no end within {SILENCE} seconds of silence.",
        "- *ends silently*: no error, though a part of the answer is missing. *attempts* count the first one.",
    ]
    for sdk in ASKED:
        both = [(sdk, "Python"), (sdk, "TypeScript")]
        head = [f"{language} {version(options, sdk, language)}" for _, language in both]
        events = [str(len(usual[client]["events"])) for client in both]
        lines += ["", f"## {CALLED[sdk]}", "", f"| | {' | '.join(head)} |", "|---|---|---|"]
        lines += [f"| as recorded | {' | '.join(f'{number} events' for number in events)} |"]
        lines += [f"| {name} | {' | '.join(done[client, name] for client in both)} |" for name, _ in ways]
    options.out.write_text("\n".join(lines) + "\n")


main()
