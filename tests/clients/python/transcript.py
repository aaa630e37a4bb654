"""What the SDK said in one scenario, call by call."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from operator import attrgetter
from typing import Any

from letta_client import APIStatusError, Letta
from pydantic import BaseModel


@dataclass
class Step:
    call: str
    said: list[Any] = field(default_factory=list)
    refusal: APIStatusError | None = None


class Transcript:
    def __init__(self, client: Letta, swapped: bool) -> None:
        self._client = client
        self._swapped = swapped
        self._minted: dict[str, list[str]] = {}
        self._steps: list[Step] = []

    def mint(self, kind: str, value: str) -> str:
        """Notes a value that this run made up, so that it can be told from the server's own."""
        self._minted.setdefault(kind, []).append(value)
        return value

    def call(self, path: str, *arguments: Any, **options: Any) -> Any:
        step = self._begin(path)
        answer = attrgetter(path)(self._client)(*arguments, **options)
        step.said.append(answer)
        return answer

    def each(self, path: str, **options: Any) -> list[Any]:
        """Reads a stream, or all pages of a list, to its end."""
        step = self._begin(path)
        for item in attrgetter(path)(self._client)(**options):
            step.said.append(item)
        return step.said

    def refused(self, send: Callable[[Any], Any], message: Any) -> None:
        try:
            send(message)
        except APIStatusError as refusal:
            self._steps[-1].refusal = refusal
            return
        raise AssertionError(f"{self._steps[-1].call} was not refused")

    def either_way(self, first: Callable[[], None], then: Callable[[], None]) -> None:
        """Does both, the second one first if the order is swapped; they are told in this order."""
        if not self._swapped:
            first()
            then()
            return
        before, self._steps = self._steps, []
        then()
        steps, self._steps = self._steps, before
        first()
        self._steps.extend(steps)

    def as_json(self) -> dict[str, Any]:
        return {"minted": self._minted, "steps": [_step(step) for step in self._steps]}

    def _begin(self, path: str) -> Step:
        self._steps.append(Step(path))
        return self._steps[-1]


def _step(step: Step) -> dict[str, Any]:
    told: dict[str, Any] = {"call": step.call, "said": [_value(item) for item in step.said]}
    if step.refusal is not None:
        told["refused"] = _refusal(step.refusal)
    return told


def _refusal(refusal: APIStatusError) -> dict[str, Any]:
    return {
        "class": type(refusal).__name__,
        "status": refusal.status_code,
        "message": refusal.message,
        "body": refusal.body,
    }


def _value(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return {_class_name(value): {name: _value(inner) for name, inner in _sent_fields(value)}}
    if isinstance(value, list):
        return [_value(inner) for inner in value]
    if isinstance(value, dict):
        return {key: _value(inner) for key, inner in value.items()}
    if isinstance(value, datetime):
        return value.isoformat()
    return value


def _class_name(model: BaseModel) -> str:
    return type(model).__name__.partition("[")[0]


def _sent_fields(model: BaseModel) -> list[tuple[str, Any]]:
    """Fields the server sent, also as null; a default of the SDK would hide that one is gone."""
    known = [(name, value) for name, value in vars(model).items() if name in model.model_fields_set]
    return known + list((model.model_extra or {}).items())
