"""Has conversations through the MCP SDK and writes what it said, one JSON file for each."""

import argparse
import itertools
import json
import os
import random
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import anyio
from mcp.shared.jsonrpc_dispatcher import JSONRPCDispatcher

from conversations import SCENARIOS, run

# How JSON-RPC requests are numbered. The SDK counts from 1; earlier releases counted from 0.
SCHEMES = {
    "own": None,
    "from-0": lambda: itertools.count(0),
    "from-7": lambda: itertools.count(7),
    "uuid": lambda: (str(uuid4()) for _ in itertools.count()),
}


def main() -> int:
    options = _options()
    if options.ids != "own":
        _number(options.ids)
    names = options.scenario or list(SCENARIOS)
    failed: list[str] = []

    async def all_of_them() -> None:
        workers = anyio.CapacityLimiter(len(names) if options.parallel else 1)
        async with anyio.create_task_group() as group:
            for name in random.sample(names, len(names)) if options.parallel else names:
                group.start_soon(one, name, workers)

    async def one(name: str, workers: anyio.CapacityLimiter) -> None:
        async with workers:
            if not await _passes(name, options):
                failed.append(name)

    anyio.run(all_of_them)
    return 1 if failed else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="folder for the transcripts")
    parser.add_argument("--ids", choices=SCHEMES, default="own", help="how requests are numbered")
    parser.add_argument("--parallel", action="store_true", help="all at once, in random order")
    parser.add_argument("--direct", action="store_true", help="RETAPE_URL is the server itself")
    parser.add_argument("scenario", nargs="*", help="default: all")
    options = parser.parse_args()
    if unknown := set(options.scenario) - set(SCENARIOS):
        parser.error(f"no scenario {', '.join(sorted(unknown))}; there are {', '.join(SCENARIOS)}")
    return options


def _number(scheme: str) -> None:
    """Has every connection of the SDK number its requests by the scheme."""
    begin = SCHEMES[scheme]

    def allocate(dispatcher: JSONRPCDispatcher) -> int | str:
        numbers: Iterator[int | str] = dispatcher.__dict__.setdefault("_numbers", begin())
        return next(numbers)

    JSONRPCDispatcher._allocate_id = allocate


async def _passes(name: str, options: argparse.Namespace) -> bool:
    try:
        with anyio.fail_after(30):
            said = await run(name, _base_url(name, options.direct))
    except Exception:
        print(f"mcp {name} (ids {options.ids}):\n{traceback.format_exc()}", file=sys.stderr)
        return False
    path = options.out / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(said))
    return True


def _base_url(name: str, direct: bool) -> str:
    url = os.environ["RETAPE_URL"]
    return url if direct else f"{url}/{name}/-"


if __name__ == "__main__":
    sys.exit(main())
