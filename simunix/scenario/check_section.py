"""The key `check:` of a scenario: conditions that must hold in every run; a run that violates one fails."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import AfterValidator, model_validator

from simunix.scenario.section import CommandLine, Duration, FileName, Section

PATTERNS = ("never", "eventually", "sometimes")
"""The kinds of checks whose value is a regular expression for the output of processes."""


def _pattern(value: str) -> str:
    """Return a regular expression of Python unchanged. Raises ValueError if it is malformed."""
    try:
        re.compile(value)
    except re.error as error:
        raise ValueError(f"expected a regular expression, got {value[:60]!r}: {error}") from None
    return value


Pattern = Annotated[str, AfterValidator(_pattern)]


class CheckSection(Section):
    """One condition: a `command` that ends with status 0, or a pattern that the output of processes must never, must
    eventually, or may sometimes contain.

    A `command` runs on `host` when the run is finished, and with `every` also again and again until then. `never`, `eventually`
    and `sometimes` are regular expressions, looked for in each line that `process` writes to its standard output and error
    (`*` and `?` stand for any characters; HOST:PROCESS for those of certain hosts). `never` must match no line, `eventually` at
    least one. `sometimes` must match a line in at least one of the runs of an exploration; a single run does not fail by it.
    """

    name: FileName | None = None
    command: CommandLine | None = None
    host: str | None = None
    every: Duration | None = None
    never: Pattern | None = None
    eventually: Pattern | None = None
    sometimes: Pattern | None = None
    process: str = "*"

    @model_validator(mode="after")
    def _check(self) -> CheckSection:
        given = [key for key in ("command", *PATTERNS) if getattr(self, key) is not None]
        if len(given) != 1:
            raise ValueError(f"expected one of command, {', '.join(PATTERNS)}, got {' and '.join(given) or 'none'}")
        if self.command is not None and self.host is None:
            raise ValueError("host: a command needs the host on which it runs; add it")
        if self.command is None and (self.host is not None or self.every is not None):
            raise ValueError(f"host, every: they belong to a command; {given[0]} looks at the output of process")
        if self.command is not None and "process" in self.model_fields_set:
            raise ValueError("process: it belongs to never, eventually and sometimes; a command has a host")
        if self.every == 0:
            raise ValueError("every: expected a time above 0")
        return self

    @property
    def kind(self) -> str:
        """The kind of the check: `command`, or the one of PATTERNS that is given."""
        return next(key for key in ("command", *PATTERNS) if getattr(self, key) is not None)
