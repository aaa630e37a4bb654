"""The model provider behind a live server, where a scenario has to tell it what to do next."""

import json
import os
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class Provider:
    """A scripted provider at `PROVIDER_URL`; without one nothing is told, as in replay."""

    def __init__(self) -> None:
        self._url = os.environ.get("PROVIDER_URL")

    def fails_next(self, status: int = 500) -> None:
        """Lets the next request to the model fail, whoever makes it."""
        self.forget()
        self._post("/__stub/push", [{"error": status, "message": "TEST: scripted failure"}])

    def forget(self) -> None:
        """Takes back what it was told and did not do."""
        self._post("/__stub/reset", {})

    @contextmanager
    def slow(self, seconds: float) -> Iterator[None]:
        """Lets the model think that long before each answer."""
        before = self._post("/__stub/config", {})
        self._post("/__stub/config", {"latency_ms": seconds * 1000})
        try:
            yield
        finally:
            self._post("/__stub/config", before)

    def _post(self, path: str, body: Any) -> Any:
        if not self._url:
            return None
        request = urllib.request.Request(self._url + path, json.dumps(body).encode())
        with urllib.request.urlopen(request, timeout=10) as answer:
            return json.load(answer)
