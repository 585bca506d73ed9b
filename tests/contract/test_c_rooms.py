"""The rooms of csrc call each other in one direction only, and no file or folder outgrows its reader.

A room is a folder of csrc with what lies below it; in csrc/shim each folder is one, and in csrc/shim/sys each family. Room A
uses room B if a file of A includes a header of B, or mentions a function that B defines. Regular expressions find both.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CSRC = ROOT / "csrc"
LINES_MAX = 400
FILES_MAX = 20
PARENTS = ("shim", "shim/sys")  # folders of rooms, no rooms themselves

COMMENT_OR_STRING = re.compile(r'/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.DOTALL)
INCLUDE = re.compile(r'^#\s*include "([^"]+)"', re.MULTILINE)
DEFINITION = re.compile(r"^(?!typedef|else|return)(static )?[a-zA-Z_][\w *]*?\b(\w+)\([^;{}]*\)\s*^\{", re.MULTILINE)
LABEL = re.compile(r"^\s*\.globl\s+(\w+)", re.MULTILINE)
WORD = re.compile(r"(?<![\w.>])[a-zA-Z_]\w*\b(\s*\()?")


@dataclass(frozen=True, slots=True)
class Use:
    """One place at which a room depends on another."""

    user: str
    used: str
    where: str
    what: str


def room_of(path: Path) -> str:
    """The room that a file of csrc lies in: `shared`, `shim/core`, `shim/sys/file` …"""
    folder = path.relative_to(CSRC).parent
    parts = folder.parts
    for depth in range(1, len(parts) + 1):
        room = "/".join(parts[:depth])
        if room not in PARENTS:
            return room
    return folder.as_posix()


def without_comments(text: str) -> str:
    """The code alone, every line where it was; strings stay, so that includes can be read."""
    return COMMENT_OR_STRING.sub(lambda found: found[0] if found[0].startswith('"') else re.sub(r"[^\n]", " ", found[0]), text)


def sources() -> dict[Path, str]:
    """The code of every C, assembler and header file."""
    paths = sorted(path for kind in ("*.c", "*.h", "*.S") for path in CSRC.rglob(kind))
    return {path: without_comments(path.read_text()) for path in paths}


def definitions(text: str, *, local: bool) -> set[str]:
    """Functions that a file defines: for all files, or, if `local`, for itself too."""
    found = {name for static, name in DEFINITION.findall(text) if local or not static}
    return found | set(LABEL.findall(text))


def owners(files: dict[Path, str]) -> dict[str, str]:
    """The room of each function that other files can call. Job program, init and network are programs of their own."""
    return {
        name: room_of(path)
        for path, text in files.items()
        if room_of(path).startswith(("shared", "shim"))
        for name in definitions(text, local=path.suffix == ".h")
    }


def uses_of(path: Path, text: str, owner: dict[str, str]) -> Iterator[Use]:
    """What a file uses of other rooms: includes first, then calls and addresses of functions."""
    room = room_of(path)
    own = definitions(text, local=True)

    def use(at: int, used: str, what: str) -> Use:
        line = text.count("\n", 0, at) + 1
        return Use(room, used, f"csrc/{path.relative_to(CSRC).as_posix()}:{line}", what)

    for found in INCLUDE.finditer(text):
        header = CSRC / found[1]
        if header.exists() and room_of(header) != room:
            yield use(found.start(), room_of(header), f"includes {found[1]}")
    code = re.sub(r'"[^"\n]*"', lambda found: " " * len(found[0]), text)
    for found in WORD.finditer(code):
        name = found[0].rstrip("( \t\n")
        used = owner.get(name, room)
        if used != room and name not in own and (found[1] is not None or "_" in name):
            yield use(found.start(), used, f"calls {name}")


def all_uses(files: dict[Path, str]) -> list[Use]:
    """Every use between two rooms of the shim and what it shares with the server."""
    owner = owners(files)
    return [
        use
        for path, text in files.items()
        if room_of(path).startswith(("shared", "shim"))
        for use in uses_of(path, text, owner)
        if use.used != "tables"
    ]


def reachable(start: str, arrows: dict[str, set[str]]) -> set[str]:
    """Rooms that a room uses, directly or through others."""
    seen: set[str] = set()
    waiting = [start]
    while waiting:
        for room in arrows.get(waiting.pop(), set()) - seen:
            seen.add(room)
            waiting.append(room)
    return seen


def circles(uses: list[Use]) -> list[str]:
    """One message for each arrow of a circle, the arrow of which there are fewest places first: it is the one to take out."""
    arrows: dict[str, set[str]] = {}
    places: dict[tuple[str, str], list[Use]] = {}
    for use in uses:
        arrows.setdefault(use.user, set()).add(use.used)
        places.setdefault((use.user, use.used), []).append(use)
    messages = []
    for (user, used), found in sorted(places.items(), key=lambda item: (len(item[1]), item[0])):
        if user not in reachable(used, arrows):
            continue
        back = min(
            (use for use in uses if use.user == used and (use.used == user or user in reachable(use.used, arrows))),
            key=lambda use: (use.used != user, use.what.startswith("includes")),  # a call straight back says most
        )
        for use in found:
            messages.append(f"{use.where} {use.what} of {used}, but {used} uses {back.used} ({back.where} {back.what})")
    return messages


def test_rooms_call_each_other_in_one_direction() -> None:
    found = circles(all_uses(sources()))
    assert not found, "\n".join(["move what is needed into the lower room, or pass it in:", *found[:5]])


def test_the_server_s_side_of_the_wire_calls_no_shim() -> None:
    upward = [use for use in all_uses(sources()) if use.user == "shared"]
    assert not upward, upward


def test_no_file_outgrows_its_reader() -> None:
    long = {str(path.relative_to(ROOT)): path.read_text().count("\n") for path in sources()}
    assert {path: lines for path, lines in long.items() if lines > LINES_MAX} == {}


def test_no_folder_outgrows_its_reader() -> None:
    folders = [CSRC, *(path for path in CSRC.rglob("*") if path.is_dir() and path.name != "__pycache__")]
    counts = {str(folder.relative_to(ROOT)): sum(path.is_file() for path in folder.iterdir()) for folder in folders}
    assert {folder: files for folder, files in counts.items() if files > FILES_MAX} == {}


def test_every_include_says_the_whole_path() -> None:
    """In the shim and what it shares, so that a reader sees which room a file uses."""
    short = [
        f"{path.relative_to(ROOT)}: {name}"
        for path, text in sources().items()
        if room_of(path).startswith(("shared", "shim"))
        for name in INCLUDE.findall(text)
        if not (CSRC / name).is_file()
    ]
    assert not short, short


WRONG = [
    Use("shim/core", "shim/turn", "csrc/shim/core/message/channel.c:57", "calls handoff_park"),
    Use("shim/turn", "shim/core", "csrc/shim/turn/wait.c:3", "includes shim/core/core.h"),
    Use("shim/sys/file", "shim/core", "csrc/shim/sys/file/open.c:9", "calls fatal"),
]


def test_a_circle_names_both_arrows_and_nothing_else() -> None:
    assert circles(WRONG) == [
        "csrc/shim/core/message/channel.c:57 calls handoff_park of shim/turn, but shim/turn uses shim/core"
        " (csrc/shim/turn/wait.c:3 includes shim/core/core.h)",
        "csrc/shim/turn/wait.c:3 includes shim/core/core.h of shim/core, but shim/core uses shim/turn"
        " (csrc/shim/core/message/channel.c:57 calls handoff_park)",
    ]


def test_uses_are_found_in_code_and_not_in_comments() -> None:
    text = without_comments("/* turn_a() is not called */\nlong f(void)\n{\n    return turn_a() + x->turn_b + y.turn_b;\n}\n")
    uses = list(uses_of(CSRC / "shim/core/some.c", text, {"turn_a": "shim/turn", "turn_b": "shim/turn"}))
    assert uses == [Use("shim/core", "shim/turn", "csrc/shim/core/some.c:4", "calls turn_a")]
