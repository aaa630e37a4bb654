"""Has conversations with the agent and writes the events that the SDK read, one JSON file for each."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
from ag_ui.core import Event, RunAgentInput, UserMessage
from pydantic import TypeAdapter

sys.path.append(str(Path(__file__).parents[1]))
from driver import drive, parser  # noqa: E402

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
    return drive(parser(__doc__, SCENARIOS).parse_args(), SCENARIOS, _converse)


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


if __name__ == "__main__":
    sys.exit(main())
