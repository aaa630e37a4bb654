"""Makes two sides to compare: recordings, and the same ones with changes of a server in them.

Usage: changed.py real|many OLD NEW

`real` takes recordings of a Letta server and changes some of them in every way that a report tells;
`many` makes more than 1,000 changes at 250 endpoints.
"""

import json
import re
import shutil
import sys
from pathlib import Path

CASSETTES = Path(__file__).parents[3] / "cassettes" / "letta"

JSON = {"content-type": "application/json"}

HOSTILE = "</script><script>document.title='owned'</script><!-- <img src=x onerror=alert(1)> \u2028\u202e"


def special(folder, names):
    """All but the cassettes of one question and one answer to it."""
    plain = re.compile(r"(approve|deny|return)_(plain|steps|tokens)\.json")
    return [name for name in names if "hitl" in folder and name.endswith(".json") and not plain.fullmatch(name)]


def data_of(event):
    """The JSON objects of an event stream's chunk."""
    said = event.get("sse", [])
    said = said if isinstance(said, list) else [said]
    return [one["data"] for one in said if isinstance(one.get("data"), dict)]


def streams(cassette):
    return [it["response"]["stream"] for it in cassette["interactions"] if "stream" in it["response"]]


def is_type(event, name):
    return any(data.get("message_type") == name for data in data_of(event))


def ends_early(cassette):
    """letta-agent-sdk, issue 300: nothing about usage before the end."""
    stream = streams(cassette)[-1]
    stream[:] = [event for event in stream if not is_type(event, "usage_statistics")]


def renames_a_field(cassette):
    for stream in streams(cassette):
        for data in (data for event in stream for data in data_of(event)):
            if "reasoning" in data:
                data["thinking"] = data.pop("reasoning")


def says_something_new(cassette):
    for stream in streams(cassette):
        at = next(at for at, event in enumerate(stream) if is_type(event, "stop_reason"))
        new = {"message_type": "checkpoint_message", "id": "checkpoint-1", "state": "saved"}
        stream.insert(at, {"ms": stream[at]["ms"], "sse": {"data": new}})


def stops_for_another_reason(cassette):
    for stream in streams(cassette):
        for data in (data for event in stream for data in data_of(event)):
            if data.get("message_type") == "stop_reason":
                data["stop_reason"] = "max_steps"


def fails(cassette):
    last = [it for it in cassette["interactions"] if it["request"]["path"].endswith("/messages")][-1]
    response = {"ms": 12, "status": 503, "headers": JSON, "end": "complete"}
    last["response"] = response | {"json": {"detail": "the model is not there"}}


def counts_in_words(cassette):
    for body in (it["response"].get("json") for it in cassette["interactions"]):
        if isinstance(body, dict) and "usage" in body:
            body["usage"]["total_tokens"] = str(body["usage"]["total_tokens"])
            body["usage"]["cost"] = {"amount": 0.0012, "currency": "EUR"}


def is_hostile(cassette):
    for stream in streams(cassette):
        for data in (data for event in stream for data in data_of(event)):
            if data.get("message_type") == "assistant_message":
                data["content"] = HOSTILE
                data["<b onclick=alert(1)>"] = HOSTILE


def asks_elsewhere(cassette):
    """One endpoint is not asked any more, another one is for the first time."""
    first = cassette["interactions"][0]
    assert first["request"]["path"] == "/v1/tools/"
    first["request"] = {"method": "GET", "path": "/v1/health", "headers": {}}
    first["response"]["json"] = {"status": "ok"}


def promises_less(contract):
    text = contract.read_text()
    contract.write_text(text.replace("    run_id constant\n", ""))


CHANGES = {
    "hitl/approve_tokens": ends_early,
    "hitl/deny_tokens": renames_a_field,
    "hitl/return_steps": says_something_new,
    "hitl/approve_steps": stops_for_another_reason,
    "hitl/approve_plain": fails,
    "hitl/return_plain": counts_in_words,
    "hitl/deny_steps": is_hostile,
}


def real(old, new):
    for side in (old, new):
        for folder in ("hitl", "errors", "contracts"):
            shutil.copytree(CASSETTES / folder, side / folder, ignore=special, dirs_exist_ok=True)
    for name, change in CHANGES.items():
        file = new / f"{name}.json"
        cassette = json.loads(file.read_text())
        change(cassette)
        file.write_text(json.dumps(cassette, indent=1))
    for file in new.glob("*/*.json"):
        cassette = json.loads(file.read_text())
        asks_elsewhere(cassette)
        file.write_text(json.dumps(cassette, indent=1))
    promises_less(next((new / "contracts").glob("*-messages-stream-200-*.snap")))
    (new / "contracts/PUT-v1-tools-200.snap").unlink()
    (new / "errors/nothing_pending.json").rename(new / "errors/nothing_to_approve.json")


def thing(number, body, status=200):
    response = {"ms": 5 + number % 40, "status": status, "headers": JSON, "json": body}
    return {
        "request": {"method": "GET", "path": f"/v1/kind{number}/item", "headers": {}},
        "response": response | {"end": "complete"},
    }


def many(old, new):
    before = {"name": "one", "size": 1, "open": True, "note": "it is as it was"}
    after = {"name": "one", "size": "large", "open": None, "more": [1, 2, 3]}
    refused = {"detail": "not today"}
    for number in range(250):
        # One change in several places would be told once.
        own = lambda value: {f"{name}_{number}": it for name, it in value.items()}
        was = [thing(number, own(before)) for _ in range(3)]
        now = [thing(number, own(after)) for _ in range(3)] + [thing(number, refused, 429)]
        # Every fifth is there for the first time.
        sides = [(new, now)] if number % 5 == 0 else [(old, was), (new, now)]
        for side, interactions in sides:
            cassette = {"retape": 1, "recorded": {"at": "2026-11-20T10:00:00Z"}}
            file = side / f"kinds/of-{number}.json"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(json.dumps(cassette | {"interactions": interactions}, indent=1))


if __name__ == "__main__":
    what, old, new = sys.argv[1:]
    {"real": real, "many": many}[what](Path(old), Path(new))
