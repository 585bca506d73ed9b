"""Run the scripts one after the other, and add each run to a file of results as soon as it has ended.

    python -m simunix_bench.fidelity.measure FILE FOLDER ARM:SCRIPT...       for instance real:mixed charged:queue=10000

A number after `queue` is the number of squeue commands. Tables need runs with the same number, so use one FILE for each
number. The run directories stay in FOLDER: the arm `modelled` takes its computing times from all runs of the arm
`charged` there.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from simunix.launch.interrupts import Interrupts
from simunix_bench.context import Context, MeasurementError
from simunix_bench.fidelity.arms import ARMS, CHARGED, MODELLED, SCRIPTS, play, script_named
from simunix_bench.fidelity.records import Run, read_run, run_of
from simunix_bench.machine import describe

FORMAT = "simunix fidelity 1"


def measure(context: Context, wanted: Iterable[tuple[str, str]]) -> Iterator[Run]:
    """Yield a run for each arm and script. Raises MeasurementError if a run fails."""
    for arm, script in wanted:
        context.say(f"{script}: {arm}")
        costs = calibrated(context) if arm == MODELLED else None
        played = play(context, arm, script_named(script), costs)
        digest = json.loads((played.out / "run.json").read_text())["events_sha256"] if played.out is not None else ""
        yield read_run(
            arm=arm,
            script=script,
            output=played.output,
            log=played.log,
            wall_s=round(played.wall_s, 1),
            load=played.load,
            digest=digest,
        )


def calibrated(context: Context) -> Path:
    """Learn computing times from the charged runs in the context's folder; return the file with them. Raises
    MeasurementError without such runs.
    """
    runs = sorted(path.parent for path in context.folder.glob(f"{CHARGED}-*/run/cpu_costs.json"))
    if not runs:
        raise MeasurementError(f"{MODELLED}: {context.folder} has no charged run to learn costs from: measure one before")
    costs = context.folder / "costs.yaml"
    context.simunix("calibrate", *runs, "-o", costs)
    return costs


def read_results(path: Path) -> tuple[dict[str, Any], list[Run]]:
    """Return the description of the measurement, and its runs. Raises ValueError if the file is of another kind."""
    found = json.loads(path.read_text())
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise ValueError(f'{path}: expected "format": "{FORMAT}"')
    return {name: found[name] for name in ("machine", "date")}, [run_of(each) for each in found["runs"]]


def add_result(path: Path, run: Run) -> None:
    """Add a run to the file of results, which is created if it does not exist."""
    if path.exists():
        about, runs = read_results(path)
    else:
        about, runs = {"machine": describe(), "date": datetime.now(UTC).isoformat(timespec="seconds")}, []
    rows = ",\n".join(json.dumps(each.as_json()) for each in [*runs, run])
    head = json.dumps({"format": FORMAT, **about}, ensure_ascii=False)[:-1]
    path.write_text(f'{head}, "runs": [\n{rows}\n]}}\n')


def main(file: Path, folder: Path, words: list[str]) -> int:
    """Measure the runs that the words ARM:SCRIPT name; return the exit code."""
    wanted = [(arm, script) for arm, _, script in (word.partition(":") for word in words)]
    for arm, script in wanted:
        if arm not in ARMS:
            print(f"{arm}:{script}: expected ARM:SCRIPT of {', '.join(ARMS)} and {', '.join(SCRIPTS)}", file=sys.stderr)
            return 2
        try:
            script_named(script)
        except ValueError as error:
            print(f"{arm}:{error}", file=sys.stderr)
            return 2
    folder.mkdir(parents=True, exist_ok=True)
    with Interrupts() as interrupts:
        for run in measure(Context(folder.resolve(), False, interrupts, print), wanted):
            add_result(file, run)
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:]))
