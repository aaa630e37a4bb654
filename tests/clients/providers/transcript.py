"""What an SDK said in one conversation, call by call."""

from collections.abc import Callable, Iterable
from typing import Any

from pydantic import BaseModel


class Transcript:
    def __init__(self, refusals: type[Exception]) -> None:
        self._refusals = refusals
        self._steps: list[dict[str, Any]] = []

    def call(self, call: str, answer: Callable[[], Any]) -> Any:
        said = self._begin(call)
        value = answer()
        said.append(_value(value))
        return value

    def each(self, call: str, stream: Callable[[], Iterable[Any]]) -> list[Any]:
        """Reads a stream to its end."""
        said = self._begin(call)
        items = []
        for item in stream():
            items.append(item)
            said.append(_value(item))
        return items

    def refused(self, ask: Callable[[], Any]) -> None:
        """What was said before the refusal, in a stream, is noted as well."""
        try:
            ask()
        except self._refusals as refusal:
            self._steps[-1]["refused"] = _refusal(refusal)
            return
        raise AssertionError(f"{self._steps[-1]['call']} was not refused")

    def as_json(self) -> dict[str, Any]:
        return {"minted": {}, "steps": self._steps}

    def _begin(self, call: str) -> list[Any]:
        said: list[Any] = []
        self._steps.append({"call": call, "said": said})
        return said


def _refusal(refusal: Exception) -> dict[str, Any]:
    return {
        "class": type(refusal).__name__,
        "status": getattr(refusal, "status_code", None),
        "message": getattr(refusal, "message", str(refusal)),
        "body": getattr(refusal, "body", None),
    }


def _value(value: Any) -> Any:
    if isinstance(value, BaseModel):
        sent = value.model_dump(mode="json", by_alias=True, exclude_unset=True, warnings=False)
        return {type(value).__name__.partition("[")[0]: sent}
    return value
