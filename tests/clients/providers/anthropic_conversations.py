"""Conversations through the Anthropic SDK: messages, and the rest."""

from collections.abc import Callable, Iterable
from typing import Any

from anthropic import Anthropic, APIError

from tools import BEFORE_BREAKS, BREAKS, CONVERSATIONS, FORECAST, refused, weather
from transcript import Transcript

MODEL = "claude-sonnet-4-5-20250929"
TOOL = {
    "name": FORECAST["name"],
    "description": FORECAST["description"],
    "input_schema": FORECAST["parameters"],
}
THINKING = {"type": "enabled", "budget_tokens": 1024}


class Conversation:
    """A conversation of which the client keeps the history."""

    def __init__(self, transcript: Transcript, client: Anthropic, **options: Any) -> None:
        self._transcript = transcript
        self._client = client
        self._options = options
        self._history: list[dict[str, Any]] = []

    def say(self, text: str) -> None:
        """Says it and has the tools called; what breaks off is not part of the history."""
        before = list(self._history)
        self._history.append({"role": "user", "content": text})
        try:
            while calls := self._ask():
                returned = [self._returned(call) for call in calls]
                self._history.append({"role": "user", "content": returned})
        except APIError:
            self._history = before
            raise

    def talk(self, texts: Iterable[str]) -> None:
        for text in texts:
            self.say(text)

    def count(self) -> None:
        self._transcript.call(
            "messages.count_tokens",
            lambda: self._client.messages.count_tokens(
                model=MODEL, messages=self._history, tools=[TOOL]
            ),
        )

    def _returned(self, call: dict[str, Any]) -> dict[str, Any]:
        returned = weather(**call["input"])
        return {"type": "tool_result", "tool_use_id": call["id"], "content": returned}

    def _ask(self) -> list[dict[str, Any]]:
        """Asks for the next message and gives the tools that it calls."""
        content = self._streamed() if self._options.get("stream") else self._plain()
        self._history.append({"role": "assistant", "content": content})
        return [block for block in content if block["type"] == "tool_use"]

    def _create(self) -> Any:
        return self._client.messages.create(
            model=MODEL, max_tokens=2048, messages=self._history, tools=[TOOL], **self._options
        )

    def _plain(self) -> list[dict[str, Any]]:
        answer = self._transcript.call("messages.create", self._create)
        return [block.to_dict() for block in answer.content]

    def _streamed(self) -> list[dict[str, Any]]:
        """Reads the events of the SDK's own helper, which puts the message together."""
        said: list[Any] = self._transcript.each("messages.stream", self._helped)
        return [block.to_dict() for block in said[-1].message.content]

    def _helped(self) -> Any:
        options = {name: value for name, value in self._options.items() if name != "stream"}
        with self._client.messages.stream(
            model=MODEL, max_tokens=2048, messages=self._history, tools=[TOOL], **options
        ) as stream:
            yield from stream


def plain(transcript: Transcript, client: Anthropic) -> None:
    for texts in CONVERSATIONS[:3]:
        conversation = Conversation(transcript, client)
        conversation.talk(texts)
        conversation.count()


def thinking_plain(transcript: Transcript, client: Anthropic) -> None:
    for texts in CONVERSATIONS[:3]:
        Conversation(transcript, client, thinking=THINKING).talk(texts)


def stream(transcript: Transcript, client: Anthropic) -> None:
    for texts in CONVERSATIONS:
        Conversation(transcript, client, stream=True).talk(texts)


def thinking_stream(transcript: Transcript, client: Anthropic) -> None:
    for texts in CONVERSATIONS:
        Conversation(transcript, client, stream=True, thinking=THINKING).talk(texts)


def errors(transcript: Transcript, client: Anthropic) -> None:
    for status in (400, 429, 529):
        for options in ({}, {"stream": True}):
            conversation = Conversation(transcript, client, **options)
            transcript.refused(lambda: conversation.say(refused(status)))
    for options in ({}, {"thinking": THINKING}):
        conversation = Conversation(transcript, client, stream=True, **options)
        for before in (None, *BEFORE_BREAKS):
            conversation.talk([before] if before else [])
            for text in BREAKS:
                transcript.refused(lambda: conversation.say(text))


def models(transcript: Transcript, client: Anthropic) -> None:
    transcript.call("models.list", lambda: client.models.list().data[0])


SCENARIOS: dict[str, Callable[[Transcript, Anthropic], None]] = {
    "anthropic/plain": plain,
    "anthropic/stream": stream,
    "anthropic/thinking_plain": thinking_plain,
    "anthropic/thinking_stream": thinking_stream,
    "anthropic/errors": errors,
    "anthropic/models": models,
}


def run(name: str, base_url: str) -> dict[str, Any]:
    """Has one conversation and gives back what the SDK said. It must not retry what is refused."""
    client = Anthropic(base_url=base_url, api_key="not-needed", max_retries=0)
    transcript = Transcript(APIError)
    SCENARIOS[name](transcript, client)
    return transcript.as_json()
