"""Blocks the network for a while: every connection of this process, whichever library makes it.

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
from typing import Any, Iterable, Iterator, List, Optional, Set, Tuple
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


#: The families whose addresses are hosts or paths. Nothing else can be allowed.
_NAMED = {socket.AF_INET, socket.AF_INET6, getattr(socket, "AF_UNIX", None)}
_blocks: List[_Block] = []
_state = threading.local()
_installed = False


def _hook(event: str, args: Tuple[Any, ...]) -> None:
    if not _blocks or not event.startswith("socket.") or getattr(_state, "passes", False):
        return
    if event in ("socket.connect", "socket.sendto", "socket.sendmsg"):
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
    if host is None or host in (block.always[0], "localhost") or _is_address(host):
        return
    if not block.allows_host(host):
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


@contextmanager
def blocked(allowed: Optional[Iterable[str]], always: Tuple[str, int]) -> Iterator[None]:
    """Refuses connections, but to hosts that match one of the regular expressions, and to ``always``."""
    global _installed
    if not _installed:
        sys.addaudithook(_hook)
        _installed = True
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
