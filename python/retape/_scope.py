"""What has a cassette: a test, or a fixture that several tests share."""

from __future__ import annotations

import base64
import json
import os
import re
from dataclasses import dataclass, field
from typing import Any, Callable, Dict, Iterator, List, Optional
from urllib.parse import parse_qsl, urlsplit

from ._server import Server

#: The modes of pytest-recording, and what retape calls them.
MODES = {
    "none": "replay",
    "once": "once",
    "new_episodes": "new_episodes",
    "all": "record",
    "rewrite": "record",
}

_UPSTREAM = re.compile(rb'"upstream"\s*:\s*("(?:[^"\\]|\\.)*")')


@dataclass
class Scope:
    """A test or a fixture, and the sessions that belong to it: one for each server that is asked."""

    server: Server
    #: Where its cassettes lie, and what the first one is called there.
    folder: str
    name: str
    #: One of :data:`MODES`; ``None`` leaves it to the retape that runs the tests.
    mode: Optional[str]
    #: The command that records it anew.
    rerun: str
    #: What counts in requests, as in ``retape.toml``.
    rules: str = ""
    #: What goes wrong in replay: ``POST /v1/agents: 503 x2``.
    faults: List[str] = field(default_factory=list)
    #: Whether a request to this origin goes its own way.
    passes: Callable[[str], bool] = lambda origin: False
    sessions: Dict[str, Dict[str, Any]] = field(default_factory=dict)
    #: How many misses of each session were reported.
    reported: Dict[str, int] = field(default_factory=dict)

    def session_for(self, origin: str) -> Optional[str]:
        """The session in which a server is asked; it is opened by its first request."""
        if self.passes(origin):
            return None
        return str(self._open(origin, self._cassette_for(origin), origin)["session"])

    def session_at(self, upstream: Optional[str]) -> str:
        """The session of a client that has retape as its base address."""
        return str(self._open("", self.name, upstream)["session"])

    def new_misses(self) -> List[Dict[str, Any]]:
        """What was missed since this was asked last."""
        new = []
        for session in [each["session"] for each in self.sessions.values()]:
            misses = self.server.misses(session)
            new += misses[self.reported.get(session, 0) :]
            self.reported[session] = len(misses)
        return new

    def finish(self, *, save: bool) -> List[Dict[str, Any]]:
        """Ends its sessions, and says what they came to."""
        opened, self.sessions = self.sessions, {}
        return [
            {**self.server.finish(each["session"], save=save), **{k: each[k] for k in ("cassette", "mode")}}
            for each in opened.values()
        ]

    def _open(self, key: str, cassette: str, upstream: Optional[str]) -> Dict[str, Any]:
        if key not in self.sessions:
            settings: Dict[str, Any] = {"cassette": cassette, "folder": self.folder, "rerun": self.rerun}
            if self.mode is not None:
                settings["mode"] = MODES[self.mode]
                settings["fresh"] = self.mode == "rewrite"
            if upstream:
                settings["upstream"] = upstream
            if self.rules:
                settings["rules"] = self.rules
            if self.faults:
                settings["faults"] = self.faults
            self.sessions[key] = {**self.server.open(settings), "cassette": cassette}
        return self.sessions[key]

    def _cassette_for(self, origin: str) -> str:
        """The first server has the cassette of the test; another one has its own, named after its host."""
        known = self._recorded_origin()
        first = next((each for each in self.sessions if each), None)
        if origin == (known or first or origin):
            return self.name
        host = urlsplit(origin).netloc.replace(":", "_")
        return f"{self.name}@{host}"

    def _recorded_origin(self) -> Optional[str]:
        """Which server the cassette of the test was recorded from, if there is one that is to be played."""
        if self.mode in ("all", "rewrite"):
            return None
        try:
            with open(os.path.join(self.folder, *self.name.split("/")) + ".json", "rb") as file:
                found = _UPSTREAM.search(file.read(4096))
        except OSError:
            return None
        return json.loads(found.group(1)) if found else None


class Request:
    """A recorded request, with the names that vcrpy gives to its parts."""

    def __init__(self, recorded: Dict[str, Any]) -> None:
        self.method: str = recorded["method"]
        self.uri: str = recorded["url"]
        self.headers = dict(recorded["headers"])
        self.body = base64.b64decode(recorded["body"]) or None

    @property
    def url(self) -> str:
        return self.uri

    @property
    def scheme(self) -> str:
        return urlsplit(self.uri).scheme

    @property
    def host(self) -> Optional[str]:
        return urlsplit(self.uri).hostname

    @property
    def port(self) -> int:
        return urlsplit(self.uri).port or {"https": 443}.get(self.scheme, 80)

    @property
    def path(self) -> str:
        return urlsplit(self.uri).path

    @property
    def query(self) -> "list[tuple[str, str]]":
        return sorted(parse_qsl(urlsplit(self.uri).query))

    @property
    def protocol(self) -> str:
        return self.scheme

    def __repr__(self) -> str:
        return f"<Request ({self.method}) {self.uri}>"


class Cassette:
    """The cassette of a test, with the names that vcrpy gives to what it holds."""

    def __init__(self, scope: Scope) -> None:
        self._scope = scope

    def _interactions(self) -> Iterator[Dict[str, Any]]:
        for each in list(self._scope.sessions.values()):
            answer = self._scope.server._ask("GET", "interactions", session=each["session"])
            yield from answer["interactions"]

    @property
    def requests(self) -> List[Request]:
        """The requests of the cassette; while it is recorded, those so far."""
        return [Request(each) for each in self._interactions()]

    @property
    def responses(self) -> List[Dict[str, Any]]:
        """The answers to :attr:`requests`, in the form of vcrpy."""
        answered = (each["response"] for each in self._interactions())
        return [
            {
                "status": {"code": each["status"], "message": ""},
                "headers": {name: [value] for name, value in each["headers"]},
                "body": {"string": base64.b64decode(each["body"])},
            }
            for each in answered
            if each
        ]

    @property
    def data(self) -> List[Any]:
        """Pairs of request and answer."""
        return list(zip(self.requests, self.responses))

    @property
    def play_count(self) -> int:
        """How many recorded interactions were played."""
        return sum(each["played"] for each in self._interactions())

    @property
    def all_played(self) -> bool:
        """Whether nothing recorded is left."""
        return all(each["played"] for each in self._interactions())

    @property
    def dirty(self) -> bool:
        """Whether something is being recorded."""
        return any(each["mode"] in ("record", "new_episodes") for each in self._scope.sessions.values())

    def rewind(self) -> None:
        """Lets the run through the cassette begin anew."""
        for each in list(self._scope.sessions.values()):
            self._scope.server.reset(each["session"])

    def __len__(self) -> int:
        return len(list(self._interactions()))
