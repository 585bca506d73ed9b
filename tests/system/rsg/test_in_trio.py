"""Waits for activities in tasks of trio."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from tests.system.rsg.running import HERE, run

PLATFORM = HERE / "families/platform.xml"
EXPECTED = """\
0.500000000 computed
0.700000000 slept
0.825392768 got hello
1.000000000 computed
3.000000000 left is 2000000000
5.000000000 waited again
6.000000000 withdrawn: empty True
7.000000000 semaphore: 0 left
9.000000000 joined
10.000000000 timeout
11.000000000 other: nobody gets what was withdrawn
12.475527804 place 1
12.475527804 the actors are ['in_trio.py']
"""


def test_tasks_wait_for_activities_side_by_side(tmp_path: Path) -> None:
    digests = set()
    for name in ("one", "other"):
        told = run(PLATFORM, sys.executable, HERE / "programs/in_trio.py", options=("--out", str(tmp_path / name)))
        assert told == EXPECTED
        digests.add(json.loads((tmp_path / name / "run.json").read_text())["events_sha256"])
    assert len(digests) == 1


def test_an_actor_that_is_killed_ends_with_its_tasks() -> None:
    told = run(PLATFORM, sys.executable, HERE / "programs/in_trio_killed.py")
    assert told == "1.000000 a task ends\n1.000000 a task ends\nvictim: failed True\n2.000000 end\n"


def test_outside_an_emulation_a_line_says_how_to_start() -> None:
    program = "from simunix.rsg import in_trio; in_trio.run(in_trio.execute, 1)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "this program is not emulated: start it with `simunix rsg run PLATFORM -- COMMAND`" in done.stderr.splitlines()[-1]


HELPERS = """\
an actor as a helper: a number that does not exist or cannot be, or an actor that waits for itself
dismiss nobody: the calling thread is no actor, or no actor has this number
await a host as an actor: the request does not have the fields of its operation
killed at no date: a size, a number of flops or a priority below 0, or no number
killed in the past: no error
a helper of nobody: the calling thread is no actor, or no actor has this number
a helper: no error
once more: no error
sleep of a helper: the actor has been killed
afterwards: the actor has been killed
a helper again: no error
dismiss: no error
"""


def test_helpers_that_cannot_be_are_refused() -> None:
    assert run(PLATFORM, sys.executable, HERE / "programs/helpers.py") == HELPERS
