"""Activities that begin after others: in C, and the reports about activities that can never begin. test_counterparts.py
tests the dates of such activities.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tests.system.rsg.running import HERE, PLATFORMS, compiled, run

IN_C = """\
2 dependencies, the first is 0, state -1
second 1.000
first 1.500
read 2.000
first 2.250
put 2.250
got hello
first 2.500
got again, the detached put the activity has been waited for already, or was forgotten
parallel: parallel tasks need the flow model ptask_L07 (`simunix rsg run --model ptask_L07`, `network.model`)
cycle: the activity has been waited for already, or was forgotten
"""
ERRORS = """\
cycle: AssertionError: the activity would wait for its own end
twice: AssertionError: the dependency exists already, or there is none to remove
not there: AssertionError: the dependency exists already, or there is none to remove
begun: AssertionError: the activity has begun, or is over
over: AssertionError: the activity has been waited for already, or was forgotten
failed at its beginning: HostFailureException: the host is off
time is over: TimeoutException: the time is over []
went on 4.510
"""
DEADLOCK = (
    "waits for an execution on host Tremblay, which begins after a transfer of 1e+06 bytes (failed) (actor teller(1)@Tremblay)"
)


def test_dependencies_in_c(tmp_path: Path) -> None:
    assert run(PLATFORMS / "hosts_with_disks.xml", compiled(HERE / "programs/dependencies.c", tmp_path)) == IN_C


def test_errors_are_told_at_their_calls_and_a_deadlock_names_what_never_begins() -> None:
    told = run(PLATFORMS / "small_platform.xml", sys.executable, HERE / "programs/dependencies.py", expected=None)
    assert told.startswith(ERRORS) and DEADLOCK in told
