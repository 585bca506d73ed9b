"""Decides for each process whether its computing takes virtual time: the CPU policy of its program, itself, or its host."""

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
    """The CPU policies: `free` (computing takes no virtual time), `charged` (as long as here), `modelled` (as a table says).

    The first policy that is set counts: that of the program (`programs`, by file name), of the started process from
    which the program descends, of the host (`hosts`, by name), else `default`.
    """

    default: str = FREE
    hosts: Mapping[str, str] = field(default_factory=dict)
    programs: Mapping[str, str] = field(default_factory=dict)
    # NAME@HOST of processes that have a policy of their own, for run.json
    processes: Mapping[str, str] = field(default_factory=dict)

    def of(self, program: str, of_process: str, host: str) -> str:
        """Return the CPU policy of a program (given by its path) on a host.

        `of_process` is empty if the process has none of its own.
        """
        return self.programs.get(os.path.basename(program)) or of_process or self.hosts.get(host) or self.default

    @property
    def all(self) -> frozenset[str]:
        """All policies that are set for anything."""
        return frozenset((self.default, *self.hosts.values(), *self.programs.values(), *self.processes.values()))

    @property
    def summary(self) -> str:
        """The policy of all programs, or `mixed` if there are several."""
        return min(self.all) if len(self.all) == 1 else "mixed"
