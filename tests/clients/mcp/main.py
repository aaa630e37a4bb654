"""Has conversations through the MCP SDK and writes what it said, one JSON file for each."""

import itertools
import os
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import anyio
from mcp.shared.jsonrpc_dispatcher import JSONRPCDispatcher

from conversations import SCENARIOS, run

sys.path.append(str(Path(__file__).parents[1]))
from driver import drive, parser  # noqa: E402

# How JSON-RPC requests are numbered. The SDK counts from 1; earlier releases counted from 0.
SCHEMES = {
    "own": None,
    "from-0": lambda: itertools.count(0),
    "from-7": lambda: itertools.count(7),
    "uuid": lambda: (str(uuid4()) for _ in itertools.count()),
}


def main() -> int:
    options = parser(__doc__, SCENARIOS)
    options.add_argument("--ids", choices=SCHEMES, default="own", help="how requests are numbered")
    options.add_argument("--stdio", default="", help="the server's command; {name} is the scenario")
    asked = options.parse_args()
    if asked.ids != "own":
        _number(asked.ids)
    command = shlex.split(asked.stdio)
    if command:
        os.environ.setdefault("RETAPE_URL", "")
    return drive(asked, SCENARIOS, lambda name, url: anyio.run(_converse, name, url, command))


async def _converse(name: str, base_url: str, command: list[str]) -> dict[str, Any]:
    with anyio.fail_after(30):
        return await run(name, base_url, command)


def _number(scheme: str) -> None:
    """Has every connection of the SDK number its requests by the scheme."""
    begin = SCHEMES[scheme]

    def allocate(dispatcher: JSONRPCDispatcher) -> int | str:
        numbers: Iterator[int | str] = dispatcher.__dict__.setdefault("_numbers", begin())
        return next(numbers)

    JSONRPCDispatcher._allocate_id = allocate


if __name__ == "__main__":
    sys.exit(main())
