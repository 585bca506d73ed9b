"""Find out before a run what simunix will do with a program: from the program's files, without running it."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from simunix.coverage.image import Image, read_image
from simunix.coverage.libraries import is_libc, load_closure, plugins
from simunix.coverage.symbols import row_of
from simunix.coverage.table import PASSED, REFUSED, Row, by_number
from simunix.launch.programs import check_program, find_program, interpreter_of
from simunix.roots.tree import THIS_COMPUTER, RootTree

SCRIPT_DEPTH = 4
SHELLS = ("sh", "bash", "dash", "ksh", "zsh")
STARTERS = ("env", "exec", "nice", "nohup", "setsid", "stdbuf", "time")
"""Programs that run another program, which is their first argument that is neither an option nor an assignment such as
A=B.
"""
KEYWORDS = ("!", "do", "elif", "else", "if", "then", "until", "while", "{")
UNKNOWN_NUMBER = -1


@dataclass(frozen=True, slots=True)
class Report:
    """The findings about one program. `escapes` are the reasons, one line each, why simunix cannot intercept the
    program's system calls; it is empty if simunix can.
    """

    name: str
    path: Path | None = None
    escapes: tuple[str, ...] = ()
    libraries: tuple[str, ...] = ()
    plugins: int = 0
    refused: dict[str, str] = field(default_factory=dict)  # by system call: "errno: why; which file asks for it"
    passed: dict[str, str] = field(default_factory=dict)  # by system call: why the call is passed on to the kernel
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Context:
    """The user that runs a program, and the environment and root file system in which the program is searched."""

    path: str
    directory: str = "/"
    user: str | None = None
    library_path: str = ""
    tree: RootTree = THIS_COMPUTER


def check_command(argv: Sequence[str], context: Context) -> list[Report]:
    """Return a report on each program that a command line names: the first word, and the programs that shells and
    programs such as `env` run.
    """
    return [check_named(name, context) for name in dict.fromkeys(programs_of(argv, context))]


def programs_of(argv: Sequence[str], context: Context) -> Iterator[str]:
    """Yield the programs of a command line, in the order in which the command line names them."""
    if not argv:
        return
    yield argv[0]
    base = os.path.basename(argv[0])
    if base in SHELLS and "-c" in argv[:-1]:
        yield from _of_shell_text(argv[argv.index("-c") + 1], context)
    elif base in STARTERS:
        rest = [index for index, word in enumerate(argv) if index and not word.startswith("-") and "=" not in word]
        if rest:
            yield from programs_of(argv[rest[0] :], context)


def _of_shell_text(text: str, context: Context) -> Iterator[str]:
    """Yield the programs that a text for the shell runs: first words of commands that are no keyword, function or
    built-in.
    """
    lexer = shlex.shlex(text.replace("\\\n", " "), posix=True, punctuation_chars="();<>|&\n")
    lexer.whitespace = " \t\r"
    lexer.whitespace_split = True
    command: list[str] = []
    try:
        for word in [*lexer, ";"]:
            if set(word) <= set("();|&\n"):
                yield from (name for name in programs_of(command, context) if _is_program(name, context))
                command = []
            elif command or ("=" not in word and word not in KEYWORDS):
                command.append(word)
    except ValueError:  # the shell reports unbalanced quotes when it runs
        return


def _is_program(name: str, context: Context) -> bool:
    return find_program(name, context.path, context.directory, context.tree) is not None or name.startswith("/")


def check_named(name: str, context: Context) -> Report:
    """Return the report on one program, which is searched in PATH as execvp(3) does."""
    escape = check_program(name, context.path, context.directory, context.tree, context.user)
    program = find_program(name, context.path, context.directory, context.tree)
    if program is None or escape is not None:
        return Report(name, program, (escape or f"{name}: no such program",))
    image = _image_of(program, context.tree)
    if image is None:
        return Report(name, program, notes=("no ELF file and no script: the kernel will say that it cannot be executed",))
    return _report(name, program, image, context)


def _image_of(program: Path, tree: RootTree) -> Image | None:
    """Return the ELF file that the kernel runs for a program: for a script, its interpreter. None if the program is no
    readable x86-64 ELF file.
    """
    for _ in range(SCRIPT_DEPTH):
        with program.open("rb") as file:
            interpreter = interpreter_of(file.read(4096))
        if interpreter is None:
            break
        program = tree.locate(interpreter)
    return read_image(program.resolve())


def _report(name: str, program: Path, image: Image, context: Context) -> Report:
    loaded, missing = load_closure(image, context.library_path, context.tree)
    known = plugins([image, *loaded], context.tree)
    images = [image, *loaded, *known]
    refused, passed = _calls(images)
    return Report(
        name=name,
        path=program,
        escapes=tuple(
            f"{wanted_by}: needs {library}, which is not installed: it will not start" for library, wanted_by in missing
        ),
        libraries=tuple(library.path.name for library in loaded),
        plugins=len(known),
        refused=refused,
        passed=passed,
        notes=tuple(_notes(images)),
    )


def _calls(images: Iterable[Image]) -> tuple[dict[str, str], dict[str, str]]:
    """Return the system calls that files make and simunix does not simulate: the refused calls with the files that make
    them, and the calls that are passed on with the reason.
    """
    wanted: dict[Row, list[str]] = {}
    for image in images:
        if is_libc(image.path.name):
            continue
        rows = {row for symbol in image.imports if (row := row_of(symbol)) is not None}
        rows |= {by_number()[number] for number in image.raw if number in by_number()}
        for row in rows:
            wanted.setdefault(row, []).append(image.path.name)
    ordered = sorted(wanted, key=lambda row: row.number)
    refused = {row.name: f"{row.reason}; asked for by {_some(wanted[row])}" for row in ordered if row.verdict == REFUSED}
    return refused, {row.name: row.why for row in ordered if row.verdict == PASSED}


def _some(names: list[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def _notes(images: Iterable[Image]) -> Iterator[str]:
    """Yield notes on unusual properties of a program's files, each of which says whether the property matters for a
    run.
    """
    others = [image for image in images if not is_libc(image.path.name)]
    for phrase, chosen in (
        ("makes system calls by itself; they are trapped like libc's", [image for image in others if image.raw]),
        ("uses syscall(2); which calls it makes is seen at run time only", [i for i in others if "syscall" in i.imports]),
        ("is written in Go, whose runtime makes its own system calls; they are trapped", [i for i in others if i.is_go]),
        ("uses i386 system calls (int $0x80), which are refused with ENOSYS", [i for i in others if i.calls_i386]),
        ("sets filters of system calls (seccomp), which simunix applies itself", [i for i in others if _filters(i)]),
        (
            "reads the processor's time stamp counter, which is trapped and tells virtual time",
            [i for i in others if i.reads_time_stamp],
        ),
        ("may draw the processor's random numbers, which nothing seeds", [i for i in others if i.draws_random]),
    ):
        if chosen:
            yield f"{_some([image.path.name for image in chosen])}: {phrase}"
    numbers = {number for image in others for number in image.raw} - {UNKNOWN_NUMBER} - set(by_number())
    if numbers:
        yield f"calls that no Linux of this table has (refused with ENOSYS): {', '.join(map(str, sorted(numbers)))}"


def _filters(image: Image) -> bool:
    return "seccomp_load" in image.imports
