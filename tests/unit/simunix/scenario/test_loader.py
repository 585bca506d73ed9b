"""Messages about a wrong value that may be a word or a section: they contain the key as written, and the allowed values."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from simunix.rjms.scenario import load as load_scenario
from simunix.scenario.loader import ScenarioError, load
from simunix.scenario.model import Scenario

WORDS = "Input should be 'free', 'charged' or 'modelled'"


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("chargd", f"cpu_policy: {WORDS}, got 'chargd'"),
        ("3", f"cpu_policy: {WORDS}, got 3"),
        ("{default: chargd}", f"cpu_policy.default: {WORDS}, got 'chargd'"),
        ("{programs: {slurmd: x}}", f"cpu_policy.programs.slurmd: {WORDS}, got 'x'"),
        (
            "{programs: {/usr/sbin/slurmd: free}}",
            "cpu_policy.programs./usr/sbin/slurmd: expected a name that a file can have, of 1 to 200 characters without '/', "
            "got '/usr/sbin/slurmd'",
        ),
        ("{defalt: free}", "cpu_policy.defalt: unknown key; did you mean 'default'? known: default, programs"),
    ],
)
def test_a_word_or_a_section(tmp_path: Path, value: str, message: str) -> None:
    file = tmp_path / "scenario.yaml"
    file.write_text(f"hosts:\n  - {{name: h, cores: 1}}\ncpu_policy: {value}\n")
    with pytest.raises(ScenarioError) as raised:
        load(Scenario, file)
    assert str(raised.value) == f"{file}:3: {message}"


SCENARIO = """
hosts:
  - {name: h, cores: 1, private: [/srv/a]}
shared: [/usr]
slurm: {controller: h, nodes: h, parameters: {SchedulerType: sched/backfill}}
workload: {trace: a.swf}
"""


def grown(tmp_path: Path, *overrides: str) -> Any:
    file = tmp_path / "scenario.yaml"
    file.write_text(SCENARIO)
    return load_scenario(file, overrides)


def test_a_list_grows(tmp_path: Path) -> None:
    scenario = grown(
        tmp_path,
        "shared+=/etc",
        "shared+=[/tmp, /var]",
        "slurm.sacctmgr+=add account physics",
        "slurm.sacctmgr+=add user eve account=physics",
        "hosts+={name: 'n[1-2]'}",
        "hosts[0].private+=/srv/b",
        "workload+={trace: b.swf}",
    )
    assert scenario.shared == ["/usr", "/etc", "/tmp", "/var"]
    assert list(scenario.slurm[0].sacctmgr) == ["add account physics", "add user eve account=physics"]
    assert [host.name for host in scenario.hosts] == [("h",), ("n1", "n2")]
    assert [entry.path for entry in scenario.hosts[0].private] == ["/srv/a", "/srv/b"]
    assert [str(section.trace) for section in scenario.workload] == ["a.swf", "b.swf"]


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("name+=x", "--set name+=x: name: Input should be a valid string, got ['x']"),
        (
            "slurm.nodes+=n1",
            "--set slurm.nodes+=n1: slurm.nodes is 'h' and no list, so nothing is appended; replace it by slurm.nodes=VALUE",
        ),
        (
            "slurm.parameters+=x",
            "--set slurm.parameters+=x: slurm.parameters is a mapping and no list, so nothing is appended; "
            "set slurm.parameters.KEY=VALUE",
        ),
        (
            "hosts+={name: n, cors: 2}",
            "--set hosts+={name: n, cors: 2}: hosts[1].cors: unknown key; did you mean 'cores'? known: ",
        ),
        ("hosts[3].private+=/srv", "--set hosts[3].private+=/srv: there is no hosts[3].private in "),
        ("+=x", "--set +=x: expected KEY=VALUE"),
        ("processes+=[", "--set processes+=[: "),
    ],
)
def test_what_cannot_be_appended(tmp_path: Path, override: str, message: str) -> None:
    with pytest.raises(ScenarioError) as raised:
        grown(tmp_path, override)
    assert str(raised.value).startswith(message), raised.value


def test_what_the_file_says_keeps_its_line_beside_what_is_appended(tmp_path: Path) -> None:
    file = tmp_path / "scenario.yaml"
    file.write_text("hosts:\n  - {name: h, cores: x}\n")
    with pytest.raises(ScenarioError, match=r"scenario.yaml:2: hosts\[0\].cores: "):
        load(Scenario, file, ("hosts+={name: n}",))
