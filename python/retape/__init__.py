"""Recorded HTTP cassettes for tests. See :mod:`retape.pytest_plugin` for pytest."""

from ._server import Server
from ._transport import led

__all__ = ["Server", "led"]
