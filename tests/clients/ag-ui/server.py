"""An agent that speaks the Agent User Interaction Protocol, as the protocol's own SDK encodes it.

    server.py PORT

What it does is a word of the last user message: answer, think, measure, plan, chorus, fail.
"""

import sys
from collections.abc import AsyncIterator, Iterable, Iterator
from uuid import uuid4

import uvicorn
from ag_ui.core import (
    BaseEvent,
    ReasoningEndEvent,
    ReasoningMessageContentEvent,
    ReasoningMessageEndEvent,
    ReasoningMessageStartEvent,
    ReasoningStartEvent,
    RunAgentInput,
    RunErrorEvent,
    RunFinishedEvent,
    RunStartedEvent,
    StateDeltaEvent,
    StateSnapshotEvent,
    StepFinishedEvent,
    StepStartedEvent,
    TextMessageContentEvent,
    TextMessageEndEvent,
    TextMessageStartEvent,
    ToolCallArgsEvent,
    ToolCallEndEvent,
    ToolCallResultEvent,
    ToolCallStartEvent,
)
from ag_ui.encoder import EventEncoder
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, StreamingResponse
from starlette.routing import Route

Events = Iterator[BaseEvent]


def message(text: str) -> Events:
    name = f"msg_{uuid4().hex[:16]}"
    yield TextMessageStartEvent(message_id=name, role="assistant")
    for word in text.split():
        yield TextMessageContentEvent(message_id=name, delta=f"{word} ")
    yield TextMessageEndEvent(message_id=name)


def thought(text: str) -> Events:
    name = f"rsn_{uuid4().hex[:16]}"
    yield ReasoningStartEvent(message_id=name)
    yield ReasoningMessageStartEvent(message_id=name, role="reasoning")
    for word in text.split():
        yield ReasoningMessageContentEvent(message_id=name, delta=f"{word} ")
    yield ReasoningMessageEndEvent(message_id=name)
    yield ReasoningEndEvent(message_id=name)


def call(bed: str) -> Events:
    name = f"call_{uuid4().hex[:16]}"
    yield ToolCallStartEvent(tool_call_id=name, tool_call_name="moisture")
    for part in ('{"bed":', f'"{bed}"', "}"):
        yield ToolCallArgsEvent(tool_call_id=name, delta=part)
    yield ToolCallEndEvent(tool_call_id=name)
    result = f"msg_{uuid4().hex[:16]}"
    yield ToolCallResultEvent(message_id=result, tool_call_id=name, content="dry", role="tool")


def step(number: int, name: str) -> Events:
    yield StepStartedEvent(step_name=name)
    yield StateDeltaEvent(delta=[{"op": "replace", "path": "/done", "value": number}])
    yield StepFinishedEvent(step_name=name)


def turns(*streams: Events) -> Events:
    """One event of each in turn, until all are at their end."""
    waiting = list(streams)
    while waiting:
        for stream in list(waiting):
            event = next(stream, None)
            if event is None:
                waiting.remove(stream)
            else:
                yield event


def work(asked: str) -> Events:
    if "think" in asked:
        yield from thought("The beds lie in the sun.")
    if "measure" in asked:
        for bed in ("north", "south")[: 1 + ("both" in asked)]:
            yield from call(bed)
    if "plan" in asked:
        yield StateSnapshotEvent(snapshot={"done": 0})
        for number, name in enumerate(("dig", "sow", "water"), start=1):
            yield from step(number, name)
    if "chorus" in asked:
        yield from turns(message("Two voices speak here."), message("They take turns."))
    elif "answer" in asked:
        yield from message("Water them in the evening.")


def run(asked: RunAgentInput) -> Iterable[BaseEvent]:
    names = {"thread_id": asked.thread_id, "run_id": asked.run_id}
    yield RunStartedEvent(**names)
    said = asked.messages[-1].content
    yield from work(said)
    if "fail" in said:
        yield RunErrorEvent(message="The well is dry.", code="no_water")
    else:
        yield RunFinishedEvent(**names)


async def agent(request: Request) -> StreamingResponse:
    asked = RunAgentInput.model_validate(await request.json())
    encoder = EventEncoder(accept=request.headers.get("accept"))

    async def events() -> AsyncIterator[str]:
        for event in run(asked):
            yield encoder.encode(event)

    return StreamingResponse(events(), media_type=encoder.get_content_type())


async def ready(request: Request) -> PlainTextResponse:
    return PlainTextResponse("ready")


if __name__ == "__main__":
    routes = [Route("/agent", agent, methods=["POST"]), Route("/ready", ready)]
    uvicorn.run(Starlette(routes=routes), port=int(sys.argv[1]), log_level="error")
