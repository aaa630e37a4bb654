"""What a long recording takes: memory while it goes on, and memory and time to save it.

Usage: long.py RETAPE [NUMBER...]   1,000, 10,000 and 100,000 interactions if nothing is said; prints a table
"""

import asyncio
import multiprocessing
import os
import pathlib
import subprocess
import sys
import tempfile
import time

CONNECTIONS = 16
BODY = b'{"id":"m-1","object":"message","role":"assistant","content":"A short answer","usage":{"in":20,"out":40}}'
ANSWER = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%s" % (len(BODY), BODY)


class Server(asyncio.Protocol):
    """Answers each request, which comes in one piece, in the same way."""

    def connection_made(self, transport):
        self.transport = transport

    def data_received(self, data):
        # The proxy may send the head and the body of a request apart.
        if data.rstrip().endswith(b"}"):
            self.transport.write(ANSWER)


def serve(pipe):
    async def run():
        server = await asyncio.get_running_loop().create_server(Server, "127.0.0.1", 0)
        pipe.send(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.run(run())


async def ask(port, numbers):
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    for number in numbers:
        asked = b'{"model":"small","messages":[{"role":"user","content":"Question %d, and a few words more"}]}' % number
        head = b"POST /v1/chat HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n"
        writer.write(head % len(asked) + asked)
        heard = await reader.readuntil(b"\r\n\r\n")
        assert heard.startswith(b"HTTP/1.1 200"), heard
        await reader.readexactly(len(BODY))
    writer.close()


async def all_asked(port, count):
    await asyncio.gather(*(ask(port, range(first, count, CONNECTIONS)) for first in range(CONNECTIONS)))


def resident(process):
    status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) / 1024


def recorded(program, upstream, count):
    with tempfile.TemporaryDirectory() as folder:
        words = [program, "record", "--upstream", upstream, "tape"]
        retape = subprocess.Popen(words, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        port = int(retape.stdout.readline().strip().rsplit(":", 1)[1])
        asyncio.run(all_asked(port, count))
        serving, begun = resident(retape), time.perf_counter()
        retape.terminate()
        _, status, usage = os.wait4(retape.pid, 0)
        assert status == 0, status
        size = next(pathlib.Path(folder).rglob("tape.json")).stat().st_size
        seconds = usage.ru_utime + usage.ru_stime
        return serving, usage.ru_maxrss / 1024, time.perf_counter() - begun, seconds, size / 1e6


def main():
    program = os.path.abspath(sys.argv[1])
    ours, theirs = multiprocessing.Pipe()
    multiprocessing.Process(target=serve, args=(theirs,), daemon=True).start()
    upstream = f"http://127.0.0.1:{ours.recv()}"
    print("| interactions | memory recording | at most | saving took | CPU in all | file |")
    print("|---|---|---|---|---|---|")
    for count in map(int, sys.argv[2:] or [1000, 10_000, 100_000]):
        serving, most, took, seconds, size = recorded(program, upstream, count)
        print(f"| {count} | {serving:.0f} MiB | {most:.0f} MiB | {took:.2f} s | {seconds:.2f} s | {size:.1f} MB |", flush=True)


if __name__ == "__main__":
    main()
