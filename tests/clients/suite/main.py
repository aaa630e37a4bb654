"""Runs a test suite of pytest through retape, each test alone and with a cassette of its own.

    main.py --report FILE [--reverse] [--at-once N] [--timeout SECONDS] [--prefix NAME]
            [--variable NAME] [PYTEST ARGUMENT...]

The suite is collected once. Each test then runs in a fork of its own, with fixtures of its own; `NAME` of
the environment holds its address: `$RETAPE_URL/PREFIX/FILE/TEST/-`. Run it by `retape record -- …`, then by
`retape replay -- …` with the same report: what did not pass when it was recorded is left out then, and in the
proof of the recording too.
"""

import argparse
import json
import os
import re
import selectors
import signal
import sys
import time
import traceback
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from _pytest.runner import runtestprotocol


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--reverse", action="store_true", help="the last test first")
    parser.add_argument("--at-once", type=int, default=1, help="how many tests run at once")
    parser.add_argument("--timeout", type=float, default=180, help="seconds a test may take")
    parser.add_argument("--report", type=Path, required=True, help="file for the outcomes by mode, as JSON")
    parser.add_argument("--prefix", default="suite", help="folder of the cassettes")
    parser.add_argument("--variable", default="LETTA_SERVER_URL", help="what names the server")
    options, arguments = parser.parse_known_args()
    # Collected with an address in place: some suites start a server where there is none.
    os.environ[options.variable] = os.environ["RETAPE_URL"]
    alone = EachAlone(options)
    pytest.main(["-p", "no:cacheprovider", "-q", *arguments], plugins=[alone])
    return alone.tell()


class EachAlone:
    def __init__(self, options: argparse.Namespace) -> None:
        self._options = options
        self._mode = _mode()
        self._report: dict[str, dict[str, Any]] = {}
        if self._mode == "replay" and options.report.exists():
            self._report = json.loads(options.report.read_text())
            for test in self._report.values():
                test.pop("replay", None)

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        items = session.items[::-1] if self._options.reverse else list(session.items)
        if self._mode == "replay":
            items = [it for it in items if self._report.get(it.nodeid, {}).get("record") == "passed"]
        running = selectors.DefaultSelector()
        while items or running.get_map():
            while items and len(running.get_map()) < self._options.at_once:
                item = items.pop(0)
                running.register(_forked(item, self._address(item)), selectors.EVENT_READ, item)
            for key, _ in running.select(timeout=1):
                running.unregister(key.fileobj)
                self._note(key.data, key.fileobj)
            for key in list(running.get_map().values()):
                if time.monotonic() - key.fileobj.begun > self._options.timeout:
                    os.kill(key.fileobj.process, signal.SIGKILL)
        return True

    def tell(self) -> int:
        """Prints the outcomes of each file. Only what does not replay fails: a cassette is kept anyway."""
        files: dict[str, dict[str, int]] = {}
        for test, it in self._report.items():
            if outcome := it.get(self._mode):
                count = files.setdefault(test.partition("::")[0], {})
                count[outcome] = count.get(outcome, 0) + 1
        for file, count in sorted(files.items()):
            print(file, ", ".join(f"{count[key]} {key}" for key in sorted(count)))
        has_failed = any(set(count) != {"passed"} for count in files.values())
        return 1 if self._mode == "replay" and has_failed else 0

    def _address(self, item: pytest.Item) -> str:
        return f"{os.environ['RETAPE_URL']}/{self._options.prefix}/{_name(item.nodeid)}/-"

    def _note(self, item: pytest.Item, pipe: "Pipe") -> None:
        said = pipe.read()
        os.waitpid(pipe.process, 0)
        outcome = json.loads(said) if said else {"outcome": "killed", "why": "it took too long"}
        test = self._report.setdefault(item.nodeid, {"cassette": f"{self._options.prefix}/{_name(item.nodeid)}"})
        test[self._mode] = outcome["outcome"]
        if "why" in outcome:
            test[f"{self._mode} failed by"] = outcome["why"]
        seconds = time.monotonic() - pipe.begun
        print(f"{outcome['outcome']:8} {seconds:5.1f}s {item.nodeid}", flush=True)
        self._options.report.write_text(json.dumps(self._report, indent=1))


class Pipe:
    """What a forked test says at its end."""

    def __init__(self, end: int, process: int) -> None:
        self._end = end
        self.process = process
        self.begun = time.monotonic()

    def fileno(self) -> int:
        return self._end

    def read(self) -> bytes:
        with os.fdopen(self._end, "rb") as file:
            return file.read()


def _forked(item: pytest.Item, address: str) -> Pipe:
    ours, its = os.pipe()
    process = os.fork()
    if process:
        os.close(its)
        return Pipe(ours, process)
    os.close(ours)
    try:
        said = _outcome(item, address)
    except BaseException:
        said = {"outcome": "error", "why": traceback.format_exc()[-2000:]}
    os.write(its, json.dumps(said).encode())
    os._exit(0)


def _outcome(item: pytest.Item, address: str) -> dict[str, Any]:
    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, 1)
    os.dup2(silence, 2)
    for name, value in list(os.environ.items()):
        if value == os.environ["RETAPE_URL"] and name != "RETAPE_URL":
            os.environ[name] = address
    reports = runtestprotocol(item, nextitem=None, log=False)
    failed = [it for it in reports if it.failed]
    if failed:
        outcome = "failed" if failed[0].when == "call" else "error"
        return {"outcome": outcome, "why": str(failed[0].longrepr)[-3000:]}
    if any(it.skipped for it in reports):
        return {"outcome": "skipped"}
    return {"outcome": "passed"}


def _mode() -> str:
    """`record` or `replay`, which is also that of the proof of a recording."""
    with urllib.request.urlopen(f"{os.environ['RETAPE_URL']}/-/retape/health") as answer:
        return json.load(answer)["mode"]


def _name(nodeid: str) -> str:
    name = re.sub(r"[^A-Za-z0-9_/.-]+", "_", nodeid.removesuffix("]").replace(".py::", "/"))
    return re.sub(r"(?<=/)\.+|\.+$", "", name)[:180]


if __name__ == "__main__":
    sys.exit(main())
