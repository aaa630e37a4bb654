"""Where cassettes are. It is the same from whatever folder pytest is run."""

from __future__ import annotations

import os
from fnmatch import fnmatch
from pathlib import Path
from typing import Callable, Iterator, Optional, Tuple, Union

import pytest

from . import _names

_ENDINGS = (".json", ".yaml", ".yml")


def file_of(folder: str, name: str) -> Optional[str]:
    """The file of a cassette that is there."""
    stem = os.path.join(folder, *name.split("/"))
    return next((stem + ending for ending in _ENDINGS if os.path.isfile(stem + ending)), None)


def project(config: pytest.Config) -> Path:
    """The folder of the project: that of pytest's settings, whatever `--rootdir` an editor gives."""
    is_found = config.inipath is not None and not config.getoption("inifilename")
    return config.inipath.parent if config.inipath and is_found else config.rootpath


def root(config: pytest.Config) -> Path:
    """The folder of all cassettes."""
    return Path(os.path.join(project(config), folder_of(config)))


def gone_modules(config: pytest.Config, root: Path) -> Iterator[Path]:
    """The folders of cassettes that are called like a test module which is not there any more."""
    patterns = config.getini("python_files")
    for folder in sorted(filter(Path.is_dir, root.rglob("*"))):
        module = project(config) / f"{folder.relative_to(root)}.py"
        is_test = any(fnmatch(module.name, pattern) for pattern in patterns)
        if is_test and not module.exists() and module.parent.is_dir():
            yield folder


def folder_of(config: pytest.Config) -> str:
    """What the folder of all cassettes is called, from that of the project."""
    said = config.getini("retape_cassettes")
    elsewhere = None if said else os.environ.get("RETAPE_CASSETTES")
    return os.path.abspath(elsewhere) if elsewhere else said or "cassettes"


def shown(config: pytest.Config, path: Union[str, Path]) -> str:
    """A path, from the folder in which pytest was run."""
    return os.path.relpath(path, config.invocation_params.dir)


def asked_for(config: pytest.Config, nodeid: str) -> str:
    """A test, as it is asked for in the folder in which pytest was run."""
    file, colons, inner = nodeid.partition("::")
    return f"{shown(config, config.rootpath / file)}{colons}{inner}"


def of_node(config: pytest.Config, nodeid: str, name: Optional[str] = None) -> Tuple[str, str]:
    """The folder of the cassettes, and there the name of that of a test or fixture: ``name``, or from its id.

    Without settings, pytest takes the folder in which it is run for the root of the project. So a cassette that
    is there is found below each folder above the file.
    """
    file, colons, inner = nodeid.partition("::")
    path = config.rootpath / file

    def below(root: Path, part: Callable[[str], str] = _names.part) -> Tuple[str, str]:
        relative = file if root == config.rootpath else Path(os.path.relpath(path, root)).as_posix()
        return str(root / folder), name or _names.of_node(f"{relative}{colons}{inner}", part)

    folder = folder_of(config)
    root = project(config)
    roots = [root] if os.path.isabs(folder) else [root, path, *path.parents]
    known = (below(each, part) for each in roots for part in (_names.part, _names.former_part))
    return next((place for place in known if file_of(*place)), below(root))
