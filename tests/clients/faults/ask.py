"""Asks a recorded server once through an official SDK, and prints what became of it as JSON.

Usage: ask.py SDK URL CASSETTE INTERACTION
"""

import json
import re
import sys
from pathlib import Path


def ask(sdk: str, url: str, request: dict):
    body = request["json"]
    if sdk == "openai":
        from openai import OpenAI

        return OpenAI(base_url=f"{url}/v1", api_key="none").chat.completions.create(**body)
    if sdk == "anthropic":
        from anthropic import Anthropic

        return Anthropic(base_url=url, api_key="none").messages.create(**body)
    from letta_client import Letta

    agent = re.search(r"agent-[0-9a-f-]+", request["path"])[0]
    return Letta(base_url=url, api_key="none").agents.messages.stream(agent, **body)


def main() -> None:
    sdk, url, cassette, number = sys.argv[1:]
    request = json.loads(Path(cassette).read_text())["interactions"][int(number) - 1]["request"]
    events: list = []
    error = None
    try:
        for event in ask(sdk, url, request):
            events.append(event.model_dump(mode="json", warnings=False))
    except Exception as raised:
        error = f"{type(raised).__module__.split('.')[0]}.{type(raised).__name__}"
    print(json.dumps({"events": events, "error": error}))


main()
