"""Run benchmarks one after the other. A benchmark that fails, or whose needs are not met, gets a row with the reason."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from rsg_server.errors import SimunixError
from simunix.console import Console
from simunix.launch.interrupts import Interrupted, Interrupts
from simunix_bench.catalog import Benchmark
from simunix_bench.context import Context, MeasurementError
from simunix_bench.machine import describe
from simunix_bench.requirements import lacks
from simunix_bench.results import Results, print_results
from simunix_bench.row import Row, missing

FAILED = 1


def bench(benchmarks: Sequence[Benchmark], json_file: Path | None, is_quick: bool) -> int:
    """Run the benchmarks and print their rows; return the exit code.

    The exit code is 1 if a benchmark whose needs were met has failed, and 128 plus the signal's number after a signal.
    """
    results = Results(describe(), is_quick)
    code = 0
    with Interrupts() as interrupts, tempfile.TemporaryDirectory(prefix="simunix-bench-") as folder:
        try:
            _write(results, json_file)
            with _Progress() as say:
                for benchmark in benchmarks:
                    context = Context(_own_folder(folder, benchmark.name), is_quick, interrupts, say.about(benchmark.name))
                    code |= _run(benchmark, context, results, json_file)
        except Interrupted as interrupt:
            code = interrupt.exit_code
    print_results(results)
    return code


def _run(benchmark: Benchmark, context: Context, results: Results, json_file: Path | None) -> int:
    def add(row: Row) -> None:
        results.rows.append((benchmark.name, row))
        _write(results, json_file)

    if why := lacks(benchmark.needs):
        add(missing(benchmark.name, benchmark.title, why))
        return 0
    context.say(benchmark.title)
    try:
        for row in benchmark.measure(context):
            add(row)
            context.interrupts.check()
    except MeasurementError as error:
        add(missing(benchmark.name, benchmark.title, str(error)))
        return FAILED
    return 0


def _own_folder(folder: str, name: str) -> Path:
    own = Path(folder) / name
    own.mkdir()
    return own


def _write(results: Results, json_file: Path | None) -> None:
    if json_file is not None:
        try:
            results.write(json_file)
        except OSError as error:
            raise SimunixError(f"--json: {json_file}: {error.strerror}") from error


class _Progress:
    """Shows on a terminal what is being measured; shows nothing without a terminal."""

    def __init__(self) -> None:
        self._status = Console(stderr=True).status("")
        self._active = self._status.console.is_terminal

    def __enter__(self) -> _Progress:
        if self._active:
            self._status.start()
        return self

    def __exit__(self, *error: object) -> None:
        if self._active:
            self._status.stop()

    def about(self, benchmark: str) -> Callable[[str], None]:
        """Return a function that shows what a benchmark is doing."""

        def say(text: str) -> None:
            if self._active:
                self._status.update(f"{benchmark}: {text}")

        return say
