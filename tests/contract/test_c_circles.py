"""Files of one C program call each other in few and small circles.

File A uses file B if a function of A mentions a function that B defines. Inline functions and macros of headers are looked
through: a file that mentions one uses what it mentions. A circle is a set of files each of which uses each other, directly or
through others: whoever changes one of them has to know them all.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from tests.contract.test_c_rooms import CSRC, DEFINITION, WORD, definitions, reachable, sources

FILES_MAX = 3
REMAINING = {
    ("bus/client.c", "bus/driver.c"): "a client's call is answered, and some answers tell of another client",
    ("bus/settings.c", "bus/unit.c"): "a unit has settings, among them the name of another unit, its slice",
    (
        "hostinit/containment/lowers.c",
        "hostinit/containment/mounts.c",
    ): "a copy of all mounts has each of them once more, alone",
    (
        "shim/core/message/channel.c",
        "shim/core/message/outbox.c",
    ): "a message goes by the outbox or the channel, and who waits at a slot looks at the channel whether the server is there",
    ("shim/entry/hot_site.c", "shim/entry/site_entry.S"): "the function in C has its entry in assembler",
    (
        "shim/sys/file/change.c",
        "shim/sys/file/device.c",
    ): "a device is made as a file, and a change of a file may be one of a device",
    ("shim/sys/signal/action.c", "shim/sys/signal/frame.c", "shim/sys/signal/frame_entry.S"): "the handler of an action has its"
    " entry in assembler, and its return sends again what was held back",
    (
        "shim/sys/socket/datagram.c",
        "shim/sys/socket/state.c",
    ): "a datagram waits for room; the error of a socket may be a datagram's",
    (
        "shim/turn/handoff.c",
        "shim/turn/park.c",
    ): "a thread that parks may hand the turn over, and then waits at its slot as all do",
}
"""Circles that are left, and why. To shrink, never to grow. A circle of more than FILES_MAX files fails whatever its reason."""
MACRO = re.compile(r"^#\s*define\s+(\w+)\(((?:.*\\\n)*.*)", re.MULTILINE)
BODY_END = "\n}"


def program_of(path: Path) -> str:
    """Which program a file is linked into: the functions of others are out of its reach."""
    folder = path.relative_to(CSRC).parts[0]
    return "shim" if folder == "shared" else folder


def mentioned(code: str) -> Iterator[str]:
    """Names that a piece of code calls, or may take the address of."""
    for found in WORD.finditer(re.sub(r'"[^"\n]*"', "", code)):
        if found[1] is not None or "_" in found[0]:
            yield found[0].rstrip("( \t\n")


def inlined(text: str) -> dict[str, set[str]]:
    """Inline functions and macros of a header, with the names that their bodies mention."""
    found = {name: set(mentioned(body)) for name, body in MACRO.findall(text)}
    for start in DEFINITION.finditer(text):
        found[start[2]] = set(mentioned(text[start.end() : text.find(BODY_END, start.end())]))
    return found


def looked_through(names: set[str], inline: dict[str, set[str]]) -> set[str]:
    """Names that are mentioned, and those that the inline functions and macros among them mention in turn."""
    return names.union(*(reachable(name, inline) for name in names & inline.keys()))


def uses(files: dict[Path, str]) -> dict[str, dict[str, set[str]]]:
    """file -> file that it uses -> functions that it calls there."""
    inline: dict[str, dict[str, set[str]]] = {}
    owner: dict[str, dict[str, str]] = {}
    for path, text in files.items():
        if path.suffix == ".h":
            inline.setdefault(program_of(path), {}).update(inlined(text))
        else:
            own = dict.fromkeys(definitions(text, local=False), path.relative_to(CSRC).as_posix())
            owner.setdefault(program_of(path), {}).update(own)
    arrows: dict[str, dict[str, set[str]]] = {}
    for path, text in files.items():
        if path.suffix == ".h":
            continue
        user = path.relative_to(CSRC).as_posix()
        known = owner[program_of(path)]
        for name in looked_through(set(mentioned(text)), inline.get(program_of(path), {})) - definitions(text, local=True):
            if known.get(name, user) != user:
                arrows.setdefault(user, {}).setdefault(known[name], set()).add(name)
    return arrows


def circles(arrows: dict[str, dict[str, set[str]]]) -> dict[tuple[str, ...], list[str]]:
    """The files of each circle, and a line for each of its arrows, the one with the fewest functions first: that one to cut."""
    graph = {user: set(used) for user, used in arrows.items()}
    within = {user: reachable(user, graph) for user in graph}
    found: dict[tuple[str, ...], list[str]] = {}
    for user in graph:
        circle = tuple(sorted(file for file in within[user] if user in within.get(file, ())))
        if len(circle) > 1:
            pairs = [(a, b) for a in circle for b in circle if b in arrows[a]]
            pairs.sort(key=lambda pair: (len(arrows[pair[0]][pair[1]]), pair))
            found[circle] = [f"{a} calls {', '.join(sorted(arrows[a][b]))} of {b}" for a, b in pairs]
    return found


def test_files_call_each_other_in_no_circle_but_the_listed_ones() -> None:
    new = {circle: calls for circle, calls in circles(uses(sources())).items() if circle not in REMAINING}
    assert not new, "\n".join(
        ["move what is called into a file that calls neither, or list the circle:", *next(iter(new.values()))]
    )


def test_no_circle_has_more_than_three_files() -> None:
    assert [circle for circle in circles(uses(sources())) if len(circle) > FILES_MAX] == []


def test_listed_circles_are_there() -> None:
    assert REMAINING.keys() - circles(uses(sources())).keys() == set()


def test_a_circle_is_found_through_a_macro_and_an_inline_function() -> None:
    files = {
        CSRC / "shim/core/a.h": "#define ASK(x) \\\n    ask_for(x)\nstatic inline long look(void)\n{\n    return ASK(1);\n}\n",
        CSRC / "shim/core/a.c": "long ask_for(long x)\n{\n    return tell_all(x);\n}\n",
        CSRC / "shim/core/b.c": "long tell_all(long x)\n{\n    return x + look();\n}\n",
        CSRC / "jobs/c.c": "long ask_for(long x)\n{\n    return tell_all(x);\n}\n",  # of another program
    }
    assert circles(uses(files)) == {
        ("shim/core/a.c", "shim/core/b.c"): [
            "shim/core/a.c calls tell_all of shim/core/b.c",
            "shim/core/b.c calls ask_for of shim/core/a.c",
        ]
    }
