"""Has conversations through the SDKs of model providers and writes what they said, a file for each."""

import argparse
import json
import os
import random
import sys
import traceback
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import anthropic_conversations
import openai_conversations

SDKS = {
    name: sdk for sdk in (openai_conversations, anthropic_conversations) for name in sdk.SCENARIOS
}


def main() -> int:
    options = _options()
    names = options.scenario or list(SDKS)
    workers = 1
    if options.parallel:
        random.shuffle(names)
        workers = len(names)
    with ThreadPoolExecutor(max_workers=workers) as pool:
        passed = list(pool.map(lambda name: _passes(name, options), names))
    return 0 if all(passed) else 1


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="folder for the transcripts")
    parser.add_argument("--parallel", action="store_true", help="all at once, in random order")
    parser.add_argument("--direct", action="store_true", help="RETAPE_URL is the server itself")
    parser.add_argument("scenario", nargs="*", help="default: all")
    options = parser.parse_args()
    if unknown := set(options.scenario) - set(SDKS):
        parser.error(f"no scenario {', '.join(sorted(unknown))}; there are {', '.join(SDKS)}")
    return options


def _passes(name: str, options: argparse.Namespace) -> bool:
    try:
        said = SDKS[name].run(name, _base_url(name, options.direct))
    except Exception:
        print(f"{name}:\n{traceback.format_exc()}", file=sys.stderr)
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
