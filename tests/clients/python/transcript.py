"""What the SDK said in one scenario, call by call."""

import os
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from operator import attrgetter
from typing import Any

from letta_client import APIError, Letta
from pydantic import BaseModel

SECRET_FIELD = re.compile("api_key|value", re.IGNORECASE)
POLLED_FOR = 180  # seconds; a tool in its own process takes long on a busy machine


@dataclass
class Step:
    call: str
    said: list[Any] = field(default_factory=list)
    refusal: APIError | None = None


class Transcript:
    def __init__(self, client: Letta, swapped: bool) -> None:
        self._client = client
        self._swapped = swapped
        self._minted: dict[str, list[str]] = {}
        self._steps: list[Step] = []
        self._secrets: list[str] = []

    def mint(self, kind: str, value: str) -> str:
        """Notes a value that this run made up, so that it can be told from the server's own."""
        self._minted.setdefault(kind, []).append(value)
        return value

    def call(self, path: str, /, *arguments: Any, **options: Any) -> Any:
        step = self._begin(path)
        answer = attrgetter(path)(self._client)(*arguments, **options)
        step.said.append(answer)
        return answer

    def silent(self, path: str, /, *arguments: Any, **options: Any) -> Any:
        """A call that is not told of."""
        return attrgetter(path)(self._client)(*arguments, **options)

    def each(
        self,
        path: str,
        meanwhile: Callable[[list[Any]], None] | None = None,
        leave: Callable[[list[Any]], bool] | None = None,
        /,
        **options: Any,
    ) -> list[Any]:
        """Reads a stream, or all pages of a list, to its end, or until it leaves."""
        step = self._begin(path)
        items = attrgetter(path)(self._client)(**options)
        for item in items:
            step.said.append(item)
            if meanwhile:
                meanwhile(step.said)
            if leave and leave(step.said):
                items.response.close()
                break
        return step.said

    def poll(self, ask: Callable[[], Any], is_done: Callable[[Any], bool]) -> Any:
        """Asks until it is done. How often is told nowhere, nor what was said until then."""
        step = self._begin("poll")
        deadline = time.monotonic() + POLLED_FOR
        while not is_done(answer := ask()):
            if time.monotonic() > deadline:
                raise AssertionError(f"not done after {POLLED_FOR} s: {answer}")
            time.sleep(2 if os.environ.get("PROVIDER_URL") else 0)
        step.said.append(answer)
        return answer

    def apart(self) -> "Transcript":
        """One for what is said at the same time as other things."""
        return Transcript(self._client, self._swapped)

    def join(self, others: list["Transcript"]) -> None:
        """Goes on with what was said apart, in this order."""
        self._steps.extend(step for other in others for step in other._steps)

    def secret(self, value: str) -> str:
        """Notes a value that is told nowhere."""
        self._secrets.append(value)
        return value

    def refused(self, send: Callable[..., Any], *message: Any, **more: Any) -> None:
        try:
            send(*message, **more)
        except APIError as refusal:
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
        steps = [self._without_secrets(_step(step)) for step in self._steps]
        return {"minted": self._minted, "steps": steps}

    def _without_secrets(self, node: Any) -> Any:
        """A field that holds a secret says so; in a recording something else stands there."""
        if isinstance(node, dict):
            return {
                key: "<secret>"
                if self._secrets and SECRET_FIELD.search(key) and isinstance(inner, str)
                else self._without_secrets(inner)
                for key, inner in node.items()
            }
        if isinstance(node, list):
            return [self._without_secrets(inner) for inner in node]
        return node

    def _begin(self, path: str) -> Step:
        self._steps.append(Step(path))
        return self._steps[-1]


def _step(step: Step) -> dict[str, Any]:
    told: dict[str, Any] = {"call": step.call, "said": [_value(item) for item in step.said]}
    if step.refusal is not None:
        told["refused"] = _refusal(step.refusal)
    return told


def _refusal(refusal: APIError) -> dict[str, Any]:
    return {
        "class": type(refusal).__name__,
        "status": getattr(refusal, "status_code", None),
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
