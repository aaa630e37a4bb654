"""Has conversations with Bedrock through botocore and writes what it said, one JSON file for each."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import botocore.session
from botocore.config import Config
from botocore.exceptions import EventStreamError

sys.path.append(str(Path(__file__).parents[1]))
from driver import drive, parser  # noqa: E402

MODEL = "anthropic.claude-3-haiku-20240307-v1:0"
TOOL = {
    "toolSpec": {
        "name": "weather",
        "inputSchema": {"json": {"type": "object", "properties": {"city": {"type": "string"}}}},
    }
}


def _read(stream: Any, note: Callable[[Any], None]) -> list[dict[str, Any]]:
    events = []
    try:
        for event in stream:
            events.append(event)
            note({kind: _plain(value) for kind, value in event.items()})
    except EventStreamError as error:
        note({"refused": error.response["Error"]["Code"]})
    return events


def _plain(value: dict[str, Any]) -> dict[str, Any]:
    """A part of a model's answer is bytes."""
    return {"bytes": json.loads(value["bytes"])} if "bytes" in value else value


def _converse(bedrock: Any, text: str, note: Callable[[Any], None]) -> None:
    messages = [{"role": "user", "content": [{"text": text}]}]
    asked = {"modelId": MODEL, "toolConfig": {"tools": [TOOL]}}
    events = _read(bedrock.converse_stream(messages=messages, **asked)["stream"], note)
    for event in events:
        tool = event.get("contentBlockStart", {}).get("start", {}).get("toolUse")
        if tool is not None:
            used = {"toolUse": {**tool, "input": {"city": "Zürich"}}}
            result = {"toolUseId": tool["toolUseId"], "content": [{"text": "sunny"}]}
            messages.append({"role": "assistant", "content": [used]})
            messages.append({"role": "user", "content": [{"toolResult": result}]})
            _read(bedrock.converse_stream(messages=messages, **asked)["stream"], note)


def _invoke(bedrock: Any, text: str, note: Callable[[Any], None]) -> None:
    body = json.dumps({"messages": [{"role": "user", "content": text}], "max_tokens": 50})
    answer = bedrock.invoke_model_with_response_stream(modelId=MODEL, body=body)
    _read(answer["body"], note)


SCENARIOS = {
    "bedrock/converse": lambda bedrock, note: _converse(bedrock, "Hello", note),
    "bedrock/tool": lambda bedrock, note: _converse(bedrock, "What is the weather?", note),
    "bedrock/throttled": lambda bedrock, note: _converse(bedrock, "throttle me", note),
    "bedrock/invoke": lambda bedrock, note: _invoke(bedrock, "Grüezi", note),
}


def run(name: str, url: str) -> dict[str, Any]:
    bedrock = botocore.session.Session().create_client(
        "bedrock-runtime",
        endpoint_url=url,
        region_name="us-east-1",
        aws_access_key_id="nobody",
        aws_secret_access_key="nothing",
        config=Config(retries={"total_max_attempts": 1}, user_agent="botocore"),
    )
    said: list[Any] = []
    SCENARIOS[name](bedrock, said.append)
    return {"minted": {}, "steps": [{"call": name, "said": said}]}


if __name__ == "__main__":
    sys.exit(drive(parser(__doc__, SCENARIOS).parse_args(), SCENARIOS, run))
