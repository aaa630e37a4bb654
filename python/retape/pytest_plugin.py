"""The pytest plugin: a cassette for each test.

See ``docs/pytest.md``. It takes the place of pytest-recording: its marker, options and fixtures mean the same.
"""

from __future__ import annotations

import os
import re
import shlex
from contextlib import ExitStack, suppress
from copy import deepcopy
from pathlib import Path
from typing import Any, Callable, Dict, Iterable, Iterator, List, Optional, Set, Tuple

import pytest

from . import _names, _place, _transport
from ._network import blocked, is_blocked, unwatch, watch
from ._proof import Proof
from ._scope import MODES, Scope
from ._server import Refused, Server
from ._vcr import Cassette, Configuration, Hooks, stop_hooks

_SCOPE: "pytest.StashKey[Scope]" = pytest.StashKey()
_TOLD: "pytest.StashKey[List[Any]]" = pytest.StashKey()
_FAILED: "pytest.StashKey[bool]" = pytest.StashKey()
_SUITE: "pytest.StashKey[Suite]" = pytest.StashKey()

#: What is reported at the end of a run, and what it says.
_REPORTS = {
    "unplayed": "recorded, and not asked for (record the test again, if that is meant to be)",
    "orphaned": "no test has this cassette",
    "silent": "asked nothing of retape (a program that the test starts is not led to it: give it `retape_url`)",
    "past": "connected to past retape, so neither recorded nor replayed (`--allowed-hosts` names what may be reached; "
    "`retape_url` is an address for clients that are not led)",
    "mixed": "recorded while a fixture was replayed, so the server may not know what the fixture made "
    "(record all anew: --record-mode=rewrite)",
    "idle": "in retape.toml, for cassettes that are not there",
    "unknown": "in `vcr_config` or a marker, and not known",
    "replaced": "not played any more, as the test has a new recording (remove it)",
    "unproved": "recorded, but not replayed when the test ran again without the server "
    "(--record-mode=none shows why)",
    "made_up": "made up by the test, so any value is accepted there",
    "recorded": "recorded",
    "proved": "recorded, and replayed without the server",
}


class Suite:
    """What the plugin knows of a run, or of one worker of it."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.server = self._server()
        self.alias = f"~{os.environ.get('PYTEST_XDIST_WORKER', 'main')}"
        #: Who is asking: the test, and above it the fixtures that are being set up or torn down.
        self.stack: List[Scope] = []
        self.has_base_address = False
        self.reports: Dict[str, List[str]] = {name: [] for name in _REPORTS}
        self.opened: Set[str] = set()
        #: What the shared fixtures that are set up said, by their names.
        self.shared: Dict[str, Scope] = {}
        #: Which test had a cassette first.
        self.users: Dict[str, str] = {}
        self.items: List[pytest.Item] = []
        self.is_partial = False
        self.proof = Proof()
        self.is_proving = False
        self.worker_seen: Optional[Dict[str, List[str]]] = None
        self.worker_fixtures: Optional[List[str]] = None
        self.failed_teardown: Optional[Exception] = None

    def _server(self) -> Server:
        shared = getattr(self.config, "workerinput", {}).get("retape_url")
        report = self.config.getoption("--retape-report-lax")
        if shared:
            return Server(shared, is_ours=True)
        if report:
            return Server(options=["--report-lax", str(self.config.invocation_params.dir / report)])
        return Server.of_environment()

    @property
    def upstream(self) -> Optional[str]:
        """The live server of clients that have retape as their base address."""
        return os.environ.get("RETAPE_UPSTREAM") or self.config.getini("retape_upstream") or None

    def enter(self, scope: Scope) -> None:
        """From now on this one is asking."""
        address = self.server.address
        self.stack.append(scope)
        _transport.enter(address, scope.session_for)
        watch(address, scope.note_past)
        self.route()

    def leave(self, scope: Scope) -> None:
        """It is not asking any more."""
        assert self.stack.pop() is scope
        unwatch()
        _transport.leave()
        self.route()

    def route(self) -> None:
        """Leads clients that have retape as their base address to who is asking."""
        if self.has_base_address:
            to = self.stack[-1].open(self.upstream) if self.stack else None
            self.server.route(self.alias, to)

    def base_address(self) -> str:
        """The address that always leads to who is asking."""
        self.has_base_address = True
        self.route()
        return f"{self.server.url}/{self.alias}/-"

    def note_mixed(self, scope: Scope, item: pytest.Item) -> None:
        """Notes what a test asks of a live server beside a fixture that does not."""
        names = getattr(item, "fixturenames", ())
        shared = {name: self.shared[name] for name in names if name in self.shared}
        replayed = [name for name, other in shared.items() if other.mode_of_session() == "replay"]
        if replayed and scope.mode_of_session() in ("record", "new_episodes") and scope.interactions():
            self.reports["mixed"].append(f"{item.nodeid} (fixture `{replayed[0]}`)")

    def finish(self, scope: Scope, *, save: bool, title: str) -> None:
        """Ends the session of a test or a fixture, and notes what is to be reported."""
        self.opened.add(os.path.join(scope.folder, scope.name))
        self.opened.update(os.path.splitext(file)[0] for file in scope.also)
        if not self.is_proving:
            self.reports["past"] += [f"{where} ({title})" for where in sorted(scope.past)]
        came = scope.finish(save=save)
        if came is None:
            return
        if self.is_proving:
            self.proof.note_made_up(_place.shown(self.config, scope.path), came.get("made_up", []))
            return
        for recording in came["recorded"]:
            if recording["path"]:
                self.proof.note_recorded(recording["path"])
                path = _place.shown(self.config, recording["path"])
                self.reports["recorded"].append(path)
                self.reports["replaced"] += [_place.shown(self.config, file) for file in scope.former()]
            if recording["unanswered"]:
                raise Refused(f"the live server failed: {recording['fault']}")
        if save and came["mode"] == "replay" and not came["misses"]:
            for left in came["unplayed"]:
                line = f"{title}: {left['method']} {left['path']} (interaction {left['interaction']})"
                self.reports["unplayed"].append(line)

    def prepare(self, scope: Scope) -> Scope:
        """Lets a test or a fixture go on from the fixtures that are set up. What is recorded is played while it is
        proved."""
        scope.beside = list(self.shared.values())
        if self.is_proving:
            scope.mode, scope.is_proof = "none", self.proof.is_of(scope.path)
        return scope

    def prove(self) -> None:
        """Runs again what was recorded, without the server."""
        self.is_proving = True
        try:
            unproved = self.proof.run(self.config)
        finally:
            self.is_proving = False
        self.reports["made_up"] += self.proof.made_up
        self.reports["unproved"] += unproved
        if not unproved:
            self.reports["proved"], self.reports["recorded"] = self.reports["recorded"], []

    def seen(self) -> Optional[Dict[str, List[str]]]:
        """For each folder that belongs to a test module, the cassettes that its tests may have. Nothing where
        only a part of the tests was collected."""
        asked = self.config.args
        if self.is_partial or any("::" in each for each in asked):
            return None
        folders: Dict[str, List[str]] = {}
        for item in self.items:
            if not _has_cassette(item) or item.get_closest_marker("default_cassette"):
                continue
            if item.get_closest_marker("vcr"):
                folder = _vcr_folder(item.path)
                name = _names.of_vcr(getattr(item, "cls", None), item.name)
                also = [*_names.files_of_vcr(name), *_further(item)]
                folders.setdefault(folder, []).extend(os.path.splitext(file)[0] for file in also)
                folders[folder].append(_names.former_part(name))
                name = _names.part(name)
            else:
                folder, name = _place.of_node(self.config, item.nodeid)
                depth = _names.of_node(item.nodeid[item.nodeid.find("::") :]).count("/") + 1
                above, name = name.rsplit("/", depth)[0], "/".join(name.split("/")[-depth:])
                folder = os.path.join(folder, *above.split("/"))
            folders.setdefault(folder, []).append(name)
        return folders

    def named(self) -> Iterator[str]:
        """The cassettes that markers name, also those of tests that are skipped."""
        for item in self.items:
            marker = item.get_closest_marker("retape")
            name = None
            # What it says that cannot be is told by its test.
            with suppress(pytest.UsageError):
                name = _said(marker).get("name") if marker else None
            if name:
                folder, name = _place.of_node(self.config, item.nodeid, name)
                yield os.path.join(folder, *name.split("/"))

    def fixtures(self) -> List[str]:
        """What the fixtures of the tests are called."""
        known = (name for item in self.items for name in getattr(item, "fixturenames", ()))
        return sorted({_title(name) for name in known})

    def orphans(self) -> List[str]:
        """The cassettes beside those of the collected tests that belong to none of them, and those of test modules that
        are gone."""
        seen = self.worker_seen if self.worker_seen is not None else self.seen()
        if not seen:
            return []
        fixtures = self.worker_fixtures if self.worker_fixtures is not None else self.fixtures()
        found = set()
        for folder, names in seen.items():
            known = {os.path.join(folder, name) for name in names} | self.opened
            found.update(file for file in _cassettes(Path(folder).rglob("*")) if os.path.splitext(file)[0] not in known)
        root, above = _place.root(self.config), {Path(folder) for folder in seen}
        above |= {parent for folder in above for parent in folder.parents if root in (parent, *parent.parents)}
        of_fixtures = {file for folder in above for file in _cassettes(folder.glob("fixture-*"))}
        of_fixtures = {file for file in of_fixtures if os.path.splitext(file)[0] not in self.opened}
        found = {file for file in found | of_fixtures if _fixture_of(file) not in fixtures}
        for folder in _place.gone_modules(self.config, root):
            found.update(file for file in _cassettes(folder.rglob("*")) if os.path.splitext(file)[0] not in self.opened)
        return [_place.shown(self.config, file) for file in sorted(found)]


def _cassettes(files: Iterable[Path]) -> Iterator[Path]:
    """Those that are cassettes."""
    for file in files:
        beside = file.stem.endswith((".failed", ".unanswered", ".recovered"))
        if file.suffix in (".json", ".yaml", ".yml") and not beside:
            yield file


def _fixture_of(cassette: Path) -> Optional[str]:
    """The fixture whose cassette this is, if it is one's."""
    name = cassette.stem.partition("[")[0]
    return name[len("fixture-") :] if name.startswith("fixture-") else None


# Options


def pytest_addoption(parser: pytest.Parser, pluginmanager: pytest.PytestPluginManager) -> None:
    group = parser.getgroup("retape", "recorded HTTP (retape)")
    # Its options have the same names.
    pluginmanager.set_blocked("recording")
    try:
        group.addoption("--record-mode", choices=sorted(MODES), help=_MODE_HELP)
    except ValueError:
        raise pytest.UsageError(
            "pytest-recording is installed too, and has the same options: "
            "`pip uninstall pytest-recording`, or `-p no:recording`, or `-p no:retape`"
        ) from None
    group.addoption("--block-network", action="store_true", help="refuse connections, but to retape")
    group.addoption("--allowed-hosts", help="regular expressions of hosts that may be reached, with commas between")
    group.addoption("--disable-recording", action="store_true", help="let all requests go to the live server")
    group.addoption(
        "--retape-strict", action="store_true", help="fail also if something recorded was not asked for"
    )
    group.addoption(
        "--retape-no-prove", action="store_true", help="do not run again, without the server, what was recorded"
    )
    group.addoption(
        "--retape-report-lax",
        metavar="FILE",
        help="compare method and address alone, as vcrpy does, and write what strict matching would have refused",
    )
    parser.addini("retape_tests", "tests that have a cassette without a marker: files or folders", "paths", [])
    parser.addini("retape_cassettes", "the folder of cassettes (cassettes)", "string", "")
    parser.addini("retape_upstream", "the live server of clients that use `retape_url`", "string", "")
    parser.addini("record_mode", _MODE_HELP, "string", "")


_MODE_HELP = "none: replay; once: record what has no cassette; new_episodes: add what is new; all, rewrite: record anew"


class _Hooks:
    @pytest.hookspec
    def pytest_recording_configure(self, config: pytest.Config, vcr: Configuration) -> None:
        """Configures all tests marked with `vcr`: matchers and functions, as pytest-recording has it."""


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    try:
        pluginmanager.add_hookspecs(_Hooks)
    except ValueError:
        # pytest-recording has it too; its options say so in a moment.
        pass


def pytest_configure(config: pytest.Config) -> None:
    if config.pluginmanager.hasplugin("vcr"):
        raise pytest.UsageError(
            "pytest-vcr is installed too, and has the same marker: `pip uninstall pytest-vcr`, or `-p no:vcr`"
        )
    for line in (
        "vcr: the test has a cassette, where pytest-recording has it",
        "retape(name=None, *, mode=None, faults=()): the test has a cassette",
        "default_cassette(name): another name for the cassette",
        "block_network(allowed_hosts=None): refuse connections, but to retape",
    ):
        config.addinivalue_line("markers", line)
    config.stash[_SUITE] = Suite(config)


def pytest_unconfigure(config: pytest.Config) -> None:
    suite = config.stash.get(_SUITE, None)
    if suite is not None:
        suite.server.stop()
        stop_hooks()


# Fixtures


@pytest.fixture(scope="session")
def retape_url(pytestconfig: pytest.Config) -> str:
    """A base address for a client: it leads to the cassette of whoever is asking, test or fixture."""
    return pytestconfig.stash[_SUITE].base_address()


@pytest.fixture(scope="session")
def record_mode(pytestconfig: pytest.Config) -> str:
    """The mode, if nothing nearer to the test says another one."""
    return _mode_of_run(pytestconfig) or "none"


@pytest.fixture(scope="session")
def disable_recording(pytestconfig: pytest.Config) -> bool:
    """Whether all requests go to the live server."""
    return _is_disabled(pytestconfig)


@pytest.fixture
def vcr_config() -> Dict[str, Any]:
    """What holds for all `vcr` markers of a module; override it."""
    return {}


@pytest.fixture
def vcr_markers(request: pytest.FixtureRequest) -> List[pytest.Mark]:
    """The `vcr` markers of a test, the nearest one first."""
    return list(request.node.iter_markers("vcr"))


@pytest.fixture(scope="module")
def vcr_cassette_dir(request: pytest.FixtureRequest) -> str:
    """The folder of the cassettes of a module; override it."""
    return _vcr_folder(request.node.path)


@pytest.fixture
def default_cassette_name(request: pytest.FixtureRequest) -> str:
    """The name of the cassette of a test; override it."""
    marker = request.node.get_closest_marker("default_cassette")
    return marker.args[0] if marker else _names.of_vcr(request.cls, request.node.name)


@pytest.fixture
def allowed_hosts(request: pytest.FixtureRequest) -> Optional[List[str]]:
    """Regular expressions of hosts that may be reached although the network is blocked."""
    marker = request.node.get_closest_marker("block_network")
    if marker and (marker.args or set(marker.kwargs) - {"allowed_hosts"}):
        raise pytest.UsageError(
            "Invalid arguments to `block_network`. It accepts only the following keyword arguments: `allowed_hosts`."
        )
    hosts = (
        (marker.kwargs.get("allowed_hosts") if marker else None)
        or request.config.getoption("--allowed-hosts")
        or request.getfixturevalue("vcr_config").get("allowed_hosts")
    )
    return hosts.split(",") if isinstance(hosts, str) else hosts


@pytest.fixture(autouse=True)
def block_network(request: pytest.FixtureRequest) -> Iterator[None]:
    """Blocks the network where that is asked for. What retape records, it fetches itself."""
    is_asked = request.config.getoption("--block-network") or request.node.get_closest_marker("block_network")
    if not is_asked or _is_disabled(request.config):
        yield
        return
    suite = request.config.stash[_SUITE]
    with blocked(request.getfixturevalue("allowed_hosts"), suite.server.address):
        yield


def _refused(error: BaseException) -> BaseException:
    """Why a test cannot begin, with no trace: it is no fault of the test."""
    return pytest.fail.Exception(f"retape: {error}", pytrace=False)


def _failing(error: BaseException) -> Callable[..., None]:
    """A fixture that cannot be made."""

    def fail(**_: Any) -> None:
        raise error

    return fail


@pytest.fixture(autouse=True)
def vcr(request: pytest.FixtureRequest) -> Iterator[Optional[Cassette]]:
    """The cassette of the test: `requests`, `play_count`, `all_played`; `None` if it has none."""
    item = request.node
    if not _has_cassette(item):
        yield None
        return
    suite = request.config.stash[_SUITE]
    try:
        scope = suite.prepare(_scope_of(request, suite))
        scope.allowed = request.getfixturevalue("allowed_hosts") or []
    except (Refused, pytest.UsageError) as error:
        raise _refused(error) from None
    item.stash[_SCOPE] = scope
    item.stash[_FAILED] = False
    first = suite.users.setdefault(scope.path, item.nodeid)
    scope.also_of = None if first == item.nodeid else first
    with ExitStack() as stack:
        # Now, and not within the event loop of a client.
        try:
            scope.open(suite.upstream if suite.has_base_address or "retape_url" in item.fixturenames else None)
        except (Refused, FileNotFoundError) as error:
            raise _refused(error) from None
        suite.enter(scope)
        stack.callback(suite.leave, scope)
        yield Cassette(scope)


# Which cassette


def _mode_of_run(config: pytest.Config) -> Optional[str]:
    return config.getoption("--record-mode") or config.getini("record_mode") or None


def _is_disabled(config: pytest.Config) -> bool:
    return bool(config.getoption("--disable-recording")) or os.environ.get("RETAPE_MODE") == "passthrough"


def _has_cassette(item: pytest.Item) -> bool:
    if _is_disabled(item.config):
        return False
    if item.get_closest_marker("vcr") or item.get_closest_marker("retape"):
        return True
    if "retape_url" in getattr(item, "fixturenames", ()):
        return True
    folders = item.config.getini("retape_tests")
    return any(item.path == folder or folder in item.path.parents for folder in map(Path, folders))


def _vcr_folder(module: Path) -> str:
    return str(module.parent / "cassettes" / module.stem)


def _scope_of(request: pytest.FixtureRequest, suite: Suite) -> Scope:
    item = request.node
    rerun = _rerun(item)
    if suite.has_base_address or "retape_url" in item.fixturenames:
        if not suite.upstream:
            rerun = f"RETAPE_UPSTREAM=URL {rerun}"
    if item.get_closest_marker("vcr"):
        return _vcr_scope(request, suite, rerun)
    marker = item.get_closest_marker("retape")
    said = _said(marker) if marker else {}
    name = said.get("name")
    default = item.get_closest_marker("default_cassette")
    name = name or (default.args[0] if default else None)
    mode = item.config.getoption("--record-mode") or said.get("mode") or item.config.getini("record_mode") or None
    mode, faults = _checked(mode) or _usual(suite), list(said.get("faults") or ())
    return Scope(suite.server, *_place.of_node(item.config, item.nodeid, name), mode, rerun, faults=faults)


def _said(marker: pytest.Mark) -> Dict[str, Any]:
    """What a marker `retape` says; what it cannot say is told with how it is written."""
    example = '`@pytest.mark.retape("letta/hello", mode="once", faults=["503 x2"])`'
    if len(marker.args) > 1:
        raise pytest.UsageError(f"`retape` takes one name, and the rest by keywords: {example}")
    said = dict(zip(("name",), marker.args))
    for key, value in marker.kwargs.items():
        if key not in ("name", "mode", "faults"):
            raise pytest.UsageError(f"`retape` has no argument `{key}`; it has `name`, `mode` and `faults`")
        if key in said:
            raise pytest.UsageError(f"`retape` has two values for `{key}`: {example}")
        said[key] = value
    for key in ("name", "mode"):
        if not isinstance(said.get(key), (str, type(None))):
            raise pytest.UsageError(f"`{key}` of `retape` is a string, not {said[key]!r}: {example}")
    faults = said.get("faults")
    is_list = isinstance(faults, (list, tuple)) and all(isinstance(each, str) for each in faults)
    if faults is not None and not is_list:
        raise pytest.UsageError(f"`faults` of `retape` is a list of strings, not {faults!r}: {example}")
    return said


def _rerun(item: pytest.Item) -> str:
    """The command that records a test anew, in the folder in which pytest was run. It keeps what identifiers are
    called, so that other tests go on with the fixtures that they share."""
    return f"pytest --record-mode=all {shlex.quote(_place.asked_for(item.config, item.nodeid))}"


def _usual(suite: Suite) -> Optional[str]:
    """What is done where nobody says anything; a retape that runs the tests says it itself."""
    if not suite.server.is_ours:
        return None
    said = os.environ.get("RETAPE_MODE")
    if said:
        modes = {"replay": "none", "record": "all", "once": "once", "new_episodes": "new_episodes"}
        if said not in modes:
            raise pytest.UsageError(
                f"`RETAPE_MODE={said}` is no mode; known are: {', '.join(modes)}, passthrough"
            )
        return modes[said]
    return "none" if os.environ.get("CI", "") not in ("", "0", "false") else "once"


def _checked(mode: Optional[str]) -> Optional[str]:
    if mode is not None and mode not in MODES:
        raise pytest.UsageError(f"`{mode}` is no record mode; known are: {', '.join(MODES)}")
    return mode


def _vcr_scope(request: pytest.FixtureRequest, suite: Suite, rerun: str) -> Scope:
    item = request.node
    configuration = Configuration()
    item.config.hook.pytest_recording_configure(config=item.config, vcr=configuration)
    configuration.update(deepcopy(request.getfixturevalue("vcr_config")))
    for marker in reversed(list(item.iter_markers("vcr"))):
        configuration.update(marker.kwargs)
    mode = item.config.getoption("--record-mode") or configuration.record_mode
    mode = mode or item.config.getini("record_mode")
    suite.reports["unknown"] += configuration.unknown
    library = configuration.cassette_library_dir or request.getfixturevalue("vcr_cassette_dir")
    within = os.path.join(_place.project(item.config), str(library))
    name = str(request.getfixturevalue("default_cassette_name"))
    said = re.sub(r"\.(yaml|yml|json)$", "", name)
    folder, name = _placed(os.path.join(within, said))
    also = [os.path.join(within, file) for file in _further(item)]
    own = [os.path.join(within, file) for file in _names.files_of_vcr(said)]
    if not _place.file_of(folder, name):
        # It may have a name that retape does not give.
        also = own + also
    return Scope(
        suite.server,
        folder,
        name,
        _checked(str(getattr(mode, "value", mode) or "none")),
        rerun,
        rules=configuration.rules(),
        also=list(dict.fromkeys(filter(os.path.isfile, also))),
        own=own,
        hooks=Hooks(configuration, lambda url: not is_blocked(url)),
        passes=configuration.passes,
    )


def _further(item: pytest.Item) -> List[str]:
    """The further cassettes that the markers of a test name."""
    return [file for marker in item.iter_markers("vcr") for file in marker.args]


def _placed(path: str) -> Tuple[str, str]:
    """The folder of cassettes and the name below it of a path: `test_module/test_name`, so that reports tell
    tests of different modules apart."""
    folder, name = os.path.split(path)
    former = _names.former_part(name)
    name = former if _place.file_of(folder, former) else _names.part(name)
    above, module = os.path.split(folder)
    if not above or not module or _names.part(module) != module:
        return folder, name
    return above, f"{module}/{name}"


# Fixtures that several tests share


@pytest.hookimpl(hookwrapper=True)
def pytest_fixture_setup(fixturedef: Any, request: Any) -> Iterator[None]:
    """What a shared fixture says goes into a cassette of its own, not into that of the first test."""
    suite = request.config.stash[_SUITE]
    item = getattr(request, "_pyfuncitem", None)
    is_own = fixturedef.argname in ("retape_url", "record_mode", "disable_recording")
    user = None if item is None or fixturedef.scope == "function" or is_own else _user(suite, fixturedef, item)
    if user is None:
        yield
        return
    title = _title(fixturedef.argname)
    name = f"fixture-{title}"
    param = getattr(request, "param", None)
    if param is not None:
        plain = isinstance(param, (str, int, float, bool))
        name += f"[{param if plain else request.param_index}]"
    scope = suite.prepare(
        Scope(
            suite.server,
            *_place_of_fixture(fixturedef, request, name),
            _checked(_mode_of_run(request.config)) or _usual(suite),
            _rerun(user),
            allowed=list(filter(None, (request.config.getoption("--allowed-hosts") or "").split(","))),
        )
    )
    failed: List[bool] = []

    def end() -> None:
        suite.shared.pop(fixturedef.argname, None)
        misses = scope.new_misses()
        suite.leave(scope)
        # If no test that has it passes, the server hardly answered as the tests expect.
        is_kept = not (failed or misses) and (any(scope.outcomes) or not scope.outcomes)
        suite.finish(scope, save=is_kept, title=f"fixture `{title}`")
        if misses:
            pytest.fail(_explained(misses), pytrace=False)

    try:
        suite.enter(scope)
    except (Refused, FileNotFoundError) as error:
        # It is pytest that has to see the fixture fail, or the next test is told something else.
        made, fixturedef.func = fixturedef.func, _failing(_refused(error))
        yield
        fixturedef.func = made
        return
    # Finalizers run in the order opposite to that in which they were added.
    fixturedef.addfinalizer(end)
    suite.shared[fixturedef.argname] = scope
    outcome = yield
    misses = scope.new_misses()
    suite.leave(scope)
    fixturedef.addfinalizer(lambda: suite.enter(scope))
    if misses or outcome.excinfo:
        failed.append(True)
    item.stash.setdefault(_TOLD, []).extend(misses)


def _user(suite: Suite, fixturedef: Any, item: pytest.Item) -> Optional[pytest.Item]:
    """A test with a cassette that has a shared fixture: the one at hand, or another one, for which it is set up already
    by then."""

    def has_it(other: pytest.Item) -> bool:
        known = getattr(getattr(other, "_fixtureinfo", None), "name2fixturedefs", {})
        return fixturedef in known.get(fixturedef.argname, ())

    users = (each for each in (item, *suite.items) if each is item or has_it(each))
    return next((each for each in users if _has_cassette(each) and not each.get_closest_marker("vcr")), None)


def _title(fixture: str) -> str:
    """What a fixture is called. pytest makes one of what sets a class or a module up: `setup_class`, `setUpClass`."""
    made = re.fullmatch(r"_(?:xunit|unittest)_(\w+?)_fixture_.*", fixture)
    return made[1] if made else fixture


def _place_of_fixture(fixturedef: Any, request: Any, name: str) -> Tuple[str, str]:
    """Where the cassette of a shared fixture is. One that is set up for each module or class has one for each of
    them, wherever it is defined, unless they share one already."""
    config = request.config
    defined = _place.of_node(config, f"{fixturedef.baseid}::{name}")
    if fixturedef.scope not in ("module", "class") or _place.file_of(*defined):
        return defined
    return _place.of_node(config, f"{request.node.nodeid}::{name}")


# Reports


def _explained(misses: List[Dict[str, Any]]) -> str:
    count = "a request has" if len(misses) == 1 else f"{len(misses)} requests have"
    shown = misses[:5]
    text = f"{count} no recorded answer\n\n" + "\n\n".join(miss["explanation"] for miss in shown)
    return text if len(shown) == len(misses) else f"{text}\n\nand {len(misses) - len(shown)} more"


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_runtest_makereport(item: pytest.Item, call: Any) -> Iterator[None]:
    """A miss fails the test that asked, whatever its client made of it; a test that fails saves nothing."""
    outcome = yield
    report = outcome.get_result()
    suite = item.config.stash[_SUITE]
    scope = item.stash.get(_SCOPE, None)
    misses, told = item.stash.get(_TOLD, []), []
    item.stash[_TOLD] = []
    try:
        misses = misses + (scope.new_misses() if scope else [])
        if suite.is_proving and scope and report.when == "teardown":
            del item.stash[_SCOPE]
            suite.finish(scope, save=True, title=item.nodeid)
    except Refused as error:
        told = [f"retape: {error}"]
    if suite.is_proving:
        if report.failed or misses or told or scope is None:
            suite.proof.note_failed(item, *told)
        return
    told += [_explained(misses)] if misses else []
    if scope and scope.hooks:
        told += scope.hooks.errors
        scope.hooks.errors = []
    if told:
        if misses and scope and scope.also_of:
            told.append(
                f"`{scope.also_of}` has the same cassette: give each test its own, or add to it with "
                "`--record-mode=new_episodes`"
            )
        if misses and item.config.inipath is None and scope and not os.path.isfile(scope.path):
            told.append(
                f"hint: pytest found no settings, so the project's folder is `{item.config.rootpath}`; if it is "
                "another one, put an empty `pytest.ini` there"
            )
        # That it is expected to fail says nothing of requests that nobody has recorded.
        is_expected = hasattr(report, "wasxfail") and misses
        if report.passed or is_expected:
            report.outcome = "failed"
            report.longrepr = "\n\n".join(told)
            vars(report).pop("wasxfail", None)
        else:
            report.sections.append(("retape", "\n\n".join(told)))
    if report.when == "call" or report.failed:
        for name in suite.shared.keys() & set(getattr(item, "fixturenames", ())):
            suite.shared[name].outcomes.append(not (report.failed or told))
    if scope is None:
        return
    if report.failed and not told and report.when != "teardown":
        unanswered = scope.unanswered()
        if unanswered:
            report.sections.append(("retape", "a live server gave no answer\n\n" + "\n".join(unanswered)))
        if scope.faults and not os.path.isfile(scope.path):
            hint = "let a test without `faults` record the cassette, and name it in both: `@pytest.mark.retape(\"NAME\")`"
            report.sections.append(("retape", f"faults are left out while a cassette is recorded\nhint: {hint}"))
    if report.failed or told:
        item.stash[_FAILED] = True
    if report.when == "call":
        with suppress(Refused):
            suite.note_mixed(scope, item)
    if report.when != "teardown":
        return
    del item.stash[_SCOPE]
    before = {name: len(lines) for name, lines in suite.reports.items()}
    passed = not item.stash.get(_FAILED, False)
    try:
        suite.finish(scope, save=passed, title=item.nodeid)
    except Refused as error:
        report.outcome = "failed"
        report.longrepr = f"retape: {error}"
    if passed and report.passed and suite.proof.is_of(scope.path):
        suite.proof.items.append(item)
    is_marked = any(marker.name in ("vcr", "retape") for marker in item.own_markers)
    if is_marked and passed and report.passed and not os.path.isfile(scope.path):
        suite.reports["silent"].append(item.nodeid)
    for name in ("unplayed", "silent", "past"):
        left = suite.reports[name][before[name] :]
        if left and item.config.getoption("--retape-strict") and report.passed:
            report.outcome = "failed"
            report.longrepr = f"{_REPORTS[name]}:\n  " + "\n  ".join(left)


def pytest_collection_finish(session: pytest.Session) -> None:
    suite = session.config.stash[_SUITE]
    suite.items = list(session.items)
    suite.opened.update(suite.named())


def pytest_deselected(items: List[pytest.Item]) -> None:
    if items:
        items[0].config.stash[_SUITE].is_partial = True


@pytest.hookimpl(hookwrapper=True)
def pytest_runtestloop(session: pytest.Session) -> Iterator[None]:
    """What the tests have recorded is proved once all have run, and nothing of the live servers is needed."""
    outcome = yield
    suite = session.config.stash[_SUITE]
    is_whole = outcome.excinfo is None and not (session.shouldstop or session.shouldfail)
    if outcome.excinfo and issubclass(outcome.excinfo[0], session.Failed) and not session.shouldstop:
        # `-x`: those that passed are proved all the same. The fixtures that they share are still set up.
        try:
            session._setupstate.teardown_exact(None)
            is_whole = True
        except Exception as error:
            # Old releases of pytest tear them down at the very end, and fail then.
            suite.failed_teardown = error
    is_wanted = not (session.config.getoption("--retape-no-prove") or session.config.getoption("usepdb", False))
    if is_whole and is_wanted and suite.server.is_ours and suite.proof.items:
        suite.prove()


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    suite = session.config.stash[_SUITE]
    interrupted = (item.stash.get(_SCOPE, None) for item in suite.items)
    for scope in filter(None, interrupted):
        with suppress(Refused):
            scope.finish(save=False)
    with suppress(Refused):
        suite.reports["idle"] += suite.server.idle_rules()
    suite.server.stop()
    output = getattr(session.config, "workeroutput", None)
    if output is not None:
        output["retape"] = {
            "reports": suite.reports,
            "opened": sorted(suite.opened),
            "seen": suite.seen(),
            "fixtures": suite.fixtures(),
        }
    else:
        suite.reports["orphaned"] = suite.orphans()
    if suite.failed_teardown:
        raise suite.failed_teardown


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """One retape writes the report, whatever the number of workers."""
    if node.config.getoption("--retape-report-lax"):
        node.workerinput["retape_url"] = node.config.stash[_SUITE].server.url


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: Any) -> None:
    """What a worker has to report."""
    suite = node.config.stash[_SUITE]
    output = getattr(node, "workeroutput", {}).get("retape")
    if output is None:
        return
    idle = suite.reports["idle"]
    for name, lines in output["reports"].items():
        suite.reports[name] += lines
    if suite.opened and output["opened"]:
        suite.reports["idle"] = _fitting_none(idle, output["reports"]["idle"])
    suite.opened.update(output["opened"])
    suite.worker_seen, suite.worker_fixtures = output["seen"], output["fixtures"]


def _fitting_none(one: List[str], other: List[str]) -> List[str]:
    """The names that fit no cassette of two workers, each of which has seen its own: with the first hint of both."""

    def named(lines: List[str]) -> Dict[str, str]:
        return {line.partition("; did you mean ")[0]: line for line in lines}

    ours, theirs = named(one), named(other)
    both = [(line, theirs[name]) for name, line in ours.items() if name in theirs]
    return [min(lines, key=lambda line: ("; did you mean " not in line, line)) for lines in both]


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    suite = config.stash[_SUITE]
    reports = {name: sorted(set(lines)) for name, lines in suite.reports.items() if lines}
    if not reports:
        return
    terminalreporter.section("retape")
    for name, lines in reports.items():
        terminalreporter.line(f"{_REPORTS[name]}:")
        for line in lines[:_SHOWN]:
            terminalreporter.line(f"  {line}")
        if len(lines) > _SHOWN:
            terminalreporter.line(f"  and {len(lines) - _SHOWN} more")


#: So many lines of a kind are shown.
_SHOWN = 20
