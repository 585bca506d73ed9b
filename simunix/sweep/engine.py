"""Runs of an experiment as tasks of Dask distributed: on this computer's cores, or on the workers of a scheduler."""

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
"""Folder of the workers' temporary files in the folder of the sweep."""
OF_OUR_OWN = {
    "threads_per_worker": 1,  # a run is one runner at a time
    "processes": True,
    "memory_limit": 0,
    "dashboard_address": None,
    "scheduler_kwargs": {"dashboard_address": "127.0.0.1:0"},  # its other pages are on any port, so that two sweeps may run
    "silence_logs": logging.CRITICAL,
}


class Watcher(Protocol):
    """Receives the progress of the runs."""

    def tick(self) -> None:
        """Called again and again while runs are under way."""

    def ended(self, run: Run, problem: str) -> None:
        """Called when a run has ended; `problem` is not empty if its worker has failed."""


@contextlib.contextmanager
def connected(address: str | None, workers: int, directory: Path) -> Iterator[Any]:
    """Yield a client of the scheduler at `address`; without one, of local worker processes, which end with the block.

    Raises SimunixError if there is no scheduler.
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
    shutil.rmtree(scratch, ignore_errors=True)  # left by a sweep that was killed
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
    """Block the signals of a terminal in processes and threads that are started meanwhile; this thread receives them later."""
    resource_tracker.ensure_running()  # started later, it would unblock the signals in a thread that starts workers
    before = signal.pthread_sigmask(signal.SIG_BLOCK, HEARD)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def run_all(
    runs: Sequence[Run], directory: Path, address: str | None, workers: int, watcher: Watcher, interrupts: Interrupts
) -> None:
    """Do the runs; the watcher is told of each end.

    After an interrupt, runs under way end in good order, and the others do not begin.
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
        except SimunixError:  # what a run has left cannot be written: the others end in good order, too
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
    """Say why a worker has not carried out its run."""
    if type(error).__name__ == "KilledWorker":
        return "its worker has died several times: killed from outside, or this computer's memory is used up"
    text = " ".join(str(error).split())
    return f"its worker failed: {shortened(text or type(error).__name__)}"


def _stop(futures: Sequence[Any], directory: Path) -> None:
    """Make runs under way end in good order, and the others end as soon as they begin."""
    from distributed import wait

    with contextlib.suppress(OSError):  # a disk that is full: the runs are killed when their workers end
        stop_file(directory).touch()
    try:
        with contextlib.suppress(TimeoutError):
            wait(futures, timeout=STOP_S)
    finally:
        stop_file(directory).unlink(missing_ok=True)
