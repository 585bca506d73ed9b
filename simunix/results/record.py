"""What run.json says of an emulation, whatever started it."""

from __future__ import annotations

import time

from simunix import __version__
from simunix.launch.emulation import Emulation
from simunix.results.run_json import RunRecord

Checksums = dict[str, dict[str, str | None]]


def record_of(
    emulation: Emulation,
    rjms: str | None = None,
    cpu_policy: str = "free",
    inputs: Checksums | None = None,
    programs: Checksums | None = None,
    jobs: dict[str, int] | None = None,
    roots: list[dict[str, object]] | None = None,
) -> RunRecord:
    """run.json's content, once the emulation has ended and before it is closed."""
    kernel, service = emulation.kernel, emulation.service
    return RunRecord(
        name=emulation.plan.name,
        simunix=__version__,
        rjms=rjms,
        seed=kernel.options.seed,
        cpu_policy=cpu_policy,
        network_model=kernel.network.model.name,
        isolation=emulation.isolation.value,
        ended=service.reason or ("failed" if emulation.failure else ""),
        failure=emulation.failure,
        virtual_s=round(kernel.now_ns / 1e9, 9),
        wall_s=round(emulation.wall_s, 3),
        server_cpu_s=round(time.process_time(), 3),
        turns=kernel.log.turns,
        events_sha256=kernel.log.digest(),
        deterministic=service.reason != "interrupted" and not service.was_disturbed and not kernel.preemption.count,
        inputs=inputs or {},
        roots=roots or [],
        programs=programs or {},
        counts={
            **kernel.log.counts,
            **kernel.page.counters(),
            "solves": kernel.network.solves,
            "stored_descriptors": kernel.fd_store.stored,
            "preemptions": kernel.preemption.count,
        },
        unknown_calls=dict(sorted(kernel.unknown_calls.items())),
        refused_calls=dict(sorted(kernel.refused_calls.items())),
        jobs=jobs or {},
        warnings=emulation.warnings,
    )
