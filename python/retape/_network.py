"""Watches the network for a while, or blocks it: every connection of this process, whichever library makes it.

An audit hook sees what CPython's own sockets do, so a library that kept the original functions is blocked
as well. Loops and libraries with sockets of their own (uvloop, pycurl, gRPC) are not seen by it.
"""

from __future__ import annotations

import ipaddress
import os
import re
import socket
import sys
import threading
from contextlib import contextmanager
from typing import Any, Callable, Dict, Iterable, Iterator, List, Optional, Set, Tuple
from urllib.parse import urlsplit


class NetworkBlocked(RuntimeError):
    """A connection that was not to be made."""


class _Block:
    def __init__(self, allowed: Optional[Iterable[str]], always: Tuple[str, int]) -> None:
        self.patterns = [re.compile(pattern) for pattern in allowed or ()]
        self.always = always
        self.resolved: Set[str] = set()

    def allows_host(self, host: str) -> bool:
        return any(pattern.match(host) for pattern in self.patterns)


class _Watch:
    def __init__(self, always: Tuple[str, int], note: Callable[[str, int], None]) -> None:
        self.always = always
        self.note = note
        #: The names that were looked up, by the ports that were meant.
        self.names: Dict[Any, str] = {}

    def see(self, sock: Any, address: Any) -> None:
        if sock.type != socket.SOCK_STREAM or sock.family not in (socket.AF_INET, socket.AF_INET6):
            return
        host, port = address[:2]
        if sys.platform == "win32" and host in ("127.0.0.1", "::1"):
            return  # Every event loop makes a connection to itself.
        for name in (host, self.names.get(port)):
            if (name, port) == self.always:
                return
        self.note(self.names.get(port) or os.fsdecode(host), port)


#: The families whose addresses are hosts or paths. Nothing else can be allowed.
_NAMED = {socket.AF_INET, socket.AF_INET6, getattr(socket, "AF_UNIX", None)}
_blocks: List[_Block] = []
_watches: List[_Watch] = []
_state = threading.local()
_installed = False


def _hook(event: str, args: Tuple[Any, ...]) -> None:
    if not (_blocks or _watches) or not event.startswith("socket.") or getattr(_state, "passes", False):
        return
    if not _blocks:
        # What a block lets pass is allowed.
        if event == "socket.connect":
            _watches[-1].see(args[0], args[1])
        elif event == "socket.getaddrinfo" and args[0] and not _is_address(os.fsdecode(args[0])):
            _watches[-1].names[args[1]] = os.fsdecode(args[0])
    elif event in ("socket.connect", "socket.sendto", "socket.sendmsg"):
        _check(args[0], args[1])
    elif event == "socket.getaddrinfo":
        _look_up(args)


def _check(sock: Any, address: Any) -> None:
    if address is None:
        return  # It is connected.
    block, where = _blocks[-1], address if isinstance(address, tuple) else (address,)
    host = bytes(where[0]) if isinstance(where[0], bytearray) else where[0]
    host = host if isinstance(host, int) else os.fsdecode(host)
    if sock.family in _NAMED and (where[:2] == block.always or host in block.resolved or block.allows_host(host)):
        return
    raise NetworkBlocked("Network is disabled") from _refused(host)


def _look_up(args: Tuple[Any, ...]) -> None:
    """A name that is allowed is looked up here, so that its addresses are known."""
    block, host = _blocks[-1], args[0]
    host = host.decode() if isinstance(host, bytes) else host
    if host is None or _is_address(host):
        return
    if not block.allows_host(host):
        if host in (block.always[0], "localhost"):
            return
        raise NetworkBlocked("Network is disabled") from _refused(host)
    _state.passes = True
    try:
        block.resolved.update(info[4][0] for info in socket.getaddrinfo(host, None))
    except OSError:
        pass
    finally:
        _state.passes = False


def _refused(host: object) -> PermissionError:
    """Why. The text of the error itself is that of pytest-recording, which its users expect."""
    return PermissionError(
        f"{host!r} is not one of the hosts that may be reached: `--allowed-hosts` names them, or "
        "`@pytest.mark.block_network(allowed_hosts=[…])`"
    )


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host.split("%")[0])
    except ValueError:
        return False
    return True


def is_blocked(url: str) -> bool:
    """Whether the network is blocked now for the host of an address."""
    return bool(_blocks) and not _blocks[-1].allows_host(urlsplit(url).hostname or "")


def watch(always: Tuple[str, int], note: Callable[[str, int], None]) -> None:
    """From now on notes each connection, but to ``always``. Each call needs an :func:`unwatch`."""
    _install()
    _watches.append(_Watch(always, note))


def unwatch() -> None:
    """Ends what the last :func:`watch` began."""
    _watches.pop()


def _install() -> None:
    global _installed
    if not _installed:
        sys.addaudithook(_hook)
        _installed = True


@contextmanager
def blocked(allowed: Optional[Iterable[str]], always: Tuple[str, int]) -> Iterator[None]:
    """Refuses connections, but to hosts that match one of the regular expressions, and to ``always``."""
    _install()
    _blocks.append(_Block(allowed, always))
    pair = socket.socketpair

    def socketpair(*args: Any, **kwargs: Any) -> Any:
        # On Windows it is a connection to oneself, and every event loop needs one.
        before, _state.passes = getattr(_state, "passes", False), True
        try:
            return pair(*args, **kwargs)
        finally:
            _state.passes = before

    socket.socketpair = socketpair
    try:
        yield
    finally:
        socket.socketpair = pair
        _blocks.pop()
