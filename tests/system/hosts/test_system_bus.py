"""A host's system bus: there from the first connect on, as dbus-daemon to its clients, as systemd to who wants a scope."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from simunix.launch.system_bus import PROGRAM
from simunix.testing import Cluster
from tests.conftest import Simunix
from tests.needs import needs

CLIENT = Path(__file__).with_name("bus_client.py")
IMPORT = f"import os, signal, subprocess, sys, time\nsys.path.insert(0, {str(CLIENT.parent)!r})\nfrom bus_client import *\n"
LIKE_DEBIAN = """
<busconfig><type>system</type><auth>EXTERNAL</auth><listen>unix:path=PATH</listen><policy context="default"><allow user="*"/>
<deny own="*"/><deny send_type="method_call"/><allow send_type="signal"/>
<allow send_requested_reply="true" send_type="method_return"/><allow send_requested_reply="true" send_type="error"/>
<allow receive_type="method_call"/><allow receive_type="method_return"/><allow receive_type="error"/>
<allow receive_type="signal"/><allow send_destination="org.freedesktop.DBus" send_interface="org.freedesktop.DBus"/>
</policy></busconfig>
"""
"""What Debian's dbus-daemon reads in /usr/share/dbus-1/system.conf, which is not there on each computer."""


def script(text: str) -> list[str]:
    return [sys.executable, "-c", IMPORT + text]


@contextmanager
def running(path: Path, *argv: object) -> Iterator[None]:
    """A bus of this computer that listens at a path."""
    with subprocess.Popen([str(word) for word in argv], stderr=subprocess.DEVNULL) as daemon:
        try:
            end = time.monotonic() + 30
            while not path.exists():
                assert time.monotonic() < end
                time.sleep(0.01)
            yield
        finally:
            daemon.kill()


def answers(path: Path) -> str:
    return subprocess.run([sys.executable, CLIENT, path], check=True, capture_output=True, text=True).stdout


@needs("dbus-daemon")
def test_clients_are_answered_as_by_dbus_daemon(emulation: Cluster, tmp_path: Path) -> None:
    real, ours = tmp_path / "real", tmp_path / "ours"
    (tmp_path / "conf").write_text(LIKE_DEBIAN.replace("PATH", str(real)))
    with running(real, "dbus-daemon", f"--config-file={tmp_path}/conf", "--nofork", "--nopidfile"):
        expected = answers(real)
    assert expected.count("\n") > 25
    with running(ours, PROGRAM, ours, tmp_path):
        assert answers(ours) == expected
    inside = emulation.host("a").start([sys.executable, str(CLIENT), "/run/dbus/system_bus_socket"])
    emulation.run(check=True)
    assert inside.stdout == expected.replace(f"uid {os.geteuid()}", "uid 0")  # who runs hosts is their root


SCOPE = """
client = Client()
client.manager("Subscribe")
client.bus("AddMatch", "s", f"type='signal',sender='{SYSTEMD}',interface='{MANAGER}'")
child = subprocess.Popen(["sleep", "1000"])
limits = [("TasksMax", ("t", 7)), ("CPUWeight", ("t", 50)), ("AllowedCPUs", ("ay", [1])), ("Slice", ("s", "a-b.slice"))]
print(client.scope("x-1.scope", [child.pid], ("Delegate", ("b", True)), *limits))
print(open(f"/proc/{child.pid}/cgroup").read().strip())
folder = "/sys/fs/cgroup/a.slice/a-b.slice/x-1.scope"
for name in ("cgroup.controllers", "pids.max", "cpu.weight", "cpuset.cpus"):
    print(name, open(f"{folder}/{name}").read().strip().replace(" io", ""))
path = client.manager("GetUnit", "s", "x-1.scope")
print(path, client.manager("GetUnitByPID", "u", child.pid) == path)
of_scope = [(SCOPE, name) for name in ("ControlGroup", "TasksMax", "AllowedCPUs")]
for interface, name in ((UNIT, "Id"), (UNIT, "ActiveState"), *of_scope):
    print(name, client.property(path, interface, name))
print(client.manager("StopUnit", "ss", "x-1.scope", "replace"), child.wait())
while (signal := client.signal())[0] != "JobRemoved" or signal[1][3] != "done" or signal[1][0] != 2:
    print(*signal)
print(*signal)
print(os.path.exists(folder), client.property(path, UNIT, "LoadState"), client.property(path, UNIT, "ActiveState"))
"""


def test_a_scope_has_its_processes_and_limits_and_ends_with_them(emulation: Cluster) -> None:
    program = emulation.host("a", cores=2).start(script(SCOPE))
    emulation.run(check=True)
    job, unit = "/org/freedesktop/systemd1/job/", "/org/freedesktop/systemd1/unit/"
    found = [line for line in program.stdout.splitlines() if not line.startswith(("UnitNew", "NameA"))]
    assert found == [
        f"{job}1",
        "0::/a.slice/a-b.slice/x-1.scope",
        "cgroup.controllers cpuset cpu memory pids",
        "pids.max 7",
        "cpu.weight 50",
        "cpuset.cpus 0",
        f"{unit}x_2d1_2escope True",
        "Id x-1.scope",
        "ActiveState active",
        "ControlGroup /a.slice/a-b.slice/x-1.scope",
        "TasksMax 7",
        "AllowedCPUs [1]",
        f"{job}2 -15",
        f"JobRemoved (1, '{job}1', 'x-1.scope', 'done')",
        f"JobRemoved (2, '{job}2', 'x-1.scope', 'done')",
        "False not-found inactive",
    ]


WRONG = """
client = Client()
def attempt(*call):
    try:
        print(client.manager(*call))
    except BusError as error:
        print(error)
def scope(name, *properties):
    attempt("StartTransientUnit", "ssa(sv)a(sa(sv))", name, "fail", list(properties), [])
me = ("PIDs", ("au", [os.getpid()]))
scope("x.scope", me)
scope("x.scope", me)
scope("y.scope")
scope("y.scope", me, ("Weather", ("s", "fine")))
scope("y.scope", ("PIDs", ("au", [99999])))
scope("y.scope", ("PIDs", ("au", [1])))
scope("y.scope", me, ("Slice", ("s", "x.scope")))
scope("y.service", me)
scope("y", me)
attempt("StartTransientUnit", "ss", "y.scope", "fail")
attempt("StartTransientUnit", "ssa(sv)a(sa(sv))", "y.scope", "perhaps", [], [])
attempt("StopUnit", "ss", "y.scope", "replace")
attempt("GetUnit", "s", "y.scope")
attempt("StartUnit", "ss", "y.scope", "replace")
attempt("KillUnit", "ssi", "x.scope", "all", 99)
attempt("StopUnit", "ss", "-.slice", "replace")
attempt("Nonsense")
try:
    client.call(SYSTEMD, "/somewhere", MANAGER, "GetUnit", "s", "x.scope")
except BusError as error:
    print(error)
"""


def test_what_is_wrong_is_said_as_systemd_says_it(emulation: Cluster) -> None:
    program = emulation.host("a").start(script(WRONG))
    emulation.run(check=True)
    error, systemd = "org.freedesktop.DBus.Error.", "org.freedesktop.systemd1."
    assert program.stdout.splitlines() == [
        "/org/freedesktop/systemd1/job/1",
        f"{systemd}UnitExists: Unit x.scope was already loaded or has a fragment file.",
        f"{systemd}NoSuchUnit: Unit y.scope not found.",
        f"{error}PropertyReadOnly: Cannot set property Weather, or unknown property.",
        f"{error}UnixProcessIdUnknown: Process with ID 99999 does not exist.",
        f"{error}InvalidArgs: Process 1 is a manager process, refusing.",
        f"{error}InvalidArgs: Invalid unit name 'x.scope'",
        f"{error}NotSupported: y.service: simunix has scopes and slices only",
        f"{error}InvalidArgs: Invalid unit name or type.",
        f"{error}InvalidArgs: Invalid arguments 'ss' to call {systemd}Manager.StartTransientUnit(), "
        "expecting 'ssa(sv)a(sa(sv))'.",
        f"{error}InvalidArgs: Job mode perhaps is invalid.",
        f"{systemd}NoSuchUnit: Unit y.scope not loaded.",
        f"{systemd}NoSuchUnit: Unit y.scope not loaded.",
        f"{systemd}NoSuchUnit: Unit y.scope not found.",
        f"{error}InvalidArgs: Signal number out of range.",
        f"{systemd}OnlyByDependency: Operation refused, unit -.slice may be requested by dependency only "
        "(it is configured to refuse manual start/stop).",
        f"{error}UnknownMethod: Unknown method Nonsense or interface {systemd}Manager.",
        f"{error}UnknownObject: Unknown object '/somewhere'.",
    ]


USER = """
root = Client()
child = subprocess.Popen(["sleep", "1000"])
root.scope("x.scope", [child.pid])
os.setgroups([])
os.setuid(65534)
user = Client()
print(user.bus("GetConnectionUnixUser", "s", user.name))
print(user.property(user.manager("GetUnit", "s", "x.scope"), UNIT, "ActiveState"))
for call in (("StopUnit", "ss", "x.scope", "replace"), ("KillUnit", "ssi", "x.scope", "all", 9)):
    try:
        user.manager(*call)
    except BusError as error:
        print(error)
print(child.poll())
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="in a user namespace every user of a host is root")
def test_users_may_ask_and_change_nothing(emulation: Cluster) -> None:
    program = emulation.host("a").start(script(USER))
    emulation.run(check=True)
    denied = "org.freedesktop.DBus.Error.AccessDenied: Access denied\n"
    assert program.stdout == f"65534\nactive\n{denied}{denied}None\n"


STUBBORN = """
client = Client()
code = "import signal, time; signal.signal(15, signal.SIG_IGN); print(flush=True); time.sleep(1000)"
child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
child.stdout.read(1)
client.bus("AddMatch", "s", "member='JobRemoved',arg2='x.scope'")
client.scope("x.scope", [child.pid], *PROPERTIES)
client.signals.clear()
client.signal()
began = time.monotonic()
client.manager("StopUnit", "ss", "x.scope", "replace")
print(client.signal()[1][3], child.wait(), round(time.monotonic() - began, 1))
"""


@pytest.mark.parametrize(("properties", "after_s"), [("[]", 90.0), ("[('TimeoutStopUSec', ('t', 5000000))]", 5.0)])
def test_what_does_not_end_is_killed_in_time(emulation: Cluster, properties: str, after_s: float) -> None:
    program = emulation.host("a").start(script(STUBBORN.replace("*PROPERTIES", f"*{properties}")))
    emulation.run(check=True)
    assert program.stdout == f"done -9 {after_s}\n"


COUNT = "sum(os.path.exists(f'/proc/{n}/comm') and open(f'/proc/{n}/comm').read() == 'simunix-bus\\n' for n in range(1, 99))"
ON_DEMAND = f"""
def count():
    return {COUNT}
print(count(), os.path.exists("/run/dbus"))
client = Client()
print(count(), client.name)
client.socket.close()
time.sleep(1)
print(count(), os.listdir("/run/dbus"))
child = subprocess.Popen(["sleep", "20"])
Client().scope("x.scope", [child.pid])
time.sleep(1)
print(count())
time.sleep(30)
print(count(), os.listdir("/sys/fs/cgroup/system.slice").count("x.scope"))
"""


def test_a_bus_is_there_as_long_as_it_is_wanted(emulation: Cluster) -> None:
    """From the first connect on, and while a scope is to be looked after."""
    program = emulation.host("a").start(script(ON_DEMAND))
    other = emulation.host("b").start(["ls", "/run"])
    emulation.run(check=True)
    assert program.stdout == "0 False\n1 :1.1\n0 []\n1\n0 0\n"
    assert "dbus" not in other.stdout


ABANDONED = f"""
def count():
    return {COUNT}
folder = "/sys/fs/cgroup/a.slice/x.scope"
child = subprocess.Popen(["sleep", "20"])
client = Client()
client.scope("x.scope", [child.pid], ("Slice", ("s", "a.slice")))
client.manager("AbandonScope", "s", "x.scope")
client.socket.close()
time.sleep(1)
print(count(), os.path.exists(folder))
client = Client()
path = client.manager("GetUnit", "s", "x.scope")
print(count(), client.property(path, UNIT, "SubState"), client.property(path, SCOPE, "Slice"))
client.socket.close()
time.sleep(30)
print(count(), os.path.exists(folder))
print([unit[0] for unit in Client().manager("ListUnits")], os.path.exists(folder))
"""


def test_no_bus_stays_for_a_scope_that_was_abandoned(emulation: Cluster) -> None:
    """As Slurm does with its own; the next bus finds it, and removes it if it has ended."""
    program = emulation.host("a").start(script(ABANDONED))
    emulation.run(check=True)
    assert program.stdout == "0 True\n1 abandoned a.slice\n0 True\n['-.slice', 'a.slice', 'system.slice', 'user.slice'] False\n"


OWN = """
path = "/run/dbus/system_bus_socket"
os.mkdir("/run/dbus")
open("/tmp/conf", "w").write(CONF.replace("PATH", path))
daemon = subprocess.Popen(["dbus-daemon", "--config-file=/tmp/conf", "--nofork", "--nopidfile"])
while not os.path.exists(path):
    time.sleep(0.1)
print(Client().bus("ListNames"))
daemon.kill()
daemon.wait()
try:
    Client()
except OSError as error:
    print(error.strerror)
"""


@needs("dbus-daemon")
def test_a_hosts_own_bus_is_left_alone(emulation: Cluster) -> None:
    """Also when it is dead: that is a fault of the scenario's."""
    program = emulation.host("a").start(script(f"CONF = {LIKE_DEBIAN!r}\n{OWN}"))
    emulation.run(check=True)
    assert program.stdout == "['org.freedesktop.DBus', ':1.0']\nConnection refused\n"


BOOTED = """
name: boots
until: 60s
hosts: [{name: a}, {name: b}]
processes: [{name: p, host: a, command: [PYTHON, FOLDER/p.py]}]
events: [{at: 20s, host: a, state: off}, {at: 30s, host: a, state: on}]
"""


def test_it_comes_again_after_a_boot_and_a_run_is_repeatable(simunix: Simunix, tmp_path: Path) -> None:
    begin = 'client = Client()\nclient.scope("x.scope", [os.getpid()])\n'
    begin += 'print(time.time(), client.manager("GetUnit", "s", "x.scope"), flush=True)\n'
    (tmp_path / "p.py").write_text(f"{IMPORT}{begin}time.sleep(1000)\n")
    (tmp_path / "s.yaml").write_text(BOOTED.replace("PYTHON", sys.executable).replace("FOLDER", str(tmp_path)))
    logs = []
    for name in ("one", "two"):
        assert simunix("run", tmp_path / "s.yaml", "--out", tmp_path / name).returncode == 0
        assert (tmp_path / name / "hosts/a/p.out").read_text().count("unit/x_2escope") == 2
        logs.append((tmp_path / name / "events.jsonl").read_bytes())
    assert logs[0] == logs[1]
