"""What the programs that drive an SDK have in common: options, and a transcript of each scenario."""

import argparse
import json
import os
import random
import sys
import traceback
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

# Has the conversation of that name with the server at that URL; gives what the SDK said.
Converse = Callable[[str, str], Any]


def parser(doc: str | None, scenarios: Iterable[str]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=doc, epilog=f"Scenarios: {', '.join(scenarios)}")
    parser.add_argument("--out", type=Path, required=True, help="folder for the transcripts")
    parser.add_argument("--parallel", action="store_true", help="all at once, in random order")
    parser.add_argument("--direct", action="store_true", help="RETAPE_URL is the server itself")
    parser.add_argument(
        "scenario", nargs="*", choices=[*scenarios, []], metavar="SCENARIO", help="default: all"
    )
    return parser


def drive(
    options: argparse.Namespace, scenarios: Iterable[str], converse: Converse, cassettes: str = ""
) -> int:
    """Writes one JSON file for each scenario; its cassette has the same name, below `cassettes`."""
    names = options.scenario or list(scenarios)
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
        path = options.out / f"{name}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(said))
        return True

    with ThreadPoolExecutor(max_workers=workers) as pool:
        return 0 if all(list(pool.map(passes, names))) else 1
