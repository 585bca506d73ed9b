"""Wait for lines of slurmctld's log that tell of jobs and nodes, by inotify(7)."""

from __future__ import annotations

import ctypes
import os
import re
import select
import time

EVENT = re.compile(
    r"_slurm_rpc_(submit_batch_job|allocate_resources|submit_batch_het_job): (Job|Het)|_job_complete: JobId=\S+ done|"
    r"[Rr]equeu|_slurm_rpc_kill_job|Time limit exhausted|[Nn]odes? \S+ (now|not|state|set|returned|\(|DOWN)|"
    r"update_node: node|powering|power_"
)
"""What the log says, at the level info, when a job was submitted, has ended or was requeued, or when a node has changed."""
IN_MODIFY = 2
ENOUGH = 4096


class LogWatch:
    """Waits for events in a log. What the log contained before is no event."""

    def __init__(self, path: str) -> None:
        self._file = open(path, errors="replace")  # noqa: SIM115  open as long as the daemon lives
        self._file.seek(0, os.SEEK_END)
        libc = ctypes.CDLL(None, use_errno=True)
        self._watch = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        if self._watch < 0 or libc.inotify_add_watch(self._watch, path.encode(), IN_MODIFY) < 0:
            raise OSError(ctypes.get_errno(), "cannot watch the log of slurmctld", path)
        self._poll = select.poll()
        self._poll.register(self._watch, select.POLLIN)

    def close(self) -> None:
        """Close the log and the watch."""
        self._file.close()
        os.close(self._watch)

    def wait(self, until_s: float | None) -> None:
        """Return after the next event, at `until_s` (Unix time) at the latest."""
        while not self.has_event():
            left_s = None if until_s is None else until_s - time.time()
            if left_s is not None and left_s <= 0:
                return
            self._poll.poll(None if left_s is None else int(left_s * 1000) + 1)
            self._drop_notices()

    def has_event(self) -> bool:
        """Read the new lines of the log, and return whether one of them tells of an event."""
        events = [line for line in self._file if EVENT.search(line)]
        return bool(events)

    def _drop_notices(self) -> None:
        try:
            while os.read(self._watch, ENOUGH):
                pass
        except BlockingIOError:
            return
