"""Conversations through the Anthropic SDK: messages, and the rest."""

from collections.abc import Callable
from typing import Any

from anthropic import Anthropic, APIError

from tools import CALL, CALL_TWICE, FAILS_MIDWAY, FORECAST, SHORT, THANKS, weather
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
        self._history.append({"role": "user", "content": text})
        while calls := self._ask():
            returned = [
                {"type": "tool_result", "tool_use_id": call["id"], "content": weather(**call["input"])}
                for call in calls
            ]
            self._history.append({"role": "user", "content": returned})

    def talk(self) -> None:
        for text in (SHORT, CALL, THANKS, CALL_TWICE):
            self.say(text)

    def count(self) -> None:
        self._transcript.call(
            "messages.count_tokens",
            lambda: self._client.messages.count_tokens(
                model=MODEL, messages=self._history, tools=[TOOL]
            ),
        )

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
        """Puts the message together as the SDK's own helper does."""
        self._transcript.each("messages.create", self._create)
        options = {name: value for name, value in self._options.items() if name != "stream"}
        said: list[Any] = self._transcript.each("messages.stream", lambda: self._helped(options))
        return [block.to_dict() for block in said[-1].message.content]

    def _helped(self, options: dict[str, Any]) -> Any:
        with self._client.messages.stream(
            model=MODEL, max_tokens=2048, messages=self._history, tools=[TOOL], **options
        ) as stream:
            yield from stream


def plain(transcript: Transcript, client: Anthropic) -> None:
    conversation = Conversation(transcript, client)
    conversation.talk()
    conversation.count()


def thinking_plain(transcript: Transcript, client: Anthropic) -> None:
    Conversation(transcript, client, thinking=THINKING).talk()


def stream(transcript: Transcript, client: Anthropic) -> None:
    Conversation(transcript, client, stream=True).talk()


def thinking_stream(transcript: Transcript, client: Anthropic) -> None:
    Conversation(transcript, client, stream=True, thinking=THINKING).talk()


def errors(transcript: Transcript, client: Anthropic) -> None:
    for status in (400, 429, 529):
        for options in ({}, {"stream": True}):
            conversation = Conversation(transcript, client, **options)
            transcript.refused(lambda: conversation.say(f"{SHORT} [[stub:error={status}]]"))
    for options in ({}, {"thinking": THINKING}):
        failing = Conversation(transcript, client, stream=True, **options)
        transcript.refused(lambda: failing.say(f"{SHORT} {FAILS_MIDWAY}"))
        going_on = Conversation(transcript, client, stream=True, **options)
        going_on.say(CALL)
        transcript.refused(lambda: going_on.say(f"{THANKS} {FAILS_MIDWAY}"))


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
