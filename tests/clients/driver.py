"""What the programs that drive an SDK have in common: options, and a transcript of each scenario."""

import argparse
import json
import os
import random
import sys
import traceback
import urllib.request
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

# Has the conversation of that name with the server at that URL; gives what the SDK said.
Converse = Callable[[str, str], Any]


def parser(doc: str | None, scenarios: Iterable[str]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=doc, epilog=f"Scenarios: {', '.join(scenarios)}")
    parser.add_argument("--names", action=Names, nargs=0, const=list(scenarios), help="print the scenarios")
    parser.add_argument(
        "--out", type=Path, required=True, help="folder for the transcripts; {mode} is that of retape"
    )
    parser.add_argument("--parallel", action="store_true", help="all at once, in random order")
    parser.add_argument("--direct", action="store_true", help="RETAPE_URL is the server itself")
    parser.add_argument(
        "scenario", nargs="*", choices=[*scenarios, []], metavar="SCENARIO", help="default: all"
    )
    return parser


class Names(argparse.Action):
    """Prints what there is, and does nothing else."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        print("\n".join(self.const))
        parser.exit()


def mode(options: argparse.Namespace) -> str:
    """`record` or `replay`, which is also that of the proof of a recording; `direct` without retape."""
    if options.direct:
        return "direct"
    with urllib.request.urlopen(f"{os.environ['RETAPE_URL']}/-/retape/health") as answer:
        return str(json.load(answer)["mode"])


def drive(
    options: argparse.Namespace, scenarios: Iterable[str], converse: Converse, cassettes: str = ""
) -> int:
    """Writes one JSON file for each scenario; its cassette has the same name, below `cassettes`."""
    names = options.scenario or list(scenarios)
    out = Path(str(options.out).replace("{mode}", mode(options)))
    workers = 1
    if options.parallel:
        names = random.sample(names, len(names))
        workers = len(names)

    def passes(name: str) -> bool:
        url = os.environ["RETAPE_URL"]
        try:
            said = converse(name, url if options.direct else f"{url}/{cassettes}{name}/-")
        except Exception:
            print(f"{name}:\n{traceback.format_exc()}", file=sys.stderr)
            return False
        path = out / f"{name}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(said))
        return True

    with ThreadPoolExecutor(max_workers=workers) as pool:
        return 0 if all(list(pool.map(passes, names))) else 1
