"""A running retape, and what a test runner asks of it."""

from __future__ import annotations

import http.client
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import threading
from pathlib import Path
from typing import Any, Mapping, Optional, Sequence
from urllib.parse import quote, urlsplit


def binary() -> str:
    """The path of the retape binary: ``RETAPE_BIN``, the one of this environment, or one on the ``PATH``.

    :raises FileNotFoundError: if there is none.
    """
    name = "retape.exe" if sys.platform == "win32" else "retape"
    chosen = os.environ.get("RETAPE_BIN")
    if chosen:
        return chosen
    schemes = [None, "posix_user" if os.name == "posix" else "nt_user"]
    for scheme in schemes:
        folder = sysconfig.get_path("scripts") if scheme is None else sysconfig.get_path("scripts", scheme)
        if folder and (Path(folder) / name).is_file():
            return str(Path(folder) / name)
    beside = Path(sys.executable).with_name(name)
    if beside.is_file():
        return str(beside)
    found = shutil.which("retape")
    if found:
        return found
    raise FileNotFoundError(f"no retape binary\n{_INSTALL}")


_INSTALL = "hint: `pip install retape` brings the binary; `RETAPE_BIN` is the path of another one"


class Refused(Exception):
    """What retape was asked for, it could not do; the text says why and what to do."""


class Server:
    """A running retape.

    It is started on first use, or found at ``RETAPE_URL`` where retape runs the tests itself. It ends with
    the process that started it, also when that is killed.
    """

    def __init__(
        self, url: Optional[str] = None, *, is_ours: Optional[bool] = None, options: Sequence[str] = ()
    ) -> None:
        #: Whether the test runner started it, and says what is done in each session.
        self.is_ours = url is None if is_ours is None else is_ours
        self._lock = threading.RLock()
        self._process: Optional[subprocess.Popen[bytes]] = None
        self._connection: Optional[http.client.HTTPConnection] = None
        self._url = url
        self._options = list(options)

    @classmethod
    def of_environment(cls) -> "Server":
        """The one that runs the tests, or one of our own."""
        return cls(os.environ.get("RETAPE_URL") or None)

    @property
    def url(self) -> str:
        """Where it listens, such as ``http://127.0.0.1:40123``."""
        with self._lock:
            if self._url is None:
                self._url = self._start()
            return self._url

    @property
    def address(self) -> "tuple[str, int]":
        """Host and port."""
        parts = urlsplit(self.url)
        return parts.hostname or "127.0.0.1", parts.port or 80

    def open(self, settings: Mapping[str, Any]) -> "dict[str, Any]":
        """Opens a session. The answer has its name, and the mode that the cassette is in."""
        return self._ask("POST", "open", body=json.dumps(settings))

    def route(self, name: str, to: Optional[str]) -> None:
        """Leads what is asked of ``name`` to an open session, or to none."""
        self._ask("POST", "route", session=name, to=to)

    def misses(self, session: str) -> "list[dict[str, Any]]":
        """What was missed in a session so far."""
        return self._ask("GET", "misses", session=session)["misses"]

    def unanswered(self, session: str) -> "list[str]":
        """Why the live server gave no answer in a session so far, each time."""
        return self._ask("GET", "unanswered", session=session)["unanswered"]

    def inspect(self, session: str) -> "dict[str, Any]":
        """What was played in a session, and what was not."""
        return self._ask("GET", "sessions", session=session)

    def idle_rules(self) -> "list[str]":
        """What ``retape.toml`` says of cassettes that are not there, if sessions were opened here."""
        return self._ask("GET", "idle-rules")["idle_rules"] if self._url and self.is_ours else []

    def reset(self, session: str) -> None:
        """Lets the run through a cassette begin anew."""
        self._ask("POST", "reset", session=session)

    def interactions(self, session: str) -> "list[dict[str, Any]]":
        """What the cassette of a session holds; while it is recorded, that so far."""
        return self._ask("GET", "interactions", session=session)["interactions"]

    def finish(
        self, session: str, *, save: bool, changes: Sequence[Mapping[str, Any]] = ()
    ) -> "dict[str, Any]":
        """Ends a session. What it recorded is saved with these changes, or thrown away."""
        body = json.dumps(changes) if changes else None
        return self._ask("POST", "finish", body=body, session=session, save="yes" if save else "no")

    def stop(self) -> None:
        """Ends it, if it was started here."""
        with self._lock:
            process, self._process = self._process, None
            if self._connection is not None:
                self._connection.close()
                self._connection = None
        if process is None:
            return
        self._url = None
        assert process.stdin is not None
        process.stdin.close()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        assert process.stdout is not None
        process.stdout.close()

    def _start(self) -> str:
        command = [binary(), "run", "--attached", "--allow-unused", *self._options]
        # Modes and servers are said for each session.
        environment = {k: v for k, v in os.environ.items() if k not in ("RETAPE_MODE", "RETAPE_UPSTREAM")}
        with tempfile.TemporaryFile() as log:
            try:
                process = subprocess.Popen(
                    command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, env=environment
                )
            except OSError as error:
                raise Refused(f"cannot start `{command[0]}`: {error.strerror}\n{_INSTALL}") from None
            assert process.stdin is not None and process.stdout is not None
            line = process.stdout.readline().decode().strip()
            if not line.startswith("http://"):
                process.kill()
                process.communicate()
                log.seek(0)
                said = log.read().decode(errors="replace").strip()
                raise Refused(f"`{' '.join(command)}` did not start: {said}")
        self._process = process
        return line

    def _ask(self, method: str, what: str, body: Optional[str] = None, **parameters: Optional[str]) -> Any:
        query = "&".join(f"{k}={quote(v, safe='~')}" for k, v in parameters.items() if v is not None)
        with self._lock:
            for attempt in (1, 2):
                if self._connection is None:
                    self._connection = http.client.HTTPConnection(*self.address, timeout=60)
                try:
                    self._connection.request(method, f"/-/retape/{what}?{query}", body=body, headers={"x-retape": "1"})
                    response = self._connection.getresponse()
                    text, status = response.read(), response.status
                    break
                except (http.client.HTTPException, OSError) as error:
                    # It may have closed an idle connection.
                    self._connection.close()
                    self._connection = None
                    if attempt == 2:
                        raise Refused(f"no retape answers at {self.url}: {error}{self._found_by()}") from None
        try:
            answer = json.loads(text)
        except ValueError:
            raise Refused(f"what answers at {self.url} is no retape{self._found_by()}") from None
        if status >= 400:
            raise Refused(answer["error"]["message"])
        return answer

    def _found_by(self) -> str:
        """What to do where it was not started here."""
        hint = "\nhint: `RETAPE_URL` names it; without that, the tests start a retape of their own"
        return "" if self._process else hint
