"""`simunix run SCENARIO.yaml`: load, expand, run, and write the results, also of a run that was cut short."""

from __future__ import annotations

import shutil
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from rsg_server.errors import SimunixError
from simunix.launch.container import SHIM
from simunix.launch.emulation import Emulation
from simunix.launch.record import record_of
from simunix.launch.run_directory import RunDirectory
from simunix.report.jobs_csv import JobRow, make_rows, read_submissions, write_rows
from simunix.report.progress import LiveProgress, count_lines
from simunix.report.run_json import RunRecord, checksums, program_version
from simunix.report.table import print_report
from simunix.rjms.slurm import daemons
from simunix.rjms.slurm.accounting import parse_jobcomp
from simunix.scenario.expand import WORKLOAD_FOLDER, Expansion, expand, with_options
from simunix.scenario.loader import load
from simunix.scenario.model import Scenario

NS = 10**9
FAILED, INTERRUPTED = 1, 130


@dataclass(frozen=True, slots=True)
class ScenarioOptions:
    """What the command line says."""

    path: Path
    out: Path | None = None
    seed: int | None = None
    until_ns: int | None = None
    overrides: tuple[str, ...] = ()
    pace: float | None = None
    keep_alive: bool = False
    log_every_turn: bool = False
    strict: bool = False


def run_scenario(options: ScenarioOptions) -> int:
    """Run it; 0 if it ended as it should."""
    scenario = load(options.path, options.overrides)
    if options.seed is not None:
        scenario = scenario.model_copy(update={"seed": options.seed})
    expansion = expand(scenario, options.path.parent, options.log_every_turn, options.strict)
    plan = with_options(expansion.plan, options.until_ns, options.pace)
    directory = RunDirectory.create(options.out or Path("out") / scenario.name)
    shutil.copyfile(options.path, directory.path / "scenario.yaml")
    emulation = Emulation(plan, directory, keep_alive=options.keep_alive)
    code, error = 0, None
    emulation.prepare()
    try:
        with LiveProgress(len(expansion.jobs), lambda: _jobs_done(directory, expansion)) as progress:
            emulation.run(progress)
    except SimunixError as problem:
        error = problem
        emulation.failure = emulation.failure or str(problem)
        code = problem.exit_code
    except KeyboardInterrupt:
        emulation.service.reason = "interrupted"
        code = INTERRUPTED
    return _finish(options, scenario, expansion, emulation, code if error or code else _exit_code(emulation))


def _exit_code(emulation: Emulation) -> int:
    return FAILED if emulation.failure is not None else 0


def _jobcomp(directory: RunDirectory, expansion: Expansion) -> Path | None:
    """Where the controller's accounting file lives in the run directory."""
    slurm = expansion.slurm
    if slurm is None or not slurm.jobcomp:
        return None
    for name, specs in slurm.private.items():
        for spec in specs:
            if slurm.jobcomp.startswith(spec.path + "/"):
                file = directory.private(name, spec.path) / Path(slurm.jobcomp).relative_to(spec.path)
                if file.exists():
                    return file
    return None


def _jobs_done(directory: RunDirectory, expansion: Expansion) -> int:
    file = _jobcomp(directory, expansion)
    return count_lines(file) if file else 0


def job_rows(scenario: Scenario, expansion: Expansion, directory: RunDirectory) -> list[JobRow]:
    """All rows of jobs.csv, from what the submitter and the RJMS wrote."""
    if scenario.workload is None:
        return []
    submissions = read_submissions(directory.private(expansion.submit_host, WORKLOAD_FOLDER) / "submissions.csv")
    file = _jobcomp(directory, expansion)
    completed = parse_jobcomp(file.read_text().splitlines()) if file else {}
    return make_rows(
        scenario.workload.trace.name,
        expansion.jobs,
        expansion.skipped,
        submissions,
        completed,
        scenario.workload.start / NS,
        scenario.epoch.timestamp(),
    )


def _finish(options: ScenarioOptions, scenario: Scenario, expansion: Expansion, emulation: Emulation, code: int) -> int:
    """Write the results, say how it went."""
    directory = emulation.directory
    rows = job_rows(scenario, expansion, directory)
    record = make_record(options, scenario, expansion, emulation, rows)
    record.write(directory.path / "run.json")
    if rows:
        write_rows(directory.path / "jobs.csv", rows)
    emulation.close()
    if emulation.failure is not None:
        print(f"simunix: {emulation.failure}", file=sys.stderr)
    if code in (0, INTERRUPTED):
        shown = options.out or directory.path
        print_report(record, rows, expansion.slurm.cores if expansion.slurm else 0, shown, len(expansion.plan.hosts))
    if code == INTERRUPTED:
        print("simunix: interrupted; the results so far are kept", file=sys.stderr)
    return code


def make_record(
    options: ScenarioOptions, scenario: Scenario, expansion: Expansion, emulation: Emulation, rows: list[JobRow]
) -> RunRecord:
    """run.json's content."""
    programs = {spec.argv[0]: Path(spec.argv[0]) for spec in expansion.plan.processes if spec.argv[0].startswith("/")}
    return record_of(
        emulation,
        program_version((daemons.SLURMCTLD, "-V")) if expansion.slurm else None,
        scenario.cpu_policy,
        checksums({"scenario": options.path, "shim": SHIM, **expansion.plan.inputs}),
        checksums(programs),
        dict(Counter(row.final_state for row in rows)),
    )
