"""Asks what the SDKs of Letta asked through a plain HTTP client, and checks that all three see the same messages.

Usage: retape replay --cassettes CASSETTES -- main.py SCENARIO...

Each scenario has a cassette of the Python SDK and one of the TypeScript SDK, and what the SDK then said. The plain
client (of Python's standard library) sends the recorded requests of both, in their order, and reads the answers
itself: JSON and server-sent events. It has to see the messages that the SDK saw, in their order, field by field; and
the messages of the two languages have to be the same, but for identifiers, times and pings.
"""

import json
import os
import re
import sys
from http.client import HTTPConnection
from pathlib import Path
from typing import Any, Iterator
from urllib.parse import urlsplit

ROOT = Path(__file__).resolve().parents[3]
EXPECTED = ROOT / "tests" / "clients" / "expected"
# What a run makes up, and what a server does: UUIDs, prefixes with a random end, times.
MADE_UP = re.compile(
    r"<client:\w+ \d+>|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|\b[a-z]+_[0-9a-f]{16,}\b"
    r"|\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[\w.:+-]*( [AP]M UTC\+\d{4})?"
)


def main() -> int:
    failures = 0
    for scenario in sys.argv[1:]:
        told = {}
        for language, cassette in (("python", f"letta/{scenario}"), ("typescript", f"letta/typescript/{scenario}")):
            seen = ask_all(cassette)
            said = said_by_sdk(EXPECTED / language / f"{scenario}.json")
            told[language] = said
            failures += differ(f"{scenario}: plain HTTP and the {language} SDK", seen, said)
        # How often a server pings while it works is an accident.
        kept = {name: [each for each in said if each["message_type"] != "ping"] for name, said in told.items()}
        without = {name: json.loads(MADE_UP.sub("*", json.dumps(said))) for name, said in kept.items()}
        failures += differ(f"{scenario}: the SDKs", without["python"], without["typescript"])
    print(f"{len(sys.argv) - 1} scenarios, {failures} differences")
    return 1 if failures else 0


def ask_all(cassette: str) -> list[Any]:
    """Asks all that was recorded. Returns the messages of all answers."""
    recorded = json.loads((ROOT / "cassettes" / f"{cassette}.json").read_text())["interactions"]
    base = urlsplit(os.environ["RETAPE_URL"])
    seen = []
    for interaction in recorded:
        request = interaction["request"]
        body = json.dumps(request["json"]) if "json" in request else None
        fields = {"accept": request.get("headers", {}).get("accept", "*/*")}
        if body is not None:
            fields["content-type"] = "application/json"
        connection = HTTPConnection(base.hostname, base.port, timeout=30)
        connection.request(request["method"], f"/{cassette}/-{request['path']}", body, fields)
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        seen.extend(messages(parsed(answer.getheader("content-type", ""), text)))
    return seen


def parsed(media: str, text: str) -> Any:
    if media.startswith("text/event-stream"):
        data = re.findall(r"^data: ?(.*)$", text, re.M)
        return [json.loads(each) for each in data if each != "[DONE]"]
    return json.loads(text) if media.startswith("application/json") and text else None


def said_by_sdk(transcript: Path) -> list[Any]:
    return list(messages([step["said"] for step in json.loads(transcript.read_text())]))


def messages(value: Any) -> Iterator[Any]:
    """The messages in a value, from the outside, in their order."""
    if isinstance(value, list):
        for each in value:
            yield from messages(each)
    elif isinstance(value, dict):
        if "message_type" in value:
            yield plain(value)
        else:
            for each in value.values():
                yield from messages(each)


def plain(value: Any) -> Any:
    """A value without what an SDK adds: names of classes, fields that are null, and its own way to write times."""
    if isinstance(value, list):
        return [plain(each) for each in value]
    if isinstance(value, dict):
        if len(value) == 1 and re.match(r"[A-Z]\w+$", next(iter(value))):
            return plain(next(iter(value.values())))
        return {name: plain(each) for name, each in sorted(value.items()) if each is not None}
    if isinstance(value, str) and re.match(r"\d{4}-\d\d-\d\dT", value):
        return value.replace("Z", "+00:00")
    return value


def same(seen: Any, said: Any) -> bool:
    """Whether they are equal, but for what this run of the SDK had made up."""
    if isinstance(seen, dict) and isinstance(said, dict):
        return seen.keys() == said.keys() and all(same(seen[name], said[name]) for name in seen)
    if isinstance(seen, list) and isinstance(said, list):
        return len(seen) == len(said) and all(map(same, seen, said))
    return seen == said or isinstance(said, str) and said.startswith("<client:")


def differ(what: str, seen: list[Any], said: list[Any]) -> int:
    """Prints where they differ first; 1 if they do."""
    if same(seen, said):
        return 0
    print(f"{what}: {len(seen)} and {len(said)} messages")
    at = next((pair for pair in zip(seen, said) if not same(*pair)), ())
    for message in at:
        print(f"  {json.dumps(message)[:300]}")
    return 1


if __name__ == "__main__":
    sys.exit(main())
