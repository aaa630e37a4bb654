"""Conversations with a Jupyter kernel over its WebSocket.   jupyter.py SCENARIO..."""

import json
import os
import sys
import threading
import time
import urllib.request
import uuid

import websocket

HEAD = {"Authorization": "token lab", "Content-Type": "application/json"}


class Server:
    def __init__(self, base):
        self.base = base

    def ask(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.base}{path}", data, HEAD, method=method)
        with urllib.request.urlopen(request) as answer:
            text = answer.read()
        return json.loads(text) if text else None


class Talk:
    """One client of a kernel."""

    def __init__(self, server, kernel):
        self.session = uuid.uuid4().hex
        base = f"ws{server.base[4:]}/api/kernels/{kernel}/channels?session_id={self.session}"
        self.socket = websocket.create_connection(base, header=["Authorization: token lab"], timeout=60)

    def run(self, code, meanwhile=lambda message: None, history=True):
        """Runs a cell. Returns the types of what came on each channel."""
        asked = uuid.uuid4().hex
        self.send("shell", asked, "execute_request", {
            "code": code, "silent": False, "store_history": history, "user_expressions": {},
            "allow_stdin": True, "stop_on_error": True,
        })
        heard, open_ = {}, {"execute_reply", "idle"}
        while open_:
            message = json.loads(self.socket.recv())
            if message["parent_header"].get("msg_id") != asked:
                continue
            kind = message["msg_type"]
            state = message["content"].get("execution_state")
            heard.setdefault(message["channel"], []).append(state or kind)
            open_ -= {state or kind}
            if kind == "input_request":
                self.send("stdin", uuid.uuid4().hex, "input_reply", {"value": "Sam"}, message["header"])
            meanwhile(message)
        return heard

    def send(self, channel, name, kind, content, parent=None):
        header = {
            "msg_id": name, "msg_type": kind, "username": "lab", "session": self.session,
            "date": "", "version": "5.3",
        }
        self.socket.send(json.dumps({
            "header": header, "parent_header": parent or {}, "metadata": {}, "content": content,
            "channel": channel, "buffers": [],
        }))


def cells(server, kernel):
    talk = Talk(server, kernel)
    said = [talk.run(code) for code in ["print(1)\n2", "1 / 0", "input('who? ')"]]
    talk.socket.close()
    return said


def interrupt(server, kernel):
    talk = Talk(server, kernel)

    def stop(message):
        if message["msg_type"] == "stream":
            server.ask("POST", f"/api/kernels/{kernel}/interrupt", {})

    said = talk.run("import time\nprint('go', flush=True)\ntime.sleep(60)", stop)
    talk.socket.close()
    return said


def two(server, kernel):
    said = {}

    def work(name):
        talk = Talk(server, kernel)
        # The kernel counts the cells of all clients in its history, and which comes first is chance.
        said[name] = [talk.run(f"{name} = {at}\n{name} + {at}", history=False) for at in range(3)]
        talk.socket.close()

    workers = [threading.Thread(target=work, args=[name]) for name in ["ann", "bob"]]
    [worker.start() for worker in workers]
    [worker.join() for worker in workers]
    return [said["ann"], said["bob"]]


SCENARIOS = {"cells": cells, "interrupt": interrupt, "two": two}

for scenario in sys.argv[1:]:
    server = Server(f"{os.environ['RETAPE_URL']}/jupyter/{scenario}/-")
    kernel = server.ask("POST", "/api/kernels", {})["id"]
    print(scenario, json.dumps(SCENARIOS[scenario](server, kernel)))
    server.ask("DELETE", f"/api/kernels/{kernel}")
