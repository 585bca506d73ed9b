"""The table of system calls, built into the package from csrc/tables/syscalls.def: a row per call, ordered by the
call's number.
"""

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
    """One system call: `handler` if simunix simulates the call, `errno` if simunix refuses it. `why` is the reason for
    a call that is not simulated; `test` is a test that shows a simulated call at work.

    A call is `quiet` if no other thread can wait for what the call changes. If a thread has made only quiet calls since
    it got the turn (the right to run), and no other thread can run, the shim may advance the clock without a message to
    the server.
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
        """The last column of the page: the test that shows a simulated call at work, or the reason why the call is not
        simulated.
        """
        if self.verdict == SIMULATED:
            return self.test
        return f"{self.errno}: {self.why}" if self.verdict == REFUSED else self.why


@functools.cache
def table(path: Path = TABLE) -> tuple[Row, ...]:
    """Return all rows of the table. Raises SimunixError if the package was built without the table."""
    try:
        return tuple(Row(**fields) for fields in json.loads(path.read_text()))
    except OSError as error:
        raise SimunixError(f"{path}: {error.strerror}; build the package: python csrc/build/build_shim.py") from error


@functools.cache
def by_name() -> dict[str, Row]:
    """Return the rows of the table of system calls, by the call's name."""
    return {row.name: row for row in table()}


@functools.cache
def by_number() -> dict[int, Row]:
    """Return the rows of the table of system calls, by the call's number."""
    return {row.number: row for row in table()}


def counts(rows: tuple[Row, ...]) -> dict[str, int]:
    """Return how many system calls each verdict (simulated, passed on, refused) has."""
    return {verdict: sum(row.verdict == verdict for row in rows) for verdict in VERDICTS}
