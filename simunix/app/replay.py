"""`simunix run --replay-cpu DIR`: each computation takes the virtual time that it took in the run recorded in DIR
(under `cpu_policy: charged`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from rsg_server.errors import SimunixError
from rsg_server.processor.charges import Charging
from rsg_server.processor.policies import CHARGED, FREE
from rsg_server.processor.recording import recording_of
from simunix.calibration.prices import SHIPPED, read_prices
from simunix.launch.emulation import CHARGES
from simunix.launch.plan import Plan
from simunix.results.run_json import described_hosts, read_record


def with_replay(plan: Plan, directory: Path, out: Path | None) -> Plan:
    """Return a copy of `plan` that charges the recorded computing times of the run in `directory`; the new run is
    written to `out`. Raises SimunixError if the recorded run had another scenario.

    If the new run departs from the recording, computing takes the time that the table of costs says from then on.
    """
    where = f"--replay-cpu {directory}"
    if out is not None and out.resolve() == directory.resolve():
        raise SimunixError(
            f"{where}: --out names the recorded run's own folder, which would be replaced; name another folder with --out"
        )
    try:
        record = read_record(directory / "run.json")
    except FileNotFoundError as error:
        raise SimunixError(f"{where}: no run.json there; name the folder of a run") from error
    if problem := _misfit(plan, record):
        raise SimunixError(f"{where}: {problem}")
    recording_of(directory / CHARGES)
    charging = plan.kernel.charging or Charging()
    charging = replace(charging, replay=directory / CHARGES, prices=charging.prices or read_prices(SHIPPED))
    return replace(plan, kernel=replace(plan.kernel, charging=charging))


def _misfit(plan: Plan, record: Mapping[str, Any]) -> str | None:
    """Return why the recorded run does not fit a plan, in words; None if it fits. The records of earlier releases have
    fewer keys.
    """
    options = plan.kernel
    if record["cpu_policy"] == FREE:
        return "that run's cpu_policy was free; only a charged run has a recording"
    if options.charging is None and record["cpu_policy"] != CHARGED:
        return "that run's CPU policies were mixed; give its scenario, whose keys say whose computing counts"
    if record["name"] != plan.name:
        return f"that was a run of {record['name']}, this is one of {plan.name}; give the same scenario or command"
    if record["seed"] != options.seed:
        return f"its seed was {record['seed']}, this run's is {options.seed}; give --seed {record['seed']}"
    own, there = described_hosts(plan.platform.hosts), record.get("hosts", {})
    if there and there != own:
        how = "other names, cores or speeds"
        if there["count"] != own["count"]:
            how = f"{there['count']:,}, here {own['count']:,}"
        return f"that run had other hosts ({how}); run with those of its scenario.yaml"
    reference = (options.charging or Charging()).reference_flops
    if (recorded := record.get("cpu_policies", {}).get("reference_flops", reference)) != reference:
        return f"its cpu_reference was {recorded:g} flop/s, this run's is {reference:g}; give --set cpu_reference={recorded:g}"
    return _other_policies(asdict(options.charging.policies), record) if options.charging is not None else None


def _other_policies(own: Mapping[str, Any], record: Mapping[str, Any]) -> str | None:
    there = record.get("cpu_policies", {})
    differing = [key for key, value in own.items() if there.get(key, value) != value]
    if not differing:
        return None
    key = differing[0]
    return f"that run had other CPU policies ({key}: {there[key]}, here {own[key]}); take those of its scenario.yaml"
