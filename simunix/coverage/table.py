"""The table of system calls that is built into the package: a row per call, in the order of their numbers."""

from __future__ import annotations

import functools
import json
from dataclasses import dataclass
from pathlib import Path

from rsg_server.errors import SimunixError

TABLE = Path(__file__).resolve().parent.parent / "lib" / "syscalls.json"
SIMULATED, PASSED, REFUSED = "simulated", "passed on", "refused"
VERDICTS = (SIMULATED, PASSED, REFUSED)


@dataclass(frozen=True, slots=True)
class Row:
    """One system call: `handler` if it is simulated, `errno` if refused, `why` unless simulated, `test` shows it at work.

    After `quiet` calls only, a lone sleeper may advance the clock without asking the server.
    """

    number: int
    name: str
    verdict: str
    handler: str = ""
    errno: str = ""
    why: str = ""
    quiet: bool = False
    test: str = ""

    @property
    def reason(self) -> str:
        """The last column: the test that shows the call at work, or the reason why none is needed."""
        if self.verdict == SIMULATED:
            return self.test
        return f"{self.errno}: {self.why}" if self.verdict == REFUSED else self.why


@functools.cache
def table(path: Path = TABLE) -> tuple[Row, ...]:
    """Return all rows. Raises SimunixError if the package was built without them."""
    try:
        return tuple(Row(**fields) for fields in json.loads(path.read_text()))
    except OSError as error:
        raise SimunixError(f"{path}: {error.strerror}; build the package: python csrc/build/build_shim.py") from error


@functools.cache
def by_name() -> dict[str, Row]:
    """Return the rows by the name of the call."""
    return {row.name: row for row in table()}


@functools.cache
def by_number() -> dict[int, Row]:
    """Return the rows by the number of the call."""
    return {row.number: row for row in table()}


def counts(rows: tuple[Row, ...]) -> dict[str, int]:
    """Return the number of rows of each verdict."""
    return {verdict: sum(row.verdict == verdict for row in rows) for verdict in VERDICTS}
