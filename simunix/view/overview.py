"""What `simunix top` draws: the clock, the nodes, the jobs that wait and run, as rich prints them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from rich.console import Group, RenderableType
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from simunix.ranges import expand_hosts
from simunix.view.model import Model

DAY_S, HOUR_S, MINUTE_S = 86400, 3600, 60
KEYS = "space pause/resume · n next event · + 1 min · o off · i on · ↑↓ node · q quit"
JOBS_PLAIN = NODES_PLAIN = 20
"""How many jobs and nodes a terminal that is none is told of."""


def clock_text(seconds: float) -> str:
    """A virtual time as people read it: 1 d 02:03:04."""
    whole = int(seconds + 1e-9)
    days = f"{whole // DAY_S} d " if whole >= DAY_S else ""
    return f"{days}{whole % DAY_S // HOUR_S:02}:{whole % HOUR_S // MINUTE_S:02}:{whole % MINUTE_S:02}"


@dataclass(slots=True)
class Overview:
    """The state of a run by what the model has told so far. `nodes` are those of all clusters, or else all hosts."""

    model: Model
    nodes: list[str]
    chosen: int = 0
    said: str = ""
    hosts: dict[str, list[Any]] = field(default_factory=dict)
    jobs: dict[str, list[Any]] = field(default_factory=dict)
    _told: int = 0
    _expanded: dict[str, list[str]] = field(default_factory=dict)

    def take(self) -> None:
        """Take over what has changed."""
        message, self._told = self.model.message(self._told)
        self.hosts |= message["hosts"]
        if not self.nodes:
            self.nodes = list(self.hosts)
        for job in message["jobs"]:
            self.jobs[job[0]] = job

    def of_state(self) -> tuple[list[list[Any]], list[list[Any]], int]:
        """The jobs that run, the latest start first; those that wait, the oldest first; how many have ended."""
        running = [job for job in self.jobs.values() if job[4] is not None and job[5] is None]
        waiting = [job for job in self.jobs.values() if job[4] is None and job[5] is None]
        running.sort(key=lambda job: -job[4])
        waiting.sort(key=lambda job: job[3] or 0.0)
        return running, waiting, len(self.jobs) - len(running) - len(waiting)

    def power(self, node: str) -> str:
        """on, stopping, off or booting; empty if it is not known, as of a run that has ended."""
        return str(self.hosts.get(node, [""])[0])

    def head(self) -> list[str]:
        """The lines about the whole run."""
        clock, (running, waiting, ended) = self.model.clock, self.of_state()
        state = "paused" if clock["paused"] and self.model.status == "running" else self.model.status
        speed = f", × {clock['speed']:.0f}" if clock["speed"] else ""
        pace = f", pace {clock['pace']:g}" if clock["pace"] else ""
        off = Counter(self.power(node) for node in self.nodes)
        busy = len(self.busy(running))
        powers = "".join(f", {count} {power}" for power, count in off.items() if power not in ("on", ""))
        return [
            f"{self.model.facts['name']}  {clock_text(clock['virtual_s'])}  {state}{speed}{pace}",
            f"{len(self.nodes)} nodes, {busy} busy{powers}; {len(running)} jobs running, {len(waiting)} waiting, {ended} ended",
        ]

    def busy(self, running: list[list[Any]]) -> Counter[str]:
        """How many jobs run on each node that is busy."""
        known = set(self.nodes)
        return Counter(name for job in running for name in self._names(job[6]) if name in known)

    def _names(self, text: str) -> list[str]:
        if text not in self._expanded:
            try:
                self._expanded[text] = expand_hosts(text)
            except ValueError:
                self._expanded[text] = []
        return self._expanded[text]

    def draw(self, rows: int, *, is_live: bool) -> RenderableType:
        """All, in so many rows of a terminal."""
        running, waiting, _ = self.of_state()
        count = max(3, rows - len(self.head()) - 5) if is_live else NODES_PLAIN
        tables = Table.grid(padding=(0, 3))
        tables.add_row(self._nodes(running, count, is_live), self._jobs(running, waiting, count if is_live else JOBS_PLAIN))
        foot = [Text(self.said, "yellow"), Text(KEYS, "dim")] if is_live else []
        return Group(*(Text(line, "bold" if not number else "") for number, line in enumerate(self.head())), tables, *foot)

    def _nodes(self, running: list[list[Any]], count: int, is_live: bool) -> Table:
        table = Table("node", "power", "processes", "jobs", box=None, pad_edge=False)
        busy = self.busy(running)
        first = max(0, min(self.chosen - count // 2, len(self.nodes) - count)) if is_live else 0
        for number, node in enumerate(self.nodes[first : first + count], first):
            power = self.power(node)
            style = (
                "reverse" if is_live and number == self.chosen else "red" if power == "off" else "green" if busy[node] else ""
            )
            processes = str(self.hosts[node][1]) if node in self.hosts else ""
            table.add_row(escape(node), power, processes, str(busy[node] or ""), style=style)
        if len(self.nodes) > count:
            table.add_row(f"… {len(self.nodes) - count} more", style="dim")
        return table

    def _jobs(self, running: list[list[Any]], waiting: list[list[Any]], count: int) -> Table:
        table = Table("job", "state", "since", "cores", "nodes", box=None, pad_edge=False)
        now_s = self.model.clock["virtual_s"]
        shown = [*waiting[: max(count // 2, count - len(running))], *running][:count]
        for key, _, state, submitted, started, _, nodes, cores in shown:
            since = started if started is not None else submitted
            lasted = "" if since is None else clock_text(max(0.0, now_s - since))
            table.add_row(escape(key), state, lasted, "" if cores is None else str(cores), escape(nodes))
        if len(running) + len(waiting) > count:
            table.add_row(f"… {len(running) + len(waiting) - count} more", style="dim")
        return table
