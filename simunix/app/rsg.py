"""`simunix rsg run PLATFORM -- COMMAND`: run one program on the first host of a platform. The program can have actors
on all hosts of the platform.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from rsg_server.network.models import model_named
from rsg_server.platform.simgrid_xml import load_platform
from rsg_server.shared.prices import Costs
from simunix.app.single import SingleOptions, plan_single, run_planned
from simunix.launch.plan import Plan

NO_COSTS = Costs(0, 0, 0)
"""All computing outside of Remote SimGrid's operations takes no virtual time, as in SimGrid. So the dates of activities
equal SimGrid's.
"""


def plan_rsg(platform_path: Path, options: SingleOptions, model: str = "LV08") -> Plan:
    """Return a plan in which the first host of a platform runs a command; the program may create actors on the other
    hosts.
    """
    plan = plan_single(options)
    platform = load_platform(platform_path, True)
    first = platform.hosts[0].name
    return replace(
        plan,
        platform=platform,
        hosts=tuple(replace(host, name=first) for host in plan.hosts),
        processes=tuple(replace(process, host=first) for process in plan.processes),
        kernel=replace(plan.kernel, costs=NO_COSTS, network_model=model_named(model)),
        inputs={**plan.inputs, "platform": platform_path},
        warnings=(*plan.warnings, *platform.description.warnings),
        environment={**plan.environment, "PYTHONUNBUFFERED": "1"},
        preempt_after_s=None,
    )


def run_rsg(platform_path: Path, argv: tuple[str, ...], out: Path | None, model: str) -> int:
    """Run a command of Remote SimGrid on a platform; return the command's exit code."""
    options = SingleOptions(argv=argv, out=out)
    return run_planned(plan_rsg(platform_path, options, model), options)
