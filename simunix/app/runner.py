"""`simunix run SCENARIO.yaml`: load and run a scenario, and write its results, also if the run was interrupted."""

from __future__ import annotations

import contextlib
import shutil
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rsg_server.choices.source import Choices
from rsg_server.errors import ServerError, SimunixError, described, shortened
from rsg_server.turn.choosing import ChosenOrder
from simunix.app.late import late_lines
from simunix.app.progress import LiveProgress, count_marks
from simunix.app.replay import with_replay
from simunix.app.run_options import RunOptions
from simunix.app.summary import print_report
from simunix.app.told_progress import ToldProgress
from simunix.app.viewer import viewer
from simunix.checks.patterns import broken_checks
from simunix.jobs.workload import FOLDER
from simunix.launch.emulation import Emulation
from simunix.launch.factory.container import SHIM
from simunix.launch.failures import Failure, failed_lines
from simunix.launch.interrupts import Interrupts
from simunix.launch.run_directory import RunDirectory
from simunix.metrics.logs import logs_by_number
from simunix.planning.expand import Expansion, expand
from simunix.planning.submission import WORKLOAD_FOLDER, WorkloadPlan
from simunix.planning.workload_context import check_context
from simunix.report.batsim_files import write_all
from simunix.results import storage_waits
from simunix.results.choices_file import NAME as CHOICES
from simunix.results.choices_file import made_by, write_choices
from simunix.results.dependencies import dependencies, write_packages
from simunix.results.energy import consumption
from simunix.results.jobs_csv import JobRow, Recorded, make_rows, read_submissions
from simunix.results.live_json import LiveRecord, LiveWorkload, live_cluster, placed
from simunix.results.machines import Machines
from simunix.results.record import record_of
from simunix.results.run_json import RunRecord, checksums
from simunix.results.versions import describe_programs, describe_rjms, describe_roots
from simunix.rjms.adapter import ClusterPlan
from simunix.rjms.scenario import load
from simunix.scenario.model import Scenario

NS = 10**9
FAILED, INTERRUPTED = 1, 130


@dataclass(frozen=True, slots=True, kw_only=True)
class ScenarioOptions(RunOptions):
    """The options of the command line for a run of a scenario.

    The scenario's relative paths are relative to `folder`, by default the folder of the scenario's file. `choices` are
    set only by `simunix explore`: the decisions of the run, such as which thread runs next. `view` serves the live page.
    `when_made` is called with the emulation before the run begins.
    """

    path: Path
    folder: Path | None = None
    keep_alive: bool = False
    view: bool = False
    choices: Choices | None = None
    when_made: Callable[[Emulation], None] | None = None

    @property
    def base(self) -> Path:
        """The folder to which the scenario's relative paths are relative."""
        return self.folder or self.path.parent


def run_scenario(options: ScenarioOptions) -> int:
    """Run a scenario. Return the exit code: 0 if the run ended as the scenario expects."""
    scenario = load(options.path, options.overrides)
    if options.seed is not None:
        scenario = scenario.model_copy(update={"seed": options.seed})
    expansion = expand(scenario, options.base, options.log_every_turn, options.strict)
    plan = options.applied(expansion.plan)
    said_by = "until" if options.until_ns is None else "--until"
    plan = replace(plan, warnings=(*plan.warnings, *late_lines(scenario, expansion, plan.until_ns, said_by)))
    plan.observation.check([host.name for host in plan.hosts])
    if scenario.recorded is not None:
        # imports pandas, which takes long, and which only scenarios with a recorded run need
        from simunix.report import recorded

        recorded.check(scenario, options.base)
    if options.choices is not None:
        order = ChosenOrder(options.choices)
        plan = replace(plan, kernel=replace(plan.kernel, choices=options.choices, order=order))
    out = options.out or Path("out") / scenario.name
    if options.replay_cpu is not None:
        plan = with_replay(plan, options.replay_cpu, out)
    with RunDirectory.create(out) as directory, Interrupts() as interrupts:
        shutil.copyfile(options.path, directory.path / "scenario.yaml")
        _live_record(options, scenario, expansion, directory).write(directory.path)
        emulation = Emulation(
            plan,
            directory,
            keep_alive=options.keep_alive,
            strace=options.strace,
            debug=options.debug,
            interrupts=interrupts,
            pause_at_ns=options.pause_at_ns,
            storage_waits=storage_waits.counted(plan.platform, expansion.clusters),
        )
        if options.when_made is not None:
            options.when_made(emulation)
        with viewer(directory.path) if options.view else contextlib.nullcontext():
            return _run(options, scenario, expansion, emulation) or interrupts.code


def _run(options: ScenarioOptions, scenario: Scenario, expansion: Expansion, emulation: Emulation) -> int:
    """Run an emulation to its end, and write the results, whatever ended the run; return the exit code."""
    directory = emulation.directory
    code, error = 0, None
    try:
        counts = (_jobs_total(expansion), lambda: _jobs_done(directory, expansion))
        told = ToldProgress(*counts)
        with LiveProgress(*counts) as progress:
            emulation.run(told.beside(progress))
    except SimunixError as problem:
        error = problem
        emulation.note_failure(problem)
        code = problem.exit_code
    except (OSError, MemoryError) as problem:
        error = ServerError(described(problem))
        emulation.note_failure(error)
        code = error.exit_code
    except KeyboardInterrupt as interrupt:
        emulation.service.reason = emulation.service.reason or "interrupted"
        code = int(getattr(interrupt, "exit_code", INTERRUPTED))
    return _finish(options, scenario, expansion, emulation, code if error or code else _exit_code(emulation))


def _exit_code(emulation: Emulation) -> int:
    return FAILED if emulation.failure is not None else 0


def _record(directory: RunDirectory, cluster: ClusterPlan, path: str) -> Path | None:
    """Return where the run directory has one of a cluster's `records`; None if the file is not written yet."""
    return next((file for file in placed(directory, cluster, path) if file.exists()), None)


def _records(directory: RunDirectory, cluster: ClusterPlan) -> tuple[list[str], bool]:
    """Return the texts of the files that a cluster's RJMS wrote about jobs (`records`), and whether they tell of all
    jobs. The text is "" for a file that was not written completely.
    """
    files = [_record(directory, cluster, path) for path in cluster.records]
    texts = [file.read_text() if file else "" for file in files]
    whole = [text if text.endswith(cluster.record_end) else "" for text in texts]
    return whole, bool(texts) and (not cluster.record_end or all(whole))


def _jobs_total(expansion: Expansion) -> int:
    return sum(len(workload.jobs) for workload in expansion.workloads)


def _jobs_done(directory: RunDirectory, expansion: Expansion) -> int:
    firsts = [(cluster, _record(directory, cluster, path)) for cluster in expansion.clusters for path in cluster.records[:1]]
    return sum(count_marks(file, cluster.record_mark) for cluster, file in firsts if file)


def job_rows(scenario: Scenario, expansion: Expansion, emulation: Emulation) -> list[JobRow]:
    """Return all rows of jobs.csv, made from what the submitting program and the RJMS wrote."""
    return [row for workload in expansion.workloads for row in _rows_of(scenario, workload, emulation)]


def _rows_of(scenario: Scenario, workload: WorkloadPlan, emulation: Emulation) -> list[JobRow]:
    directory = emulation.directory
    rjms = workload.cluster.rjms
    records, tells_all = _records(directory, workload.cluster)
    logs = logs_by_number(directory.shared(FOLDER), workload.host if len(scenario.workload or []) > 1 else "")
    recorded = Recorded(
        clients=rjms.clients,
        submissions=read_submissions(directory.private(workload.host, WORKLOAD_FOLDER) / "submissions.csv"),
        completed=rjms.completed(records),
        tells_all=tells_all,
        origin_s=workload.section.start / NS,
        epoch_s=scenario.epoch.timestamp(),
        suspended={number: log.suspended_s for number, log in logs.items() if log.suspensions},
        io_times=storage_waits.io_times(emulation.kernel, workload.cluster),
    )
    return make_rows(workload.label, workload.jobs, workload.skipped, recorded)


def _finish(options: ScenarioOptions, scenario: Scenario, expansion: Expansion, emulation: Emulation, code: int) -> int:
    """Write the results and report them on the terminal. Return the exit code: `code`, unless the results could not be
    written.
    """
    directory = emulation.directory
    directory.release_reserve()
    rows = job_rows(scenario, expansion, emulation)
    record = make_record(options, scenario, expansion, emulation, rows)
    record.depends_on, packages = dependencies(expansion.plan.hosts)
    record.contexts = [check_context(context, directory) for context in expansion.contexts]
    record.valid = all(context["established"] for context in record.contexts)
    broken = broken_checks(scenario.check, directory.path / "hosts") if scenario.check else []
    record.failed_checks = [str(check) for check in broken]
    record.write(directory.path / "run.json")
    try:
        _write_results(directory.path, rows, record, expansion, emulation)
        record.write(directory.path / "run.json")
        write_packages(directory.path, packages)
        if options.choices is not None:
            write_choices(directory.path / CHOICES, made_by(options.choices))
    except ServerError as error:  # run.json, the shortest of the results, is already written
        emulation.note_failure(error)
        code = code or error.exit_code
    failures = emulation.failures
    emulation.close()
    if emulation.failure is not None:
        print(f"simunix: {shortened(emulation.failure)}", file=sys.stderr)
    was_interrupted = emulation.service.reason == "interrupted"
    if was_interrupted:
        with contextlib.suppress(OSError):  # the terminal may be closed, and its end may have ended the run
            print_report(record, rows, expansion, options.out or directory.path)
            print("simunix: interrupted; the results so far are kept", file=sys.stderr)
    elif code == 0:
        _report(record, rows, expansion, options.out or directory.path, _compared(options, scenario, record, directory.path))
    shown = options.out or directory.path
    _tell_broken(record.failed_checks)
    failed = _tell_failures(failures, shown)  # failed processes are reported even if the run ended for another reason
    return code or failed or (FAILED if record.failed_checks else 0)


def _tell_broken(checks: Sequence[str]) -> None:
    """Report which checks of the scenario do not hold."""
    with contextlib.suppress(OSError):  # the terminal may be closed
        for line in checks:
            print(f"simunix: {line}", file=sys.stderr)


def _tell_failures(failures: Sequence[Failure], shown: Path) -> int:
    """Report which processes did not end as the scenario expects. Return the exit code that follows: 0 if all processes
    ended as expected.
    """
    with contextlib.suppress(OSError):  # the terminal may be closed
        for line in failed_lines(failures, shown / "hosts"):
            print(f"simunix: {line}", file=sys.stderr)
        if failures:
            print("simunix: if such an end is meant, say so by the key expect of the process", file=sys.stderr)
    return FAILED if failures else 0


def _write_results(folder: Path, rows: list[JobRow], record: RunRecord, expansion: Expansion, emulation: Emulation) -> None:
    """Write the files about jobs and energy. Compute the metrics of the jobs from these files, and put the metrics into
    the record.
    """
    machines, kernel = machines_of(expansion), emulation.kernel
    cores = {host.name: host.cores for host in kernel.platform.hosts}
    consumed = consumption(kernel.energy, machines, cores, kernel.now_ns)
    caps = [cap for cluster in expansion.clusters for cap in cluster.power_caps]
    if rows:
        run = write_all(folder, rows, machines, record.wall_s, consumed, caps)
        record.metrics = {str(name): None if value != value else float(value) for name, value in run.summary.items()}
    elif consumed is not None:
        consumed.write(folder, rows, caps)


def _compared(options: ScenarioOptions, scenario: Scenario, record: RunRecord, folder: Path) -> str:
    """Return a line of text that compares this event log with the recorded one. The text is empty if the scenario names
    no recorded run, if `--until` is given, or if the run is not deterministic.
    """
    if scenario.recorded is None or options.until_ns is not None or not record.deterministic:
        return ""
    from simunix.report import recorded  # imports pandas, which takes long, and which only scenarios with a recorded run need

    return recorded.closing_words(options.base / scenario.recorded, folder, options.out or folder)


def _report(record: RunRecord, rows: list[JobRow], expansion: Expansion, shown: Path, compared: str) -> None:
    try:
        print_report(record, rows, expansion, shown, compared)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise ServerError(f"standard output: {described(error)}; the results are in {shown}") from error


def machines_of(expansion: Expansion) -> Machines:
    """Return the nodes of all clusters of a scenario, with the number of cores of each node."""
    cores = {host.name: host.hardware.cpus if host.hardware else 1 for host in expansion.plan.hosts}
    return Machines({name: cores[name] for cluster in expansion.clusters for name in cluster.nodes})


def _live_record(options: ScenarioOptions, scenario: Scenario, expansion: Expansion, directory: RunDirectory) -> LiveRecord:
    """Return what the live page must know of the run before the run begins."""
    cores = {host.name: host.hardware.cpus if host.hardware else 1 for host in expansion.plan.hosts}
    controllers = [cluster.controller for cluster in expansion.clusters]  # these accounts include the accounts of workloads
    workloads = [
        LiveWorkload(
            cluster=controllers.index(workload.cluster.controller),
            submissions=str(
                (directory.private(workload.host, WORKLOAD_FOLDER) / "submissions.csv").relative_to(directory.path)
            ),
            origin_s=workload.section.start / NS,
            jobs=[(job.id, job.cores) for job in workload.jobs],
        )
        for workload in expansion.workloads
    ]
    seed = () if options.seed is None else ("--seed", str(options.seed))
    return LiveRecord(
        name=scenario.name,
        scenario=str(options.path),
        arguments=[*seed, *(word for each in options.overrides for word in ("--set", each))],
        environment=expansion.plan.environment,
        epoch_s=scenario.epoch.timestamp(),
        hosts=cores,
        clusters=[live_cluster(directory, cluster, cores) for cluster in expansion.clusters],
        workloads=workloads,
    )


def make_record(
    options: ScenarioOptions, scenario: Scenario, expansion: Expansion, emulation: Emulation, rows: list[JobRow]
) -> RunRecord:
    """Return the content of run.json for a run of a scenario."""
    record = record_of(
        emulation,
        describe_rjms(expansion.clusters, expansion.plan.hosts),
        checksums({"scenario": options.path, "shim": SHIM, **expansion.plan.inputs}),
        describe_programs(expansion.plan),
        dict(Counter(row.final_state for row in rows)),
        describe_roots(expansion.plan.hosts),
    )
    record.overrides, record.epoch_s = list(options.overrides), scenario.epoch.timestamp()
    record.cores = sum(cluster.cores for cluster in expansion.clusters)
    return record
