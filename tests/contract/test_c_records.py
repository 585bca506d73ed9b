"""Each field of the shim's records of threads and processes is changed by the room that it belongs to, and by no other.

`struct thread` and `struct process` (csrc/shim/core/core.h) embed a part for each room. The comment of a field begins with the
rooms or files of csrc/shim that change it; without such a beginning, the field is core's. A field is changed where something
is assigned to it, or to a part of it, and where its address is taken.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tests.contract.test_c_rooms import CSRC, sources

SHIM = CSRC / "shim"
MOST_FIELDS = 30
MAKERS = ("core", "entry/init.c", *(f"sys/process/{name}.c" for name in ("clone", "exec", "exit", "forked", "thread_start")))
"""Core, and what makes and ends threads and processes: these may set any field."""
FIELD = re.compile(r"(\w+)\)?(?:\[\w+\]|\(void\))*;(?: */\*(.*?)\*/)?", re.DOTALL)
CHANGE = r"(?:\+\+|--|(?<!&)&|\bmem(?:set|cpy)\()?(?:\w+(?:->|\.))*\b(\w+)->(\w+)\b"
INTO = r"(?:\[(?:[^\[\]]|\[[^\]]*\])*\]|\.\w+)*"
ASSIGNED = r"\s*(?:=(?!=)|[-+|&^*/]=|<<=|>>=|\+\+|--)"


@dataclass(frozen=True, slots=True)
class Change:
    """A place at which a field of a record is changed."""

    where: str  # file, relative to csrc/shim
    field: str


def fields_of(record: str, text: str) -> dict[str, tuple[str, ...]]:
    """The fields of a record, with the rooms and files that change them besides the makers."""
    body = text[text.index(f"struct {record} {{") :]
    body = body[: body.index("\n};")].split("{", 1)[1]
    return {name: _rooms(comment) for name, comment in FIELD.findall(body)}


def _rooms(comment: str) -> tuple[str, ...]:
    """The rooms and files that a comment begins with; none if it begins with anything else."""
    named = tuple(comment.strip().split(":")[0].split(", "))
    return named if all(name and (SHIM / name).exists() for name in named) else ()


def changes(record: str, names: set[str], where: str, code: str) -> Iterator[Change]:
    """Where a file changes fields of a record: of variables that are declared as one, and of members that point to one."""
    receivers = {record, *(("main",) if record == "thread" else ()), *re.findall(rf"struct {record} \**(?:const )?(\w+)", code)}
    for found in re.finditer(f"{CHANGE}{INTO}({ASSIGNED})?", code):
        begins = found[0].startswith(("++", "--", "&", "mem"))
        if found[1] in receivers and found[2] in names and (begins or found[3] is not None):
            yield Change(where, found[2])


def all_changes(record: str, names: set[str]) -> list[Change]:
    """Where the C files of the shim change fields of a record."""
    files = {path: code for path, code in sources().items() if path.is_relative_to(SHIM) and path.suffix != ".S"}
    return [
        change for path, code in files.items() for change in changes(record, names, path.relative_to(SHIM).as_posix(), code)
    ]


def is_in(where: str, rooms: tuple[str, ...]) -> bool:
    """Whether a file is one of some files, or lies in one of some rooms."""
    return any(where == room or where.startswith(f"{room}/") for room in rooms)


def foreign(record: str) -> list[str]:
    """Changes of fields by files that these do not belong to."""
    fields = fields_of(record, (SHIM / "core/core.h").read_text())
    return [
        f"csrc/shim/{change.where} changes {change.field} of struct {record}: {', '.join(fields[change.field]) or 'core'} may"
        for change in all_changes(record, set(fields))
        if not is_in(change.where, (*MAKERS, *fields[change.field]))
    ]


def test_a_field_is_changed_by_its_room_alone() -> None:
    found = [*foreign("thread"), *foreign("process")]
    assert not found, "\n".join(["call a function of that room, or move the field:", *found])


def test_records_do_not_grow_broad() -> None:
    text = (SHIM / "core/core.h").read_text()
    counts = {record: len(fields_of(record, text)) for record in ("thread", "process")}
    assert max(counts.values()) <= MOST_FIELDS, counts


def test_every_named_room_still_changes_its_field() -> None:
    text = (SHIM / "core/core.h").read_text()
    idle = []
    for record in ("thread", "process"):
        fields = fields_of(record, text)
        made = {(change.field, change.where) for change in all_changes(record, set(fields))}
        for field, rooms in fields.items():
            changed_by = [where for name, where in made if name == field]
            idle += [f"{record}.{field}: {room}" for room in rooms if not any(is_in(where, (room,)) for where in changed_by)]
    assert not idle, idle


RECORD = """
struct thread {
    struct thread *self;
    struct thread_pace pace; /* turn */
    unsigned cpu;            /* sys/process/scheduling.c: the first processor that it may use */
    uint64_t held[2];        /* of core, which says more here: nothing */
    void (*take)(void);
};
"""


def test_fields_and_their_rooms_are_read() -> None:
    rooms = {"self": (), "pace": ("turn",), "cpu": ("sys/process/scheduling.c",), "held": (), "take": ()}
    assert fields_of("thread", RECORD) == rooms


def test_changes_are_told_from_looks() -> None:
    code = """
static void look(struct thread *thread, struct thread *child, struct call *call)
{
    if (thread->pace.asked == 3 && child->cpu != 0)
        ++call->thread->pace.asked;
    child->held[1] |= 2;
    take(&thread->pace);
    known->cpu = 1;
}
"""
    found = list(changes("thread", {"pace", "cpu", "held"}, "sys/file/some.c", code))
    assert [change.field for change in found] == ["pace", "held", "pace"]
    assert not is_in("sys/file/some.c", ("turn", "sys/process")) and is_in("turn/park.c", ("turn",))
