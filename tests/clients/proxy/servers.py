"""Two servers of this machine: an agent server and a model provider, behind TLS.

Usage: servers.py HOST PORTS CERTIFICATE KEY: writes the ports to that file when both listen, and serves until
it is ended.
"""

import json
import ssl
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Server(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.answer({"by": self.server.name, "path": self.path})

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if not asked.get("stream"):
            return self.answer({"by": self.server.name, "asked": asked})
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        chunk = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "small"}
        for text in ["one", "two", "three"]:
            choice = {"index": 0, "delta": {"content": text}, "finish_reason": None}
            self.piece(f"data: {json.dumps({**chunk, 'choices': [choice]})}\n\n")
        self.piece("data: [DONE]\n\n")
        self.wfile.write(b"0\r\n\r\n")

    def piece(self, text):
        self.wfile.write(f"{len(text):x}\r\n{text}\r\n".encode())
        self.wfile.flush()

    def answer(self, value):
        body = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def start(name):
    server = ThreadingHTTPServer((sys.argv[1], 0), Server)
    server.name = name
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*sys.argv[3:5])
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_address[1]


ports = [start("agent"), start("model")]
with open(sys.argv[2], "w") as file:
    print(*ports, file=file)
threading.Event().wait()
