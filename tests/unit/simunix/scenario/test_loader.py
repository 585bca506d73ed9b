"""What is said of a value that may be a word or a section: its key as it is written, and what may stand there."""

from __future__ import annotations

from pathlib import Path

import pytest

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


HOSTS = "hosts:\n  - {name: h, cores: 1}\nprocesses:\n  - {name: a, host: h, command: [/bin/true]}\n"


def test_a_list_grows(tmp_path: Path) -> None:
    file = tmp_path / "scenario.yaml"
    file.write_text(HOSTS)
    one = "processes+={name: b, host: h, command: [/bin/true]}"
    two = "processes+=[{name: c, host: h, command: [x]}, {name: d, host: h, command: [x]}]"
    assert [process.name for process in load(Scenario, file, [one, two]).processes] == ["a", "b", "c", "d"]
    assert [str(path) for path in load(Scenario, file, ["shared+=/usr", "shared+=/bin"]).shared] == ["/usr", "/bin"]


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("name+=x", "--set name+=x: name is no list, but 's'; replace it with = instead"),
        ("hosts[7]+=x", "--set hosts[7]+=x: there is no hosts[7] in "),
        ("+=x", "--set +=x: expected KEY=VALUE or KEY+=VALUE, e.g. --set network.latency=50us"),
        ("processes+={name: b}", "--set processes+={name: b}: processes[1].host: missing; add it"),
    ],
)
def test_what_cannot_grow_is_said(tmp_path: Path, override: str, message: str) -> None:
    file = tmp_path / "scenario.yaml"
    file.write_text(f"name: s\n{HOSTS}")
    with pytest.raises(ScenarioError) as raised:
        load(Scenario, file, [override])
    assert str(raised.value).startswith(message)
