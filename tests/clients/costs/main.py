"""What costly answers cost while they are recorded, and what others wait meanwhile.

Usage: main.py RETAPE [CASE...]   prints a table; fails if a limit is missed
"""

import concurrent.futures
import http.client
import http.server
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import threading
import time

MIB = 1 << 20
GIB = 1 << 30


def presigned():
    """1,000 presigned URLs in one answer."""
    hexadecimal = lambda: random.randbytes(32).hex()
    urls = [f'"https://b.s3.amazonaws.com/{n}?X-Amz-Signature={hexadecimal()}"' for n in range(1000)]
    yield ("[" + ", ".join(urls) + "]").encode()


def keys():
    """1,500 different keys in 5 MB of text."""
    lines = [f"api_key={random.randbytes(16).hex()} and more text behind it\n" for _ in range(1500)]
    text = "".join(lines).encode()
    yield (text * (5 * MIB // len(text) + 1))[: 5 * MIB]


def bomb():
    """200 MB of zeros in 6 kB of Zstandard: blocks that repeat one byte 131,072 times."""
    frame = bytearray(b"\x28\xb5\x2f\xfd\x00\x38")
    for number in range(1600):
        head = int(number == 1599) | 1 << 1 | (128 * 1024) << 3
        frame += head.to_bytes(3, "little") + b"\0"
    yield bytes(frame)


def large():
    """1 GiB down."""
    piece = random.Random(1).randbytes(MIB)
    for _ in range(1024):
        yield piece


# Each with its media type and coding, the most memory that it may take, and how many come at once.
CASES = {
    "presigned": (presigned, "application/json", None, 100, 1),
    "keys": (keys, "text/plain", None, 100, 1),
    "bomb": (bomb, "text/plain", "zstd", 100, 1),
    "down": (large, "application/octet-stream", None, 64, 1),
    "up": (large, "application/octet-stream", None, 64, 1),
    "downs": (large, "application/octet-stream", None, 100, 3),
    "ups": (large, "application/octet-stream", None, 100, 3),
}


class Server(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Else a second write waits for the client's word on the first: 40 ms, which are not retape's.
    disable_nagle_algorithm = True

    def log_message(self, *_):
        pass

    def do_GET(self):
        case = self.path.strip("/")
        if case not in CASES:
            return self.answer([b'{"pong": 1}'], "application/json", None)
        make, media, coding, *_ = CASES[case]
        self.answer(make(), media, coding)

    def do_POST(self):
        left = int(self.headers["content-length"])
        while left > 0:
            left -= len(self.rfile.read(min(left, MIB)))
        self.answer([b"{}"], "application/json", None)

    def answer(self, pieces, media, coding):
        self.send_response_only(200)
        self.send_header("content-type", media)
        self.send_header("transfer-encoding", "chunked")
        if coding:
            self.send_header("content-encoding", coding)
        self.end_headers()
        for piece in pieces:
            self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
        self.wfile.write(b"0\r\n\r\n")


def asked(port, path, body=None):
    """Asks, and reads the answer to its end without keeping it."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=600)
    if body is None:
        connection.request("GET", path)
    else:
        connection.request("POST", path, body, {"content-type": "application/octet-stream", "content-length": str(GIB)})
    answer = connection.getresponse()
    while answer.read(MIB):
        pass
    connection.close()
    return answer.status


def all_asked(port, case):
    """Asks as often as it says, at once: the last status that is not 200, if one is not."""
    body = lambda: large() if case.startswith("up") else None
    count = CASES[case][4]
    with concurrent.futures.ThreadPoolExecutor(count) as threads:
        answers = [threads.submit(asked, port, "/" + case, body()) for _ in range(count)]
        return max(answer.result() for answer in answers)


class Others(threading.Thread):
    """Another session, which asks for something small again and again."""

    def __init__(self, port):
        super().__init__(daemon=True)
        self.port, self.waits, self.over = port, [], False

    def run(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=600)
        while not self.over:
            begun = time.perf_counter()
            connection.request("GET", "/other/-/ping")
            connection.getresponse().read()
            self.waits.append((time.perf_counter() - begun) * 1000)
            time.sleep(0.005)

    def stop(self):
        self.over = True
        self.join()
        return sorted(self.waits)


class Retape:
    def __init__(self, program, folder, *words):
        self.child = subprocess.Popen([program, *words], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.port = int(self.child.stdout.readline().strip().rsplit(":", 1)[1])

    def memory(self):
        """The most memory it has had, in MiB."""
        status = pathlib.Path(f"/proc/{self.child.pid}/status").read_text()
        return int(status.split("VmHWM:")[1].split()[0]) / 1024

    def seconds(self):
        """Of processor time."""
        fields = pathlib.Path(f"/proc/{self.child.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def stop(self):
        """Ends it: the most memory it took, and how many seconds."""
        begun, most = time.perf_counter(), self.memory()
        self.child.terminate()
        while self.child.poll() is None:
            try:
                most = max(most, self.memory())
            except (OSError, IndexError):
                pass
            time.sleep(0.005)
        return most, time.perf_counter() - begun


def measured(program, case, upstream):
    """Records it and replays it: for each what was seen of it, and of the others."""
    with tempfile.TemporaryDirectory() as folder:
        for mode in (["record", "--upstream", upstream], ["replay"]):
            retape = Retape(program, folder, *mode, "tape")
            quiet = waits = [0]
            if mode[0] == "record":
                others = Others(retape.port)
                others.start()
                time.sleep(1)
                quiet = others.stop()
                others = Others(retape.port)
                others.start()
            begun = time.perf_counter()
            status = all_asked(retape.port, case)
            took = time.perf_counter() - begun
            if mode[0] == "record":
                waits = others.stop()
            seconds, served = retape.seconds(), retape.memory()
            most, ending = retape.stop()
            yield mode[0], status, took, quiet[-1], waits[-1], seconds, served, most, ending


def main():
    program, named = os.path.abspath(sys.argv[1]), sys.argv[2:]
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    upstream = f"http://127.0.0.1:{server.server_port}"
    failed = 0
    print("| case | status | took | another waits at most, before | and beside it | CPU | memory serving | in the end | ending took |")
    print("|---|---|---|---|---|---|---|---|---|")
    for case in named or CASES:
        limit = CASES[case][3]
        for mode, status, took, quiet, wait, seconds, served, most, saving in measured(program, case, upstream):
            print(
                f"| {case}, {mode} | {status} | {took:.2f} s | {quiet:.0f} ms | {wait:.0f} ms | {seconds:.2f} s "
                f"| {served:.0f} MiB | {most:.0f} MiB | {saving:.2f} s |",
                flush=True,
            )
            failed += status != 200 or max(served, most) > limit or (mode == "record" and wait > max(50, 2 * quiet))
    sys.exit(1 if failed else 0)


main()
