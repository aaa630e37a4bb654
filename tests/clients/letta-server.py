"""Starts an installed Letta server as `letta server` does, with what the scenarios need of it.

Usage: letta-server.py [HOST [PORT]]      by default those of LETTA_URL, or 127.0.0.1 and 8283

It takes MCP servers at 127.0.0.1, which Letta refuses to ask. Its agents write to each other at its own address. A
tool has a minute, and runs in the folder that the recordings name. The traces of the server name its libraries by
links beside that folder, since a Python is installed elsewhere on each machine. It keeps no connection to Anthropic:
Letta makes a client for each call, and hangs for a minute now and then where one that is thrown away has kept one.
"""

import ipaddress
import os
import sys
import sysconfig
import tempfile
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import urlsplit

url = urlsplit(os.environ.get("LETTA_URL", "http://127.0.0.1:8283"))
host, port = (sys.argv[1:] + [str(url.hostname), str(url.port)][len(sys.argv) - 1 :])[:2]
os.environ.setdefault("LETTA_SERVER_URL", f"http://{host}:{port}")
os.environ.setdefault("TOOL_SANDBOX_TIMEOUT", "60")
lab = Path(tempfile.gettempdir(), "retape-letta-lab")
tools = Path(os.environ.setdefault("TOOL_EXEC_DIR", str(lab / "exec")))
tools.mkdir(parents=True, exist_ok=True)
for name in ("stdlib", "purelib"):
    folder, link = sysconfig.get_path(name), lab / name
    link.unlink(missing_ok=True)
    link.symlink_to(folder)
    sys.path = [str(link) if entry == folder else entry for entry in sys.path]

from anthropic import AsyncAnthropic  # noqa: E402
from letta.helpers import url_validation  # noqa: E402
from letta.main import app  # noqa: E402


def address(text: str) -> object:
    found = ipaddress.ip_address(text)
    return SimpleNamespace(is_global=True) if text == "127.0.0.1" else found


fields = AsyncAnthropic.default_headers.fget
AsyncAnthropic.default_headers = property(lambda client: {**fields(client), "connection": "close"})
url_validation.ipaddress = SimpleNamespace(ip_address=address)
sys.argv = ["letta", "server", "--host", host, "--port", port]
app()
