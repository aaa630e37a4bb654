"""Conversations through the OpenAI SDK: chat completions, responses, and the rest."""

import json
from collections.abc import Callable, Iterator
from typing import Any

from openai import APIError, OpenAI

from tools import CALL, CALL_TWICE, FAILS_MIDWAY, FORECAST, SHORT, THANKS, weather
from transcript import Transcript

CHAT_MODEL = "gpt-4.1-mini"
RESPONSES_MODEL = "gpt-5-mini"
EMBEDDING_MODEL = "text-embedding-3-small"

Message = dict[str, Any]


class Chat:
    """A conversation by `chat.completions`, of which the client keeps the history."""

    def __init__(self, transcript: Transcript, client: OpenAI, **options: Any) -> None:
        self._transcript = transcript
        self._client = client
        self._options = options
        self._history: list[Message] = []

    def say(self, text: str) -> None:
        self._history.append({"role": "user", "content": text})
        while calls := self._ask():
            for call in calls:
                returned = weather(**json.loads(call["function"]["arguments"]))
                self._history.append(
                    {"role": "tool", "tool_call_id": call["id"], "content": returned}
                )

    def _ask(self) -> list[Message]:
        """Asks for the next message and gives the tools that it calls."""
        message = self._streamed() if self._options.get("stream") else self._plain()
        self._history.append(message)
        return message.get("tool_calls", [])

    def _create(self) -> Any:
        return self._client.chat.completions.create(
            model=CHAT_MODEL,
            messages=self._history,
            tools=[{"type": "function", "function": FORECAST}],
            **self._options,
        )

    def _plain(self) -> Message:
        answer = self._transcript.call("chat.completions.create", self._create)
        return answer.choices[0].message.to_dict()

    def _streamed(self) -> Message:
        chunks = self._transcript.each("chat.completions.create", self._create)
        text = ""
        calls: dict[int, Message] = {}
        for delta in (choice.delta for chunk in chunks for choice in chunk.choices):
            text += delta.content or ""
            for part in delta.tool_calls or []:
                begin = {"id": part.id, "type": "function", "function": {"arguments": ""}}
                function = calls.setdefault(part.index, begin)["function"]
                if part.function.name:
                    function["name"] = part.function.name
                function["arguments"] += part.function.arguments
        message: Message = {"role": "assistant", "content": text or None}
        return {**message, "tool_calls": list(calls.values())} if calls else message


class Responses:
    """A conversation by `responses`, of which the client keeps the history."""

    def __init__(self, transcript: Transcript, client: OpenAI, **options: Any) -> None:
        self._transcript = transcript
        self._client = client
        self._options = options
        self._history: list[Message] = []

    def say(self, text: str) -> None:
        self._history.append({"role": "user", "content": text})
        while calls := self._ask():
            for call in calls:
                returned = weather(**json.loads(call.arguments))
                self._history.append(
                    {"type": "function_call_output", "call_id": call.call_id, "output": returned}
                )

    def _ask(self) -> list[Any]:
        if self._options.get("stream"):
            events = self._transcript.each("responses.create", self._create)
            if events[-1].type == "error":
                return []
            response = events[-1].response
        else:
            response = self._transcript.call("responses.create", self._create)
        self._history += [item.to_dict() for item in response.output]
        return [item for item in response.output if item.type == "function_call"]

    def _create(self) -> Any:
        return self._client.responses.create(
            model=RESPONSES_MODEL,
            input=self._history,
            tools=[{"type": "function", **FORECAST}],
            store=False,
            **self._options,
        )


def talk(conversation: Chat | Responses) -> None:
    for text in (SHORT, CALL, THANKS, CALL_TWICE):
        conversation.say(text)


def chat_plain(transcript: Transcript, client: OpenAI) -> None:
    talk(Chat(transcript, client))


def chat_stream(transcript: Transcript, client: OpenAI) -> None:
    talk(Chat(transcript, client, stream=True))
    talk(Chat(transcript, client, stream=True, stream_options={"include_usage": True}))


def responses_plain(transcript: Transcript, client: OpenAI) -> None:
    talk(Responses(transcript, client))


def responses_stream(transcript: Transcript, client: OpenAI) -> None:
    talk(Responses(transcript, client, stream=True))
    talk(Responses(transcript, client, stream=True, reasoning={"effort": "minimal"}))


def chat_errors(transcript: Transcript, client: OpenAI) -> None:
    for text in refusals():
        for options in ({}, {"stream": True}):
            transcript.refused(lambda: Chat(transcript, client, **options).say(text))
    for options in ({}, {"stream_options": {"include_usage": True}}):
        failing = Chat(transcript, client, stream=True, **options)
        transcript.refused(lambda: failing.say(f"{SHORT} {FAILS_MIDWAY}"))
        going_on = Chat(transcript, client, stream=True, **options)
        going_on.say(CALL)
        transcript.refused(lambda: going_on.say(f"{THANKS} {FAILS_MIDWAY}"))


def responses_errors(transcript: Transcript, client: OpenAI) -> None:
    for text in refusals():
        for options in ({}, {"stream": True}):
            transcript.refused(lambda: Responses(transcript, client, **options).say(text))
    # An error within the stream is an event for this SDK.
    Responses(transcript, client, stream=True).say(f"{SHORT} {FAILS_MIDWAY}")
    going_on = Responses(transcript, client, stream=True)
    going_on.say(CALL)
    going_on.say(f"{THANKS} {FAILS_MIDWAY}")


def refusals() -> Iterator[str]:
    for status in (400, 429, 500):
        yield f"{SHORT} [[stub:error={status}]]"


def rest(transcript: Transcript, client: OpenAI) -> None:
    transcript.call("models.list", lambda: client.models.list().data[0])
    for text in ("rain", ["rain", "sun"]):
        transcript.call("embeddings.create", lambda: embedded(client, text))


def embedded(client: OpenAI, text: str | list[str]) -> Any:
    return client.embeddings.create(model=EMBEDDING_MODEL, input=text, dimensions=8)


SCENARIOS: dict[str, Callable[[Transcript, OpenAI], None]] = {
    "openai/chat_plain": chat_plain,
    "openai/chat_stream": chat_stream,
    "openai/chat_errors": chat_errors,
    "openai/responses_plain": responses_plain,
    "openai/responses_stream": responses_stream,
    "openai/responses_errors": responses_errors,
    "openai/rest": rest,
}


def run(name: str, base_url: str) -> dict[str, Any]:
    """Has one conversation and gives back what the SDK said. It must not retry what is refused."""
    client = OpenAI(base_url=f"{base_url}/v1", api_key="not-needed", max_retries=0)
    transcript = Transcript(APIError)
    SCENARIOS[name](transcript, client)
    return transcript.as_json()
