"""The pytest plugin, run by pytest as its users run it, against a server on loopback."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import ssl
import subprocess
import sys
import threading
import time
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import trustme

from retape._names import former_part, part
from retape._server import binary

pytest_plugins = ["pytester"]


class Live(ThreadingHTTPServer):
    """A server that makes things and counts what it was asked."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Answers)
        self.things, self.asked = {}, 0

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}"


class Answers(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.server.asked += 1
        if self.path == "/stream":
            events = "".join(f"data: {{\"n\": {n}}}\n\n" for n in range(3))
            return self.send(events.encode(), "text/event-stream")
        thing = self.server.things.get(self.path.rsplit("/", 1)[-1])
        self.send(json.dumps(thing or {"path": self.path}).encode())

    def do_POST(self):
        self.server.asked += 1
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        thing = {"id": f"thing-{uuid.uuid4()}", **body}
        self.server.things[thing["id"]] = thing
        self.send(json.dumps(thing).encode())

    def send(self, body, media="application/json"):
        self.send_response(200)
        self.send_header("content-type", media)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@pytest.fixture
def live():
    server = Live()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    for name in ("CI", "RETAPE_URL", "RETAPE_MODE", "RETAPE_UPSTREAM"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def run(pytester):
    """Runs pytest in a process of its own, with no plugin but ours and xdist."""

    def run(*arguments):
        return pytester.runpytest_subprocess("-p", "no:cacheprovider", *arguments)

    return run


def stop(live):
    live.shutdown()
    live.server_close()


CLIENTS = {
    "httpx": "import httpx\ndef get(url): return httpx.get(url).json()",
    "httpx_async": (
        "import asyncio, httpx\n"
        "async def ask(url):\n"
        "    async with httpx.AsyncClient() as client:\n"
        "        return (await client.get(url)).json()\n"
        "def get(url): return asyncio.run(ask(url))"
    ),
    "requests": "import requests\ndef get(url): return requests.get(url).json()",
    "aiohttp": (
        "import asyncio, aiohttp\n"
        "async def ask(url):\n"
        "    async with aiohttp.ClientSession() as session:\n"
        "        async with session.get(url) as response:\n"
        "            assert str(response.url) == url\n"
        "            return await response.json()\n"
        "def get(url): return asyncio.run(ask(url))"
    ),
    "urllib": (
        "import json, urllib.request\n"
        "def get(url):\n"
        "    with urllib.request.urlopen(url) as response: return json.load(response)"
    ),
    "botocore": (
        "import json\n"
        "from botocore.awsrequest import AWSRequest\n"
        "from botocore.httpsession import URLLib3Session\n"
        "def get(url):\n"
        "    request = AWSRequest('GET', url).prepare()\n"
        "    return json.loads(URLLib3Session().send(request).content)"
    ),
    "httpx2": "import httpx2\ndef get(url): return httpx2.get(url).json()",
    # What niquests needs takes the place of urllib3, so these are not installed beside the others.
    "niquests": "import niquests\ndef get(url): return niquests.get(url).json()",
    "niquests_async": (
        "import asyncio, niquests\n"
        "async def ask(url):\n"
        "    async with niquests.AsyncSession() as session:\n"
        "        return (await session.get(url)).json()\n"
        "def get(url): return asyncio.run(ask(url))"
    ),
    "urllib3_future_async": (
        "import asyncio, json, urllib3\n"
        "async def ask(url):\n"
        "    async with urllib3.AsyncPoolManager() as pool:\n"
        "        return json.loads(await (await pool.request('GET', url)).data)\n"
        "def get(url): return asyncio.run(ask(url))"
    ),
}


@pytest.fixture(params=CLIENTS)
def client(request):
    name = request.param
    if name not in ("httpx_async", "urllib"):
        pytest.importorskip(name.replace("_async", ""))
    return name


def test_one_marker_records_and_replays_without_the_server(pytester, run, live, client):
    pytester.makepyfile(
        f"{CLIENTS[client]}\n"
        "import pytest\n"
        "@pytest.mark.retape\n"
        "def test_get():\n"
        f"    assert get('{live.url}/a?b=c') == {{'path': '/a?b=c'}}\n"
        f"    assert get('{live.url}/d') == {{'path': '/d'}}\n"
    )

    run().assert_outcomes(passed=1)
    assert live.asked == 2
    stop(live)

    run("--block-network").assert_outcomes(passed=1)
    run("--record-mode=none").assert_outcomes(passed=1)
    names = sorted(p.name for p in pytester.path.glob("cassettes/**/*.json"))
    assert names == ["test_get.json"]


WEBSOCKETS = {
    "aiohttp": (
        "import asyncio, aiohttp\n"
        "async def converse(url):\n"
        "    async with aiohttp.ClientSession() as session, session.ws_connect(url) as socket:\n"
        "        await socket.send_str('a')\n"
        "        return (await socket.receive()).data\n"
        "def say_a(url): return asyncio.run(converse(url))"
    ),
    "websockets_async": (
        "import asyncio\n"
        "from websockets.asyncio.client import connect\n"
        "async def converse(url):\n"
        "    async with connect(url, additional_headers={'x-tenant': 'b'}) as socket:\n"
        "        await socket.send('a')\n"
        "        return await socket.recv()\n"
        "def say_a(url): return asyncio.run(converse(url))"
    ),
    "websockets": (
        "from websockets.sync.client import connect\n"
        "def say_a(url):\n"
        "    with connect(url, additional_headers={'x-tenant': 'b'}) as socket:\n"
        "        socket.send('a')\n"
        "        return socket.recv()"
    ),
}


@pytest.mark.parametrize("client", WEBSOCKETS)
def test_a_websocket_is_led_like_a_request(pytester, run, client):
    serve = pytest.importorskip("websockets.sync.server").serve
    heard = []

    def answer(socket):
        for said in socket:
            heard.append(said)
            socket.send(f"{said}, you say")

    pytester.makepyfile(
        f"{WEBSOCKETS[client]}\n"
        "import pytest\n"
        "@pytest.mark.retape\n"
        "def test_say_a(port): assert say_a(f'ws://127.0.0.1:{port}/chat') == 'a, you say'\n"
        "@pytest.mark.retape\n"
        "def test_nobody_listens():\n"
        "    with pytest.raises(OSError, match='be reached'): say_a('wss://127.0.0.1:9/chat')\n"
    )
    with serve(answer, "127.0.0.1", 0) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        port = server.socket.getsockname()[1]
        pytester.makeconftest(f"import pytest\n@pytest.fixture\ndef port(): return {port}\n")

        result = run()
        result.assert_outcomes(passed=2)
        result.stdout.no_fnmatch_line("*past retape*")
        assert heard == ["a"]
        server.shutdown()

    run("--record-mode=none", "--block-network").assert_outcomes(passed=2)


def test_nothing_is_opened_where_a_loop_would_wait(pytester, run, live):
    pytester.makepyfile(
        f"""
        import asyncio, builtins, certifi, httpx, pytest

        async def get(monkeypatch):
            async with httpx.AsyncClient() as client:
                monkeypatch.setattr(builtins, "open", None)
                return await client.get("{live.url}/a")

        @pytest.mark.retape
        def test_get(monkeypatch): assert asyncio.run(get(monkeypatch)).json() == {{"path": "/a"}}
        """
    )

    run().assert_outcomes(passed=1)
    run("--record-mode=none").assert_outcomes(passed=1)


def test_https_goes_out_from_retape_and_not_from_the_client(pytester, run):
    pytester.makepyfile(
        """
        import httpx, pytest, requests

        @pytest.mark.retape
        @pytest.mark.parametrize("get", [httpx.get, requests.get])
        def test_get(get):
            with pytest.raises((httpx.ConnectError, requests.ConnectionError), match="`https://127.0.0.1:9` .* be reached"):
                get("https://127.0.0.1:9/x")
        """
    )

    run().assert_outcomes(passed=2)
    run("--record-mode=none").assert_outcomes(passed=2)


TRUSTING = {
    "httpx": "httpx.get(url, verify={trust})",
    "httpx_async": "asyncio.run(asked(url, {trust}))",
    "requests": "requests.get(url, verify='ca.pem' if {trust} else False)",
    "botocore": "botocore(url, 'ca.pem' if {trust} else False)",
    "urllib": "urllib.request.urlopen(url, context={trust} or ssl._create_unverified_context())",
    "aiohttp_request": "asyncio.run(aio(url, None, {trust}))",
    "aiohttp_session": "asyncio.run(aio(url, {trust}, True))",
}


@pytest.mark.parametrize("client", TRUSTING)
def test_a_server_is_recorded_whose_certificate_the_client_trusts(pytester, run, live, client):
    authority = trustme.CA()
    authority.cert_pem.write_to_path(pytester.path / "ca.pem")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    leaf = authority.issue_cert("localhost")
    leaf.cert_chain_pems[0].write_to_path(pytester.path / "leaf.pem")
    leaf.configure_cert(context)
    live.socket = context.wrap_socket(live.socket, server_side=True)
    pytester.makepyfile(
        f"""
        import asyncio, ssl, urllib.request
        import aiohttp, httpx, pytest, requests
        from botocore.awsrequest import AWSRequest
        from botocore.httpsession import URLLib3Session

        def botocore(url, verify):
            return URLLib3Session(verify=verify).send(AWSRequest("GET", url).prepare())

        async def asked(url, trust):
            async with httpx.AsyncClient(verify=trust) as client:
                return await client.get(url)

        async def aio(url, session, request):
            async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(ssl=True if session is None else session)) as it:
                async with it.get(url, **({{}} if request is True else {{"ssl": request}})) as response:
                    return await response.read()

        @pytest.mark.retape
        @pytest.mark.parametrize("trust", [False, True], ids=["anyone", "one"])
        def test_it(trust):
            trust = trust and ssl.create_default_context(cafile="ca.pem")
            url = "https://localhost:{live.server_port}/x"
            {TRUSTING[client].format(trust="trust")}

        @pytest.mark.retape
        def test_leaf():
            context = ssl.create_default_context()
            context.load_verify_locations("leaf.pem")
            httpx.get("https://localhost:{live.server_port}/x", verify=context)

        @pytest.mark.retape
        def test_nobody():
            with pytest.raises(requests.ConnectionError):
                requests.get("https://localhost:{live.server_port}/x")
        """
    )

    run().assert_outcomes(passed=4)
    assert live.asked == 3
    stop(live)
    run("--record-mode=none").assert_outcomes(passed=4)
    assert not [path for path in pytester.path.glob("cassettes/**/*.json") if "retape-trust" in path.read_text()]


def test_a_server_that_nobody_started_refuses_the_connection(pytester, run, client):
    pytester.makepyfile(
        client=CLIENTS[client],
        test_it=f"""
        import client, pytest

        @pytest.mark.retape
        def test_get():
            with pytest.raises(Exception) as raised:
                client.get("http://127.0.0.1:9/x")
            names = {{each.__name__ for each in type(raised.value).__mro__}}
            known = {{"ConnectError", "ConnectionError", "ClientConnectorError", "URLError", "EndpointConnectionError"}}
            known.add("MaxRetryError")
            assert names & known, names
        """,
    )

    run().assert_outcomes(passed=1)
    run("--record-mode=none").assert_outcomes(passed=1)


def test_a_swallowed_miss_fails_its_own_test_and_explains_itself(pytester, run, live):
    pytester.makepyfile(
        f"""
        import httpx, os, pytest

        def ask(path):
            try:
                httpx.post("{live.url}" + path, json={{"colour": os.environ["COLOUR"]}}).raise_for_status()
            except httpx.HTTPError:
                pass

        @pytest.mark.retape
        def test_before(): pass
        @pytest.mark.retape
        def test_swallows(): ask("/things")
        @pytest.mark.retape
        def test_after(): pass
        """
    )
    pytester._monkeypatch.setenv("COLOUR", "red")
    run().assert_outcomes(passed=3)
    pytester._monkeypatch.setenv("COLOUR", "blue")

    result = run()

    result.assert_outcomes(passed=2, failed=1)
    result.stdout.fnmatch_lines(
        [
            "*_ test_swallows _*",
            "a request has no recorded answer",
            "*`*test_swallows` (1 interaction) has no answer to",
            "*POST /things",
            '*/colour*',
            "*pytest --record-mode=all *::test_swallows*",
        ]
    )


def test_a_miss_of_a_test_that_is_expected_to_fail_makes_the_run_red(pytester, run, live, monkeypatch):
    pytester.makepyfile(
        f"""
        import httpx, pytest

        pytestmark = [pytest.mark.retape, pytest.mark.xfail(strict=True)]
        def test_known(): assert httpx.get("{live.url}/a").json() == ["what is not built yet"]
        """
    )
    run().assert_outcomes(xfailed=1)
    stop(live)
    monkeypatch.setenv("CI", "1")
    run().assert_outcomes(xfailed=1)
    Path("cassettes/test_a_miss_of_a_test_that_is_expected_to_fail_makes_the_run_red/test_known.json").unlink()

    result = run()

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*a request has no recorded answer*", "*GET http*/a*"])


def test_each_test_is_told_why_retape_cannot_be_started(pytester, run, monkeypatch):
    monkeypatch.setenv("RETAPE_BIN", "/nowhere/retape")
    pytester.makepyfile(
        """
        import pytest

        pytestmark = pytest.mark.retape

        @pytest.fixture(scope="module")
        def shared(): return 1

        def test_a(shared): pass
        def test_b(shared): pass
        def test_c(): pass
        """
    )

    result = run()

    result.assert_outcomes(errors=3)
    assert str(result.stdout).count("retape: cannot start `/nowhere/retape`") >= 3
    assert "AssertionError" not in str(result.stdout)


def test_a_client_that_has_no_live_server_to_ask_fails(pytester, run):
    pytester.makepyfile("import httpx\ndef test_url(retape_url): httpx.get(retape_url + '/v1/agents')")

    result = run()

    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["*recording needs the address of a live server*"])


def test_what_plugins_put_around_a_test_is_around_its_proof(pytester, run, live):
    pytester.makeconftest(
        """
        import pytest

        @pytest.hookimpl(hookwrapper=True)
        def pytest_runtest_protocol(item):
            item.limit = 7
            yield
            del item.limit
        """
    )
    pytester.makepyfile(
        f"""
        import httpx, pytest

        @pytest.mark.retape
        def test_limited(request):
            assert request.node.limit == 7
            httpx.get("{live.url}/a")
        """
    )

    result = run()

    result.assert_outcomes(passed=1)
    result.stdout.no_fnmatch_line("*but not replayed*")


def test_a_failing_test_saves_nothing(pytester, run, live):
    pytester.makepyfile(
        f"""
        import httpx, pytest

        @pytest.mark.retape
        def test_fails():
            assert httpx.get("{live.url}/a").status_code == 404
        """
    )

    run().assert_outcomes(failed=1)

    assert live.asked == 1
    assert not list(pytester.path.glob("cassettes/**/*.json*"))


SHARED = """
    import httpx, pytest

    URL = "{url}"

    @pytest.fixture(scope="{scope}")
    def thing():
        thing = httpx.post(URL + "/things", json={{"name": "shared"}}).json()
        yield thing
        httpx.get(URL + "/gone/" + thing["id"])

    pytestmark = pytest.mark.retape

    def test_one(thing): assert httpx.get(URL + "/things/" + thing["id"]).json() == thing
    def test_two(thing): assert httpx.get(URL + "/things/" + thing["id"]).json() == thing
    def test_three(thing): assert httpx.get(URL + "/other/" + thing["id"]).json() == thing
    """


def test_a_test_that_needs_its_faults_is_told_how_it_gets_a_cassette(pytester, run, live):
    test = f"""
        import httpx, pytest
        @pytest.mark.retape("shared", faults=["503 x9"])
        def test_spoiled(): assert httpx.get("{live.url}/things").status_code == 503
        """
    pytester.makepyfile(test_it=test)
    alone = run()
    alone.assert_outcomes(failed=1)
    alone.stdout.fnmatch_lines(["faults are left out while a cassette is recorded"])
    alone.stdout.fnmatch_lines(["hint: let a test without `faults` record the cassette*"])

    recording = f"""
        import httpx, pytest
        @pytest.mark.retape("shared")
        def test_whole(): assert httpx.get("{live.url}/things").status_code == 200
        """
    pytester.makepyfile(test_it=recording)
    run().assert_outcomes(passed=1)
    pytester.makepyfile(test_it=test)
    run().assert_outcomes(passed=1)


@pytest.mark.parametrize(
    "scope, order",
    [
        ("module", []),
        ("module", ["-n", "2"]),
        ("module", ["-p", "reverse"]),
        ("session", ["-n", "2"]),
        ("session", ["-p", "reverse"]),
        ("session", ["-k", "three"]),
    ],
)
def test_what_a_shared_fixture_says_is_kept_apart_in_any_order(pytester, run, live, scope, order):
    pytester.makepyfile(test_shared=SHARED.format(url=live.url, scope=scope))
    pytester.makepyfile(reverse="def pytest_collection_modifyitems(items): items.reverse()")
    run().assert_outcomes(passed=3)
    names = sorted(p.name for p in pytester.path.glob("cassettes/test_shared/*.json"))
    assert names == ["fixture-thing.json", "test_one.json", "test_three.json", "test_two.json"]
    stop(live)

    result = run("--block-network", *order)

    assert result.parseoutcomes()["passed"] == (1 if "-k" in order else 3)
    assert "failed" not in result.parseoutcomes()


def test_a_shared_fixture_is_not_recorded_where_all_tests_that_have_it_fail(pytester, run, live, monkeypatch):
    pytester.makepyfile(test_shared=SHARED.format(url=live.url, scope="module"))
    run().assert_outcomes(passed=3)
    cassette = pytester.path / "cassettes/test_shared/fixture-thing.json"
    good = cassette.read_text()

    def refuse(self):
        self.rfile.read(int(self.headers["content-length"]))
        self.send(b'{"error": "no"}')

    with monkeypatch.context() as broken:
        broken.setattr(Answers, "do_POST", refuse)
        assert run("--record-mode=all").parseoutcomes()["failed"] == 3
    assert cassette.read_text() == good
    run("--record-mode=none").assert_outcomes(passed=3)

    # One that fails is no fault of the fixture.
    text = SHARED.format(url=live.url, scope="module")
    pytester.makepyfile(test_shared=text + "\n    def test_four(thing): assert False\n")
    cassette.unlink()
    run("--record-mode=all").assert_outcomes(passed=3, failed=1)
    assert cassette.exists()


@pytest.mark.parametrize("order", [[], ["-p", "reverse"]])
def test_a_name_that_a_fixture_makes_up_is_the_same_in_its_tests_when_recorded_again(pytester, run, live, order):
    pytester.makepyfile(reverse="def pytest_collection_modifyitems(items): items.reverse()")
    pytester.makepyfile(
        test_it=f"""
        import httpx, pytest, uuid

        @pytest.fixture(scope="session")
        def thing():
            name = "thing " + uuid.uuid4().hex
            return name, httpx.post("{live.url}/things", json={{"name": name}}).json()["id"]

        pytestmark = pytest.mark.retape

        def test_one(thing): assert httpx.get("{live.url}/things/" + thing[1]).json()["name"] == thing[0]
        def test_two(thing): assert httpx.get("{live.url}/things/" + thing[1]).json()["name"] == thing[0]
        """
    )
    run().assert_outcomes(passed=2)
    before = {path: path.read_text() for path in pytester.path.glob("cassettes/**/*.json")}

    run("--record-mode=all", *order).assert_outcomes(passed=2)

    assert {path: path.read_text() for path in pytester.path.glob("cassettes/**/*.json")} == before
    stop(live)
    run("--record-mode=none").assert_outcomes(passed=2)


def test_a_base_address_leads_to_the_cassette_of_whoever_asks(pytester, run, live):
    pytester.makeini(f"[pytest]\nretape_upstream = {live.url}\n")
    pytester.makepyfile(
        """
        import httpx, pytest

        @pytest.fixture(scope="session")
        def client(retape_url):
            client = httpx.Client(base_url=retape_url)
            client.made = client.post("/things", json={"name": "of the session"}).json()
            return client

        def test_one(client): assert client.get("/things/" + client.made["id"]).json() == client.made
        def test_two(client): assert client.get("/x").json() == {"path": "/x"}
        """
    )
    run().assert_outcomes(passed=2)
    stop(live)

    run("--block-network").assert_outcomes(passed=2)

    names = sorted(p.name for p in pytester.path.glob("cassettes/**/*.json"))
    assert names == ["fixture-client.json", "test_one.json", "test_two.json"]


def test_an_ide_runs_one_test_from_anywhere_and_again_in_its_process(pytester, live):
    pytester.makeini("[pytest]\n")
    pytester.makepyfile(
        test_it=f"""
        import httpx, pytest
        pytestmark = pytest.mark.retape
        def test_one(): assert httpx.get("{live.url}/one").json() == {{"path": "/one"}}
        def test_two(): assert httpx.get("{live.url}/two").json() == {{"path": "/two"}}
        """
    )
    runner = pytester.makepyfile(
        runner=f"""
        import os, pytest
        os.chdir({str(pytester.mkdir("elsewhere"))!r})
        one = {str(pytester.path / "test_it.py::test_one")!r}
        assert pytest.main(["-p", "no:cacheprovider", one]) == 0
        assert pytest.main(["-p", "no:cacheprovider", one, "--block-network"]) == 0
        """
    )

    assert pytester.runpython(runner).ret == 0

    names = [str(p.relative_to(pytester.path)) for p in pytester.path.rglob("*.json")]
    assert (names, live.asked) == (["cassettes/test_it/test_one.json"], 1)


def test_the_network_is_blocked_but_for_allowed_hosts(pytester, run, live):
    pytester.makepyfile(
        f"""
        import socket, urllib.request, pytest
        connect = socket.socket.connect

        @pytest.mark.block_network
        def test_blocked():
            with pytest.raises(Exception, match="^Network is disabled$"):
                urllib.request.urlopen("{live.url}")
            for host, reach in {{
                "127.0.0.1": lambda: connect(socket.socket(), ("127.0.0.1", {live.server_port})),
                "example.invalid": lambda: socket.getaddrinfo("example.invalid", 80),
                "/none/socket": lambda: socket.socket(socket.AF_UNIX).connect("/none/socket"),
                "127.0.0.3": lambda: connect(socket.socket(), (bytearray(b"127.0.0.3"), 80)),
            }}.items():
                with pytest.raises(RuntimeError, match="^Network is disabled$") as refused:
                    reach()
                assert repr(host) in str(refused.value.__cause__)

        @pytest.mark.block_network(allowed_hosts=["127.0.0.*", "/none/"])
        def test_allowed():
            urllib.request.urlopen("{live.url}")
            with pytest.raises(FileNotFoundError):
                socket.socket(socket.AF_UNIX).connect("/none/socket")

        def test_not_blocked(): urllib.request.urlopen("{live.url}")

        @pytest.mark.block_network(hosts=["127.0.0.1"])
        def test_misspelt(): pass
        """
    )

    run().assert_outcomes(passed=3, errors=1)


def test_nothing_is_patched_outside_of_a_test_with_a_cassette(pytester, run, live):
    pytester.makepyfile(
        f"""
        import http.client, httpcore, httpx, pytest
        before = [http.client.HTTPConnection.connect, http.client.HTTPConnection.putrequest,
                  httpcore.ConnectionPool.handle_request]
        def now(): return [http.client.HTTPConnection.connect, http.client.HTTPConnection.putrequest,
                           httpcore.ConnectionPool.handle_request]

        @pytest.mark.retape
        def test_led(): assert now() != before; httpx.get("{live.url}/a")
        def test_not(): assert now() == before
        """
    )

    run().assert_outcomes(passed=2)


def test_pytest_recordings_marker_and_fixtures_mean_the_same(pytester, run, live):
    pytester.makepyfile(
        f"""
        import httpx, pytest

        @pytest.fixture(scope="module")
        def vcr_config(): return {{"filter_headers": ["authorization"], "ignore_localhost": False}}

        class TestThings:
            @pytest.mark.vcr
            @pytest.mark.parametrize("x", ["a/b", "long" * 80])
            def test_get(self, vcr, x):
                assert httpx.get("{live.url}/x").json() == {{"path": "/x"}}
                assert httpx.get("{live.url}/y").json() == {{"path": "/y"}}
                assert [request.uri for request in vcr.requests] == ["{live.url}/x", "{live.url}/y"]
                assert vcr.responses[0]["body"]["string"] == b'{{"path": "/x"}}'
                assert vcr.play_count == 2 and vcr.all_played
        """
    )
    run().assert_outcomes(failed=2)
    run("--record-mode=once").assert_outcomes(passed=2)
    stop(live)

    run().assert_outcomes(passed=2)

    folder = next(pytester.path.glob("cassettes/*"))
    assert (folder / "TestThings.test_get[a-b].json").is_file()
    assert all(len(file.name) < 170 for file in folder.iterdir())


def test_what_was_not_asked_for_and_whose_test_is_gone_is_reported(pytester, run, live):
    test = """
        import httpx, pytest
        pytestmark = pytest.mark.retape
        def test_a(): [httpx.get("{url}/" + p) for p in "{paths}"]
        def {name}(): httpx.get("{url}/z")
        """
    pytester.makepyfile(test_it=test.format(url=live.url, paths="xy", name="test_b"))
    run().assert_outcomes(passed=2)
    pytester.makepyfile(test_it=test.format(url=live.url, paths="x", name="test_renamed"))

    result = run("--record-mode=none", "--deselect", "test_it.py::test_renamed")
    result.stdout.fnmatch_lines(["*test_it.py::test_a: GET /y (interaction 2)"])
    assert "no test has" not in result.stdout.str()
    run("--retape-strict", "-k", "test_a").assert_outcomes(passed=1, errors=1, deselected=1)

    result = run("-n", "2")
    result.stdout.fnmatch_lines(["no test has this cassette:", "*test_it?test_b.json"])


def test_new_episodes_are_added_and_all_is_recorded_anew(pytester, run, live):
    test = "import httpx, pytest\n@pytest.mark.retape\ndef test_a(): {}\n"
    get = "assert httpx.get('{0}/{1}').json() == {{'path': '/{1}'}}"
    pytester.makepyfile(test_it=test.format(get.format(live.url, "a")))
    run().assert_outcomes(passed=1)
    pytester.makepyfile(test_it=test.format("; ".join(get.format(live.url, each) for each in "ab")))

    run().assert_outcomes(failed=1)
    run("--record-mode=new_episodes").assert_outcomes(passed=1)
    assert live.asked == 2
    run("--record-mode=all").assert_outcomes(passed=1)
    assert live.asked == 4
    stop(live)

    run().assert_outcomes(passed=1)


def test_two_servers_in_one_test(pytester, run, live):
    other = Live()
    threading.Thread(target=other.serve_forever, daemon=True).start()
    pytester.makepyfile(
        f"""
        import httpx, pytest, requests

        @pytest.mark.retape
        def test_two():
            made = httpx.post("{live.url}/things", json={{"a": 1}}).json()
            assert requests.get("{other.url}/things/" + made["id"]).json() == {{"path": "/things/" + made["id"]}}
            assert requests.get("{live.url}/things/" + made["id"]).json() == made
        """
    )
    run().assert_outcomes(passed=1)
    stop(other)
    stop(live)

    run("--block-network").assert_outcomes(passed=1)

    assert [p.name for p in pytester.path.glob("cassettes/**/*.json")] == ["test_two.json"]


HOOKED = """
    import httpx, json, pytest

    SEEN = []

    def before_request(request):
        if request.path == "/left/out":
            return None
        if request.body:
            body = json.loads(request.body)
            SEEN.append(body.pop("nonce"))
            request.body = json.dumps(body)
        request.uri = request.uri.replace("/eu/", "/region/").replace("/us/", "/region/")
        return request

    def before_response(response):
        response["body"]["string"] = response["body"]["string"].replace(b"colour", b"color")
        return response

    @pytest.fixture
    def vcr_config():
        return {{
            "before_record_request": before_request,
            "before_record_response": before_response,
            "filter_headers": ["x-tenant", ("x-team", "TEAM")],
            "filter_post_data_parameters": ["account"],
        }}

    @pytest.mark.vcr
    def test_it(vcr):
        headers = {{"x-tenant": "{tenant}", "x-team": "{tenant}"}}
        thing = {{"a": 1, "nonce": "{nonce}", "account": "{nonce}", "text": "colour"}}
        made = httpx.post("{url}/{region}/things", headers=headers, json=thing).json()
        assert made["text"] == "{text}"
        assert made.get("nonce", "{nonce}") == "{seen}"
        assert httpx.get("{url}/left/out").status_code == 200
        assert [request.method for request in vcr.requests][:1] == ["POST"]
    """


def test_functions_of_vcrpy_decide_what_is_kept_and_what_counts(pytester, run, live):
    said = {"url": live.url, "region": "eu", "tenant": "t1", "nonce": "n1", "seen": "n1", "text": "colour"}
    pytester.makepyfile(test_it=HOOKED.format(**said))
    run("--record-mode=once").assert_outcomes(passed=1)
    kept = next(pytester.path.glob("cassettes/**/*.json")).read_text()

    said = {**said, "region": "us", "tenant": "t2", "nonce": "n2", "text": "color"}
    pytester.makepyfile(test_it=HOOKED.format(**said))
    run().assert_outcomes(passed=1)

    assert '"/region/things"' in kept and "TEAM" in kept
    request, _ = kept.split('"response"', 1)
    assert not any(each in request for each in ("n1", "t1", "/eu/", "left"))
    assert "colour" in request and "colour" not in kept.split('"response"', 1)[1]

    stop(live)
    # What no function keeps asks its server, and nobody is there.
    result = run("--block-network")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*GET */left/out*"])


def test_a_function_that_raises_fails_its_test(pytester, run, live):
    pytester.makepyfile(
        f"""
        import httpx, pytest

        def raises(request):
            raise ValueError("no " + request.path)

        @pytest.mark.vcr(before_record_request=raises)
        def test_it(): httpx.get("{live.url}/a")
        """
    )
    folder = pytester.path / "cassettes" / "test_a_function_that_raises_fails_its_test"
    folder.mkdir(parents=True)
    (folder / "test_it.yaml").write_text(VCR.format(url=live.url))

    result = run()

    assert result.ret == 1
    result.stdout.fnmatch_lines(["*ValueError: no /a"])


VCR = """
interactions:
- request: {{body: null, headers: {{}}, method: GET, uri: '{url}/a'}}
  response: {{body: {{string: first}}, headers: {{}}, status: {{code: 200, message: OK}}}}
- request: {{body: null, headers: {{Cookie: [a]}}, method: GET, uri: '{url}/a'}}
  response: {{body: {{string: second}}, headers: {{}}, status: {{code: 200, message: OK}}}}
- request: {{body: null, headers: {{}}, method: GET, uri: 'https://eu.example.com/b'}}
  response: {{body: {{string: third}}, headers: {{}}, status: {{code: 200, message: OK}}}}
version: 1
"""


def test_a_cassette_of_vcrpy_is_played_with_the_matchers_of_its_suite(pytester, run):
    pytester.makeconftest(
        """
        import re

        def pytest_recording_configure(config, vcr):
            def same_host(one, other):
                host = lambda it: re.sub(r"^[a-z]+\\.", "", it.host)
                assert host(one) == host(other)
            vcr.register_matcher("host", same_host)
            vcr.register_serializer("yaml", None)
        """
    )
    pytester.makepyfile(
        test_it="""
        import httpx, pytest

        @pytest.mark.vcr(match_on=["method", "host", "path"])
        def test_it(vcr):
            assert len(vcr.requests) == 3 and vcr.play_count == 0
            assert [httpx.get("http://h.example.com/a").text for _ in range(2)] == ["first", "second"]
            assert httpx.get("https://us.example.com/b").text == "third"
            assert vcr.all_played and vcr.record_mode == "none" and vcr._path.endswith("test_it.yaml")
        """
    )
    folder = pytester.mkdir("cassettes")
    (folder / "test_it").mkdir()
    (folder / "test_it" / "test_it.yaml").write_text(VCR.format(url="http://h.example.com"))

    run("--block-network").assert_outcomes(passed=1)


def test_further_cassettes_of_a_marker_are_played_behind_its_own(pytester, run):
    pytester.makepyfile(
        test_it="""
        import httpx, pytest

        @pytest.mark.vcr("shared.yaml", "missing.yaml")
        def test_it(vcr):
            assert httpx.get("http://own.example.com/a").text == "first"
            assert httpx.get("http://shared.example.com/a").text == "first"
            assert (vcr.play_count, len(vcr)) == (2, 6)

        @pytest.mark.vcr("shared.yaml")
        def test_without_its_own():
            assert httpx.get("http://shared.example.com/a").text == "first"
        """
    )
    folder = pytester.mkdir("cassettes") / "test_it"
    folder.mkdir()
    (folder / "test_it.yaml").write_text(VCR.format(url="http://own.example.com"))
    (folder / "shared.yaml").write_text(VCR.format(url="http://shared.example.com"))

    result = run("--block-network")

    result.assert_outcomes(passed=2)
    # Nobody has to ask for all of what is shared.
    unplayed = [line.strip() for line in result.outlines if "(interaction" in line]
    assert unplayed == [
        "test_it.py::test_it: GET /a (interaction 2)",
        "test_it.py::test_it: GET https://eu.example.com/b (interaction 3)",
    ]
    result.stdout.no_fnmatch_line("*no test has this cassette*")


LONG = "x" * 260


@pytest.mark.parametrize(
    "test, file",
    [
        ("a~b#c", "test_it[a~b#c]"),
        ("x" * 200, f"test_it[{'x' * 200}]"),
        # Behind 215 characters pytest-recording goes on with a hash.
        (LONG, f"test_it[{LONG}"[:215] + "..." + hashlib.md5(f"test_it[{LONG}]".encode()).hexdigest()),
    ],
)
def test_a_cassette_with_a_name_of_pytest_recordings_own_is_found(pytester, run, live, test, file):
    code = """
        import httpx, pytest
        @pytest.mark.vcr
        @pytest.mark.parametrize("name", [1], ids=["{name}"])
        def test_it(name): assert httpx.get("{url}/a").text{ending}
        """
    pytester.makepyfile(test_it=code.format(name=test, url="http://h.example.com", ending=' == "first"'))
    folder = pytester.mkdir("cassettes") / "test_it"
    folder.mkdir()
    (folder / f"{file}.yaml").write_text(VCR.format(url="http://h.example.com"))

    result = run("--block-network")

    result.assert_outcomes(passed=1)
    result.stdout.no_fnmatch_line("*no test has this cassette*")
    # What is recorded anew takes its place.
    pytester.makepyfile(test_it=code.format(name=test, url=live.url, ending=""))
    run("--record-mode=rewrite").assert_outcomes(passed=1)
    stop(live)
    run("--block-network").assert_outcomes(passed=1)


def test_streams_and_connections_that_are_kept_alive(pytester, run, live):
    pytester.makepyfile(
        f"""
        import httpx, pytest, requests
        session, client = requests.Session(), httpx.Client()

        def test_outside(): assert session.get("{live.url}/out").json() == {{"path": "/out"}}

        @pytest.mark.retape
        @pytest.mark.parametrize("n", [1, 2])
        def test_stream(n):
            with client.stream("GET", "{live.url}/stream") as response:
                assert [line for line in response.iter_lines() if line] == [f'data: {{{{"n": {{n}}}}}}' for n in range(3)]
            lines = session.get("{live.url}/stream", stream=True).iter_lines()
            assert len([line for line in lines if line]) == 3

        def test_outside_again(): assert session.get("{live.url}/out").json() == {{"path": "/out"}}
        """
    )

    run().assert_outcomes(passed=4)
    live.asked = 0
    run().assert_outcomes(passed=4)
    assert live.asked == 2


def test_a_client_that_is_never_closed_leaves_no_connection_behind(pytester, run, live):
    pytester.makeini("[pytest]\nfilterwarnings = error\n")
    pytester.makepyfile(
        f"""
        import asyncio, gc, httpx, pytest

        async def ask(): return await httpx.AsyncClient().get("{live.url}/a")

        @pytest.mark.retape
        def test_it():
            assert asyncio.run(ask()).json() == {{"path": "/a"}}
            gc.collect()
        """
    )

    run().assert_outcomes(passed=1)
    run().assert_outcomes(passed=1)


def test_a_body_of_known_length_is_there_with_its_head(pytester, run, live):
    pytester.makepyfile(
        f"""
        import pytest, requests, socket

        @pytest.mark.retape
        def test_it(monkeypatch):
            response = requests.get("{live.url}/a", stream=True)
            with monkeypatch.context() as offline:
                offline.delattr(socket.SocketIO, "readinto")
                assert response.json() == {{"path": "/a"}}
        """
    )

    run().assert_outcomes(passed=1)
    run("--block-network").assert_outcomes(passed=1)


def test_a_whole_folder_by_setting(pytester, run, live):
    pytester.makeini("[pytest]\nretape_tests = tests/api\nretape_cassettes = tapes\n")
    for folder in ("api", "unit"):
        file = pytester.path / "tests" / folder / f"test_{folder}.py"
        file.parent.mkdir(parents=True)
        file.write_text(f"import httpx\ndef test_it(): httpx.get('{live.url}/a')\n")

    run().assert_outcomes(passed=2)

    assert [str(p.relative_to(pytester.path)) for p in pytester.path.glob("tapes/**/*.json")] == [
        "tapes/tests/api/test_api/test_it.json"
    ]


@pytest.mark.parametrize("workers", [[], ["-n", "2"]])
def test_one_report_lists_what_strict_matching_would_refuse(pytester, run, live, workers):
    test = """
        import httpx, pytest
        @pytest.mark.vcr
        @pytest.mark.parametrize("name", ["a", "b"])
        def test_it(name): httpx.post("{url}/things", json={{"name": name, "model": "{model}"}}).raise_for_status()
        """
    pytester.makepyfile(test_it=test.format(url=live.url, model="old"))
    run("--record-mode=once").assert_outcomes(passed=2)
    pytester.makepyfile(test_it=test.format(url=live.url, model="new"))
    run().assert_outcomes(failed=2)

    run("--retape-report-lax=drift.md", *workers).assert_outcomes(passed=2)

    report = (pytester.path / "drift.md").read_text()
    assert "2 of 2 requests, in 2 of 2 cassettes" in report
    assert "1. **2 requests in 2 cassettes**, such as `test_it/test_it[a]`" in report
    assert '   - `$.model`: `"old"` → `"new"`' in report and '  "$.model",' in report
    assert "### `test_it/test_it[a]`" in report


def test_a_marker_that_says_what_cannot_be_is_told_with_how_it_is_written(pytester, run):
    pytester.makepyfile(
        test_it="""
        import pytest
        @pytest.mark.retape(faults="503 x2")
        def test_text(): pass
        @pytest.mark.retape(faults=[503])
        def test_number(): pass
        @pytest.mark.retape(mode=3)
        def test_mode(): pass
        @pytest.mark.retape(7)
        def test_name(): pass
        @pytest.mark.retape("a", "b")
        def test_two(): pass
        @pytest.mark.retape("a", name="b")
        def test_twice(): pass
        """
    )

    result = run()

    result.assert_outcomes(errors=6)
    told = result.stdout.str()
    assert "`faults` of `retape` is a list of strings, not '503 x2': `@pytest.mark.retape(" in told
    assert "`faults` of `retape` is a list of strings, not [503]" in told
    assert "`mode` of `retape` is a string, not 3" in told
    assert "`name` of `retape` is a string, not 7" in told
    assert "`retape` takes one name, and the rest by keywords" in told
    assert "`retape` has two values for `name`" in told


def test_what_goes_wrong_is_told_where_it_is_looked_for(pytester, run, live, monkeypatch):
    pytester.makepyfile(
        test_it=f"""
        import httpx, pytest
        @pytest.mark.retape
        def test_down(): assert httpx.get("http://127.0.0.1:1/a").json()["path"]
        @pytest.mark.retape(nam="a")
        def test_misspelt(): pass
        @pytest.mark.retape("shared")
        def test_first(): httpx.get("{live.url}/1")
        @pytest.mark.retape("shared")
        def test_second(): httpx.get("{live.url}/2")
        """
    )

    told = run().stdout.str()

    assert "`http://127.0.0.1:1` cannot be reached: the connection was refused" in told
    assert "`retape` has no argument `nam`; it has `name`, `mode` and `faults`" in told
    assert "`test_it.py::test_first` has the same cassette" in told

    monkeypatch.setenv("RETAPE_BIN", "/none/retape")
    told = run("-k", "first").stdout.str()

    assert "retape: cannot start `/none/retape`: No such file or directory\nhint: `pip install retape`" in told
    assert "_server.py" not in told


def test_that_there_is_no_binary_is_told_in_two_lines_for_a_shared_fixture_too(pytester, run, live, monkeypatch):
    pytester.makepyfile(test_shared=SHARED.format(url=live.url, scope="module"))
    monkeypatch.setenv("RETAPE_BIN", "/none/retape")

    told = run().stdout.str()

    assert "retape: cannot start `/none/retape`: No such file or directory\nhint: `pip install retape`" in told
    assert not any(word in told for word in ("_server.py", "IndexError", "During handling")), told
    assert live.asked == 0


def test_a_marked_test_that_asks_nothing_of_retape_is_told(pytester, run, live):
    pytester.makepyfile(
        "import subprocess, sys\n"
        "import pytest\n"
        "@pytest.mark.retape\n"
        "def test_by_a_program():\n"
        f"    ask = 'import urllib.request; urllib.request.urlopen(\"{live.url}/x\")'\n"
        "    subprocess.run([sys.executable, '-c', ask], check=True)\n"
    )

    result = run()
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*asked nothing of retape*", "*::test_by_a_program"])
    assert live.asked == 1
    run("--retape-strict", "--record-mode=none").assert_outcomes(passed=1, errors=1)


@pytest.mark.parametrize("workers", [[], ["-n1"]])
def test_what_goes_past_retape_is_told(pytester, run, live, workers):
    pytester.makepyfile(
        f"""
        import socket, urllib.request
        import pytest

        pytestmark = pytest.mark.retape
        address = ("localhost", {live.server_port})

        def ask_by_hand():
            with socket.create_connection(address) as connection:
                connection.sendall(b"GET /x HTTP/1.0\\r\\n\\r\\n")
                assert connection.makefile("rb").read()

        def test_by_hand():
            urllib.request.urlopen("{live.url}/a").close()
            ask_by_hand()

        @pytest.fixture(scope="module")
        def made(): ask_by_hand()

        def test_with_a_fixture(made): urllib.request.urlopen("{live.url}/b").close()

        @pytest.mark.block_network(allowed_hosts=["localhost"])
        def test_allowed(): ask_by_hand()

        @pytest.mark.vcr(ignore_localhost=True)
        def test_ignored():
            urllib.request.urlopen("{live.url}/c").close()
        """
    )
    run().assert_outcomes(passed=4)
    told = [
        "connected to past retape*",
        f"  localhost:{live.server_port} (fixture `made`)",
        f"  localhost:{live.server_port} (*::test_by_hand)",
    ]

    result = run("--record-mode=none", *workers)
    result.assert_outcomes(passed=4)
    result.stdout.fnmatch_lines(told, consecutive=True)
    result.stdout.no_fnmatch_line("*(*::test_allowed)")
    result.stdout.no_fnmatch_line("*(*::test_ignored)")
    strict = run("--record-mode=none", "--retape-strict", "-k", "by_hand")
    strict.assert_outcomes(passed=1, errors=1, deselected=3)
    run("--record-mode=none", "--allowed-hosts=localhost", *workers).stdout.no_fnmatch_line("*past retape*")


def test_a_test_that_is_recorded_beside_a_replayed_fixture_is_told(pytester, run, live):
    fixture = (
        "import httpx, pytest\n"
        "pytestmark = pytest.mark.retape\n"
        "@pytest.fixture(scope='session')\n"
        "def thing():\n"
        f"    return httpx.post('{live.url}/things', json={{'name': 'a'}}).json()['id']\n"
        f"def get(thing): return httpx.get('{live.url}/things/' + thing).json()\n"
        "def test_1(thing): assert get(thing)['name'] == 'a'\n"
    )
    pytester.makepyfile(fixture)
    first = run()
    first.assert_outcomes(passed=1)
    assert "a fixture was replayed" not in first.stdout.str()
    live.things.clear()

    pytester.makepyfile(fixture + "def test_2(thing): assert get(thing)['name'] == 'a'\n")
    result = run()

    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["recorded while a fixture was replayed*", "*::test_2 (fixture `thing`)"])
    run("--record-mode=rewrite").assert_outcomes(passed=2)
    assert "a fixture was replayed" not in run().stdout.str()


@pytest.mark.parametrize(
    "name, value, told",
    [
        ("RETAPE_MODE", "rplay", "`RETAPE_MODE=rplay` is no mode; known are: replay, record, once, new_episodes, pass*"),
        ("RETAPE_URL", "http://127.0.0.1:9", "no retape answers at http://127.0.0.1:9*"),
    ],
)
def test_a_wrong_variable_is_named(pytester, run, live, monkeypatch, name, value, told):
    monkeypatch.setenv(name, value)
    pytester.makepyfile("import pytest\n@pytest.mark.retape\ndef test_a(): pass\n")

    result = run()

    result.stdout.fnmatch_lines([f"*{told}"])
    assert name in result.stdout.str() and "Traceback" not in result.stdout.str()


def test_passthrough_asks_the_live_server(pytester, run, live, monkeypatch):
    monkeypatch.setenv("RETAPE_MODE", "passthrough")
    pytester.makepyfile(
        "import httpx, pytest\n"
        "@pytest.mark.retape\n"
        f"def test_a(): assert httpx.get('{live.url}/x').json()\n"
    )

    for asked in (1, 2):
        run().assert_outcomes(passed=1)
        assert live.asked == asked


@pytest.mark.parametrize("settings", ["pytest.ini", None])
def test_cassettes_and_rules_are_found_from_any_folder(pytester, run, live, monkeypatch, settings):
    project = pytester.mkdir("project")
    (project / "tests").mkdir()
    if settings:
        (project / settings).write_text("")
    (project / "retape.toml").write_text('[match]\nignore = ["query.run"]\n')
    (project / "tests" / "test_it.py").write_text(
        "import httpx, os, pytest\n"
        "@pytest.fixture(scope='module')\n"
        f"def thing(): return httpx.post('{live.url}/things', json={{}}).json()['id']\n"
        "@pytest.mark.retape\n"
        "def test_own(thing):\n"
        f"    assert httpx.get(f'{live.url}/things/{{thing}}?run={{os.getcwd()}}').status_code == 200\n"
        "@pytest.mark.vcr\n"
        "def test_as_pytest_recording():\n"
        f"    assert httpx.get(f'{live.url}/a?run={{os.getcwd()}}').status_code == 200\n"
    )
    monkeypatch.chdir(project)
    run("--record-mode=once").assert_outcomes(passed=2)
    stop(live)
    recorded = sorted(pytester.path.rglob("*.json"))

    for folder, arguments in [
        (project / "tests", []),
        (project / "tests", ["test_it.py::test_own"]),
        (pytester.path, ["project/tests"]),
        (pytester.path, ["--rootdir=.", "project"]),
        ("/", [str(project / "tests" / "test_it.py")]),
    ]:
        monkeypatch.chdir(folder)
        run("--record-mode=none", *arguments).assert_outcomes(passed=1 if "::" in str(arguments) else 2)
        assert run("--record-mode=once", *arguments).ret == 0

    assert sorted(pytester.path.rglob("*.json")) == recorded


def test_without_a_cassette_and_without_settings_the_folder_is_told(pytester, run, live, monkeypatch):
    tests = pytester.mkdir("tests")
    (tests / "test_it.py").write_text(
        f"import httpx, pytest\n@pytest.mark.retape\ndef test_get(): httpx.get('{live.url}/a')\n"
    )
    monkeypatch.chdir(tests)

    result = run("--record-mode=none")

    told = f"*pytest found no settings, so the project's folder is `{tests}`*"
    result.stdout.fnmatch_lines(["*pytest --record-mode=all test_it.py::test_get", told])
    (pytester.path / "pytest.ini").write_text("")
    result = run("--record-mode=none")
    result.stdout.fnmatch_lines(["*no cassette `tests/test_it/test_get`*", f"*GET {live.url}/a*"])
    result.stdout.no_fnmatch_line("*found no settings*")


@pytest.mark.parametrize("workers", [[], ["-n2"]])
def test_a_misspelt_name_in_the_rules_is_told_once(pytester, run, live, workers):
    pytester.makefile(".toml", retape='[[cassette]]\nname = "test_it/test_gte"\nignore = ["query.x"]\n')
    pytester.makepyfile(
        test_it="import httpx, pytest\n"
        "@pytest.mark.retape\n"
        f"def test_get(): httpx.get('{live.url}/a')\n"
        "@pytest.mark.vcr(record_mode='once')\n"
        f"def test_other(): httpx.get('{live.url}/b')\n"
    )

    for _ in range(2):
        result = run(*workers)
        result.assert_outcomes(passed=2)
        told = [line for line in result.outlines if "did you mean" in line]
        assert told == [
            f"  no cassette fits `test_it/test_gte` (`{pytester.path}/retape.toml`, line 2); "
            "did you mean `test_it/test_get`?"
        ]


def test_a_test_has_the_same_name_in_each_runner():
    for text, expected in json.loads((Path(__file__).parents[2] / "names.json").read_text()):
        assert part(text) == expected
    assert part("a\ud800b") == "a_b-c3693aea"


def test_a_cassette_with_a_former_name_is_found(pytester, run, live):
    pytester.makepyfile(
        test_it="import httpx, pytest\n"
        "@pytest.mark.retape\n"
        "@pytest.mark.parametrize('x', ['a:b'])\n"
        f"def test_own(x): httpx.get('{live.url}/a')\n"
        "@pytest.mark.vcr\n"
        "@pytest.mark.parametrize('x', ['a~b'])\n"
        f"def test_vcr(x): httpx.get('{live.url}/a')\n"
    )
    run("--record-mode=once").assert_outcomes(passed=2)
    stop(live)
    recorded = sorted((pytester.path / "cassettes").rglob("*.json"))
    former = {"test_own[a:b]": "test_own[a_b]-46a96a5a", "test_vcr[a~b]": "test_vcr[a_b]-9c1891e9"}
    for path, (text, name) in zip(recorded, former.items()):
        assert former_part(text) == name and path.stem == part(text)
        path.rename(path.with_stem(name))

    result = run("--record-mode=none")

    result.assert_outcomes(passed=2)
    result.stdout.no_fnmatch_line("*no test has this cassette*")


def test_what_pytest_recording_says_of_folders_and_keys_is_heeded_or_told(pytester, run, live):
    pytester.makepyfile(
        test_it=f"""
        import httpx, pytest

        def get(path): assert httpx.get("{live.url}" + path).json() == {{"path": path}}

        @pytest.mark.vcr(cassette_library_dir="lib", additional_matchers=["host"], filter_header=["x-a"])
        def test_elsewhere(vcr_markers):
            assert len(vcr_markers) == 1
            get("/a")

        @pytest.mark.vcr(filter_sensitive_data={{"<KEY>": "k"}})
        def test_refused(): get("/a")
        """
    )
    lib = pytester.mkdir("lib")
    (lib / "test_elsewhere.yaml").write_text(
        "interactions:\n"
        f"- request: {{body: null, headers: {{}}, method: GET, uri: '{live.url}/a'}}\n"
        "  response:\n"
        "    body: {string: '{\"path\": \"/a\"}'}\n"
        "    headers: {content-type: [application/json]}\n"
        "    status: {code: 200, message: OK}\n"
        "version: 1\n"
    )

    result = run()
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["*retape: `filter_sensitive_data` in `vcr_config` does nothing here"])
    result.stdout.fnmatch_lines(["  `filter_header`; did you mean `filter_headers`?"])
    assert live.asked == 0

    for _ in range(2):
        result = run("--record-mode=rewrite", "-k", "elsewhere")
        result.assert_outcomes(passed=1, deselected=1)
        result.stdout.fnmatch_lines(
            ["not played any more*", "  lib/test_elsewhere.yaml", "recorded, and*:", "  lib/test_elsewhere.json"]
        )


def test_retape_record_proves_what_the_suite_makes_up(pytester, run, live):
    pytester.makepyfile(
        f"""
        import httpx, pytest, uuid

        def make(): return httpx.post("{live.url}/things", json={{"name": "x-" + uuid.uuid4().hex[:6]}}).json()["id"]

        @pytest.fixture(scope="module")
        def thing(): return make()

        @pytest.mark.retape
        def test_make(): make()

        @pytest.mark.retape
        def test_get(thing): assert httpx.get("{live.url}/things/" + thing).json()["id"] == thing
        """
    )

    result = pytester.run(binary(), "record", "--", sys.executable, "-m", "pytest", "-p", "no:cacheprovider")

    assert result.ret == 0
    result.stderr.fnmatch_lines(["retape: made up by the client: *", "retape: it replays without the server*"])
    result.stdout.no_fnmatch_line("*retape record*")
    stop(live)
    run("--record-mode=none").assert_outcomes(passed=2)
    again = pytester.run(
        binary(), "record", "--", sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--record-mode=new_episodes"
    )
    assert again.ret == 0


MAKES_UP = """
    import httpx, itertools, pytest, random, string
    from datetime import date
    pytestmark = pytest.mark.retape
    runs = itertools.count()

    def word(): return "".join(random.choices(string.ascii_lowercase, k=8))
    def post(**body): return httpx.post("{url}/things", json=body).json()

    @pytest.fixture(scope="module")
    def thing(): return post(name=word(), kind="shared")

    def test_name(): assert (name := word()) == post(name=name, kind="own")["name"]
    def test_shared(thing): assert httpx.get("{url}/things/" + thing["id"]).json() == thing
    def test_day(): assert post(prompt=f"Today is {{date.today()}}")["prompt"].startswith("Today")
    def test_folder(tmp_path): assert post(folder=str(tmp_path))["folder"] == str(tmp_path)
    def test_fixed(): post(name="otter", kind="fixed")
"""


@pytest.mark.parametrize("workers", [(), ("-n1",)])
def test_what_a_test_makes_up_is_found_when_it_is_recorded(pytester, run, live, workers):
    pytester.makepyfile(test_it=MAKES_UP.format(url=live.url))

    recorded = run(*workers)
    asked = live.asked
    stop(live)
    replayed = [run("--record-mode=none", *workers) for _ in range(2)]

    recorded.assert_outcomes(passed=5)
    recorded.stdout.fnmatch_lines(["made up by the test, *:", "recorded, and replayed without the server:"])
    made_up = [line for line in recorded.outlines if line.startswith("  `")]
    fields = {field for line in made_up for field in ("name", "prompt", "folder", "kind") if f"(/{field} in" in line}
    assert fields == {"name", "prompt", "folder"}, made_up
    assert asked == 6
    for each in replayed:
        each.assert_outcomes(passed=5)
    pytester.makepyfile(test_it=MAKES_UP.format(url=live.url).replace("otter", "badger"))
    run("--record-mode=none", *workers).assert_outcomes(passed=4, failed=1)


def test_an_interrupted_test_leaves_nothing_behind(pytester, run, live):
    pytester.makepyfile(
        "import urllib.request, pytest\n"
        "pytestmark = pytest.mark.retape\n"
        f"def test_a(): urllib.request.urlopen('{live.url}/a').close()\n"
        "def test_b():\n"
        f"    urllib.request.urlopen('{live.url}/b').close()\n"
        "    raise KeyboardInterrupt\n"
    )

    result = run()
    assert result.ret == pytest.ExitCode.INTERRUPTED
    assert [p.name for p in pytester.path.glob("cassettes/*/*")] == ["test_a.json"]


def test_a_recording_that_does_not_replay_is_told_and_kept(pytester, run, live):
    pytester.makepyfile(
        f"""
        import httpx, itertools, pytest
        runs = itertools.count()
        @pytest.mark.retape
        def test_counts(): httpx.post("{live.url}/things", json={{"abc"[next(runs)]: 1}}).raise_for_status()
        """
    )

    recorded = run()
    spared = run("--record-mode=all", "--retape-no-prove")

    recorded.assert_outcomes(passed=1)
    recorded.stdout.fnmatch_lines(["recorded, but not replayed when the test ran again *:", "  *::test_counts"])
    spared.assert_outcomes(passed=1)
    spared.stdout.fnmatch_lines(["recorded:"])
    spared.stdout.no_fnmatch_line("*replayed*")
    assert list(pytester.path.rglob("test_counts.json"))


ON_ITS_RUN = """
    import httpx, itertools, os, pathlib, pytest, signal, subprocess
    runs = itertools.count()

    def end_retape():
        found = subprocess.run(["ps", "-o", "pid=,comm=", "--ppid", str(os.getpid())], capture_output=True, text=True)
        for line in found.stdout.splitlines():
            if "retape" in line: os.kill(int(line.split()[0]), signal.SIGKILL)

    def lose_cassettes():
        for file in pathlib.Path("cassettes").rglob("*.json"): file.unlink()

    @pytest.mark.retape
    def test_it():
        httpx.post("{url}/things", json={{"name": "abc"[run := next(runs)] * 9, "kind": "x"}})
        if run == {number}: {does}()
"""


@pytest.mark.parametrize(
    ("number", "does", "told"),
    [
        (0, "end_retape", "retape: no retape answers at *"),
        (1, "end_retape", "    retape: no retape answers at *"),
        (1, "lose_cassettes", "    retape: no cassette `test_it/test_it` *"),
    ],
)
def test_a_retape_that_cannot_go_on_is_told_and_breaks_nothing(pytester, run, live, number, does, told):
    pytester.makepyfile(test_it=ON_ITS_RUN.format(url=live.url, number=number, does=does))

    result = run()

    result.stdout.fnmatch_lines([told])
    result.stdout.no_fnmatch_line("INTERNALERROR*")
    assert ("failed" in result.parseoutcomes()) == (number == 0)


ROOM = """
    import httpx, pytest
    def make(name): return httpx.post("{url}/rooms", json={{"name": name}}).json()
    def name_of(room): return httpx.get("{url}/rooms/" + room["id"]).json()["name"]
"""


def test_what_sets_a_class_or_a_module_up_is_recorded(pytester, run, live):
    pytester.makepyfile(room=ROOM.format(url=live.url))
    pytester.makepyfile(
        """
        import pytest, unittest
        from room import make, name_of
        pytestmark = pytest.mark.retape

        class TestPlain:
            @classmethod
            def setup_class(cls): cls.room = make("plain")
            def test_it(self): assert name_of(self.room) == "plain"

        class TestUnit(unittest.TestCase):
            @classmethod
            def setUpClass(cls): cls.room = make("unit")
            def test_it(self): assert name_of(self.room) == "unit"

        def setup_module(): globals()["of_module"] = make("module")
        def test_it(): assert name_of(of_module) == "module"
        """
    )

    run().assert_outcomes(passed=3)
    stop(live)
    run("--record-mode=none", "--retape-strict").assert_outcomes(passed=3)

    files = {file.name for file in Path("cassettes").rglob("fixture-*")}
    assert files == {"fixture-setup_class.json", "fixture-setUpClass.json", "fixture-setup_module.json"}


def test_a_fixture_that_is_set_up_for_a_test_without_a_cassette_is_recorded(pytester, run, live):
    pytester.makepyfile(room=ROOM.format(url=live.url))
    pytester.makeconftest(
        """
        import pytest
        from room import make
        @pytest.fixture(scope="session", autouse=True)
        def room(): return make("shared")
        """
    )
    pytester.makepyfile(test_a="def test_unit(): pass")
    pytester.makepyfile(
        test_b="""
        import pytest
        from room import name_of
        @pytest.mark.retape
        def test_it(room): assert name_of(room) == "shared"
        """
    )

    run().assert_outcomes(passed=2)
    stop(live)
    run("--record-mode=none").assert_outcomes(passed=2)
    assert Path("cassettes/fixture-room.json").is_file()


def test_a_fixture_of_modules_has_a_cassette_for_each(pytester, run, live):
    pytester.makepyfile(room=ROOM.format(url=live.url))
    pytester.makeconftest(
        """
        import pytest
        from room import make
        @pytest.fixture(scope="module")
        def room(request): return make(request.module.__name__)
        """
    )
    for module in ("test_a", "test_b"):
        text = f"""
            import pytest
            from room import name_of
            @pytest.mark.retape
            def test_it(room): assert name_of(room) == "{module}"
        """
        pytester.makepyfile(**{module: text})

    run().assert_outcomes(passed=2)
    stop(live)
    run("--record-mode=none").assert_outcomes(passed=2)
    files = sorted(str(file) for file in Path("cassettes").rglob("fixture-*"))
    assert files == ["cassettes/test_a/fixture-room.json", "cassettes/test_b/fixture-room.json"]


def test_a_new_test_beside_a_fixture_is_recorded_with_what_that_is_called(pytester, run, live):
    pytester.makepyfile(room=ROOM.format(url=live.url))
    pytester.makeconftest(
        """
        import pytest, uuid
        from room import make
        @pytest.fixture(scope="session")
        def room(): return make(f"room-{uuid.uuid4()}")
        """
    )
    one = "import pytest\nfrom room import name_of\npytestmark = pytest.mark.retape\n"
    one += 'def test_one(room): assert name_of(room) == room["name"]\n'
    two = 'def test_two(room): assert name_of(room) == room["name"]\n'

    pytester.makepyfile(test_it=one)
    run().assert_outcomes(passed=1)
    pytester.makepyfile(test_it=one + two)
    run("--record-mode=all").assert_outcomes(passed=2)
    stop(live)
    run("--record-mode=none").assert_outcomes(passed=2)


def test_what_passed_before_a_failure_ends_the_run_is_proved(pytester, run, live):
    pytester.makepyfile(
        f"""
        import httpx, pytest, random
        pytestmark = pytest.mark.retape
        def test_a():
            name = " ".join("".join(random.choices("abcdefgh", k=5)) for _ in range(4))
            assert httpx.post("{live.url}/things", json={{"name": name}}).json()["name"] == name
        def test_b(): assert False
        """
    )

    run("-x", "-p", "no:randomly").stdout.fnmatch_lines(["made up by the test*", "recorded, and replayed without the server:"])


def test_a_recording_that_is_interrupted_or_killed_is_no_cassette(pytester, run, live):
    text = """
        import httpx, os, pytest, signal
        @pytest.mark.retape
        def test_it():
            httpx.get("{url}/a")
            if os.environ.get("END"): os.kill({whom}, signal.{signal})
            httpx.get("{url}/b")
    """
    for whom, how in (("os.getpid()", "SIGKILL"), ("0", "SIGINT")):
        pytester.makepyfile(text.format(url=live.url, whom=whom, signal=how))
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-p", "no:cacheprovider"],
            env={**os.environ, "END": "1"},
            start_new_session=True,
            # What runs in the background of a shell inherits that it is to ignore an interrupt.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )
        assert done.returncode != 0
        assert wait_for(lambda: not list(Path(".").rglob("*.part")))
        assert not [file for file in Path(".").rglob("test_it.json")]
        run().assert_outcomes(passed=1)
        shutil.rmtree("cassettes")


def wait_for(is_so):
    for _ in range(100):
        if is_so():
            return True
        time.sleep(0.05)
    return False


def test_cassettes_of_modules_and_fixtures_that_are_gone_are_told_and_no_others(pytester, run, live):
    pytester.makepyfile(room=ROOM.format(url=live.url))
    conftest = """
        import pytest
        from room import make
        @pytest.fixture(scope="session")
        def {name}(): return make("shared")
    """
    text = """
        import os, pytest
        from room import make, name_of
        @pytest.mark.retape
        def test_it({name}): name_of({name})
        @pytest.mark.retape("test_new/special")
        @pytest.mark.skipif("SKIP" in os.environ, reason="not here")
        def test_named(): make("named")
    """
    pytester.makeconftest(conftest.format(name="room"))
    pytester.makepyfile(test_old=text.format(name="room"))
    run().assert_outcomes(passed=2)
    Path("test_old.py").unlink()
    pytester.makeconftest(conftest.format(name="lobby"))
    pytester.makepyfile(test_new=text.format(name="lobby"))
    run().assert_outcomes(passed=2)
    os.environ["SKIP"] = "1"
    try:
        told = run().stdout.str()
    finally:
        del os.environ["SKIP"]

    lines = told.split("no test has this cassette:\n")[1].split("\n")
    assert lines[:2] == ["  cassettes/fixture-room.json", "  cassettes/test_old/test_it.json"]
    assert "special" not in told
