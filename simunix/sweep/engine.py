"""Execute the runs of an experiment as tasks of Dask distributed: on this computer's cores, or on the workers of a
scheduler.
"""

from __future__ import annotations

import contextlib
import logging
import queue
import shutil
import signal
from collections.abc import Iterator, Sequence
from multiprocessing import resource_tracker
from pathlib import Path
from typing import Any, Protocol

from rsg_server.errors import SimunixError, shortened
from simunix.launch.interrupts import HEARD, Interrupts
from simunix.sweep.child import execute, stop_file
from simunix.sweep.runs import Run

LOOK_S = 0.25
STOP_S = 60.0
SCRATCH = ".dask"
"""The folder for the workers' temporary files, in the folder of the sweep."""
OF_OUR_OWN = {
    "threads_per_worker": 1,  # a worker executes one run at a time
    "processes": True,
    "memory_limit": 0,
    "dashboard_address": None,
    # the scheduler's web pages use any free port, so that two sweeps can run at one time
    "scheduler_kwargs": {"dashboard_address": "127.0.0.1:0"},
    "silence_logs": logging.CRITICAL,
}


class Watcher(Protocol):
    """The interface of an object that is told how far the runs of a sweep are."""

    def tick(self) -> None:
        """Called regularly while runs are active."""

    def ended(self, run: Run, problem: str) -> None:
        """Called when a run has ended; `problem` is not "" if its worker has failed."""


@contextlib.contextmanager
def connected(address: str | None, workers: int, directory: Path) -> Iterator[Any]:
    """Yield a client of the Dask scheduler at `address` or, without one, of local worker processes, which end with the
    `with` block.

    Raises SimunixError if no scheduler answers at the address.
    """
    import dask
    from distributed import Client, LocalCluster

    if address is not None:
        try:
            client = Client(address, timeout=10)
        except (OSError, ValueError) as error:
            raise SimunixError(f"--scheduler {address}: {error or 'no answer'}; start one with: dask scheduler") from error
        with client:
            yield client
        return
    scratch = directory / SCRATCH
    shutil.rmtree(scratch, ignore_errors=True)  # a killed sweep has left files there
    try:
        with dask.config.set(temporary_directory=str(scratch)):
            with _signals_for_us_alone():
                cluster = LocalCluster(n_workers=workers, **OF_OUR_OWN)
            with cluster, Client(cluster) as client:
                yield client
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


@contextlib.contextmanager
def _signals_for_us_alone() -> Iterator[None]:
    """For the `with` block, block the terminal's signals in processes and threads that start; this thread receives the
    signals afterwards.
    """
    resource_tracker.ensure_running()  # if it started later, it would unblock the signals in a thread that starts workers
    before = signal.pthread_sigmask(signal.SIG_BLOCK, HEARD)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def run_all(
    runs: Sequence[Run], directory: Path, address: str | None, workers: int, watcher: Watcher, interrupts: Interrupts
) -> None:
    """Execute the runs; the watcher is told the end of each.

    After an interrupt, active runs end in good order, and further runs do not begin.
    """
    stop_file(directory).unlink(missing_ok=True)
    ends: queue.SimpleQueue[tuple[Run, Any]] = queue.SimpleQueue()
    with connected(address, workers, directory) as client:
        futures = []
        for run in runs:
            future = client.submit(execute, directory, run, key=f"{directory}/{run.name}", pure=False)
            future.add_done_callback(lambda done, run=run: ends.put((run, done)))
            futures.append(future)
        try:
            _collect(ends, len(runs), watcher, interrupts)
        except SimunixError:  # the files of a run cannot be written: the other runs end in good order
            _stop(futures, directory)
            raise
        if interrupts.came:
            _stop(futures, directory)


def _collect(ends: queue.SimpleQueue[tuple[Run, Any]], count: int, watcher: Watcher, interrupts: Interrupts) -> None:
    while count and not interrupts.came:
        watcher.tick()
        try:
            run, future = ends.get(timeout=LOOK_S)
        except queue.Empty:
            continue
        count -= 1
        watcher.ended(run, "" if future.status == "finished" else _why(future.exception()))


def _why(error: BaseException) -> str:
    """Return a text on why a worker has not executed its run."""
    if type(error).__name__ == "KilledWorker":
        return "its worker has died several times: killed from outside, or this computer's memory is used up"
    text = " ".join(str(error).split())
    return f"its worker failed: {shortened(text or type(error).__name__)}"


def _stop(futures: Sequence[Any], directory: Path) -> None:
    """Make active runs end in good order, and other runs end as soon as they begin."""
    from distributed import wait

    with contextlib.suppress(OSError):  # if the disk is full, the runs are killed when their workers end
        stop_file(directory).touch()
    try:
        with contextlib.suppress(TimeoutError):
            wait(futures, timeout=STOP_S)
    finally:
        stop_file(directory).unlink(missing_ok=True)
