"""Run a script of commands once: with real daemons in real time, or with emulated daemons under a CPU policy. Each such
way is an "arm".
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from simunix_bench import real_cluster_inside
from simunix_bench.context import MODULES, Context, MeasurementError
from simunix_bench.fidelity import inside, mixed, player, queue
from simunix_bench.real_cluster import Machine, prepare
from simunix_bench.real_cluster_inside import HERE
from simunix_bench.requirements import NAMESPACES

REAL, FREE, CHARGED, PACED, MODELLED = "real", "free", "charged", "paced", "modelled"
"""The names of the arms. `paced` charges computing as `charged` does, and also runs at one virtual second per second,
so that the computer idles while daemons sleep, as in real runs.
"""
EMULATED = (FREE, CHARGED, PACED, MODELLED)
ARMS = (REAL, *EMULATED)
LIMIT_S = 1_800.0
CONTROLLER_CORES = 2
"""The cores of the emulated controller, which also runs the clients: as many as the computer of the real arm has."""
SCENARIO = """
name: fidelity
hosts:
  - {{name: controller, cores: {controller_cores}, memory: 8GiB}}
  - {{name: "node[1-{nodes}]", cores: {cores}, sockets: 2, memory: 64GiB}}
stop: script
cpu_policy: {policy}
shared: [{shared}]
processes:
  - name: script
    host: controller
    start: 20s
    user: root
    command: {command}
slurm: {{controller: controller, nodes: "node[1-{nodes}]", cpu_policy: {policy}, parameters: {parameters}}}
{costs}
{pace}
"""


@dataclass(frozen=True, slots=True)
class Script:
    """A script by name: the function that makes its actions from the job's program and log, and parameters of
    slurm.conf for all arms.
    """

    name: str
    actions: Callable[[Path, Path], list[dict[str, Any]]]
    parameters: dict[str, Any]


SCRIPTS = {
    "mixed": Script("mixed", mixed.mixed, mixed.SLURM),
    "queue": Script("queue", queue.queue, mixed.SLURM | {"SchedulerParameters": queue.SCHEDULER}),
    "quick-queue": Script(
        "quick-queue",
        lambda job, log: queue.queue(job, log, queue.QUICK),
        mixed.SLURM | {"SchedulerParameters": queue.SCHEDULER},
    ),
}
SIZES = {"queue": queue.FULL, "quick-queue": queue.QUICK}
MOST_ASKED = 100_000
"""The most squeue commands in a script: this number takes a quarter of an hour, and a run may take half an hour
(LIMIT_S).
"""


def script_named(word: str) -> Script:
    """Return a script by its name, such as `queue`, or with another number of squeue commands, such as `queue=10000`.
    Raises ValueError for an unknown name.
    """
    name, has_number, number = word.partition("=")
    if name not in SCRIPTS:
        raise ValueError(f"{word}: expected a script of {', '.join(SCRIPTS)}")
    if not has_number:
        return SCRIPTS[name]
    if name not in SIZES or not number.isdecimal() or not 1 <= int(number) <= MOST_ASKED:
        raise ValueError(f"{word}: expected a number of squeue from 1 to {MOST_ASKED}, as in queue=10000")
    sizes = replace(SIZES[name], asked=int(number))
    return replace(SCRIPTS[name], actions=lambda job, log: queue.queue(job, log, sizes))


@dataclass(frozen=True, slots=True)
class Played:
    """The results of a run: the player's output, the jobs' log, wall time, load averages, and, if emulated, the run
    directory.
    """

    arm: str
    script: str
    output: dict[str, Any]
    log: str
    wall_s: float
    load: tuple[float, float]
    out: Path | None = None


def play(context: Context, arm: str, script: Script, costs: Path | None = None) -> Played:
    """Run a script once in an arm. `costs` is the table of computing times for the arm `modelled`. Raises
    MeasurementError if the run fails.
    """
    shared = context.folder / "shared"  # with the same name in all runs, so that two modelled runs can have equal events
    shutil.rmtree(shared, ignore_errors=True)
    shared.mkdir()
    job, log, given, output = (shared / name for name in ("job.sh", "log", "script.json", "output.json"))
    job.write_text(mixed.JOB)
    log.touch()
    given.write_text(json.dumps(script.actions(job, log)))
    before = os.getloadavg()[0]
    if arm == REAL:
        wall_s, out = real(context, script, [str(given), str(output)]), None
    else:
        wall_s, out = emulated(context, arm, script, [str(given), str(output)], costs)
    if not output.exists():
        raise MeasurementError(f"{arm} {script.name}: the script has not ended")
    load = (round(before, 2), round(os.getloadavg()[0], 2))
    return Played(arm, script.name, json.loads(output.read_text()), log.read_text(), wall_s, load, out)


def real(context: Context, script: Script, words: list[str]) -> float:
    """Run a script with real daemons; return the wall time in seconds."""
    folder = Path(tempfile.mkdtemp(prefix="real-", dir=context.folder))
    prepare(folder, [], Machine(mixed.NODES, mixed.CORES, parameters=script.parameters), 1, 0.0)
    outer, inner = ([sys.executable, "-m", module.__name__] for module in (real_cluster_inside, inside))
    command: list[str | Path] = [*NAMESPACES, *outer, "prepare", folder, *inner, *words]
    done = context.run(command, {"SLURM_CONF": f"{HERE}/slurm.conf", "TZ": "UTC", **MODULES}, LIMIT_S, signal.SIGKILL)
    if done.returncode != 0:
        raise MeasurementError(f"real daemons: {done.last_words if done.returncode else f'not ended after {LIMIT_S:g} s'}")
    return done.wall_s


def emulated(context: Context, arm: str, script: Script, words: list[str], costs: Path | None) -> tuple[float, Path]:
    """Run a script with emulated daemons; return the wall time in seconds, and the run directory."""
    folder = Path(tempfile.mkdtemp(prefix=f"{arm}-", dir=context.folder))
    scenario, out = folder / "fidelity.yaml", folder / "run"
    scenario.write_text(
        SCENARIO.format(
            controller_cores=CONTROLLER_CORES,
            nodes=mixed.NODES,
            cores=mixed.CORES,
            policy=CHARGED if arm == PACED else arm,
            pace="pace: 1" if arm == PACED else "",
            shared=json.dumps(str(Path(words[0]).parent)),
            command=json.dumps([sys.executable, player.__file__, *words]),
            parameters=json.dumps(script.parameters),
            costs=f"cpu_costs: {costs}" if costs is not None and arm == MODELLED else "",
        )
    )
    return context.simunix("run", scenario, "--out", out).wall_s, out
