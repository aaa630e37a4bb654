"""Leads HTTP clients of this process to retape, and patches nothing when nobody is led.

A client keeps its own transport: only the address that it connects to is another one, and a header field
``retape-for`` says which session and which server it means. What the client sees of its request and of the
answer is what it would see of the server.
"""

from __future__ import annotations

import errno
import http.client
import io
import json
import socket
import sys
import threading
import weakref
from contextlib import contextmanager
from functools import partial
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any, Callable, Dict, Iterator, List, Optional, Sequence, Tuple
from urllib.parse import urlsplit

from . import _trust

FIELD = "retape-for"
#: The field by which retape tells that the server gave no answer.
ERROR = "retape-error"

#: Given an origin such as ``https://api.example.com``, the session that it leads to; ``None`` if it is let pass.
Route = Callable[[str], Optional[str]]
Address = Tuple[str, int]

_Patch = Tuple[Any, str, Any]


class _Led:
    """Who is led where, now."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.patches: List[_Patch] = []
        self.stack: List[Tuple[Address, Route]] = []
        #: Connections of ``http.client`` that are kept alive to retape: their clients think otherwise.
        self.connections: "weakref.WeakSet[http.client.HTTPConnection]" = weakref.WeakSet()

    @property
    def address(self) -> Address:
        return self.stack[-1][0]

    def session_for(self, scheme: str, host: str, port: Optional[int]) -> Optional[str]:
        """The value of the field for a server; ``None`` if its requests go their own way."""
        if not self.stack:
            return None
        address, route = self.stack[-1]
        # A WebSocket begins as a request.
        scheme = {"ws": "http", "wss": "https"}.get(scheme, scheme)
        default = {"http": 80, "https": 443}.get(scheme)
        if (host, port or default) == address:
            return None
        shown = f"[{host}]" if ":" in host else host
        origin = f"{scheme}://{shown}" if port in (None, default) else f"{scheme}://{shown}:{port}"
        session = route(origin)
        return None if session is None else f"{session} {origin}"


_led = _Led()


@contextmanager
def led(address: Address, route: Route) -> Iterator[None]:
    """Leads ``http.client`` (so requests, urllib3 and botocore), httpx and aiohttp to ``address`` for a while."""
    enter(address, route)
    try:
        yield
    finally:
        leave()


def enter(address: Address, route: Route) -> None:
    """Begins to lead clients. Each call needs a :func:`leave`."""
    with _led.lock:
        _led.stack.append((address, route))
        if not _led.patches:
            for name, patches in _PATCHES.items():
                if name in sys.modules:
                    _led.patches.extend(patches())
            sys.meta_path.insert(0, _LATER)
    _close_kept()


def leave() -> None:
    """Ends what the last :func:`enter` began."""
    with _led.lock:
        _led.stack.pop()
        if not _led.stack:
            for owner, name, original in reversed(_led.patches):
                if original is None:
                    delattr(owner, name)
                else:
                    setattr(owner, name, original)
            _led.patches.clear()
            sys.meta_path.remove(_LATER)
    _close_kept()


def _close_kept() -> None:
    """A connection belongs to the session that it was made for."""
    for connection in list(_led.connections):
        # An answer that is still being read has a file of its own for the socket.
        connection.close()
    _led.connections.clear()


def _told(session: str, trusted: Optional[str]) -> Dict[str, str]:
    """The fields for retape: which session is meant, and whom the client trusts if nobody else would know."""
    return {FIELD: session} if trusted is None else {FIELD: session, _trust.FIELD: trusted}


def _refused(answer: bytes) -> ConnectionRefusedError:
    """What a client meets where nothing listens, in the words of retape."""
    return ConnectionRefusedError(errno.ECONNREFUSED, json.loads(answer)["error"]["message"])


def _replace(owner: Any, name: str, make: Callable[[Any], Any]) -> _Patch:
    """Puts a wrapper in the place of a method. The wrapper of an inherited one is taken away again."""
    own = owner.__dict__.get(name)
    setattr(owner, name, make(getattr(owner, name)))
    return owner, name, own


@contextmanager
def _as_if(owner: Any, **other: Any) -> Iterator[None]:
    """Gives attributes other values for a while. Those that are not there yet go away again."""
    meant = {name: owner.__dict__[name] for name in other if name in owner.__dict__}
    owner.__dict__.update(other)
    try:
        yield
    finally:
        for name in other:
            del owner.__dict__[name]
        owner.__dict__.update(meant)


def _wrappers(own: Any = http.client.HTTPConnection) -> Tuple[Any, Any, Any]:
    """What is put around the methods of a connection that connect, begin a request, and get the answer.

    ``own`` has the methods that close a connection and add a field, and nothing else.
    """

    def target(connection: Any) -> Optional[str]:
        tunnel = getattr(connection, "_tunnel_host", None)
        scheme = "https" if tunnel or connection.default_port == 443 else "http"
        port = getattr(connection, "_tunnel_port", None) if tunnel else connection.port
        return _led.session_for(scheme, tunnel or connection.host, port)

    def take(connection: Any) -> None:
        if connection in _led.connections and connection.sock is not None:
            return
        # The close of urllib3 forgets about the request that is being made.
        own.close(connection)
        timeout = connection.timeout
        if not isinstance(timeout, (int, float)):
            timeout = None
        connection.sock = socket.create_connection(_led.address, timeout)
        connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        # What urllib3 looks at before it warns: nothing here goes over a wire that TLS would guard.
        connection.is_verified = True
        if hasattr(connection, "_post_conn"):
            connection._post_conn()
        _led.connections.add(connection)

    def connecting(original: Any) -> Any:
        def connect(self: Any, *args: Any, **kwargs: Any) -> Any:
            if target(self) is None:
                return original(self, *args, **kwargs)
            return take(self)

        return connect

    def putting(original: Any) -> Any:
        def putrequest(self: Any, method: str, url: str, *args: Any, **kwargs: Any) -> Any:
            session = target(self)
            if url.startswith(("http://", "https://")):
                # A proxy would be asked so.
                parts = urlsplit(url)
                absolute = _led.session_for(parts.scheme, parts.hostname or "", parts.port)
                if absolute is not None:
                    session = absolute
                    url = parts.path or "/"
                    url = f"{url}?{parts.query}" if parts.query else url
            if session is None:
                return original(self, method, url, *args, **kwargs)
            take(self)
            done = original(self, method, url, *args, **kwargs)
            for name, value in _told(session, _trust.of_connection(self)).items():
                own.putheader(self, name, value)
            return done

        return putrequest

    def getting(original: Any) -> Any:
        def getresponse(self: Any, *args: Any, **kwargs: Any) -> Any:
            response = original(self, *args, **kwargs)
            if self in _led.connections and response.headers.get(ERROR) == "unreachable":
                why = _refused(response.read())
                response.close()
                urllib3 = sys.modules.get("urllib3.connection")
                if urllib3 and isinstance(self, urllib3.HTTPConnection):
                    raise urllib3.NewConnectionError(self, str(why)) from why
                raise why
            if self in _led.connections and response.fp is not None and response.length:
                # Some clients read it in their event loop, which is not to wait for it. Streams have no length.
                try:
                    body = response.fp.read(response.length)
                except OSError:
                    return response  # It breaks again where the client reads it.
                response.fp.close()
                response.fp = io.BytesIO(body)
            return response

        return getresponse

    return connecting, putting, getting


def _http_client() -> List[_Patch]:
    """Every client whose connections are those of ``http.client``."""
    connecting, putting, getting = _wrappers()
    plain, secure = http.client.HTTPConnection, http.client.HTTPSConnection
    patches = [_replace(plain, "putrequest", putting), _replace(plain, "getresponse", getting)]
    return [*patches, _replace(plain, "connect", connecting), _replace(secure, "connect", connecting)]


def _urllib3() -> List[_Patch]:
    """The connections of urllib3 connect by themselves.

    Those of urllib3.future, which niquests puts in the place of urllib3, are not those of ``http.client``.
    """
    module = sys.modules["urllib3.connection"]
    plain = module.HTTPConnection
    is_future = not issubclass(plain, http.client.HTTPConnection)
    connecting, putting, _ = _wrappers(plain.__mro__[1]) if is_future else _wrappers()
    owners = (getattr(module, name, None) for name in ("HTTPConnection", "HTTPSConnection"))
    own = (owner for owner in owners if isinstance(owner, type) and "connect" in owner.__dict__)
    patches = [_replace(owner, "connect", connecting) for owner in own]
    if not is_future:
        return patches

    def getting(original: Any) -> Any:
        def getresponse(self: Any, *args: Any, **kwargs: Any) -> Any:
            response = original(self, *args, **kwargs)
            if response.headers.get(ERROR) == "unreachable":
                why = _refused(response.data)
                raise sys.modules["urllib3.exceptions"].NewConnectionError(self, str(why)) from why
            return response

        return getresponse

    return [*patches, _replace(plain, "putrequest", putting), _replace(plain, "getresponse", getting)]


def _httpcore(name: str) -> List[_Patch]:
    """httpx, and whoever else uses httpcore."""
    httpcore = sys.modules[name]

    def lead(pool: Any, request: Any, own: "weakref.WeakKeyDictionary[Any, Any]", make: Any) -> Any:
        """The request as retape gets it, and the pool that sends it."""
        url = request.url
        scheme = url.scheme.decode()
        session = _led.session_for(scheme, url.host.decode("idna" if url.host.isascii() else "utf-8"), url.port)
        # What listens at a socket of the file system has no address that retape could ask.
        is_local = getattr(pool, "_uds", None)
        if session is None or is_local or scheme not in ("http", "https"):
            return pool, request
        host, port = _led.address
        # Many a test leaves its client open. With no real server there was nothing that had to be closed.
        kept = (field for field in request.headers if field[0].lower() != b"connection")
        told = _told(session, _trust.of_context(getattr(pool, "_ssl_context", None)))
        headers = [*kept, (b"connection", b"close"), *((k.encode(), v.encode()) for k, v in told.items())]
        there = httpcore.URL(scheme=b"http", host=host.encode(), port=port, target=url.target)
        request = httpcore.Request(
            request.method, there, headers=headers, content=request.stream, extensions=request.extensions
        )
        is_plain = type(pool).__name__ in ("ConnectionPool", "AsyncConnectionPool")
        if is_plain and getattr(pool, "_proxy", None) is None:
            return pool, request
        if pool not in own:
            own[pool] = make()
        return own[pool], request

    #: Pools in the place of those that lead to a proxy.
    others: "weakref.WeakKeyDictionary[Any, Any]" = weakref.WeakKeyDictionary()

    def is_refused(response: Any) -> bool:
        return (ERROR.encode(), b"unreachable") in response.headers

    def handling(original: Any) -> Any:
        def handle_request(self: Any, request: Any) -> Any:
            pool, led_request = lead(self, request, others, httpcore.ConnectionPool)
            response = original(pool, led_request)
            if led_request is not request and is_refused(response):
                response.read()
                response.close()
                raise httpcore.ConnectError(str(_refused(response.content)))
            return response

        return handle_request

    def handling_async(original: Any) -> Any:
        async def handle_async_request(self: Any, request: Any) -> Any:
            pool, led_request = lead(self, request, others, httpcore.AsyncConnectionPool)
            response = await original(pool, led_request)
            if led_request is not request and is_refused(response):
                await response.aread()
                await response.aclose()
                raise httpcore.ConnectError(str(_refused(response.content)))
            return response

        return handle_async_request

    return [
        _replace(httpcore.ConnectionPool, "handle_request", handling),
        _replace(httpcore.AsyncConnectionPool, "handle_async_request", handling_async),
    ]


def _aiohttp() -> List[_Patch]:
    """aiohttp's client."""
    from aiohttp.client_exceptions import ClientConnectorError
    from aiohttp.client_reqrep import ClientRequest, Fingerprint
    from aiohttp.connector import BaseConnector
    from yarl import URL

    #: Whom the sender of a request trusts.
    trusted: "weakref.WeakKeyDictionary[Any, Optional[str]]" = weakref.WeakKeyDictionary()

    def target(request: Any) -> Optional[str]:
        url = request.url
        if url.scheme not in ("http", "https", "ws", "wss"):
            return None
        return _led.session_for(url.scheme, url.host, url.port)

    def connecting(original: Any) -> Any:
        async def connect(self: Any, req: Any, *args: Any, **kwargs: Any) -> Any:
            if target(req) is None:
                return await original(self, req, *args, **kwargs)
            meant, proxy = req.url, req.proxy
            # What the request says comes before what its session says.
            said = (req.ssl, getattr(self, "_ssl", None))
            own = next((context for context in said if context not in (None, True)), None)
            trusted[req] = _trust.ANYONE if isinstance(own, Fingerprint) else _trust.of_context(own)
            host, port = _led.address
            req.url, req.proxy = URL.build(scheme="http", host=host, port=port), None
            try:
                return await original(self, req, *args, **kwargs)
            finally:
                req.url, req.proxy = meant, proxy

        return connect

    def starting(request: Any, response: Any) -> Any:
        original = response.start

        async def start(*args: Any, **kwargs: Any) -> Any:
            started = await original(*args, **kwargs)
            if response.headers.get(ERROR) == "unreachable":
                raise ClientConnectorError(request.connection_key, _refused(await response.read()))
            return started

        return start

    def sending(original: Any) -> Any:
        async def send(self: Any, conn: Any) -> Any:
            session = target(self)
            if session is None:
                return await original(self, conn)
            proxy, self.proxy = self.proxy, None
            told = _told(session, trusted.get(self))
            self.headers.update(told)
            try:
                response = await original(self, conn)
            finally:
                self.proxy = proxy
                for name in told:
                    self.headers.pop(name, None)
            response.start = starting(self, response)
            return response

        return send

    return [_replace(BaseConnector, "connect", connecting), _replace(ClientRequest, "send", sending)]


def _urllib3_future() -> List[_Patch]:
    """The connections of urllib3.future in an event loop. They connect before a request is begun."""
    module = sys.modules["urllib3._async.connection"]
    plain, secure = module.AsyncHTTPConnection, module.AsyncHTTPSConnection
    plainly = plain.connect

    def target(connection: Any) -> Optional[str]:
        tunnel = getattr(connection, "_tunnel_host", None)
        scheme = "https" if tunnel else connection.scheme
        return _led.session_for(scheme, tunnel or connection.host, connection._tunnel_port if tunnel else connection.port)

    def connecting(original: Any) -> Any:
        async def connect(self: Any) -> None:
            if target(self) is None:
                return await original(self)
            host, port = _led.address
            with _as_if(self, _dns_host=host, port=port, _tunnel_host=None, scheme="http"):
                await plainly(self)
            # What it looks at before it warns: nothing here goes over a wire that TLS would guard.
            self.is_verified = True

        return connect

    def putting(original: Any) -> Any:
        def putrequest(self: Any, *args: Any, **kwargs: Any) -> None:
            original(self, *args, **kwargs)
            session = target(self)
            if session is not None:
                for name, value in _told(session, _trust.of_connection(self)).items():
                    self.putheader(name, value)

        return putrequest

    def getting(original: Any) -> Any:
        async def getresponse(self: Any, *args: Any, **kwargs: Any) -> Any:
            response = await original(self, *args, **kwargs)
            if response.headers.get(ERROR) == "unreachable":
                why = _refused(await response.data)
                raise sys.modules["urllib3.exceptions"].NewConnectionError(self, str(why)) from why
            return response

        return getresponse

    patches = [_replace(owner, "connect", connecting) for owner in (plain, secure)]
    return [*patches, _replace(plain, "putrequest", putting), _replace(plain, "getresponse", getting)]


def _to_retape(uri: str) -> str:
    """The address of a WebSocket at retape."""
    parts = urlsplit(uri)
    user, at, _ = parts.netloc.rpartition("@")
    host, port = _led.address
    return parts._replace(scheme="ws", netloc=f"{user}{at}{host}:{port}").geturl()


def _websocket_session(uri: str, settings: Dict[str, Any]) -> Optional[str]:
    """The session of a WebSocket, unless its client says by itself where to connect to."""
    if any(settings.get(name) for name in ("sock", "unix", "host", "port", "address")):
        return None
    parts = urlsplit(uri)
    return _led.session_for(parts.scheme, parts.hostname or "", parts.port)


@contextmanager
def _reached() -> Iterator[None]:
    """Tells of a server that cannot be reached as if its WebSocket had been connected to."""
    try:
        yield
    except sys.modules["websockets.exceptions"].InvalidStatus as error:
        if error.response.headers.get(ERROR) == "unreachable":
            raise _refused(error.response.body) from None
        raise


def _websockets() -> List[_Patch]:
    """The package ``websockets`` in an event loop, from version 13 on."""
    module = sys.modules["websockets.asyncio.client"]
    connect = module.connect

    def opening(original: Any) -> Any:
        async def open_led(self: Any) -> Any:
            # It had another name before version 17.
            name = "create_connection_kwargs" if hasattr(self, "create_connection_kwargs") else "connection_kwargs"
            given = getattr(self, name)
            session = _websocket_session(self.uri, given)
            if session is None:
                return await original(self)
            there = _to_retape(self.uri)
            kept = {key: value for key, value in given.items() if "ssl" not in key and "server_" not in key}
            with _as_if(self, uri=there, ws_uri=module.parse_uri(there), proxy=None, **{name: kept}):
                connection = await original(self)
            begin = connection.protocol.connect
            told = _told(session, _trust.of_context(given.get("ssl")))

            def begin_led() -> Any:
                request = begin()
                for name, value in told.items():
                    request.headers[name] = value
                return request

            shake = connection.handshake

            async def shake_led(*args: Any, **kwargs: Any) -> None:
                with _reached():
                    await shake(*args, **kwargs)

            connection.protocol.connect = begin_led
            connection.handshake = shake_led
            return connection

        return open_led

    name = "open_tcp_connection" if hasattr(connect, "open_tcp_connection") else "create_connection"
    return [_replace(connect, name, opening)]


def _websockets_sync() -> List[_Patch]:
    """The package ``websockets`` without an event loop. Before version 17 it has nothing to take hold of."""
    module = sys.modules["websockets.sync.client"]

    def opening(original: Any) -> Any:
        def open_connection(self: Any, *args: Any, **kwargs: Any) -> Any:
            session = _websocket_session(self.uri, {**self.open_socket_kwargs, "sock": self.sock})
            if session is None:
                return original(self, *args, **kwargs)
            there = module.parse_uri(_to_retape(self.uri))
            headers = module.Headers(self.additional_headers or {})
            for name, value in _told(session, _trust.of_context(self.ssl)).items():
                headers[name] = value
            with _reached(), _as_if(self, ws_uri=there, proxy=None, ssl=None, additional_headers=headers):
                return original(self, *args, **kwargs)

        return open_connection

    return [_replace(module.reconnect, "open_connection", opening)] if hasattr(module, "reconnect") else []


#: What is patched once a module is there.
_PATCHES: Dict[str, Callable[[], List[_Patch]]] = {
    "http.client": _http_client,
    "urllib3.connection": _urllib3,
    "httpcore": partial(_httpcore, "httpcore"),
    "httpcore2": partial(_httpcore, "httpcore2"),
    "aiohttp": _aiohttp,
    "urllib3._async.connection": _urllib3_future,
    "websockets.asyncio.client": _websockets,
    "websockets.sync.client": _websockets_sync,
}


class _Later:
    """Patches a module that is imported while clients are led: httpx imports httpcore with its first request."""

    def find_spec(
        self, name: str, path: Optional[Sequence[str]] = None, target: Optional[ModuleType] = None
    ) -> Optional[ModuleSpec]:
        if name not in _PATCHES:
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec is None or spec.loader is None:
            return None
        execute = spec.loader.exec_module

        def exec_module(module: ModuleType) -> None:
            execute(module)
            with _led.lock:
                if _led.stack:
                    _led.patches.extend(_PATCHES[name]())

        spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


_LATER = _Later()
