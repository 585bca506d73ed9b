"""`simunix rsg serve PLATFORM`: emulate a whole platform as a server, to which other commands add actors before they
start it.
"""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass
from pathlib import Path

from rsg_server.edge.deployment import Deployment
from rsg_server.network.models import model_named
from rsg_server.options import KernelOptions
from rsg_server.platform.simgrid_xml import load_platform
from simunix.app.rsg import NO_COSTS
from simunix.app.rsg_ports import claimed
from simunix.app.run_folder import recorded, run_folder
from simunix.dates import since_1970_ns, today
from simunix.launch.emulation import Emulation, say
from simunix.launch.failures import describe_exit
from simunix.launch.interrupts import Interrupts
from simunix.launch.plan import HostSpec, Plan


@dataclass(frozen=True, slots=True, kw_only=True)
class ServeOptions:
    """The options of `simunix rsg serve`. Without `out`, the run directory is removed at the end."""

    platform: Path
    port: int
    out: Path | None = None
    model: str = "LV08"


def plan_served(options: ServeOptions) -> Plan:
    """Return a plan of all hosts of a platform, on which no program runs yet. System calls take no virtual time in this
    plan.
    """
    platform = load_platform(options.platform, True)
    return Plan(
        name=options.platform.stem,
        platform=platform,
        hosts=tuple(HostSpec(host.name, sees_temporary_files=True) for host in platform.hosts),
        processes=(),
        kernel=KernelOptions(epoch_ns=since_1970_ns(today()), costs=NO_COSTS, network_model=model_named(options.model)),
        shared=(os.getcwd(),),
        inputs={"platform": options.platform},
        warnings=platform.description.warnings,
    )


def serve(options: ServeOptions) -> int:
    """Run a server until its actors have ended or `simunix rsg kill` ends it; return the exit code 0. Raises
    SimunixError for a run that has failed.
    """
    plan = plan_served(options)
    with contextlib.ExitStack() as stack:
        interrupts = stack.enter_context(Interrupts())
        directory = stack.enter_context(run_folder(options.out))
        stack.enter_context(claimed(options.port, directory.path))
        emulation = Emulation(plan, directory, interrupts=interrupts)
        deployment = emulation.service.deployment = Deployment(emulation.service)
        emulation.service.finished = deployment.is_finished
        with recorded(emulation, directory, is_kept=options.out is not None, inputs=plan.inputs):
            say(f"listening on port {options.port}: {len(plan.hosts)} hosts of {options.platform}")
            emulation.run()
            _tell_end(emulation, deployment)
    return 0


def _tell_end(emulation: Emulation, deployment: Deployment) -> None:
    if deployment.killed:
        say(f"killed at {emulation.kernel.now_ns / 1e9:.6f} s: {deployment.killed}")
        return
    for added in deployment.added.values():
        status = added.process.exit_status
        code = None if status is None or status < 0 else os.waitstatus_to_exitcode(status)
        if code != 0:
            say(f"actor {added.who}: {added.argv[0]} ended with {describe_exit(code)}")
    say(f"the simulation has ended at {emulation.kernel.now_ns / 1e9:.6f} s")
