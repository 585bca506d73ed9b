"""Make the part of run.json that runs of scenarios and runs of single commands have in common."""

from __future__ import annotations

import time
from dataclasses import asdict
from typing import Any

from rsg_server import compiled
from rsg_server.kernel import Kernel
from rsg_server.process.external_signals import signal_name
from rsg_server.processor.overload import NS, WINDOW_NS
from rsg_server.processor.policies import CHARGED, Policies
from simunix import __version__
from simunix.launch.emulation import Emulation
from simunix.launch.failures import failed_lines
from simunix.ranges import fold_hosts
from simunix.results.run_json import RunRecord, described_hosts
from simunix.results.upgrades import upgraded

MEASURED = "computing took the time that it took here (cpu_policy: charged); --replay-cpu with this run's folder repeats it"
Checksums = dict[str, dict[str, str | None]]


def record_of(
    emulation: Emulation,
    rjms: str | None = None,
    inputs: Checksums | None = None,
    programs: Checksums | None = None,
    jobs: dict[str, int] | None = None,
    roots: list[dict[str, object]] | None = None,
) -> RunRecord:
    """Make the content of run.json from an emulation that has ended and is not closed yet."""
    kernel, service = emulation.kernel, emulation.service
    return RunRecord(
        name=emulation.plan.name,
        simunix=__version__,
        rjms=rjms,
        seed=kernel.options.seed,
        cpu_policy=(kernel.charges.options.policies if kernel.charges is not None else Policies()).summary,
        cpu_policies=_policies(kernel),
        network_model=kernel.network.model.name,
        isolation=emulation.isolation.value,
        privileged=fold_hosts(emulation.privileged),
        ended=service.reason or ("failed" if emulation.failure else ""),
        failure=emulation.failure,
        virtual_s=round(kernel.now_ns / 1e9, 9),
        wall_s=round(emulation.wall_s, 3),
        server_cpu_s=round(time.process_time(), 3),
        server=compiled.description(),
        turns=kernel.log.turns,
        events_sha256=kernel.log.digest(),
        **_repeatability(disturbances_of(emulation)),
        inputs=inputs or {},
        roots=roots or [],
        programs=programs or {},
        counts=_counts(kernel),
        unknown_calls=dict(sorted(kernel.unknown_calls.items())),
        refused_calls=dict(sorted(kernel.refused_calls.items())),
        jobs=jobs or {},
        warnings=emulation.warnings,
        failed_processes=failed_lines(emulation.failures),
        **_of_hosts(emulation),
    )


def _repeatability(disturbances: list[str]) -> dict[str, Any]:
    return {"deterministic": not disturbances, "disturbances": disturbances}


def disturbances_of(emulation: Emulation) -> list[str]:
    """Return the reasons why the run cannot be repeated byte for byte; [] if it can."""
    kernel = emulation.kernel
    found = list(kernel.disturbances.reasons)
    if emulation.service.reason == "interrupted":
        found.append("the run was interrupted")
    if taken := kernel.shared.notices.signals_from_outside & ~kernel.signals.by_server:
        names = ", ".join(signal_name(number) for number in range(1, 65) if taken >> (number - 1) & 1)
        found.append(f"processes have taken signals from outside the emulation: {names}")
    if kernel.charges is not None and CHARGED in kernel.charges.options.policies.all and not kernel.charges.replays:
        found.append(MEASURED)
    if count := kernel.preemption.count:
        found.append(f"{count:,} turns were taken back from threads that compute without a call (preempt_after)")
    if count := kernel.preemption.computing.count:
        found.append(f"{count:,} times CPU time passed as virtual time for threads that only compute and read the clock")
    return [*found, *upgraded(emulation)]


def _counts(kernel: Kernel) -> dict[str, int]:
    """Return how often the server did each kind of thing, by its name in run.json."""
    return {
        **kernel.log.counts,
        **kernel.shared.counters.of_record(),
        "solves": kernel.network.solves,
        "stored_descriptors": kernel.fd_store.stored,
        "preemptions": kernel.preemption.count,
        "charged_computing": kernel.preemption.computing.count,
        **_charges(kernel),
    }


def _policies(kernel: Kernel) -> dict[str, Any]:
    """Return the CPU policies, and which programs under `modelled` have no learned costs; {} if all computing is free."""
    charges = kernel.charges
    if charges is None:
        return {}
    without = sorted(charges.table.without_prices)
    reference = {"reference_flops": charges.options.reference_flops}
    return {**asdict(charges.options.policies), **reference, **({"without_costs": without} if without else {})}


def _of_hosts(emulation: Emulation) -> dict[str, Any]:
    """Return the hosts, and the oversubscribed hosts with the share of each program in the computing.

    A host is oversubscribed if threads waited for a core for ten minutes and more.
    """
    overloads = {
        name: {"since_s": each.since_ns // NS, "for_s": each.windows * WINDOW_NS // NS, "programs": each.shares()}
        for name, each in emulation.kernel.cpu.overloads().items()
    }
    return {"hosts": described_hosts(emulation.plan.platform.hosts), "oversubscribed": overloads}


def _charges(kernel: Kernel) -> dict[str, int]:
    """Return how often computing was charged with virtual time, and the sum in nanoseconds; {} if all computing is
    free.
    """
    charges = kernel.charges
    if charges is None:
        return {}
    return {"cpu_charges": charges.count, "cpu_charged_us": charges.total_ns // 1000, **kernel.shared.prices.overheads()}
