"""The CPU policy charged: computing takes virtual time, and a replay repeats a run to the byte."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from rsg_server.processor.recording import read_charges
from tests.conftest import Simunix

PROGRAM = Path(__file__).parents[1] / "programs/charged.c"


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("charged") / "charged"
    subprocess.run(["gcc", "-O1", "-Wall", "-Werror", "-o", path, PROGRAM, "-pthread"], check=True)
    return path


def run(simunix: Simunix, *arguments: str | Path) -> tuple[dict[str, int], str]:
    """What the program says that its parts took, and what simunix says."""
    done = simunix("run", *map(str, arguments))
    assert done.returncode == 0, done.stderr
    return {name: int(value) for name, value in (line.split() for line in done.stdout.splitlines())}, done.stderr


def record(out: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((out / "run.json").read_text())
    return found


def test_computing_takes_virtual_time_and_a_replay_as_much(simunix: Simunix, program: Path, tmp_path: Path) -> None:
    took, _ = run(simunix, "--set", "cpu_policy=charged", "--out", tmp_path / "one", "--", program)
    one = record(tmp_path / "one")
    assert took["alone"] > 500  # five million turns of a loop
    assert 10_000 <= took["asleep"] < 15_000
    assert took["together"] > took["alone"] / 2
    assert (one["cpu_policy"], one["deterministic"]) == ("charged", False)
    assert one["disturbances"][0].startswith("computing took the time that it took here")
    assert one["counts"]["cpu_charged_us"] >= took["alone"] * 0.9
    assert one["counts"]["coarse_overhead_ns"] > 0  # time(2) natively takes 3 ns, which no replacement of the vDSO's reaches
    again, said = run(simunix, "--replay-cpu", tmp_path / "one", "--out", tmp_path / "two", "--", program)
    two = record(tmp_path / "two")
    assert (again, said) == (took, "")
    assert two["deterministic"]
    assert two["events_sha256"] == one["events_sha256"]
    for name in ("events.jsonl", "cpu_charges"):
        assert (tmp_path / "two" / name).read_bytes() == (tmp_path / "one" / name).read_bytes()


SEEN = """
import os, resource, threading, time
def compute(until_ns):
    while time.thread_time_ns() < until_ns:
        sum(range(20_000))
begin = time.monotonic()
thread = threading.Thread(target=compute, args=(60_000_000,))
thread.start()
thread.join()
own, clock = resource.getrusage(resource.RUSAGE_SELF).ru_utime, time.process_time()
pid = os.fork()
if pid == 0:
    compute(80_000_000)
    os._exit(0)
with open(f"/proc/{pid}/stat") as file:
    running = int(file.read().rpartition(")")[2].split()[11])
_, _, used = os.wait4(pid, 0)
children = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
with open("/proc/self/stat") as file:
    fields = file.read().rpartition(")")[2].split()
times = os.times()
for name, value in dict(elapsed=time.monotonic() - begin, own=own, clock=clock, used=used.ru_utime, children=children,
                        ticks=int(fields[11]) / 100, children_ticks=int(fields[13]) / 100, times=times.children_user).items():
    print(name, round(value * 1e6))
"""


def test_programs_see_what_they_were_charged(simunix: Simunix, tmp_path: Path) -> None:
    seen, _ = run(simunix, "--set", "cpu_policy=charged", "--out", tmp_path / "one", "--", sys.executable, "-c", SEEN)
    charged = record(tmp_path / "one")["counts"]["cpu_charged_us"]
    assert 60_000 <= seen["own"] <= seen["clock"] < charged
    assert 80_000 <= seen["used"] == seen["children"] < charged
    assert seen["own"] - 10_000 < seen["ticks"] <= charged
    assert seen["children"] - 10_000 < seen["children_ticks"] == seen["times"] <= seen["children"]
    assert 135_000 < seen["elapsed"] < charged * 1.1
    again, _ = run(simunix, "--replay-cpu", tmp_path / "one", "--out", tmp_path / "two", "--", sys.executable, "-c", SEEN)
    assert again == seen


CONTENDED = """
name: contended
hosts: [{name: a, cores: 1}]
cpu_policy: charged
processes:
  - {name: one, host: a, command: [PYTHON, -c, BUSY]}
"""
BUSY = """
import os, time
for start in (1, COPIES):
    for _ in range(start):
        if os.fork() == 0:
            while time.thread_time_ns() < 30_000_000:
                sum(range(500))
            os._exit(0)
    while start and os.wait():
        start -= 1
"""


def test_where_threads_wait_for_a_core_each_computes_for_a_slice(simunix: Simunix, tmp_path: Path) -> None:
    busy = BUSY.replace("COPIES", "6")
    (tmp_path / "s.yaml").write_text(CONTENDED.replace("PYTHON", sys.executable).replace("BUSY", json.dumps(busy)))
    done = simunix("run", tmp_path / "s.yaml", "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    by_actor: dict[int, list[int]] = {}
    for charge in read_charges(tmp_path / "out" / "cpu_charges"):
        if not charge.is_preempted:
            by_actor.setdefault(charge.actor, []).append(charge.cpu_ns)
    _, alone, *together = by_actor.values()
    assert min(alone[:8]) < 200_000  # the first ones are charged as soon as they are 50 us
    for charges in together:
        assert sum(ns > 700_000 for ns in charges) >= 15  # of 30 ms; the first charge and the last ones are others


BURNS = """
import os, time
def burn(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass
begun = time.monotonic()
burn(0.5)
print(time.monotonic() - begun, sum(os.times()[:2]))
"""


def test_a_program_that_watches_its_cpu_clock_has_computed_as_long_as_time_has_passed(simunix: Simunix) -> None:
    """The price of a clock read is CPU time, too: here most of it is."""
    done = simunix("run", "--set", "cpu_policy=charged", "--", sys.executable, "-c", BURNS)
    assert (done.returncode, done.stderr) == (0, "")
    passed_s, seen_s = map(float, done.stdout.split())
    assert 0.5 <= passed_s < 0.52
    assert 0.5 <= seen_s < 0.55


STOPPED = """
import os, signal, time
pid = os.fork()
if pid == 0:
    os.setpgid(0, 0)
    os.execvp("sh", ["sh", "-c", "sleep 2; true"])
time.sleep(1)
os.killpg(pid, signal.SIGTSTP)
time.sleep(3)
for _ in range(50_000):
    os.getcwd()
os.killpg(pid, signal.SIGCONT)
os.wait()
"""


def test_a_stop_is_no_price_of_what_a_program_has_called(simunix: Simunix, tmp_path: Path) -> None:
    done = simunix("run", "--set", "cpu_policy=charged", "--out", str(tmp_path / "out"), "--", sys.executable, "-c", STOPPED)
    assert done.returncode == 0, done.stderr
    programs = json.loads((tmp_path / "out" / "cpu_costs.json").read_text())["programs"]
    assert all(ns > -1_000_000 for costs in programs.values() for _, ns in costs["calls"].values())


SPAWNS = """
import os
for _ in range(50):
    os.waitpid(os.posix_spawn("/bin/true", ["true"], os.environ), 0)
"""


def test_what_a_child_computes_before_its_exec_is_no_price_of_its_creators_calls(simunix: Simunix, tmp_path: Path) -> None:
    done = simunix("run", "--set", "cpu_policy=charged", "--out", tmp_path / "out", "--", sys.executable, "-c", SPAWNS)
    assert (done.returncode, done.stderr) == (0, "")
    costs = json.loads((tmp_path / "out/cpu_costs.json").read_text())["programs"][Path(sys.executable).name]["calls"]
    calls, ns = costs["munmap"]  # of the stack that posix_spawn(3) has lent to the child
    assert calls >= 50
    assert ns / calls > -10_000


def test_computing_takes_no_time_under_the_free_policy(simunix: Simunix, program: Path) -> None:
    assert run(simunix, "--", program)[0]["alone"] < 10


POLICIES = """
name: policies
hosts: [{name: a}, {name: b, cpu_policy: charged}]
cpu_policy: {default: free, programs: {sleep: free}}
processes:
  - {name: free, host: a, command: [PROGRAM]}
  - {name: charged, host: a, command: [sh, -c, PROGRAM], cpu_policy: charged}
  - {name: by_host, host: b, command: [PROGRAM]}
  - {name: not_by_host, host: b, command: [PROGRAM], cpu_policy: free}
"""


def test_processes_and_hosts_say_whose_computing_counts(simunix: Simunix, program: Path, tmp_path: Path) -> None:
    (tmp_path / "s.yaml").write_text(POLICIES.replace("PROGRAM", str(program)))
    done = simunix("run", tmp_path / "s.yaml", "--set", f"shared=[{tmp_path.parent}]", "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    assert "cpu_policy.programs: sleep: no program of this file name has run" in done.stderr
    alone = {path.stem: int(path.read_text().split()[1]) for path in (tmp_path / "out/hosts").glob("*/*.out")}
    assert {name for name, took in alone.items() if took > 500} == {"charged", "by_host"}
    assert record(tmp_path / "out")["cpu_policy"] == "mixed"
    assert record(tmp_path / "out")["cpu_policies"] == {
        "default": "free",
        "hosts": {"b": "charged"},
        "programs": {"sleep": "free"},
        "processes": {"charged@a": "charged", "not_by_host@b": "free"},
        "reference_flops": 1e9,
    }


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--replay-cpu", "/nowhere"), "--replay-cpu /nowhere: no run.json there; name the folder of a run"),
        (("--replay-cpu", "ONE"), "that run's cpu_policy was free; only a charged run has a recording"),
        (("--set", "cpu_policy=guessed"), "cpu_policy"),
    ],
)
def test_mistakes_are_said_in_a_line(arguments: tuple[str, ...], message: str, simunix: Simunix, tmp_path: Path) -> None:
    run(simunix, "--out", tmp_path / "one", "--", "true")
    given = [str(tmp_path / "one") if argument == "ONE" else argument for argument in arguments]
    done = simunix("run", *given, "--", "true")
    assert done.returncode != 0
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1
