"""`--replay-cpu DIR`: computing takes the time that it took in a former run under the CPU policy charged."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from rsg_server.errors import SimunixError
from rsg_server.options import KernelOptions
from rsg_server.processor.charges import Charging
from rsg_server.processor.policies import CHARGED, FREE
from simunix.launch.emulation import CHARGES
from simunix.results.run_json import read_record


def with_replay(options: KernelOptions, directory: Path, out: Path | None) -> KernelOptions:
    """The options of a run in `out` that repeats the charges of the run in `directory`."""
    where = f"--replay-cpu {directory}"
    if out is not None and out.resolve() == directory.resolve():
        raise SimunixError(f"{where}: --out names the same folder; name another one, or the recording would be lost")
    try:
        record = read_record(directory / "run.json")
    except FileNotFoundError as error:
        raise SimunixError(f"{where}: no run.json there; name the folder of a run") from error
    if record["cpu_policy"] == FREE:
        raise SimunixError(f"{where}: that run's cpu_policy was free; only a charged run has a recording")
    if options.charging is None and record["cpu_policy"] != CHARGED:
        raise SimunixError(
            f"{where}: that run's CPU policies were mixed; give its scenario, whose keys say whose computing counts"
        )
    if record["seed"] != options.seed:
        raise SimunixError(
            f"{where}: its seed was {record['seed']}, this run's is {options.seed}; give --seed {record['seed']}"
        )
    return replace(options, charging=replace(options.charging or Charging(), replay=directory / CHARGES))
