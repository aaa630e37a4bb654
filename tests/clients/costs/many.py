"""What many WebSockets and streams at once cost.

Usage: many.py RETAPE [NUMBER]   1,000 if nothing is said; prints a table; fails if one is lost or takes too much

Memory is the resident memory of retape while all are open, less what it had when one was and had ended, divided by
their number. So the cassette that a replayer has loaded does not count, nor what the rules take once.
"""

import asyncio
import base64
import hashlib
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import zlib

# So many KiB may each of them take.
LIMIT = 64
WEBSOCKET, COMPRESSED, STREAM = KINDS = ["WebSocket", "WebSocket, compressed", "stream"]
# What ends a compressed message, and is not sent.
TAIL = b"\0\0\xff\xff"


def deflate(said):
    """A message by itself, as RFC 7692 has it."""
    compress = zlib.compressobj(wbits=-15)
    return (compress.compress(said) + compress.flush(zlib.Z_SYNC_FLUSH))[: -len(TAIL)]


def frame(payload, mask=b"", compressed=False):
    kind, masked = 0xC1 if compressed else 0x81, 0x80 if mask else 0
    length = [len(payload)] if len(payload) < 126 else [126, *len(payload).to_bytes(2)]
    covered = bytes(byte ^ mask[at % 4] for at, byte in enumerate(payload)) if mask else payload
    return bytes([kind, length[0] | masked, *length[1:]]) + mask + covered


async def heard(reader):
    """The payload of the next frame; nothing of a close."""
    kind, length = await reader.readexactly(2)
    mask = length & 0x80
    length &= 0x7F
    if length == 126:
        length = int.from_bytes(await reader.readexactly(2))
    mask = await reader.readexactly(4) if mask else bytes(4)
    payload = await reader.readexactly(length)
    return None if kind & 15 == 8 else bytes(byte ^ mask[at % 4] for at, byte in enumerate(payload))


class Server:
    """Says a frame again, or sends a stream whose end waits until all are open."""

    def __init__(self):
        self.all_open = asyncio.Event()

    async def serve(self, reader, writer):
        try:
            await self.answer(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        writer.close()

    async def answer(self, reader, writer):
        head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        if "upgrade: websocket" in head:
            key = "dGhlIHNhbXBsZSBub25jZQ==258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
            accept = base64.b64encode(hashlib.sha1(key.encode()).digest()).decode()
            fields = f"upgrade: websocket\r\nconnection: Upgrade\r\nsec-websocket-accept: {accept}"
            if compressed := "permessage-deflate" in head:
                fields += "\r\nsec-websocket-extensions: permessage-deflate"
            writer.write(f"HTTP/1.1 101 Switching Protocols\r\n{fields}\r\n\r\n".encode())
            while (said := await heard(reader)) is not None:
                writer.write(frame(said, compressed=compressed))
            return
        await reader.readexactly(2)
        fields = "content-type: text/event-stream\r\ntransfer-encoding: chunked"
        writer.write(f"HTTP/1.1 200 OK\r\n{fields}\r\n\r\n".encode())
        for number in range(3):
            event = b'data: {"n":%d}\n\n' % number
            writer.write(b"%x\r\n%s\r\n" % (len(event), event))
            await writer.drain()
            await self.all_open.wait()
        writer.write(b"0\r\n\r\n")


async def opened(port, kind, path):
    """A connection on which something was asked and the head of the answer came."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    if kind != STREAM:
        fields = "upgrade: websocket\r\nconnection: Upgrade\r\nsec-websocket-version: 13\r\n"
        if kind == COMPRESSED:
            fields += "sec-websocket-extensions: permessage-deflate\r\n"
        fields += "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
        asked = f"GET {path} HTTP/1.1\r\nhost: localhost\r\n{fields}"
    else:
        fields = "content-type: application/json\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}"
        asked = f"POST {path} HTTP/1.1\r\nhost: localhost\r\n{fields}"
    writer.write(asked.encode())
    head = await reader.readuntil(b"\r\n\r\n")
    assert head.split()[1] == (b"200" if kind == STREAM else b"101"), head
    return reader, writer


async def talk(port, kind, number, is_open, go_on):
    """One client. It waits in its middle until all have come so far."""
    reader, writer = await opened(port, kind, f"/many/-/{number}")
    compressed, inflate = kind == COMPRESSED, zlib.decompressobj(-15)
    for turn in range(4):
        if kind != STREAM:
            said = b'{"client":%d,"turn":%d}' % (number, turn)
            writer.write(frame(deflate(said) if compressed else said, b"\1\2\3\4", compressed))
            answer = await heard(reader)
            assert (inflate.decompress(answer + TAIL) if compressed else answer) == said
        elif turn == 0:
            await reader.readuntil(b'"n":0}\n\n')
        if turn == 0:
            is_open()
            await go_on.wait()
    if kind != STREAM:
        writer.write(b"\x88\x82\0\0\0\0\x03\xe8")
        await reader.read()
    else:
        rest = await reader.read()
        assert b'"n":2' in rest and rest.endswith(b"0\r\n\r\n"), rest
    writer.close()


def resident(process):
    """In KiB."""
    with open(f"/proc/{process.pid}/status") as status:
        return int(next(line for line in status if line.startswith("VmRSS")).split()[1])


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


async def start(retape, words):
    port = free_port()
    process = subprocess.Popen(
        [retape, *words, "--listen", f"127.0.0.1:{port}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    while True:
        try:
            (await asyncio.open_connection("127.0.0.1", port))[1].close()
            return process, port
        except OSError:
            await asyncio.sleep(0.02)


async def stop(process):
    process.send_signal(signal.SIGINT)
    await asyncio.to_thread(process.wait)


async def many(server, words, retape, kind, number):
    """How many were lost, and KiB for each."""
    process, port = await start(retape, words)
    server.all_open.set()
    await talk(port, kind, 0, lambda: None, server.all_open)
    before, server.all_open = resident(process), asyncio.Event()
    took, count = 0, 0

    def is_open():
        nonlocal took, count
        count += 1
        if count == number:
            took = resident(process) - before
            server.all_open.set()

    talks = [talk(port, kind, at + 1, is_open, server.all_open) for at in range(number)]
    ended = await asyncio.wait_for(asyncio.gather(*talks, return_exceptions=True), 240)
    await stop(process)
    lost = [str(it) for it in ended if it is not None]
    return len(lost), took / number


async def main(retape, number):
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(20_000, resource.getrlimit(resource.RLIMIT_NOFILE)[1]),) * 2)
    server, is_missed = Server(), False
    listening = await asyncio.start_server(server.serve, "127.0.0.1", 0, backlog=4096)
    port = listening.sockets[0].getsockname()[1]
    print(f"| {number} at once | lost | KiB for each |\n|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for kind in KINDS:
            cassettes = ["--cassettes", f"{folder}/{kind}"]
            upstream = ["--upstream", f"http://127.0.0.1:{port}"]
            for mode in [["record", *upstream], ["replay"]]:
                lost, took = await many(server, [*mode, *cassettes], retape, kind, number)
                print(f"| {kind}, {mode[0]} | {lost} | {took:.1f} |", flush=True)
                is_missed |= lost > 0 or took > LIMIT
    return is_missed


if __name__ == "__main__":
    sys.exit(asyncio.run(main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1000)))
