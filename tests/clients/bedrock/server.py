"""A server that answers as Bedrock does, in Amazon's event streams, without a model behind it.

    server.py PORT

The checksums are made by zlib, so that neither retape nor botocore is held against itself.
"""

import base64
import json
import struct
import sys
import uuid
import zlib
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


def message(headers: dict[str, str], payload: Any) -> bytes:
    fields = b"".join(
        struct.pack("!B", len(name)) + name.encode() + struct.pack("!BH", 7, len(value)) + value.encode()
        for name, value in headers.items()
    )
    body = json.dumps(payload, separators=(",", ":")).encode()
    prelude = struct.pack("!II", 16 + len(fields) + len(body), len(fields))
    content = prelude + struct.pack("!I", zlib.crc32(prelude)) + fields + body
    return content + struct.pack("!I", zlib.crc32(content))


def event(kind: str, payload: Any) -> bytes:
    headers = {":event-type": kind, ":content-type": "application/json", ":message-type": "event"}
    return message(headers, payload)


def chunk(payload: Any) -> bytes:
    """A piece of what the model itself answers."""
    inner = base64.b64encode(json.dumps(payload, separators=(",", ":")).encode()).decode()
    return event("chunk", {"bytes": inner, "p": "abcdefgh"})


def converse(asked: Any) -> Iterator[bytes]:
    text = asked["messages"][-1]["content"][0].get("text", "")
    yield event("messageStart", {"p": "abc", "role": "assistant"})
    if "weather" in text:
        tool = {"toolUse": {"name": "weather", "toolUseId": f"tooluse_{uuid.uuid4().hex[:22]}"}}
        yield event("contentBlockStart", {"contentBlockIndex": 0, "start": tool})
        for piece in ['{"city":', '"Zürich"}']:
            delta = {"toolUse": {"input": piece}}
            yield event("contentBlockDelta", {"contentBlockIndex": 0, "delta": delta})
    else:
        for piece in ["It is ", "sunny", "."]:
            yield event("contentBlockDelta", {"contentBlockIndex": 0, "delta": {"text": piece}})
    yield event("contentBlockStop", {"contentBlockIndex": 0})
    if "throttle" in text:
        headers = {
            ":exception-type": "throttlingException",
            ":content-type": "application/json",
            ":message-type": "exception",
        }
        yield message(headers, {"message": "Too many requests"})
        return
    yield event("messageStop", {"stopReason": "tool_use" if "weather" in text else "end_turn"})
    usage = {"inputTokens": 12, "outputTokens": 5, "totalTokens": 17}
    yield event("metadata", {"metrics": {"latencyMs": 21}, "usage": usage})


def invoke(_: Any) -> Iterator[bytes]:
    identifier = f"msg_bdrk_{uuid.uuid4().hex[:24]}"
    yield chunk({"type": "message_start", "message": {"id": identifier, "role": "assistant"}})
    for piece in ["Grüezi", " mitenand"]:
        delta = {"type": "text_delta", "text": piece}
        yield chunk({"type": "content_block_delta", "index": 0, "delta": delta})
    yield chunk({"type": "message_stop"})


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        answer = converse if self.path.endswith("/converse-stream") else invoke
        self.send_response(200)
        self.send_header("content-type", "application/vnd.amazon.eventstream")
        self.send_header("x-amzn-requestid", str(uuid.uuid4()))
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for piece in answer(asked):
            self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
            self.wfile.flush()
        self.wfile.write(b"0\r\n\r\n")

    def log_message(self, *_: Any) -> None:
        pass


if __name__ == "__main__":
    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
