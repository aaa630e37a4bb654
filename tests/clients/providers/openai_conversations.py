"""Conversations through the OpenAI SDK: chat completions, responses, and the rest."""

import json
from collections.abc import Callable, Iterable
from typing import Any

from openai import APIError, OpenAI

from tools import BEFORE_BREAKS, BREAKS, CONVERSATIONS, FORECAST, refused, weather
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
        """Says it and has the tools called; what breaks off is not part of the history."""
        before = list(self._history)
        self._history.append({"role": "user", "content": text})
        try:
            while calls := self._ask():
                self._history += [self._returned(call) for call in calls]
        except APIError:
            self._history = before
            raise

    def _returned(self, call: Message) -> Message:
        returned = weather(**json.loads(call["function"]["arguments"]))
        return {"role": "tool", "tool_call_id": call["id"], "content": returned}

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
        """Says it and has the tools called; what breaks off is not part of the history."""
        before = list(self._history)
        self._history.append({"role": "user", "content": text})
        while calls := self._ask():
            self._history += [self._returned(call) for call in calls]
        if self._history[-1].get("role") == "user":
            self._history = before

    def _returned(self, call: Any) -> Message:
        returned = weather(**json.loads(call.arguments))
        return {"type": "function_call_output", "call_id": call.call_id, "output": returned}

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


def chat_plain(transcript: Transcript, client: OpenAI) -> None:
    for texts in CONVERSATIONS[:3]:
        talk(Chat(transcript, client), texts)


def chat_stream(transcript: Transcript, client: OpenAI) -> None:
    for options in ({}, WITH_USAGE):
        for texts in CONVERSATIONS:
            talk(Chat(transcript, client, stream=True, **options), texts)


def chat_errors(transcript: Transcript, client: OpenAI) -> None:
    for status in (400, 429, 500):
        for options in ({}, {"stream": True}):
            transcript.refused(lambda: Chat(transcript, client, **options).say(refused(status)))
    for options in ({}, WITH_USAGE):
        conversation = Chat(transcript, client, stream=True, **options)
        for before in (None, *BEFORE_BREAKS):
            talk(conversation, [before] if before else [])
            for text in BREAKS:
                transcript.refused(lambda: conversation.say(text))


def responses_plain(transcript: Transcript, client: OpenAI) -> None:
    for texts in CONVERSATIONS[:3]:
        talk(Responses(transcript, client), texts)


def responses_stream(transcript: Transcript, client: OpenAI) -> None:
    for texts in CONVERSATIONS:
        talk(Responses(transcript, client, stream=True), texts)


def responses_errors(transcript: Transcript, client: OpenAI) -> None:
    for status in (400, 429, 500):
        for options in ({}, {"stream": True}):
            transcript.refused(lambda: Responses(transcript, client, **options).say(refused(status)))
    # An error within the stream is an event for this SDK.
    conversation = Responses(transcript, client, stream=True)
    for before in (None, *BEFORE_BREAKS):
        talk(conversation, [before, *BREAKS] if before else BREAKS)


WITH_USAGE = {"stream_options": {"include_usage": True}}


def talk(conversation: Chat | Responses, texts: Iterable[str]) -> None:
    for text in texts:
        conversation.say(text)


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
