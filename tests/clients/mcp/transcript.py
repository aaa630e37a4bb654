"""What the SDK said in one conversation, call by call."""

from collections.abc import Awaitable, Callable
from typing import Any

from mcp.shared.exceptions import MCPError
from pydantic import BaseModel


class Transcript:
    def __init__(self) -> None:
        self._minted: dict[str, list[str]] = {}
        self._steps: list[dict[str, Any]] = []

    def mint(self, kind: str, value: str) -> str:
        """Notes a value that this run made up, so that it can be told from the server's own."""
        self._minted.setdefault(kind, []).append(value)
        return value

    def note(self, call: str, said: list[Any]) -> None:
        self._steps.append({"call": call, "said": [_value(item) for item in said]})

    async def call(
        self, call: str, answer: Callable[[Callable[[Any], None]], Awaitable[Any]]
    ) -> Any:
        """Notes what the SDK tells while it waits for the answer, and the answer or refusal."""
        said: list[Any] = []
        step: dict[str, Any] = {"call": call, "said": said}
        self._steps.append(step)
        try:
            value = await answer(lambda item: said.append(_value(item)))
        except MCPError as refusal:
            step["refused"] = {"class": type(refusal).__name__, "error": _value(refusal.error)}
            return None
        said.append(_value(value))
        return value

    def as_json(self) -> dict[str, Any]:
        return {"minted": self._minted, "steps": self._steps}


def _value(value: Any) -> Any:
    if isinstance(value, BaseModel):
        sent = value.model_dump(mode="json", by_alias=True, exclude_unset=True)
        return {type(value).__name__: sent}
    if isinstance(value, list):
        return [_value(inner) for inner in value]
    if isinstance(value, dict):
        return {key: _value(inner) for key, inner in value.items()}
    return value
