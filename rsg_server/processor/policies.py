"""Whose computing takes virtual time: the CPU policy of each program, process and host."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

FREE: Final = "free"
CHARGED: Final = "charged"
MODELLED: Final = "modelled"


@dataclass(frozen=True, slots=True, kw_only=True)
class Policies:
    """CPU policies: `free` (computing takes no virtual time), `charged` (as much as here) or `modelled` (as a table says).

    The first one that is known holds: that of the program (`programs`, by file name), of the started process that the program
    descends from, of the host (`hosts`, by name), else `default`.
    """

    default: str = FREE
    hosts: Mapping[str, str] = field(default_factory=dict)
    programs: Mapping[str, str] = field(default_factory=dict)
    processes: Mapping[str, str] = field(default_factory=dict)  # NAME@HOST, for run.json; processes know their own

    def of(self, program: str, of_process: str, host: str) -> str:
        """The policy of a program (its path) on a host; `of_process` is empty where the process says nothing."""
        return self.programs.get(os.path.basename(program)) or of_process or self.hosts.get(host) or self.default

    @property
    def all(self) -> frozenset[str]:
        """Every policy that is said."""
        return frozenset((self.default, *self.hosts.values(), *self.programs.values(), *self.processes.values()))

    @property
    def summary(self) -> str:
        """The policy of all programs, or `mixed`."""
        return min(self.all) if len(self.all) == 1 else "mixed"
