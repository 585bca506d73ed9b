"""Write the energy of a run: energy.csv, power.csv, Batsim's consumed_energy.csv and pstate_changes.csv, and the energy
of each job.

Energies come from the meters of the run (rsg_server.energy), which know the energy at any moment. A job gets the energy
that its hosts consumed while it ran, for each host in proportion to the job's cores there. A job that has a host to
itself gets all of the host's energy, as Batsim counts. Each core is one of Batsim's machines
(`simunix.results.machines`). The total of consumed_energy.csv is that of all nodes and all enclosures.
"""

from __future__ import annotations

import csv
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from rsg_server.energy.hosts import BOOTING, OFF, STOPPING, Switch
from rsg_server.energy.meter import NS, Meter
from rsg_server.whole_files import whole_file
from simunix.results.jobs_csv import JobRow
from simunix.results.machines import Intervals, Machines, intervals_text, merged, parse_intervals

if TYPE_CHECKING:
    from rsg_server.energy.energy import Energy
    from simunix.rjms.adapter import PowerCap

ENERGY = ("kind", "name", "joules", "mean_watts")
CONSUMED = ("time", "energy", "event_type", "wattmin", "epower")
POWER = ("time", "watts", "cap")
PSTATES = ("time", "machine_id", "new_pstate")
ENDS, SWITCHES, STARTS = "e", "p", "s"
"""The types of events in consumed_energy.csv; events of one moment are in this order."""
OFF_PSTATE = -1
"""The power state of a host that is off, as SimGrid numbers it."""
SLEEPING, SWITCHING_OFF, SWITCHING_ON = "nb_sleeping", "nb_switching_off", "nb_switching_on"
STATE_OF = {OFF: SLEEPING, STOPPING: SWITCHING_OFF, BOOTING: SWITCHING_ON}


@dataclass(frozen=True, slots=True)
class Consumption:
    """The meters of a finished run, and the cores of its nodes; in a run without a cluster, the cores of all hosts that
    have watts.
    """

    energy: Energy
    machines: Machines
    end_ns: int

    def of_jobs(self, rows: Sequence[JobRow]) -> list[JobRow]:
        """Return the rows with the energy in joules of each job whose hosts all have watts; `allocated_resources` of
        the rows must be known.
        """
        return [replace(row, consumed_energy=self._of_job(row)) for row in rows]

    def _of_job(self, row: JobRow) -> float | None:
        if row.starting_time is None or row.finish_time is None or not row.allocated_resources:
            return None
        begin_ns, end_ns = round(row.starting_time * NS), round(row.finish_time * NS)
        total = 0.0
        for name, cores in self._cores(parse_intervals(row.allocated_resources)):
            host = self.energy.hosts.hosts.get(name)
            if host is None:
                return None
            total += (host.meter.joules(end_ns) - host.meter.joules(begin_ns)) * cores / self.machines.cores[name]
        return total

    def _cores(self, intervals: Intervals) -> Iterator[tuple[str, int]]:
        """Yield each host that has cores in the intervals, and how many of its cores are in them."""
        place = iter(intervals)
        low, high = next(place)
        for name, first in self.machines.first.items():
            last, count = first + self.machines.cores[name] - 1, 0
            while low <= last:
                count += max(0, min(high, last) - max(low, first) + 1)
                if high > last:
                    break
                low, high = next(place, (self.machines.total, self.machines.total))
            if count:
                yield name, count

    def between(self, begin_s: float, end_s: float) -> float:
        """Return the joules that all nodes and enclosures consumed between two moments, given in virtual seconds."""
        begin_ns, end_ns = round(begin_s * NS), round(end_s * NS)
        return sum(meter.joules(end_ns) - meter.joules(begin_ns) for meter in self._meters())

    def _meters(self) -> Iterator[Meter]:
        hosts = self.energy.hosts.hosts
        yield from (hosts[name].meter for name in self.machines.cores if name in hosts)
        yield from (each.meter for each in self.energy.hosts.enclosures)

    @property
    def switches(self) -> list[Switch]:
        """The moments at which a node changed its power state or went on or off, in the order of time."""
        return [switch for switch in self.energy.hosts.switches if switch.host in self.machines.cores]

    # Machine states

    def unavailable(self) -> list[tuple[float, str, int]]:
        """Return the changes of the number of cores in each state of STATE_OF: (virtual seconds, state, change)."""
        now: dict[str, str | None] = {}
        found = []
        for switch in self.switches:
            cores, state = self.machines.cores[switch.host], STATE_OF.get(switch.what)
            for name, change in ((now.get(switch.host), -cores), (state, cores)):
                if name is not None:
                    found.append((switch.at_ns / NS, name, change))
            now[switch.host] = state
        return found

    # Files

    def power(self) -> tuple[Sequence[int], Sequence[float]]:
        """Return the moments, in virtual nanoseconds, at which the power of all nodes and enclosures together changes,
        and the watts from each moment on.
        """
        import numpy as np

        found: dict[int, float] = {}
        for meter in self._meters():
            moments, watts = meter.steps()
            for moment_ns, change in zip(moments, np.diff(watts, prepend=0.0).tolist(), strict=True):
                found[moment_ns] = found.get(moment_ns, 0.0) + change
        moments = sorted(found)
        return moments, np.cumsum([found[moment_ns] for moment_ns in moments]).round(6).tolist()

    def write(self, directory: Path, rows: Sequence[JobRow], caps: Sequence[PowerCap] = ()) -> None:
        """Write energy.csv, power.csv, pstate_changes.csv and consumed_energy.csv."""
        _write(directory / "energy.csv", ENERGY, self._totals())
        _write(directory / "power.csv", POWER, self._powers(caps))
        _write(directory / "pstate_changes.csv", PSTATES, self._pstates())
        _write(directory / "consumed_energy.csv", CONSUMED, self._consumed(rows))

    def _totals(self) -> Iterator[tuple[object, ...]]:
        found = [("host", name, host.meter.joules(self.end_ns)) for name, host in self.energy.hosts.hosts.items()]
        found += [("enclosure", each.enclosure.name, each.meter.joules(self.end_ns)) for each in self.energy.hosts.enclosures]
        found += [("link", name, link.joules(self.end_ns)) for name, link in self.energy.links.links.items()]
        for kind, name, joules in [*found, ("all", "", sum(joules for _, _, joules in found))]:
            yield kind, name, _text(joules), _text(joules * NS / self.end_ns) if self.end_ns else ""

    def _powers(self, caps: Sequence[PowerCap]) -> Iterator[tuple[object, ...]]:
        """Yield the rows of power.csv: a moment, the watts of all nodes and enclosures from then on, and the power cap
        at that moment.
        """
        moments, powers = self.power()
        edges = {edge for cap in caps for edge in (cap.start_ns, cap.end_ns) if edge <= self.end_ns}
        last: tuple[float, float | None] | None = None
        for moment_ns in sorted(edges.union(moments)):
            place = bisect_right(moments, moment_ns) - 1
            under = [cap.watts for cap in caps if cap.start_ns <= moment_ns < cap.end_ns]
            now = powers[place], min(under, default=None)
            if now != last:
                yield _moment(moment_ns), _text(now[0]), "" if now[1] is None else _text(now[1])
            last = now

    def _pstates(self) -> Iterator[tuple[object, ...]]:
        """Yield the rows of pstate_changes.csv: the power states at the start, then each change. Changes of several
        machines at one moment are one row.
        """
        first: dict[int, list[str]] = {}
        for name in self.machines.cores:
            if (host := self.energy.hosts.hosts.get(name)) is not None:
                first.setdefault(host.first_state, []).append(name)
        for state, names in sorted(first.items()):
            yield 0, self._intervals(names), state
        for moment_ns, state, names in self.grouped():
            yield _moment(moment_ns), self._intervals(names), state

    def grouped(self) -> list[tuple[int, int, list[str]]]:
        """Return the changes of power states as (virtual nanoseconds, new state, hosts). A shutdown or boot counts at
        its end.
        """
        found: list[tuple[int, int, list[str]]] = []
        for switch in self.switches:
            state = OFF_PSTATE if switch.what == OFF else switch.state
            if switch.what in (STOPPING, BOOTING):
                continue
            if found and found[-1][:2] == (switch.at_ns, state):
                found[-1][2].append(switch.host)
            else:
                found.append((switch.at_ns, state, [switch.host]))
        return found

    def _intervals(self, names: Iterable[str]) -> str:
        first, cores = self.machines.first, self.machines.cores
        return intervals_text(merged((first[name], first[name] + cores[name] - 1) for name in names))

    def _consumed(self, rows: Sequence[JobRow]) -> Iterator[tuple[object, ...]]:
        """Yield the rows of consumed_energy.csv: the energy so far, at each start and end of a job and each change of a
        power state.

        The column `epower` is the mean power, in watts, since the row before.
        """
        moments = [(moment_ns, ENDS if is_end else STARTS) for row in rows for moment_ns, is_end in _ends(row)]
        moments += [(moment_ns, SWITCHES) for moment_ns, _, _ in self.grouped()]
        moments.sort()
        energies = self._totals_at([moment_ns for moment_ns, _ in moments])
        least = self._least_watts([moment_ns for moment_ns, _ in moments])
        last_ns, last = 0, 0.0
        for (moment_ns, kind), joules, wattmin in zip(moments, energies, least, strict=True):
            epower = _text((joules - last) * NS / (moment_ns - last_ns)) if moment_ns > last_ns else "NA"
            yield _moment(moment_ns), _text(joules), kind, _text(wattmin), epower
            last_ns, last = moment_ns, joules

    def _totals_at(self, moments_ns: Sequence[int]) -> Sequence[float]:
        import numpy as np  # imported here, because only runs with watts need numpy

        total = np.zeros(len(moments_ns))
        for meter in self._meters():
            total += np.interp(moments_ns, *meter.points(self.end_ns))
        return [float(value) for value in total]

    def _least_watts(self, moments_ns: Sequence[int]) -> Iterator[float]:
        """Yield, after each moment, the watts that nodes and enclosures would draw with almost no load, in their power
        states.
        """
        hosts = self.energy.hosts.hosts
        states = {name: hosts[name].first_state for name in self.machines.cores if name in hosts}
        on = {name: hosts[name].power.states[state].epsilon_w for name, state in states.items()}
        off: dict[str, None] = {}
        switches = iter(self.switches)
        switch = next(switches, None)
        for moment_ns in moments_ns:
            while switch is not None and switch.at_ns <= moment_ns:
                on.pop(switch.host, None)
                off.pop(switch.host, None)
                if switch.what == OFF:
                    off[switch.host] = None
                else:
                    on[switch.host] = hosts[switch.host].power.states[switch.state].epsilon_w
                switch = next(switches, None)
            without_load = [*(hosts[name].meter for name in off), *(each.meter for each in self.energy.hosts.enclosures)]
            yield sum(on.values()) + sum(meter.watts_before(moment_ns + 1) for meter in without_load)


def consumption(energy: Energy, machines: Machines, cores: Mapping[str, int], end_ns: int) -> Consumption | None:
    """Return the energy data of a run; None if no host has watts. `cores` has the number of cores of every host."""
    if not energy.is_metered:
        return None
    nodes = machines if machines.cores else Machines({name: cores[name] for name in energy.hosts.hosts})
    return Consumption(energy, nodes, end_ns)


def _ends(row: JobRow) -> Iterator[tuple[int, bool]]:
    """Yield the start and the end of a job that has run, in virtual nanoseconds, with whether it is a start."""
    if row.starting_time is not None and row.finish_time is not None:
        yield round(row.starting_time * NS), False
        yield round(row.finish_time * NS), True


def _moment(moment_ns: int) -> str:
    return f"{moment_ns / NS:.9f}".rstrip("0").rstrip(".")


def _text(value: float) -> str:
    return f"{value:.6f}".rstrip("0").rstrip(".")


def _write(path: Path, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    with whole_file(path) as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(rows)
