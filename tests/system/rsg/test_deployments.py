"""Actors that are functions: of a scenario's `actors:`, of SimGrid's deployment files, and of programs that load these."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.conftest import Simunix
from tests.system.rsg.running import HERE, run

PROGRAMS = HERE / "programs"
PLATFORM = HERE / "families/platform.xml"
HEAD = """\
name: actors
hosts: [{name: "node[0-2]", cores: 2, speed: 1Gf}]
network: {bandwidth: 1Gbps, latency: 100us}
"""
DEPLOYMENT = """\
<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
%s
</platform>
"""


def write(folder: Path, actors: str) -> Path:
    """A scenario beside the module of the functions."""
    (folder / "application.py").write_text((PROGRAMS / "application.py").read_text())
    (folder / "scenario.yaml").write_text(HEAD + actors)
    return folder / "scenario.yaml"


def lines(out: Path) -> list[str]:
    """What all actors have said, in the order of the dates."""
    said = [line for path in (out / "hosts").glob("*/*.out") for line in path.read_text().splitlines()]
    return sorted(said, key=lambda line: float(line.split()[0]))


def test_functions_are_actors(tmp_path: Path, simunix: Simunix) -> None:
    scenario = write(
        tmp_path,
        """
actors:
  - {name: one, host: node0, function: "application:sender", arguments: ["2", "1000000"]}
  - {name: other, host: node1, function: "application:receiver", kill_time: 5}
  - {name: late, host: node2, function: "application:counter", start: 2, kill_time: 4.5}
  - {name: blocked, host: node2, function: "application:sleeper", kill_time: 3}
""",
    )
    done = simunix("run", scenario, "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    told = lines(tmp_path / "out")
    assert sorted(line.split(" ", 1)[1] for line in told) == [
        "blocked on node2: sleeps",
        "late on node2: counts 0",
        "late on node2: counts 1",
        "late on node2: counts 2",
        "one on node0: has sent 2",
        "other on node1: got 0",
        "other on node1: got 1",
    ]
    assert [line.split()[0] for line in told[-3:]] == ["2.000000", "3.000000", "4.000000"]
    assert '"virtual_s": 5.0' in (tmp_path / "out/run.json").read_text()


def test_an_actor_begins_again_with_its_host(tmp_path: Path, simunix: Simunix) -> None:
    """Whether a fault of the scenario or another actor has switched its host off; one that is to die stays dead."""
    scenario = write(
        tmp_path,
        """
actors:
  - {name: again, host: node1, function: "application:counter", on_failure: restart, kill_time: 7}
  - {name: dying, host: node1, function: "application:counter"}
  - {name: switch, host: node0, function: "application:switcher", arguments: [node1]}
""",
    )
    done = simunix("run", scenario, "--out", tmp_path / "by-actor")
    assert done.returncode == 0, done.stderr
    expected = [
        "0.000000 again 0",
        "1.000000 again 1",
        "2.000000 again 2",
        "4.500000 again 0",
        "5.500000 again 1",
        "6.500000 again 2",
    ]
    counts = [line.replace("on node1: counts ", "") for line in lines(tmp_path / "by-actor") if "again" in line]
    assert counts == expected
    assert sum("dying" in line for line in lines(tmp_path / "by-actor")) == 3
    actors = "".join(line for line in scenario.read_text().splitlines(keepends=True) if "switcher" not in line)
    events = "events:\n  - {at: 2.5, host: node1, state: off}\n  - {at: 4.5, host: node1, state: on}\n"
    scenario.write_text(f"{actors}processes: [{{name: long, host: node0, command: [sleep, '9']}}]\n{events}")
    done = simunix("run", scenario, "--out", tmp_path / "by-fault")
    assert done.returncode == 0, done.stderr
    assert [line.replace("on node1: counts ", "") for line in lines(tmp_path / "by-fault") if "again" in line] == expected
    assert sum("dying" in line for line in lines(tmp_path / "by-fault")) == 3


ACTORS = """\
  <actor host="{0}" function="sender"><argument value="1"/><argument value="100000000"/></actor>
  <actor host="{1}" function="receiver" kill_time="8"/>
  <actor host="{1}" function="counter" start_time="1" kill_time="7" on_failure="RESTART"/>
  <actor host="{0}" function="switcher"><argument value="{1}"/></actor>
"""
COUNTS = ["1.000000 0", "2.000000 1", "4.500000 0", "5.500000 1", "6.500000 2"]


def test_a_scenario_reads_a_deployment_file(tmp_path: Path, simunix: Simunix) -> None:
    functions = ", ".join(f'{name}: "application:{name}"' for name in ("sender", "receiver", "counter", "switcher"))
    scenario = write(tmp_path, f"deployment: {{file: deploy.xml, functions: {{{functions}}}}}\n")
    (tmp_path / "deploy.xml").write_text(DEPLOYMENT % ACTORS.format("node0", "node1"))
    done = simunix("run", scenario, "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    told = lines(tmp_path / "out")
    assert any("receiver on node1: got 0" in line for line in told)
    assert [f"{line.split()[0]} {line.split()[-1]}" for line in told if " counts " in line] == COUNTS


def test_a_program_loads_a_deployment_file(tmp_path: Path) -> None:
    """In SimGrid the second life of an actor would begin at its start time after the restart; its file says 1 s."""
    (tmp_path / "deploy.xml").write_text(DEPLOYMENT % ACTORS.format("alice", "carol"))
    told = run(PLATFORM, sys.executable, PROGRAMS / "deployed.py", PLATFORM, tmp_path / "deploy.xml").splitlines()
    assert "0.825393 receiver on carol: got 0" in told
    assert [f"{line.split()[0]} {line.split()[-1]}" for line in told if " counts " in line] == COUNTS


@pytest.mark.parametrize(
    ("actors", "message"),
    [
        ("actors: [{name: a, host: node0}]", "expected a command or a function, and not both"),
        (
            "actors: [{name: a, host: node0, command: [true], function: 'a:b'}]",
            "expected a command or a function, and not both",
        ),
        ("actors: [{name: a, host: node0, function: nothing}]", "expected MODULE:FUNCTION such as 'application:master'"),
        ("actors: [{name: a, host: node0, function: 'no_such:main'}]", "actors[0].function: there is no module no_such in "),
        ("actors: [{name: a, host: node9, function: 'application:sender'}]", "actors[0].host: 'node9' is not among the hosts"),
        ("deployment: {file: none.xml}", "none.xml: No such file or directory"),
        (
            "deployment: {file: deploy.xml}",
            "deploy.xml:4: <actor>: function 'sender' is not among deployment.functions (there: none)",
        ),
        (
            "deployment: {file: deploy.xml, functions: {sender: 'application:sender'}}",
            "deploy.xml:5: <actor>: host 'mars' is not among the hosts of the scenario",
        ),
    ],
)
def test_bad_actors_are_told_in_one_line(actors: str, message: str, tmp_path: Path, simunix: Simunix) -> None:
    (tmp_path / "deploy.xml").write_text(
        DEPLOYMENT % '<actor host="node0" function="sender"/>\n<actor host="mars" function="sender"/>'
    )
    done = simunix("check", write(tmp_path, actors))
    assert done.returncode == 2
    assert message in done.stderr and done.stderr.count("\n") == 1


def test_a_function_that_is_not_there_is_named(tmp_path: Path, simunix: Simunix) -> None:
    scenario = write(tmp_path, "actors: [{name: a, host: node0, function: 'application:nothing', essential: true}]")
    done = simunix("run", scenario, "--out", tmp_path / "out")
    assert done.returncode == 1
    assert "module application has no function nothing" in done.stderr


def test_bad_deployments_are_told_with_their_lines(tmp_path: Path) -> None:
    for actor, message in (
        ('<actor host="alice"/>', "attribute 'function' is missing"),
        ('<actor host="alice" function="sender" start_time="soon"/>', "start_time: expected a number of seconds, got 'soon'"),
        ('<actor host="alice" function="sender" on_failure="PANIC"/>', "on_failure: expected DIE or RESTART, got 'PANIC'"),
        (
            '<actor host="alice" function="nobody"/>',
            "function 'nobody' is not registered (known: sender, receiver, counter, switcher)",
        ),
        ("", "no actor; add an <actor host= function=>"),
    ):
        (tmp_path / "deploy.xml").write_text(DEPLOYMENT % actor)
        told = run(PLATFORM, sys.executable, PROGRAMS / "deployed.py", PLATFORM, tmp_path / "deploy.xml", expected=None)
        assert f"AssertionError: {tmp_path / 'deploy.xml'}:" in told.splitlines()[-1] and message in told.splitlines()[-1]


def test_set_auto_restart_is_refused_for_actors_of_other_programs() -> None:
    program = "from simunix.rsg import Actor; Actor.self().set_auto_restart(True)"
    told = run(PLATFORM, sys.executable, "-c", program, expected=None)
    assert "Actor(1) is no thread of this program" in told
