"""An error of an operation is reported by its call, with names, and never ends the run."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.system.rsg.running import HERE, PLATFORMS, compiled, run

PLATFORM = PLATFORMS / "small_platform.xml"
NO_NUMBER = "a size, a number of flops or a priority below 0, or no number"
NO_PLACE = "a number that does not exist or cannot be, or an actor that waits for itself"
EXPECTED = f"""\
host: AssertionError: host nowhere: the platform has no such host
link: AssertionError: link nothing: the platform has no such link
negative size: AssertionError: put to mailbox box: {NO_NUMBER}
no number: AssertionError: execute: {NO_NUMBER}
unknown mailbox: AssertionError: no mailbox has this number
pstate: AssertionError: {NO_PLACE}
parallel task: AssertionError: parallel_execute: parallel tasks need the flow model ptask_L07 \
(`simunix rsg run --model ptask_L07`, `network.model`)
waited twice: the activity has been waited for already, or was forgotten
never begun: no activity has this number
wait for a cancelled Comm: CancelException: communication 2: the activity was cancelled True
wait for a cancelled Exec: CancelException: execution 3: the activity was cancelled True
bandwidth -1.0: AssertionError: link 8: bandwidth -1.0: {NO_NUMBER}
latency -1.0: AssertionError: link 8: latency -1.0: {NO_NUMBER}
bandwidth inf: AssertionError: link 8: bandwidth inf: {NO_NUMBER}
latency inf: AssertionError: link 8: latency inf: {NO_NUMBER}
bandwidth nan: AssertionError: link 8: bandwidth nan: {NO_NUMBER}
latency nan: AssertionError: link 8: latency nan: {NO_NUMBER}
bandwidth 1e+308: AssertionError: link 8: bandwidth 1e+308: {NO_NUMBER}
latency 1e+308: AssertionError: link 8: latency 1e+308: {NO_NUMBER}
priority: AssertionError: execute: {NO_NUMBER}
new priority: AssertionError: {NO_NUMBER}
sleep: AssertionError: sleep for nan: {NO_NUMBER}
barrier: AssertionError: barrier for 0 actors: {NO_PLACE}
semaphore: AssertionError: semaphore of capacity -1: {NO_NUMBER}
no activities: AssertionError: wait_any: no activities: {NO_PLACE}
no function: create actor nothing: 3 is no function
not owner: AssertionError: unlock: the caller has not locked this mutex
locked twice: AssertionError: lock: {NO_PLACE}
timeout: TimeoutException: get from mailbox box: the time is over 0.510194456488
link down: NetworkFailureException: get from mailbox box: a link is down, or the other actor has died
host off: HostFailureException: create actor peer: the host is off
"""


def test_each_error_is_told_at_its_call() -> None:
    told = run(PLATFORM, sys.executable, HERE / "programs/errors.py")
    assert [line.rsplit(" ", 1)[0] if line.startswith("timeout") else line for line in told.splitlines()[:-1]] == [
        line.rsplit(" ", 1)[0] if line.startswith("timeout") else line for line in EXPECTED.splitlines()
    ]
    assert told.splitlines()[-1].startswith("end ")


def test_garbage_is_answered_with_errors(tmp_path: Path) -> None:
    assert run(PLATFORM, compiled(HERE / "programs/garbage.c", tmp_path)) == "unharmed\n"


def test_a_deadlock_names_the_actors_and_what_each_waits_for() -> None:
    told = run(PLATFORM, sys.executable, HERE / "programs/deadlock.py", expected=None)
    assert "a put to mailbox nothing comes (actor holder(1)@Tremblay)" in told
    assert "mutex 0, which holder(1)@Tremblay has (actor other(2)@Jupiter)" in told


def test_outside_an_emulation_a_line_says_how_to_start() -> None:
    program = "from simunix.rsg import this_actor; this_actor.sleep_for(1)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr == "-c: this program is not emulated: start it with `simunix rsg run PLATFORM -- COMMAND`\n"
