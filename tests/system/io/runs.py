"""Runs of applications that share the disk of an I/O node: each instance on a host of its own, many in one run."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from tests.conftest import ROOT, Simunix
from tests.system.io.reference import Phases
from tests.system.runs import run

BANDWIDTH = 1000
"""Of each disk, in bytes per second: a phase of I/O is whole milliseconds, and few bytes are really written."""
NS = 10**9
F = Fraction
HEAD = """\
costs: {{clock_read: 0, poll: 0, call: 0}}
stop: [{stop}]
hosts: [{{name: 'i[1-{count}]'}}]
storages: [{{name: pfs, host: 'i[1-{count}]', read_bandwidth: {bandwidth}Bps, write_bandwidth: {bandwidth}Bps}}]
mounts: [{{path: /srv/pfs, host: 'i[1-{count}]', storage: pfs, cache: false}}]
environment: {{PYTHONPATH: {root}}}
processes:
"""


@dataclass(frozen=True, slots=True)
class Instance:
    """Applications, numbered from 1 on, and the policy of their coordinator; None: there is no coordinator.

    `orders` are the numbers of each application's phases, for the policy `order`. `flows` are the processes by which each
    application writes, each of them an equal part; without a coordinator.
    """

    applications: Sequence[Phases]
    policy: str | None
    orders: Sequence[Sequence[int]] | None = None
    flows: Sequence[int] | None = None

    def files(self, folder: Path) -> list[str]:
        """Write the phases of each application into a file; returns the commands of all but the last two words."""
        folder.mkdir(parents=True)
        commands = []
        for index, phases in enumerate(self.applications):
            orders = self.orders[index] if self.orders else [0] * len(phases)
            part = F(BANDWIDTH, self.flows[index] if self.flows else 1)
            lines = [f"{_whole(a * NS)} {_whole(b * part)} {order}\n" for (a, b), order in zip(phases, orders, strict=True)]
            file = folder / f"{index + 1}.phases"
            file.write_text("".join(lines))
            alone = sum((a + b for a, b in phases), Fraction(0))
            address = "unix:/tmp/coordinator" if self.policy else "-"
            commands.append(f"{index + 1} {_whole(alone * NS)} /srv/pfs/{index + 1} {address} {file}")
        return commands


def _whole(value: Fraction) -> int:
    assert value.denominator == 1, value
    return int(value)


def compiled(folder: Path) -> Path:
    """The application in C, with the header that simunix ships."""
    program = folder / "application"
    source = Path(__file__).parent / "application.c"
    include = ROOT / "simunix" / "io_coordinator"
    subprocess.run(["gcc", "-O2", "-Wall", "-Wextra", "-Werror", f"-I{include}", source, "-o", program], check=True, timeout=60)
    return program


def ends(simunix: Simunix, folder: Path, instances: Sequence[Instance], fair_per: str = "operation") -> list[list[Fraction]]:
    """Seconds after its begin at which each application of each instance has ended, in one run."""
    program = compiled(folder)
    names: list[str] = []
    lines: list[str] = []
    for number, instance in enumerate(instances, 1):
        if instance.policy:
            words = (
                f"{sys.executable}, -m, simunix.io_coordinator, --listen, 'unix:/tmp/coordinator', --policy, {instance.policy}"
            )
            lines.append(f"  - {{name: coordinator, host: i{number}, command: [{words}]}}")
        for index, command in enumerate(instance.files(folder / f"i{number}")):
            names.append(f"a{command.split()[0]}")
            words = f"[{program}, {', '.join(command.split())}]"
            if instance.flows:
                flows = " ".join(f".{flow}" for flow in range(instance.flows[index]))
                one = command.replace(f"/srv/pfs/{index + 1}", f"/srv/pfs/{index + 1}$i")
                words = f"'for i in {flows}; do {program} {one} & done; wait'"
            lines.append(f"  - {{name: {names[-1]}, host: i{number}, start: 1s, command: {words}}}")
    stop = ", ".join(dict.fromkeys(names))
    head = HEAD.format(stop=stop, count=len(instances), bandwidth=BANDWIDTH, root=ROOT)
    head = head.replace("{name: pfs, ", f"{{name: pfs, fair_per: {fair_per}, ")
    scenario = folder / "scenario.yaml"
    scenario.write_text(head + "\n".join(lines) + "\n")
    ran = run(simunix, scenario, folder / "run")
    return [
        [_end(ran.everything(f"i{number}", f"a{index}"), index) for index in range(1, len(instance.applications) + 1)]
        for number, instance in enumerate(instances, 1)
    ]


def _end(output: str, index: int) -> Fraction:
    """When the last of an application's processes has ended."""
    words = output.split()
    assert words and len(words) % 2 == 0 and {*words[::2]} == {str(index)}, output
    return Fraction(max(int(word) for word in words[1::2]), NS)
