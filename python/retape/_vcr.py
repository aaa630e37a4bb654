"""What vcrpy's words mean here: its configuration, its hooks, its cassettes and requests."""

from __future__ import annotations

import base64
import difflib
import json
import socketserver
import threading
import traceback
from collections import Counter
from copy import deepcopy
from typing import Any, Callable, Dict, Iterable, Iterator, List, Mapping, Optional, Tuple
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from ._server import Refused


class Headers(Dict[str, str]):
    """Header fields by their names, whatever the case."""

    def __init__(self, fields: Iterable[Tuple[str, str]] = ()) -> None:
        super().__init__()
        for name, value in fields:
            self[name] = value

    def _known(self, name: object) -> Any:
        lower = str(name).lower()
        return next((each for each in self if each.lower() == lower), name)

    def __setitem__(self, name: str, value: str) -> None:
        super().__setitem__(self._known(name), value)

    def __getitem__(self, name: str) -> str:
        return super().__getitem__(self._known(name))

    def __delitem__(self, name: str) -> None:
        super().__delitem__(self._known(name))

    def __contains__(self, name: object) -> bool:
        return super().__contains__(self._known(name))

    def get(self, name: str, default: Any = None) -> Any:
        return self[name] if name in self else default

    def pop(self, name: str, *default: Any) -> Any:
        return super().pop(self._known(name), *default)


class Request:
    """A request, with the names that vcrpy gives to its parts."""

    def __init__(self, recorded: Mapping[str, Any]) -> None:
        self.method: str = recorded["method"]
        self.uri: str = recorded["url"]
        self.headers: Any = Headers(recorded["headers"])
        self.body = base64.b64decode(recorded["body"]) or None

    @property
    def body(self) -> Optional[bytes]:
        return self._body

    @body.setter
    def body(self, body: Any) -> None:
        self._body = body.encode() if isinstance(body, str) else body

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

    def as_retape(self) -> Dict[str, Any]:
        """As retape reads it."""
        headers = self.headers.items()
        body = self.body if isinstance(self.body, (bytes, bytearray)) else b"".join(self.body or ())
        return {
            "method": self.method,
            "url": self.uri,
            "headers": [(name, value) for name, values in headers for value in _listed(values)],
            "body": base64.b64encode(body).decode(),
        }


def response_of(recorded: Mapping[str, Any]) -> Dict[str, Any]:
    """An answer, in the form of vcrpy."""
    headers: Dict[str, List[str]] = {}
    for name, value in recorded["headers"]:
        headers.setdefault(name, []).append(value)
    body = {"string": base64.b64decode(recorded["body"])}
    return {"status": {"code": recorded["status"], "message": ""}, "headers": headers, "body": body}


def _response_as_retape(response: Mapping[str, Any]) -> Dict[str, Any]:
    body = response["body"]["string"]
    headers = response["headers"].items()
    return {
        "status": response["status"]["code"],
        "headers": [(name, value) for name, values in headers for value in _listed(values)],
        "body": base64.b64encode(body.encode() if isinstance(body, str) else body).decode(),
    }


def _listed(values: Any) -> List[str]:
    values = values if isinstance(values, (list, tuple)) else [values]
    return [value.decode("latin-1") if isinstance(value, bytes) else str(value) for value in values]


#: What vcrpy compares by default. It is what `compare = "path"` compares.
MATCH_ON = ("method", "scheme", "host", "port", "path", "query")
_BODIES = {"body", "raw_body"}
#: What needs no counterpart here: how vcrpy patches and writes, and which of what is recorded it plays.
_NOT_NEEDED = {
    "allow_playback_repeats", "custom_patches", "decode_compressed_response", "drop_unused_requests",
    "func_path_generator", "inject_cassette", "path_transformer", "persister", "record_on_exception", "serializer",
    "skip_patchers",
}  # fmt: skip
#: What decides what is kept, and has no counterpart here. Nothing may be recorded as if it had not been said.
_REFUSED = {
    "after_load_interaction", "before_save_interaction", "filter_nested_post_data_parameters", "filter_sensitive_data",
}  # fmt: skip


class Configuration:
    """What `vcr_config`, markers and `pytest_recording_configure` say. The latter gets it as its `vcr`."""

    def __init__(self) -> None:
        self.match_on: Optional[Iterable[str]] = None
        self.matchers: Dict[str, Callable[[Request, Request], Any]] = {}
        self.serializers: Dict[str, Any] = {}
        self.before_record_request: Any = None
        self.before_record_response: Any = None
        self.filter_headers: Any = ()
        self.filter_query_parameters: Any = ()
        self.filter_post_data_parameters: Any = ()
        self.ignore_hosts: Iterable[str] = ()
        self.ignore_localhost = False
        self.record_mode: Any = None
        self.allowed_hosts: Any = None
        self.additional_matchers: Iterable[str] = ()
        self.cassette_library_dir: Any = None
        #: What was said that vcrpy does not know either.
        self.unknown: List[str] = []

    def register_matcher(self, name: str, matcher: Callable[[Request, Request], Any]) -> None:
        """A function that raises, or returns `False`, for two requests that are not the same."""
        self.matchers[name] = matcher

    def register_serializer(self, name: str, serializer: Any) -> None:
        """Nothing: retape reads what is there, `parsed_body` too, and writes JSON."""

    def register_persister(self, persister: Any) -> None:
        """Nothing: cassettes are files."""

    def update(self, said: Mapping[str, Any]) -> None:
        """What is said nearer to the test counts."""
        for name, value in said.items():
            if name in _REFUSED and value:
                raise Refused(
                    f"`{name}` in `vcr_config` does nothing here\nhint: `[redact]` in retape.toml names secrets of "
                    "your own; `before_record_request` and `before_record_response` change what is kept"
                )
            if not hasattr(self, name) and name not in {*_NOT_NEEDED, *_REFUSED, "before_record"}:
                alike = difflib.get_close_matches(name, vars(self), 1)
                self.unknown.append(f"`{name}`" + (f"; did you mean `{alike[0]}`?" if alike else ""))
            setattr(self, "before_record_request" if name == "before_record" else name, value)

    def passes(self, origin: str) -> bool:
        """Whether requests to a server go their own way."""
        ignored = set(self.ignore_hosts or ())
        if self.ignore_localhost:
            ignored |= {"localhost", "127.0.0.1", "0.0.0.0", "::1"}
        return urlsplit(origin).hostname in ignored

    def rules(self) -> str:
        """What it says about matching, as `retape.toml` says it."""
        ignored: List[str] = []
        for entries, places in (
            (self.filter_headers, ("header.",)),
            (self.filter_query_parameters, ("query.",)),
            (self.filter_post_data_parameters, ("form.", "$.")),
        ):
            ignored += [f"{place}{name}" for name, _ in _pairs(entries) for place in places]
        lines = [f"ignore = {json.dumps(ignored)}"] if ignored else []
        if self.match_on is not None and not _BODIES & set(self.match_on):
            lines.append('compare = "path"')
        return "\n".join(["[match]", *lines, ""]) if lines else ""

    @property
    def sees_requests(self) -> bool:
        """Whether rules alone do not say which requests are the same."""
        compared = self._compared()
        is_usual = set(MATCH_ON) <= compared and not compared & set(self.matchers)
        return bool(self.before_record_request) or not is_usual

    def _compared(self) -> "set[str]":
        compared = {*(MATCH_ON if self.match_on is None else self.match_on), *self.additional_matchers}
        whole = set(MATCH_ON) - {"method"} if compared & {"uri", "url"} else set()
        return (compared | whole) - _BODIES - {"headers", "uri", "url"}

    def is_same(self, asked: Request, recorded: Request) -> bool:
        """Whether the addresses of two requests count as the same."""
        for name in self._compared():
            matcher = self.matchers.get(name)
            if matcher is None:
                if getattr(asked, name, None) != getattr(recorded, name, None):
                    return False
                continue
            try:
                if matcher(asked, recorded) is False:
                    return False
            except AssertionError:
                return False
        return True

    def request(self, request: Request) -> Optional[Request]:
        """What is kept of a request."""
        functions = [
            lambda it: _replace_headers(it, _pairs(self.filter_headers)),
            lambda it: _replace_query(it, _pairs(self.filter_query_parameters)),
            lambda it: _replace_posted(it, _pairs(self.filter_post_data_parameters)),
            *_functions(self.before_record_request),
        ]
        return _through(functions, request)

    def response(self, response: Dict[str, Any]) -> Optional[Dict[str, Any]]:
        """What is kept of an answer."""
        return _through(_functions(self.before_record_response), response)


def _through(functions: Iterable[Callable[[Any], Any]], value: Any) -> Any:
    for function in functions:
        if value is None:
            return None
        value = function(value)
    return value


def _functions(one_or_several: Any) -> List[Callable[[Any], Any]]:
    if one_or_several is None:
        return []
    return [one_or_several] if callable(one_or_several) else list(one_or_several)


def _pairs(entries: Any) -> List[Tuple[str, Any]]:
    """Names, and what stands for their values: nothing, a text or a function."""
    return [(entry, None) if isinstance(entry, str) else (entry[0], entry[1]) for entry in entries or ()]


def _replaced(name: str, value: Any, pairs: List[Tuple[str, Any]], request: Request) -> Any:
    for filtered, instead in pairs:
        if filtered.lower() == name.lower():
            return instead(key=name, value=value, request=request) if callable(instead) else instead
    return value


def _replace_headers(request: Request, pairs: List[Tuple[str, Any]]) -> Request:
    kept = ((name, _replaced(name, value, pairs, request)) for name, value in request.headers.items())
    request.headers = Headers((name, value) for name, value in kept if value is not None)
    return request


def _replace_query(request: Request, pairs: List[Tuple[str, Any]]) -> Request:
    if pairs:
        parts = urlsplit(request.uri)
        request.uri = urlunsplit(parts._replace(query=_replace_form(parts.query, pairs, request)))
    return request


def _replace_posted(request: Request, pairs: List[Tuple[str, Any]]) -> Request:
    if not pairs or not request.body or request.method != "POST":
        return request
    media = str(request.headers.get("content-type", ""))
    if "json" in media:
        posted = json.loads(request.body)
        if isinstance(posted, dict):
            kept = ((name, _replaced(name, value, pairs, request)) for name, value in posted.items())
            request.body = json.dumps({name: value for name, value in kept if value is not None})
    elif "multipart" not in media:
        request.body = _replace_form(request.body.decode(), pairs, request)
    return request


def _replace_form(form: str, pairs: List[Tuple[str, Any]], request: Request) -> str:
    fields = parse_qsl(form, keep_blank_values=True)
    kept = ((name, _replaced(name, value, pairs, request)) for name, value in fields)
    return urlencode([(name, value) for name, value in kept if value is not None])


class Hooks:
    """The functions of a configuration, where retape asks for them."""

    def __init__(self, configuration: Configuration, may_pass: Callable[[str], bool]) -> None:
        self.configuration = configuration
        #: Whether a request that no function keeps may go to its server.
        self.may_pass = may_pass
        #: What the cassette holds.
        self.recorded: Callable[[], List[Dict[str, Any]]] = lambda: []
        #: What a function raised; it fails the test.
        self.errors: List[str] = []
        self._known: Optional[List[Request]] = None
        self._led: "Counter[int]" = Counter()

    def listen(self) -> str:
        """The address at which retape asks."""
        name = str(id(self))
        _listening[name] = self
        return f"{_server()}/{name}"

    def close(self) -> None:
        _listening.pop(str(id(self)), None)

    def asked(self, asked: Dict[str, Any]) -> Optional[Dict[str, Any]]:
        """The request as it is to be compared, or nothing if it goes to its server."""
        try:
            request = self.configuration.request(Request(asked))
            if request is None:
                return None if self.may_pass(asked["url"]) else asked
            return self._as_recorded(request).as_retape()
        except Exception:
            self.errors.append(traceback.format_exc())
            return asked

    def _as_recorded(self, request: Request) -> Request:
        """The request with the address of the recorded one that counts as the same."""
        if self._known is None:
            self._known = [Request(each) for each in self.recorded()]
        address = (request.method, request.uri)
        if any((each.method, each.uri) == address for each in self._known):
            return request
        alike = [n for n, each in enumerate(self._known) if self.configuration.is_same(request, each)]
        if alike:
            number = min(alike, key=lambda n: self._led[n])
            self._led[number] += 1
            request.method, request.uri = self._known[number].method, self._known[number].uri
        return request

    def changes(self, interactions: List[Dict[str, Any]]) -> List[Dict[str, Any]]:
        """What the functions change of what was recorded."""
        changes: List[Dict[str, Any]] = []
        recorded = [each for each in interactions if each["recorded"]]
        for number, each in enumerate(recorded):
            # Functions of vcrpy's users are allowed to change what they get.
            request = self.configuration.request(Request(each))
            response = response_of(each["response"]) if each["response"] else None
            kept = self.configuration.response(deepcopy(response)) if response else None
            if request is None or (response and kept is None):
                changes.append({"interaction": number, "drop": True})
                continue
            change: Dict[str, Any] = {}
            if request.as_retape() != Request(each).as_retape():
                change["request"] = request.as_retape()
            if response and kept and kept != response:
                change["response"] = _response_as_retape(kept)
            if change:
                changes.append({"interaction": number, **change})
        return changes


_listening: Dict[str, Hooks] = {}
_lock = threading.Lock()
_running: List[socketserver.ThreadingTCPServer] = []


def _server() -> str:
    """Where the one listener of this process is; it is started by the first who needs it."""
    with _lock:
        if not _running:
            socketserver.ThreadingTCPServer.daemon_threads = True
            server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), _Answers)
            threading.Thread(target=server.serve_forever, daemon=True, name="retape-hooks").start()
            _running.append(server)
        host, port = _running[0].server_address[:2]
        return f"{host!s}:{port}"


def stop_hooks() -> None:
    """Ends the listener, if there is one."""
    with _lock:
        while _running:
            server = _running.pop()
            server.shutdown()
            server.server_close()


class _Answers(socketserver.StreamRequestHandler):
    def handle(self) -> None:
        line = self.rfile.readline()
        if not line:
            return
        asked = json.loads(line)
        hooks = _listening.get(asked.pop("hook"))
        answer = hooks.asked(asked) if hooks else asked
        self.wfile.write(json.dumps(answer).encode() + b"\n")


class Cassette:
    """The cassette of a test, with the names that vcrpy gives to what it holds."""

    def __init__(self, scope: Any) -> None:
        self._scope = scope

    @property
    def _path(self) -> str:
        return str(self._scope.path)

    @property
    def record_mode(self) -> str:
        """As pytest-recording calls it."""
        return str(self._scope.mode or "none")

    def _interactions(self) -> List[Dict[str, Any]]:
        return list(self._scope.interactions())

    @property
    def requests(self) -> List[Request]:
        """The requests of the cassette; while it is recorded, those so far."""
        return [Request(each) for each in self._interactions()]

    @property
    def responses(self) -> List[Dict[str, Any]]:
        """The answers to :attr:`requests`, in the form of vcrpy."""
        answered = (each["response"] for each in self._interactions())
        return [response_of(each) for each in answered if each]

    @property
    def data(self) -> List[Any]:
        """Pairs of request and answer."""
        return list(zip(self.requests, self.responses))

    @property
    def play_counts(self) -> "Counter[int]":
        """Which interactions were played, by their numbers from 0. What is recorded now counts too, or a test
        that asks for it could not be recorded."""
        return Counter({n: 1 for n, each in enumerate(self._interactions()) if _was_asked(each)})

    @property
    def play_count(self) -> int:
        """How many recorded interactions were played."""
        return sum(self.play_counts.values())

    @property
    def all_played(self) -> bool:
        """Whether nothing recorded is left."""
        return all(_was_asked(each) for each in self._interactions())

    @property
    def dirty(self) -> bool:
        """Whether something is being recorded."""
        return bool(self._scope.opened) and self._scope.opened["mode"] in ("record", "new_episodes")

    def rewind(self) -> None:
        """Lets the run through the cassette begin anew."""
        self._scope.server.reset(self._scope.open())

    def __iter__(self) -> Iterator[Any]:
        return iter(self.data)

    def __len__(self) -> int:
        return len(self._interactions())


def _was_asked(interaction: Mapping[str, Any]) -> bool:
    return bool(interaction["played"] or interaction["recorded"])
