"""Names of cassettes, from the names of tests."""

from __future__ import annotations

import hashlib
import re
from pathlib import PurePath
from typing import Callable, List, Optional

#: What a name may not hold: some file systems or addresses refuse it.
_REFUSED = re.compile(r'[\x00-\x1f\x7f-\x9f\ud800-\udfff\\/:*?"<>|~%#]')
#: Room for `.json`, `.failed` and the like behind it, and for temporary files.
_LONGEST = 150


def part(text: str) -> str:
    """A part of a name. What is changed or cut off is told apart by a short hash. It is the same in Rust,
    JavaScript and Go (``tests/names.json``)."""
    clean = _REFUSED.sub("_", text).rstrip(" .")
    if clean.startswith(".") or clean in ("", "-"):
        clean = "_" + clean
    if clean == text and len(text.encode()) <= _LONGEST:
        return text
    digest = hashlib.sha1(_SURROGATE.sub("\ufffd", text).encode()).hexdigest()[:8]
    return f"{clean.encode()[: _LONGEST - 9].decode('utf-8', 'ignore')}-{digest}"


_SURROGATE = re.compile("[\ud800-\udfff]")


def former_part(text: str) -> str:
    """What :func:`part` was before it was the same everywhere."""
    now = part(text)
    if now == text:
        return text
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()
    return f"{now[:-9].rstrip(' .')}-{digest}"


def of_node(nodeid: str, part: Callable[[str], str] = part) -> str:
    """``tests/test_agent/TestChat/test_hello[x]`` of ``tests/test_agent.py::TestChat::test_hello[x]``."""
    # A parameter may hold `::` and `/`: only what stands before it names files and classes.
    bracket = nodeid.find("[")
    plain, parameter = (nodeid, "") if bracket < 0 else (nodeid[:bracket], nodeid[bracket:])
    file, *inner = plain.split("::")
    path = PurePath(file)
    parts = [*path.parent.parts, path.stem, *inner] if file else inner
    parts[-1] += parameter
    return "/".join(part(each) for each in parts if each not in ("", "."))


def of_vcr(test_class: Optional[type], test_name: str) -> str:
    """The name that pytest-recording gives to the cassette of a test."""
    name = f"{test_class.__name__}.{test_name}" if test_class else test_name
    for character in "<>?%*:|\"'/\\":
        name = name.replace(character, "-")
    return name


#: The longest name of a file.
_LONGEST_FILE = 255


def files_of_vcr(name: str) -> List[str]:
    """The files that pytest-recording may have written for a cassette of that name."""
    files = []
    for ending in (".yaml", ".yml", ".json"):
        stem = name
        if len(name) + len(ending) > _LONGEST_FILE:
            digest = hashlib.md5(name.encode()).hexdigest()
            stem = f"{name[: _LONGEST_FILE - len(ending) - len(digest) - 3]}...{digest}"
        files.append(stem + ending)
    return files
