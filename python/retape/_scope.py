"""What has a cassette: a test, or a fixture that several tests share."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from typing import Any, Callable, Dict, List, Optional, Set
from urllib.parse import urlsplit

from . import _place
from ._server import Server
from ._vcr import Configuration, Hooks

#: The modes of pytest-recording, and what retape calls them.
MODES = {
    "none": "replay",
    "once": "once",
    "new_episodes": "new_episodes",
    "all": "record",
    "rewrite": "record",
}


@dataclass
class Scope:
    """A test or a fixture, and its session, in which any number of servers are asked."""

    server: Server
    #: Where its cassette lies, and what it is called there.
    folder: str
    name: str
    #: One of :data:`MODES`; ``None`` leaves it to the retape that runs the tests.
    mode: Optional[str]
    #: The command that records it anew.
    rerun: str
    #: What counts in requests, as in ``retape.toml``.
    rules: str = ""
    #: The files that are played behind its cassette.
    also: List[str] = field(default_factory=list)
    #: The files that pytest-recording may have written for it.
    own: List[str] = field(default_factory=list)
    #: What goes wrong in replay: ``POST /v1/agents: 503 x2``.
    faults: List[str] = field(default_factory=list)
    #: Another test that has the same cassette.
    also_of: Optional[str] = None
    #: The functions that see what is recorded and asked, if there are any.
    hooks: Optional[Hooks] = None
    #: Whether a request to this origin goes its own way.
    passes: Callable[[str], bool] = lambda origin: False
    #: The open scopes of fixtures, in whose cassettes the client may have made up names that stand in this one.
    beside: "List[Scope]" = field(default_factory=list)
    #: Of a fixture, whether each test that has had it has passed.
    outcomes: List[bool] = field(default_factory=list)
    #: Whether its recording is being proved.
    is_proof: bool = False
    #: What retape says of the open session.
    opened: Optional[Dict[str, Any]] = None
    #: The hosts that clients may reach by themselves, as regular expressions.
    allowed: List[str] = field(default_factory=list)
    #: The hosts whose requests went their own way, as they were to.
    passed: Set[str] = field(default_factory=set)
    #: Where something else connected to.
    past: Set[str] = field(default_factory=set)
    #: How many misses were reported.
    reported: int = 0

    @property
    def path(self) -> str:
        """The file of the cassette, or the one that is to be written."""
        also = next(filter(os.path.isfile, self.also), None)
        stem = os.path.join(self.folder, *self.name.split("/"))
        return _place.file_of(self.folder, self.name) or also or f"{stem}.json"

    def former(self) -> List[str]:
        """The files in whose place its recording is."""
        now = self.path
        return [file for file in self.own if file != now and os.path.isfile(file)]

    def session_for(self, origin: str) -> Optional[str]:
        """The session in which a server is asked; nothing if its requests go their own way."""
        if self.passes(origin):
            self.passed.add(urlsplit(origin).hostname or "")
            return None
        return self.open()

    def note_past(self, host: str, port: int) -> None:
        """Notes a connection that does not lead to retape."""
        if host not in self.passed and not any(re.match(pattern, host) for pattern in self.allowed):
            self.past.add(f"{host}:{port}")

    def open(self, upstream: Optional[str] = None) -> str:
        """Its session. ``upstream`` is the live server of clients that have retape as their base address."""
        if self.opened is None:
            settings: Dict[str, Any] = {"cassette": self.name, "folder": self.folder, "rerun": self.rerun}
            if self.mode is not None:
                settings["mode"] = MODES[self.mode]
                settings["fresh"] = self.mode == "rewrite"
            beside = [str(scope.opened["session"]) for scope in self.beside if scope.opened]
            if beside:
                settings["beside"] = beside
            if self.is_proof:
                settings["prove"] = True
            if upstream:
                settings["upstream"] = upstream
            if self.also:
                settings["also"] = self.also
            if self.rules:
                settings["rules"] = self.rules
            if self.faults:
                settings["faults"] = self.faults
            if self.hooks and self.hooks.configuration.sees_requests:
                self.hooks.recorded = self.interactions
                settings["hook"] = self.hooks.listen()
            self.opened = self.server.open(settings)
        return str(self.opened["session"])

    def mode_of_session(self) -> Optional[str]:
        """What is done in its session, once there is one."""
        return str(self.opened["mode"]) if self.opened else None

    def interactions(self) -> List[Dict[str, Any]]:
        """What its cassette holds; while it is recorded, that so far."""
        return self.server.interactions(self.open())

    def new_misses(self) -> List[Dict[str, Any]]:
        """What was missed since this was asked last."""
        if self.opened is None:
            return []
        misses = self.server.misses(self.opened["session"])
        new, self.reported = misses[self.reported :], len(misses)
        return new

    def unanswered(self) -> List[str]:
        """Why its live servers gave no answer, each reason once."""
        return list(dict.fromkeys(self.server.unanswered(self.opened["session"]))) if self.opened else []

    def finish(self, *, save: bool) -> Optional[Dict[str, Any]]:
        """Ends its session, and says what it came to."""
        opened, self.opened = self.opened, None
        if opened is None:
            return None
        session = opened["session"]
        changes: List[Dict[str, Any]] = []
        if self.hooks:
            if save and opened["mode"] in ("record", "new_episodes"):
                changes = self.hooks.changes(self.server.interactions(session))
            self.hooks.close()
        return {**self.server.finish(session, save=save, changes=changes), "mode": opened["mode"]}
