"""Starts an installed Letta server as `letta server` does, with what the scenarios need of it.

Usage: letta-server.py [HOST [PORT]]      by default 127.0.0.1 and 8283

It takes MCP servers at 127.0.0.1, which Letta refuses to ask. Its agents write to each other at its own address. A
tool has a minute, and runs in the folder that the recordings name.
"""

import ipaddress
import os
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace

host, port = (sys.argv[1:] + ["127.0.0.1", "8283"][len(sys.argv) - 1 :])[:2]
os.environ.setdefault("LETTA_SERVER_URL", f"http://{host}:{port}")
os.environ.setdefault("TOOL_SANDBOX_TIMEOUT", "60")
tools = Path(os.environ.setdefault("TOOL_EXEC_DIR", f"{tempfile.gettempdir()}/retape-letta-lab/exec"))
tools.mkdir(parents=True, exist_ok=True)

from letta.helpers import url_validation  # noqa: E402
from letta.main import app  # noqa: E402


def address(text: str) -> object:
    found = ipaddress.ip_address(text)
    return SimpleNamespace(is_global=True) if text == "127.0.0.1" else found


url_validation.ipaddress = SimpleNamespace(ip_address=address)
sys.argv = ["letta", "server", "--host", host, "--port", port]
app()
