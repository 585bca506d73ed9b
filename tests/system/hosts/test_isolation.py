"""On computers that allow no namespaces, hosts still have their names and addresses, and all processes end with the run."""

from __future__ import annotations

import os
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from rsg_server.errors import SimunixError
from simunix.cli.main import main
from simunix.launch import emulation as launch
from simunix.launch.factory.container import Isolation
from simunix.launch.run_directory import RunDirectory
from simunix.planning.expand import expand
from simunix.rjms.scenario import load
from simunix.testing import Cluster, attempt
from tests.conftest import processes_named

WARNING = "no namespaces here"


@pytest.fixture(autouse=True)
def no_namespaces(monkeypatch: pytest.MonkeyPatch) -> None:
    for module, name in ((launch, "probe"), (attempt, "isolation")):
        monkeypatch.setattr(module, name, lambda *_: (Isolation.NONE, WARNING))


def test_hosts_keep_their_names_and_times(emulation: Cluster) -> None:
    mark = f"97{os.getpid()}"
    command = f"uname -n; (setsid sleep {mark} &) ; sleep 5; date +%s"
    programs = [host.start(command) for host in emulation.hosts("a[1-2]")]
    assert emulation.run(until="20s").ended == "time limit"
    assert [program.stdout for program in programs] == ["a1\n946684805\n", "a2\n946684805\n"]
    assert not processes_named(f"sleep {mark}")


def test_programs_and_files_are_found_in_the_run_directory(emulation: Cluster) -> None:
    host = emulation.host("a")
    host.write("words", "some\n")
    program = host.start(emulation.c('#include <stdlib.h>\nint main(void) { return system("cat words > more"); }\n'))
    emulation.run(check=True)
    assert (program.exit_code, host.read("more")) == (0, "some\n")


def test_what_is_given_up_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "s.yaml").write_text("hosts: [{name: a}]\nprocesses: [{name: p, host: a, command: hostname}]\n")
    assert main(["run", str(tmp_path / "s.yaml"), "--out", str(tmp_path / "out")]) == 0
    assert f"simunix: {WARNING}\n" in capsys.readouterr().err
    assert (tmp_path / "out/hosts/a/p.out").read_text() == "a\n"


def test_there_are_no_files_about_power_and_no_bmcs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    hosts = 'hosts: [{name: a, wattage_per_state: "1:2"}, {name: b}]\n'
    look = "processes: [{name: p, host: a, command: 'ls -d /sys/devices/system/cpu/cpu0/cpufreq/policy0 | wc -l'}]\n"
    (tmp_path / "s.yaml").write_text(hosts + look)
    assert main(["run", str(tmp_path / "s.yaml"), "--out", str(tmp_path / "out")]) == 0
    assert (tmp_path / "out/hosts/a/p.out").read_text() == "0\n"
    plan = expand(load(tmp_path / "s.yaml"), tmp_path).plan
    wired = replace(plan, hosts=(plan.hosts[0], replace(plan.hosts[1], wired=("a",))))
    with pytest.raises(SimunixError, match="bmcs: a BMC needs namespaces"):
        launch.Emulation(wired, RunDirectory(tmp_path / "other"))


def test_hosts_find_each_other_by_name(emulation: Cluster) -> None:
    client, server = emulation.hosts("a[1-2]", cores=3)
    connect = "import socket; print(socket.create_connection(('a2', 7000)).getpeername()[1])"
    server.start(["python3", "-c", "import socket; socket.create_server(('a2', 7000)).accept()"])
    asked = client.start(
        f'getent hosts a2; cat /etc/hostname; grep -c ^processor /proc/cpuinfo; python3 -c "{connect}"', at="1s"
    )
    emulation.run(check=True)
    assert asked.stdout.split()[1:] == ["a2", "a1", "3", "7000"]


def test_a_port_below_1024_takes_what_it_takes_outside(emulation: Cluster) -> None:
    """Where a user has no user namespaces, the hosts' root is not root either."""
    ask = "import socket\ntry: socket.socket().bind(('127.0.0.1', 701)); print(0)\nexcept OSError as error: print(error.errno)"
    program = emulation.host("a").start(["python3", "-c", ask])
    emulation.run(check=True)
    assert program.stdout == subprocess.run(["python3", "-c", ask], capture_output=True, text=True, check=True).stdout


def test_nobody_signals_all_of_this_computer(emulation: Cluster) -> None:
    program = emulation.host("a").start("kill -CONT -1; echo $?")
    emulation.run()
    assert program.stdout == "1\n"
