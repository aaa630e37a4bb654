"""Has conversations with the agent and writes the events that the SDK read, one JSON file for each."""

import argparse
import json
import os
import random
import sys
import traceback
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
from ag_ui.core import Event, RunAgentInput, UserMessage
from pydantic import TypeAdapter

EVENT: TypeAdapter[Any] = TypeAdapter(Event)

SCENARIOS = {
    "ag-ui/gardener": [
        "Please answer.",
        "Please think and answer.",
        "Please measure and answer.",
        "Please think, measure both and answer.",
        "Please plan.",
        "Please plan and answer.",
        "Please sing a chorus.",
        "Please think, then sing a chorus.",
    ],
    "ag-ui/failures": [
        "Please fail.",
        "Please think and fail.",
        "Please answer and fail.",
        "Please measure both and fail.",
        "Please plan and fail.",
    ],
}


def main() -> int:
    options = _options()
    names = options.scenario or list(SCENARIOS)
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
    if unknown := set(options.scenario) - set(SCENARIOS):
        parser.error(f"no scenario {', '.join(sorted(unknown))}; there are {', '.join(SCENARIOS)}")
    return options


def _passes(name: str, options: argparse.Namespace) -> bool:
    try:
        said = _converse(name, _base_url(name, options.direct))
    except Exception:
        print(f"{name}:\n{traceback.format_exc()}", file=sys.stderr)
        return False
    path = options.out / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(said))
    return True


def _converse(name: str, base_url: str) -> dict[str, Any]:
    minted: dict[str, list[str]] = {"thread_id": [f"thread-{uuid4()}"], "run_id": [], "message_id": []}
    steps = []
    for text in SCENARIOS[name]:
        minted["run_id"].append(f"run-{uuid4()}")
        minted["message_id"].append(str(uuid4()))
        asked = RunAgentInput(
            thread_id=minted["thread_id"][0],
            run_id=minted["run_id"][-1],
            state={},
            messages=[UserMessage(id=minted["message_id"][-1], role="user", content=text)],
            tools=[],
            context=[],
            forwarded_props={},
        )
        steps.append({"call": text, "said": list(_events(base_url, asked))})
    return {"minted": minted, "steps": steps}


def _events(base_url: str, asked: RunAgentInput) -> Iterator[Any]:
    """The SDK has no client of its own: its types read what comes."""
    body = asked.model_dump(mode="json", by_alias=True)
    headers = {"accept": "text/event-stream"}
    with httpx.stream("POST", f"{base_url}/agent", json=body, headers=headers) as answer:
        answer.raise_for_status()
        for line in answer.iter_lines():
            if data := line.removeprefix("data: "):
                event = EVENT.validate_json(data)
                yield {type(event).__name__: event.model_dump(mode="json", exclude_unset=True)}


def _base_url(name: str, direct: bool) -> str:
    url = os.environ["RETAPE_URL"]
    return url if direct else f"{url}/{name}/-"


if __name__ == "__main__":
    sys.exit(main())
