"""`stop:` may name the processes that decide when a run is over."""

from __future__ import annotations

from pathlib import Path

import pytest

from rsg_server.errors import SimunixError
from simunix.planning.expand import expand
from simunix.rjms.scenario import load

SCENARIO = """
hosts: [{name: 'a[1-2]'}]
processes:
  - {name: mine, host: 'a[1-2]', command: 'true'}
  - {name: other, host: a1, command: 'true'}
"""


def planned(folder: Path, stop: str) -> object:
    (folder / "s.yaml").write_text(f"{SCENARIO}stop: {stop}\n")
    return expand(load(folder / "s.yaml"), folder).plan.stop


@pytest.mark.parametrize(
    ("stop", "plan"),
    [
        ("null", "processes"),
        ("time", "time"),
        ("mine", frozenset({"mine"})),
        ("[mine, other]", frozenset({"mine", "other"})),
    ],
)
def test_what_stops_a_run(tmp_path: Path, stop: str, plan: object) -> None:
    assert planned(tmp_path, stop) == plan


@pytest.mark.parametrize(
    ("stop", "words"),
    [
        ("nobody", "stop: there is no process nobody; expected workload, processes, time, mine, other"),
        ("[mine, time]", "stop: there is no process time"),
        ("[]", "stop: expected workload, processes, time, or names of processes, got []"),
        ("7", "stop: expected workload, processes, time, or names of processes, got 7"),
    ],
)
def test_what_stops_no_run(tmp_path: Path, stop: str, words: str) -> None:
    with pytest.raises(SimunixError) as error:
        planned(tmp_path, stop)
    assert words in str(error.value) and "s.yaml:6: " in str(error.value)
