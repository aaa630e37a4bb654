"""The proof that what was just recorded replays."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Dict, Iterator, List

import pytest
from _pytest.runner import runtestprotocol

#: How often a test is run again at most.
RUNS = 3


class Proof:
    """The tests that were recorded run again in this process, without their server.

    A value of a request that is another one now was made up by the test, and may be any from then on. What is the
    same shows nothing, as the process, its clock and its seeds are the same.
    """

    def __init__(self) -> None:
        #: The tests that were recorded, and the files in which they and their fixtures are.
        self.items: List[pytest.Item] = []
        self.files: "set[str]" = set()
        #: What was made up, as it is reported.
        self.made_up: List[str] = []
        self._recorded = 0.0
        self._learned: List[str] = []
        self._failed: Dict[str, List[str]] = {}

    def note_recorded(self, file: str) -> None:
        """Notes what is to be proved."""
        self.files.add(os.path.abspath(file))
        self._recorded = time.monotonic()

    def is_of(self, file: str) -> bool:
        """Whether a cassette was recorded in this run."""
        return os.path.abspath(file) in self.files

    def note_made_up(self, shown: str, made_up: List[Dict[str, Any]]) -> None:
        """Notes what a run has shown of a cassette, which has it from now on."""
        self._learned += [f"`{it['id']}` ({it['at']} in {shown})" for it in made_up]

    def note_failed(self, item: pytest.Item, *why: str) -> None:
        """Notes a test that was not content with what was replayed, and why, where a replay would not show it."""
        known = self._failed.get(item.nodeid, [])
        self._failed[item.nodeid] = [*known, *why]

    def run(self, config: pytest.Config) -> List[str]:
        """Runs the tests again. Returns those that do not replay."""
        # What says the time in seconds says another one.
        time.sleep(max(0.0, 1.0 - (time.monotonic() - self._recorded)))
        for number in range(RUNS):
            self._learned, self._failed = [], {}
            with _other_seed(config), _other_folder(config), _other_day(number == 0), _unreported(config) as run:
                for item, following in zip(self.items, [*self.items[1:], None]):
                    run(item=item, nextitem=following)
            self.made_up += self._learned
            if not self._learned:
                break
        return ["\n".join([test, *why]).replace("\n", "\n    ") for test, why in self._failed.items()]


class _Unreported:
    """Runs a test without a report."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: "pytest.Item | None") -> bool:
        runtestprotocol(item, log=False, nextitem=nextitem)
        return True


@contextmanager
def _unreported(config: pytest.Config) -> Iterator[Any]:
    """What runs a test without a report, within what plugins put around a test, such as the limit of pytest-timeout."""
    plugins, unreported = config.pluginmanager, _Unreported()
    # It would count each warning again.
    warnings = [plugin for plugin in [plugins.get_plugin("warnings")] if plugin]
    plugins.register(unreported)
    try:
        yield plugins.subset_hook_caller("pytest_runtest_protocol", warnings)
    finally:
        plugins.unregister(unreported)


@contextmanager
def _other_seed(config: pytest.Config) -> Iterator[None]:
    """pytest-randomly gives each test the same numbers again."""
    seed = getattr(config.option, "randomly_seed", None)
    if isinstance(seed, int):
        config.option.randomly_seed = seed + 1
    try:
        yield
    finally:
        if isinstance(seed, int):
            config.option.randomly_seed = seed


@contextmanager
def _other_folder(config: pytest.Config) -> Iterator[None]:
    """``tmp_path`` is below another folder in each run of pytest."""
    factory = getattr(config, "_tmp_path_factory", None)
    before = getattr(factory, "_basetemp", None)
    if before is None:
        yield
        return
    # Each worker of pytest-xdist has a folder below that of the run.
    of_run = before.parent if hasattr(config, "workerinput") else before
    other = Path(tempfile.mkdtemp(prefix="again-", dir=of_run.parent))
    factory._basetemp = other / before.relative_to(of_run)
    factory._basetemp.mkdir(exist_ok=True)
    try:
        yield
    finally:
        factory._basetemp = before
        shutil.rmtree(other, ignore_errors=True)


@contextmanager
def _other_day(is_wanted: bool) -> Iterator[None]:
    """A time zone in which it is another day, so that what says the date differs."""
    before = os.environ.get("TZ")
    if not is_wanted or before is not None or not hasattr(time, "tzset"):
        yield
        return
    os.environ["TZ"] = "WEST12" if time.gmtime().tm_hour < 12 else "EAST-14"
    time.tzset()
    try:
        yield
    finally:
        del os.environ["TZ"]
        time.tzset()
