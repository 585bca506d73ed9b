"""Power caps of a Slurm cluster: the parameters of slurm.conf, the plan of the controlling program, and its scripts.

Watts are licenses of Slurm; `simunix.rjms.slurm.power.guest.power_cap` says why. The script job_submit.lua makes each
job ask for the licenses of its nodes. PrologSlurmctld sets a job's nodes to the power state that the job's licenses
allow.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path

from rsg_server.errors import SimunixError
from rsg_server.platform.power import Enclosure, watts
from simunix.launch.plan import FileSpec, ProcessSpec
from simunix.ranges import fold_hosts
from simunix.rjms.adapter import PowerCap, Site
from simunix.rjms.slurm.parameters import Value
from simunix.rjms.slurm.power import guest
from simunix.rjms.slurm.power.saving import FOLDER, MACHINES, NS
from simunix.rjms.slurm.power.sections import CapSection, PowerBudgetSection, PowerCapSection, PowerSavingSection
from simunix.rjms.slurm.power.watts import Machine
from simunix.rjms.slurm.section import SlurmSection

CONTROLLER, PLAN, LUA, PROLOG = (
    f"{FOLDER}/{name}" for name in ("power_cap.py", "power_cap.json", "job_submit.lua", "frequency")
)
ROUNDING_W = 1e-6
START_NS = 4 * 10**9
SAVING = {"resume_timeout": "1h", "suspend_rate": 0, "resume_rate": 0}
"""The parameters of power saving for nodes that a program switches off, if the scenario does not set them."""
SWITCHES = ("shut", "mix")
"""The policies of power capping that switch nodes off."""
PROLOG_TEXT = """#!/bin/sh
# PrologSlurmctld of slurm.conf(5), written by simunix: the nodes of a job go to the power state that its licenses pay for.
nodes=$(scontrol show hostnames "$SLURM_JOB_NODELIST")
case "$SLURM_JOB_LICENSES" in *watts:*) ;; *) exit 0 ;; esac
watts=${{SLURM_JOB_LICENSES##*watts:}}
set -- $nodes
case $((${{watts%%,*}} / $#)) in
{cases}
*) exit 0 ;;
esac
# Whatever frequencies the programs of the job ask for, a node draws no more.
{machines} machines limit $limit -- "$@"
exec {machines} machines pstate $state -- "$@"
"""
LUA_TEXT = """-- Written by simunix: a job has whole nodes, and asks for the watts that they draw beyond idle ones (licenses).
local CORES, WATTS, NONE, NO_VAL16 = {cores}, {watts}, 4294967294, 65534

local function given(value, none)
   return value ~= nil and value ~= none and value > 0 and value or nil
end

function slurm_job_submit(job, partitions, user)
   local cpus = given(job.cpus_per_task, NO_VAL16) or 1
   local tasks = given(job.num_tasks, NONE) or 1
   local nodes = given(job.min_nodes, NONE) or 1
   local each = given(job.ntasks_per_node, NO_VAL16) or tasks
   nodes = math.max(nodes, math.ceil(tasks * cpus / CORES), math.ceil((given(job.min_cpus, NONE) or 1) / CORES))
   nodes = math.max(nodes, math.ceil(tasks / each))
   job.min_nodes = nodes
   job.max_nodes = nodes
   job.shared = 0
   local others = job.licenses and job.licenses ~= "" and job.licenses .. "," or ""
   job.licenses = others .. "watts:" .. string.format("%d", nodes * WATTS)
   return slurm.SUCCESS
end

-- What root does not change: users have no say in the watts of a job, and so none in how many nodes it has.
function slurm_job_modify(job, record, partitions, user)
   if user == 0 or (job.licenses == nil and not given(job.min_nodes, NONE)) then
      return slurm.SUCCESS
   end
   slurm.log_user("the nodes and licenses of a job are counted under the power cap: only root changes them; submit it anew")
   return slurm.ESLURM_ACCESS_DENIED
end
"""


@dataclass(frozen=True, slots=True)
class PlannedCap:
    """A power cap, with the number of nodes at the end of the node list that are off during the cap, and the number of
    licenses that jobs then have.
    """

    cap: PowerCap
    announced_ns: int
    off: int
    licenses: int


@dataclass(frozen=True, slots=True)
class Budget:
    """An energy budget: the joules for the time of the only cap, whose watts are the power limit, and the watts of all
    nodes without a job.
    """

    policy: str
    joules: float
    idle_w: float


@dataclass(frozen=True, slots=True)
class Capping:
    """The power caps of a `slurm:` section, computed for the nodes of its cluster."""

    host: str
    section: PowerCapSection
    machine: Machine
    states: tuple[int, ...]
    caps: tuple[PlannedCap, ...]
    cores: int
    epoch_s: float
    budget: Budget | None = None

    @property
    def total(self) -> int:
        """Twice the licenses that all nodes need at the fastest power state.

        Slurm reserves no nodes for a job that lacks licenses. So while there is no cap, a job that waits for nodes must
        not lack licenses.
        """
        return 2 * len(self.machine.nodes) * self.machine.above_idle(self.machine.fastest)

    @property
    def power_caps(self) -> tuple[PowerCap, ...]:
        """The limits that the power never exceeds.

        The power limit of an energy budget is not among these limits, since the power may exceed it.
        """
        return () if self.budget is not None else tuple(each.cap for each in self.caps)

    def applied_to(self, section: SlurmSection, key: str) -> SlurmSection:
        """Return the section with power saving configured, without which Slurm switches no node off. Raises
        SimunixError for settings that contradict the caps.
        """
        taken = {name.lower() for name in self.parameters()} & {name.lower() for name in section.parameters}
        if taken:
            raise SimunixError(f"{key}.parameters: {min(taken)} is set by {key}.power_cap; take it out")
        if section.config is not None and (section.config.parent / Path(LUA).name).exists():
            raise SimunixError(
                f"{key}.config: there is a job_submit.lua beside it, and {key}.power_cap has its own; take one of them out"
            )
        if section.power_saving is None:
            return section.model_copy(update={"power_saving": PowerSavingSection.model_validate(SAVING)})
        if section.power_saving.suspend_time is not None and self.budget is None:
            text = "nodes that go off and boot by themselves would not be counted under the cap; take suspend_time away"
            raise SimunixError(f"{key}.power_saving.suspend_time: {text}")
        return section

    def parameters(self) -> dict[str, Value]:
        """Return the parameters of slurm.conf for the caps."""
        found: dict[str, Value] = {"Licenses": f"watts:{self.total}", "JobSubmitPlugins": "lua"}
        return {**found, "PrologSlurmctld": PROLOG} if len(self.states) > 1 else found

    def files(self) -> Iterator[FileSpec]:
        """Yield the files for power capping that the controller host needs."""
        most = self.machine.above_idle(self.machine.fastest)
        lua = LUA_TEXT.format(cores=self.cores, watts=most)
        cases = "\n".join(self._case(state) for state in self.states)
        yield FileSpec(self.host, PLAN, self._plan().encode())
        yield FileSpec(self.host, CONTROLLER, Path(guest.__file__).with_name("power_cap.py").read_bytes())
        yield FileSpec(self.host, LUA, lua.encode())
        yield FileSpec(self.host, PROLOG, PROLOG_TEXT.format(cases=cases, machines=MACHINES).encode(), mode=0o755)

    def _case(self, state: int) -> str:
        """Return the line of the prolog script for a power state. Rounding must not bring a loaded node above the watts
        of its state.
        """
        limit_w = self.machine.full_w(state) + ROUNDING_W
        return f"{self.machine.above_idle(state)}) state={state} limit={limit_w:.6f} ;;"

    def process(self) -> ProcessSpec:
        """Return the process of the program that controls the caps."""
        return ProcessSpec("power-cap", self.host, ("/usr/bin/python3", CONTROLLER, PLAN), START_NS)

    def _below(self, planned: PlannedCap) -> int:
        """Return the number of licenses that exist under a cap; all licenses, if every node that is on may compute at
        the highest speed.
        """
        nodes = len(self.machine.nodes) - planned.off
        return planned.licenses if planned.licenses < nodes * self.machine.above_idle(self.machine.fastest) else self.total

    def _of_each_node(self, planned: PlannedCap) -> int:
        """Return the most licenses that a job may use for each node under a cap: any number, or an equal part of the
        existing ones.
        """
        if self.section.frequencies == "highest":
            return self.machine.above_idle(self.machine.fastest)
        return planned.licenses // max(1, len(self.machine.nodes) - planned.off)

    def _plan(self) -> str:
        caps = [
            {
                "name": f"powercap{place}",
                "announced": self.epoch_s + each.announced_ns / NS,
                "start": self.epoch_s + each.cap.start_ns / NS,
                "end": self.epoch_s + each.cap.end_ns / NS,
                "licenses": self._below(each),
                "each": self._of_each_node(each),
                "off": fold_hosts(self.machine.nodes[len(self.machine.nodes) - each.off :]) if each.off else "",
            }
            for place, each in enumerate(self.caps)
        ]
        states = [(self.machine.above_idle(state), self.machine.speeds[state]) for state in self.states]
        numbers = {
            "is_even": self.section.frequencies == "even",
            "margin": self.section.margin / NS,
            "interval": self.section.interval / NS,
        }
        more = {} if self.budget is None else {"budget": {**asdict(self.budget), "machines": MACHINES}}
        return json.dumps({"caps": caps, "total": self.total, "states": states, **numbers, **more}, indent=1)


def capping(section: SlurmSection, key: str, site: Site) -> Capping | None:
    """Return the power caps of a section; None if it has none. Raises SimunixError, beginning with the wrong key."""
    wanted = section.power_cap
    if section.power_budget is not None:
        return budgeted(section, section.power_budget, key, site)
    if wanted is None:
        return None
    key = f"{key}.power_cap"
    machine = _machine(section, key, site)
    states = _states(wanted, machine, key)
    caps = tuple(_planned(each, wanted, machine, states, f"{key}.caps[{place}]") for place, each in enumerate(wanted.caps))
    for place, (before, after) in enumerate(pairwise(caps), 1):
        if after.cap.start_ns - wanted.margin < before.cap.end_ns:
            raise SimunixError(f"{key}.caps[{place}].start: caps follow each other, with the margin between them; move one")
    cores = site.hardware[section.nodes[0]].cpus
    return Capping(section.controller, wanted, machine, states, caps, cores, site.epoch_s)


def _machine(section: SlurmSection, key: str, site: Site) -> Machine:
    hosts = [site.hosts[name] for name in section.nodes]
    first = hosts[0]
    for host in hosts:
        if host.power is None:
            raise SimunixError(f"{key}: node {host.name} has no wattage_per_state; add its watts")
        if (host.power, host.speeds_flops, host.cores) != (first.power, first.speeds_flops, first.cores):
            raise SimunixError(
                f"{key}: nodes {first.name} and {host.name} differ; nodes under a cap have the same cores and watts"
            )
    assert first.power is not None
    return Machine(section.nodes, first.power, first.speeds_flops, tuple(_enclosures(section, key, site)))


def _enclosures(section: SlurmSection, key: str, site: Site) -> Iterator[Enclosure]:
    for each in site.enclosures:
        others = [name for name in each.hosts if name not in section.nodes]
        if len(others) == len(each.hosts):
            raise SimunixError(
                f"{key}: enclosure {each.name} has none of the nodes, and would count under the cap; take it away"
            )
        if others:
            raise SimunixError(
                f"{key}: enclosure {each.name} has {others[0]} as well, which is no node; give it one of its own"
            )
        yield each


def _states(wanted: PowerCapSection, machine: Machine, key: str) -> tuple[int, ...]:
    """Return the power states in which jobs may run, the fastest first."""
    if wanted.policy in ("idle", "shut"):
        if wanted.floor is not None:
            raise SimunixError(f"{key}.floor: policy {wanted.policy} changes no frequency; take it away, or choose mix")
        return (machine.fastest,)
    if wanted.policy == "mix" and wanted.floor is None:
        raise SimunixError(f"{key}.floor: policy mix needs the lowest speed that jobs may have, such as '2.0Gf'")
    states = machine.states_down_to(wanted.floor or 0.0)
    if not states:
        raise SimunixError(
            f"{key}.floor: the nodes are not as fast in any power state; choose a speed up to "
            f"{machine.speeds[machine.fastest] / 1e9:g}Gf"
        )
    if len(states) < 2:
        raise SimunixError(
            f"{key}: policy {wanted.policy} has one power state to choose from; give the nodes more speeds and watts"
        )
    return states


def _planned(cap: CapSection, wanted: PowerCapSection, machine: Machine, states: tuple[int, ...], key: str) -> PlannedCap:
    if cap.end <= cap.start or cap.announced > cap.start:
        raise SimunixError(f"{key}: a cap is announced, starts and ends, in this order; change one of the three")
    most = machine.most_w
    cap_w = most * float(cap.watts[:-1]) / 100 if cap.watts.endswith("%") else watts(cap.watts)
    off: int | None = 0
    if wanted.policy in SWITCHES:
        off = machine.fewest_off(cap_w, machine.full_w(states[-1]))
    licenses = -1 if off is None else machine.licenses(cap_w, off)
    if off is None or licenses < machine.above_idle(states[-1]):
        least = machine.watts(len(machine.nodes) if wanted.policy in SWITCHES else 0, machine.idle_w)
        raise SimunixError(
            f"{key}.watts: no node could compute below {cap_w:.6g} W: with policy {wanted.policy} the idle machine draws "
            f"{least:.0f} W of at most {most:.0f} W; raise the cap, or choose another policy"
        )
    return PlannedCap(PowerCap(cap.start, cap.end, cap_w), cap.announced, off, licenses)


def budgeted(section: SlurmSection, wanted: PowerBudgetSection, key: str, site: Site) -> Capping:
    """Return an energy budget as a cap at its power limit, which the controlling program moves. Raises SimunixError,
    beginning with the wrong key.
    """
    if section.power_cap is not None:
        raise SimunixError(f"{key}.power_budget: there is {key}.power_cap as well; a cluster has one of them")
    key = f"{key}.power_budget"
    machine = _machine(section, key, site)
    for name, host in site.hosts.items():
        if host.power is not None and name not in section.nodes:
            raise SimunixError(f"{key}: host {name} has watts, and is no node: its joules would count; take its watts away")
    if wanted.end <= wanted.start or wanted.announced > wanted.start:
        raise SimunixError(f"{key}: a budget is announced, starts and ends, in this order; change one of the three")
    seconds, most_w = (wanted.end - wanted.start) / NS, machine.most_w
    percent = wanted.joules.endswith("%")
    joules = most_w * seconds * float(wanted.joules[:-1]) / 100 if percent else float(wanted.joules)
    cap_w, idle_w, job_w = joules / seconds, machine.watts(0, machine.idle_w), machine.above_idle(machine.fastest)
    if cap_w < idle_w + job_w:
        raise SimunixError(
            f"{key}.joules: no node could compute with {joules:.0f} J: the idle machine consumes {idle_w * seconds:.0f} J of "
            f"at most {most_w * seconds:.0f} J in this time; raise the budget"
        )
    planned = PlannedCap(PowerCap(wanted.start, wanted.end, cap_w), wanted.announced, 0, machine.licenses(cap_w, 0))
    cap = PowerCapSection.model_construct(
        policy="idle", caps=[], interval=wanted.interval, margin=wanted.margin, frequencies="highest", floor=None
    )
    budget = Budget(wanted.policy, joules, idle_w)
    cores = site.hardware[section.nodes[0]].cpus
    return Capping(section.controller, cap, machine, (machine.fastest,), (planned,), cores, site.epoch_s, budget)
