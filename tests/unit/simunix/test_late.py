"""Processes, events and jobs that come when the run is over already are said before the start, by file, line and key."""

from __future__ import annotations

from pathlib import Path

import pytest

from simunix.app.late import late_lines
from simunix.planning.expand import expand
from simunix.rjms.scenario import load

NS = 10**9
SCENARIO = """name: late
hosts: [{name: 'a,b', cores: 4, memory: 4GiB}]
until: 15s
processes:
  - {name: s, host: a, start: 10s, command: sleep 100}
  - {name: c, host: a, start: 20s, command: echo never}
  - {name: d, host: 'a,b', start: 15s, command: echo never}
events:
  - {at: 14s, host: b, state: off}
  - {at: 1min, host: b, state: on}
"""
SLURM = "slurm: {controller: a, nodes: b}\nworkload: {trace: t.swf, start: 10s}\n"
SWF = "; MaxProcs: 4\n" + "".join(f"{job} {job} -1 5 1 -1 -1 1 60 -1 1 1 1 -1 1 1 -1 -1\n" for job in range(1, 9))


def lines(folder: Path, text: str, until_s: float | None, said_by: str = "until") -> list[str]:
    (folder / "s.yaml").write_text(text)
    scenario = load(folder / "s.yaml")
    until_ns = None if until_s is None else round(until_s * NS)
    found = late_lines(scenario, expand(scenario, folder, checked=False), until_ns, said_by)
    return [line.removeprefix(f"{folder}/") for line in found]


def test_processes_and_events(tmp_path: Path) -> None:
    assert lines(tmp_path, SCENARIO, 15) == [
        "s.yaml:6: processes[1].start: c starts at 20 s, and the run ends at 15 s (until): it never starts",
        "s.yaml:7: processes[2].start: d starts at 15 s, and the run ends at 15 s (until): it never starts",
        "s.yaml:10: events[1].at: happens at 60 s, and the run ends at 15 s (until): it never happens",
    ]


def test_the_command_line_may_say_when_the_run_ends(tmp_path: Path) -> None:
    assert lines(tmp_path, SCENARIO, 1200.5, "--until") == [] == lines(tmp_path, SCENARIO, None)
    assert lines(tmp_path, SCENARIO, 20, "--until")[0].endswith("and the run ends at 20 s (--until): it never starts")


def test_of_many_a_handful_is_named(tmp_path: Path) -> None:
    processes = ", ".join(f"{{name: p{number}, host: a, start: 1h, command: echo}}" for number in range(9))
    found = lines(tmp_path, f"hosts: [{{name: a}}]\nprocesses: [{processes}]\n", 60)
    assert len(found) == 6 and found[5] == "4 more processes are that late"


@pytest.mark.slurm
def test_jobs_are_counted(tmp_path: Path) -> None:
    (tmp_path / "t.swf").write_text(SWF)
    (line,) = lines(tmp_path, "hosts: [{name: 'a,b', cores: 4, memory: 4GiB}]\n" + SLURM, 15)
    assert (
        line == "s.yaml:3: workload.trace: 4 of 8 jobs come too late, and the run ends at 15 s (until): they are not submitted"
    )
