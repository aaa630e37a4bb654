"""Runs scenarios through the Python SDK and writes what it said, one JSON file per scenario."""

import sys
import warnings
from pathlib import Path

# The SDK imports these when they are first asked for; two threads that do so at once wait for each other.
import letta_client.resources  # noqa: F401
from scenarios import SCENARIOS, run

sys.path.append(str(Path(__file__).parents[1]))
from driver import drive, mode, parser  # noqa: E402

# messages.stream is deprecated in the SDK, and is what most clients still call.
warnings.filterwarnings("ignore", category=DeprecationWarning)


def main() -> int:
    options = parser(__doc__, SCENARIOS)
    options.add_argument(
        "--swapped", action="store_true", help="calls that may come in either order come in the other"
    )
    options.add_argument(
        "--settle", type=float, default=0, help="seconds a live server needs to close a stream"
    )
    asked = options.parse_args()
    settle = 0 if mode(asked) == "replay" else asked.settle

    def converse(name: str, url: str) -> dict[str, object]:
        return run(name, url, settle, asked.swapped)

    return drive(asked, SCENARIOS, converse, "letta/")


if __name__ == "__main__":
    sys.exit(main())
