"""Keeps and compares transcripts: what an SDK said in each scenario.

    transcripts.py accept SAID EXPECTED    make what was said the expected, where it is not
    transcripts.py compare SAID EXPECTED [SCENARIO...]
                                           print differences, then the number of transcripts
                                           that are as expected and of those that are not
    transcripts.py alike LIVE REPLAYED     print differences other than identifiers and times

A run makes up a few values (agent names, otids). Where the server echoed one, the expected
transcript holds a token such as `<client:otid 2>`; everything else must be equal to the value.
"""

import argparse
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

TOKEN = re.compile(r"<client:\w+ \d+>")
# Times as Letta writes them, for programs and in its prompts.
TIME = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[\w.:+-]*( [AP]M UTC\+\d{4})?")
# What a server makes up: a UUID, the name of a temporary file, or letters and digits of which at least one is a digit.
MADE_UP = re.compile(
    r"\w*[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|\btmp\w{8}\b|(?=[A-Za-z_]*\d)\w{8,}"
)
UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$")
NUMBER_OF_TIME = re.compile(r"(_at|_ms|_ns|created|timestamp)$")
# A recording that is as before keeps the order in which a server listed tools, and how often it said that it is there.
PING = re.compile(r'^\{"LettaPing":|^\{"message_type": "ping"|^\{"id": "ping-')
SHOWN_DIFFERENCES = 5
SHOWN_CHARACTERS = 160


LISTENING = re.compile(r"127\.0\.0\.1:\d+")


def main() -> int:
    options = _options()
    if options.command == "accept":
        return accept(options.said, options.expected)
    if options.command == "alike":
        return alike(options.said, options.expected)
    return compare(options.said, options.expected, options.scenario, options.echoes)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("command", choices=["accept", "compare", "alike"])
    parser.add_argument("said", type=Path, help="folder that the scenario programs wrote")
    parser.add_argument("expected", type=Path, help="folder of expected transcripts")
    parser.add_argument(
        "--echoes",
        choices=["live", "recorded"],
        default="live",
        help="which made-up values come back: this run's, or consistently those of the recording",
    )
    parser.add_argument("scenario", nargs="*", help="such as hitl/approve_tokens; default: all")
    return parser.parse_args()


def accept(said: Path, expected: Path) -> int:
    for name in _names(said):
        if not _differences_of(said / name, expected / name, "live"):
            continue
        transcript = json.loads((said / name).read_text())
        tokens = {value: token for token, value in _minted(transcript).items()}
        path = expected / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(_layout(_with_tokens(transcript["steps"], tokens)))
    return 0


def compare(said: Path, expected: Path, scenarios: list[str], echoes: str) -> int:
    names = sorted(name for name in _names(said) | _names(expected) if _asked(name, scenarios))
    failed = 0
    for name in names:
        differences = _differences_of(said / name, expected / name, echoes)
        if differences:
            failed += 1
            _show(name, differences)
    print(len(names) - failed, failed)
    return 1 if failed else 0


def alike(live: Path, replayed: Path) -> int:
    failed = 0
    for name in sorted(_names(live) | _names(replayed)):
        if not (live / name).exists() or not (replayed / name).exists():
            differences = ["said only once"]
        else:
            one, other = (json.loads((folder / name).read_text()) for folder in (live, replayed))
            differences = list(_differences(_named(one["steps"]), _named(other["steps"]), Echoes({})))
        if differences:
            failed += 1
            _show(name, differences)
    return 1 if failed else 0


def _named(steps: Any) -> Any:
    """The same with `<1>`, `<2>` … for what the server made up, `<time>` for times, sets in one order and no pings."""
    names: dict[str, str] = {}

    def plain(item: Any) -> str:
        return MADE_UP.sub("", TIME.sub("", json.dumps(item)))

    def is_tool(item: Any) -> bool:
        kinds = ("Tool", "json_schema", "function")
        return isinstance(item, dict) and any(kind in item for kind in kinds)

    def name(found: re.Match[str]) -> str:
        return names.setdefault(_stem(found[0]), f"<{len(names) + 1}>")

    def named(node: Any) -> Any:
        if isinstance(node, dict):
            return {
                MADE_UP.sub(name, key): "<time>"
                if NUMBER_OF_TIME.search(key) and isinstance(inner, int | float)
                else named(inner)
                for key, inner in node.items()
            }
        if isinstance(node, list):
            items = sorted(node, key=plain) if all(map(is_tool, node)) else node
            return [named(item) for item in items if not PING.search(json.dumps(item)[:200])]
        if isinstance(node, str):
            timeless = TIME.sub("<time>", node)
            return MADE_UP.sub(name, timeless)
        return node

    return named(steps)


def _stem(name: str) -> str:
    """What Letta makes names of parts of: it writes a number over the last seven bits, which may be that already."""
    return f"{name[:-2]}{int(name[-2:], 16) >> 7}" if UUID.search(name) else name


def _names(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*.json")}


def _asked(name: str, scenarios: list[str]) -> bool:
    return not scenarios or name.removesuffix(".json") in scenarios


def _minted(transcript: dict[str, Any]) -> dict[str, str]:
    return {
        f"<client:{kind} {number}>": value
        for kind, values in transcript["minted"].items()
        for number, value in enumerate(values, start=1)
    }


def _with_tokens(node: Any, tokens: dict[str, str]) -> Any:
    if isinstance(node, dict):
        return {key: _with_tokens(inner, tokens) for key, inner in node.items()}
    if isinstance(node, list):
        return [_with_tokens(inner, tokens) for inner in node]
    if isinstance(node, str):
        for value, token in tokens.items():
            node = node.replace(value, token)
    return node


def _layout(steps: list[dict[str, Any]]) -> str:
    """One line for each thing said, so that a diff shows which one changed."""
    return "[\n" + ",\n".join(_step_layout(step) for step in steps) + "\n]\n"


def _step_layout(step: dict[str, Any]) -> str:
    lines = [json.dumps(item, ensure_ascii=False) for item in step["said"]]
    said = "[\n  " + ",\n  ".join(lines) + "\n]" if lines else "[]"
    refused = step.get("refused")
    tail = f', "refused":\n  {json.dumps(refused, ensure_ascii=False)}' if refused else ""
    return f'{{"call": {json.dumps(step["call"])}, "said": {said}{tail}}}'


def _differences_of(said: Path, expected: Path, echoes: str) -> list[str]:
    if not expected.exists():
        return ["no expected transcript; record it first"]
    if not said.exists():
        return ["no transcript; the scenario did not finish"]
    transcript = json.loads(said.read_text())
    values = Echoes(_minted(transcript) if echoes == "live" else {})
    return list(_differences(json.loads(expected.read_text()), transcript["steps"], values))


class Echoes:
    """Which value stands for each token; the first one seen, where none is given."""

    def __init__(self, values: dict[str, str]) -> None:
        self._values = dict(values)

    def fits(self, expected: str, said: str) -> bool:
        # Where retape listens is new in each run.
        expected, said = (LISTENING.sub("127.0.0.1:PORT", text) for text in (expected, said))
        tokens = TOKEN.findall(expected)
        if not tokens:
            return expected == said
        pattern = "(.+?)".join(re.escape(part) for part in TOKEN.split(expected))
        match = re.fullmatch(pattern, said, re.DOTALL)
        return match is not None and all(map(self._stands_for, tokens, match.groups()))

    def _stands_for(self, token: str, value: str) -> bool:
        return self._values.setdefault(token, value) == value


def _differences(expected: Any, said: Any, echoes: Echoes, path: str = "") -> Iterator[str]:
    if isinstance(expected, dict) and isinstance(said, dict):
        yield from _children(expected, said, echoes, path)
    elif isinstance(expected, list) and isinstance(said, list):
        yield from _children(dict(enumerate(expected)), dict(enumerate(said)), echoes, path)
    elif isinstance(expected, str) and isinstance(said, str):
        if not echoes.fits(expected, said):
            yield _difference(path, expected, said)
    elif type(expected) is not type(said) or expected != said:
        yield _difference(path, expected, said)


def _children(
    expected: dict[Any, Any], said: dict[Any, Any], echoes: Echoes, path: str
) -> Iterator[str]:
    for key in [*expected, *(key for key in said if key not in expected)]:
        place = f"{path}.{key}"
        if key not in said:
            yield f"{place}: missing, expected {_shown(expected[key])}"
        elif key not in expected:
            yield f"{place}: not expected, said {_shown(said[key])}"
        else:
            yield from _differences(expected[key], said[key], echoes, place)


def _difference(path: str, expected: Any, said: Any) -> str:
    return f"{path}: expected {_shown(expected)}, said {_shown(said)}"


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= SHOWN_CHARACTERS else text[:SHOWN_CHARACTERS] + "…"


def _show(name: str, differences: list[str]) -> None:
    print(f"{name}: not as expected in {len(differences)} place(s)", file=sys.stderr)
    for difference in differences[:SHOWN_DIFFERENCES]:
        print(f"  {difference}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
