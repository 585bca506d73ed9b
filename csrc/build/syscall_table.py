"""Reads syscalls.def against the kernel's headers, and stops the build when a system call is missing from it.

The table as JSON goes into the package (`simunix/lib/syscalls.json`), where `simunix coverage` and `simunix check` read it.
"""

from __future__ import annotations

import json
import re
import subprocess
from dataclasses import asdict, dataclass
from pathlib import Path

TABLES = Path(__file__).resolve().parents[1] / "tables"
TABLE, NEWER, TESTS = TABLES / "syscalls.def", TABLES / "newer_syscalls.h", TABLES / "syscalls.tests"
VERDICTS = {"SIMULATE": "simulated", "PASS": "passed on", "REFUSE": "refused"}
_ROW = re.compile(
    r'^(QUIET_)?(?:(SIMULATE)\((\w+), (\w+)\)|(PASS)\((\w+), "([^"]+)"\)'
    r'|(REFUSE)(?:_AFTER)?\((\w+), (E\w+), "([^"]+)"(?:, \w+)?\))$'
)
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)


class TableError(Exception):
    """The table and the headers do not agree; the message says how to mend it."""


@dataclass(frozen=True, slots=True)
class Row:
    """One system call: `handler` if simulated, `errno` if refused, `why` unless simulated, `test` shows it at work."""

    number: int
    name: str
    verdict: str
    handler: str = ""
    errno: str = ""
    why: str = ""
    quiet: bool = False
    test: str = ""


def read_rows(text: str, where: str = TABLE.name) -> list[dict[str, object]]:
    """The rows of a table as keyword arguments of Row, without numbers and tests."""
    rows: list[dict[str, object]] = []
    plain = _COMMENT.sub(lambda comment: "\n" * comment[0].count("\n"), text)
    for line_number, line in enumerate(plain.splitlines(), 1):
        if not line.strip():
            continue
        found = _ROW.match(line)
        if found is None:
            raise TableError(
                f"{where}:{line_number}: not a row of the table: {line.strip()}; the head of the file tells the forms"
            )
        quiet, simulate, name, handler, passed, pass_name, pass_why, refuse, refuse_name, errno, refuse_why = found.groups()
        rows.append(
            {
                "name": name or pass_name or refuse_name,
                "verdict": VERDICTS[simulate or passed or refuse],
                "handler": handler or "",
                "errno": errno or "",
                "why": pass_why or refuse_why or "",
                "quiet": quiet is not None or refuse is not None,
            }
        )
    return rows


def read_tests(text: str, where: str = TESTS.name) -> dict[str, str]:
    """`name test` a line, `#` comments: which test shows a system call at work."""
    tests: dict[str, str] = {}
    for line_number, line in enumerate(text.splitlines(), 1):
        words = line.partition("#")[0].split()
        if len(words) not in (0, 2) or (words and words[0] in tests):
            raise TableError(f"{where}:{line_number}: expected a system call, once, and its test, got: {line.strip()}")
        if words:
            tests[words[0]] = words[1]
    return tests


def known_numbers(compiler: str = "gcc") -> dict[str, int]:
    """Every system call that this computer's kernel headers know, and the newer ones of newer_syscalls.h."""
    source = f'#include <asm/unistd.h>\n#include "{NEWER}"\n'
    done = subprocess.run([compiler, "-E", "-dM", "-xc", "-"], input=source, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise TableError(f"the kernel's headers cannot be read: {done.stderr.strip()}; as root: apt-get install linux-libc-dev")
    return {name: int(number) for name, number in re.findall(r"^#define __NR_(\w+) (\d+)$", done.stdout, re.MULTILINE)}


def check(names: list[str], numbers: dict[str, int], tests: dict[str, str]) -> None:
    """Every call has exactly one row, every row a number, every test a row. Raises TableError naming the first that has not."""
    for name, number in sorted(numbers.items(), key=lambda item: item[1]):
        if name not in names:
            raise TableError(
                f"{TABLE.name} has no row for system call {number} ({name}), which the kernel's headers know: whoever calls it "
                f"would go unnoticed. Add SIMULATE({name}, handler), PASS({name}, why it neither waits nor tells the time) "
                f"or REFUSE({name}, errno, why); the head of the file explains them"
            )
    for name in names:
        if name not in numbers:
            raise TableError(
                f"{TABLE.name}: {name}: no such system call in the kernel's headers; add its number to {NEWER.name}"
            )
        if names.count(name) > 1:
            raise TableError(f"{TABLE.name}: {name} has {names.count(name)} rows; leave one")
    for name in tests:
        if name not in names:
            raise TableError(f"{TESTS.name}: {name} has a test but no row in {TABLE.name}")


def read_table(compiler: str = "gcc") -> list[Row]:
    """The whole table, in the order of the numbers. Raises TableError if it has a hole."""
    rows = read_rows(TABLE.read_text())
    tests = read_tests(TESTS.read_text())
    numbers = known_numbers(compiler)
    check([str(row["name"]) for row in rows], numbers, tests)
    table = [Row(numbers[str(row["name"])], test=tests.get(str(row["name"]), ""), **row) for row in rows]  # type: ignore[arg-type]
    return sorted(table, key=lambda row: row.number)


def write_json(target: Path, compiler: str = "gcc") -> None:
    """Put the checked table where the package finds it."""
    lines = ",\n".join(json.dumps(asdict(row)) for row in read_table(compiler))
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(f"[\n{lines}\n]\n")
