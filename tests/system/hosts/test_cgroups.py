"""Cgroups of a host's own: memory, processes, processors are limited; the same happens at the same moment in each run."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from simunix.testing import Cluster
from tests.conftest import Simunix
from tests.system.runs import run_twice

TOUCH = """
import os, sys, time
with open('/sys/fs/cgroup/a/b/cgroup.procs', 'w') as file:
    file.write('0')
kept = []
for number in range(50):
    kept.append(bytearray(1 << 20))
    print(number, flush=True)
    {then}
"""
LIMIT = """
mkdir -p /sys/fs/cgroup/a/b
echo +memory > /sys/fs/cgroup/a/cgroup.subtree_control
echo 40M > /sys/fs/cgroup/a/memory.max
python3 touch.py; echo $?
grep -h oom_kill /sys/fs/cgroup/a/memory.events /sys/fs/cgroup/a/b/memory.events /sys/fs/cgroup/a/memory.events.local
"""
COMPUTE = """
import ctypes, sys, time
with open(f'/sys/fs/cgroup/{sys.argv[1]}/cgroup.procs', 'w') as file:
    file.write('0')
flops, begin = ctypes.c_uint64(1_000_000_000), time.monotonic()
assert ctypes.CDLL(None).prctl(0x53494d01, ctypes.byref(flops)) == 0
print(sys.argv[1], round(time.monotonic() - begin, 2), flush=True)
"""


def shell(emulation: Cluster, script: str, **files: str) -> list[str]:
    """The lines that a script prints on a host of two cores of 1 Gflop/s; Python programs lie beside it."""
    for name, text in files.items():
        (emulation.options.directory / f"{name}.py").write_text(text)
    folder = emulation.options.directory
    program = emulation.host("a", cores=2).start(["sh", "-c", f"cd {folder} && {script}"])
    emulation.run()
    assert program.stderr == "" or "Killed" in program.stderr, program.stderr
    return program.stdout.splitlines()


@pytest.mark.parametrize("then", ["pass", "time.sleep(0.02)"])
def test_above_its_limit_a_process_is_killed_and_counted_up_to_the_limit(emulation: Cluster, then: str) -> None:
    lines = shell(emulation, LIMIT, touch=TOUCH.format(then=then))
    told, counts = lines[: lines.index("137")], lines[lines.index("137") + 1 :]
    assert 28 <= len(told) <= 42, told  # the program itself takes some of the 40 MiB
    assert counts == ["oom_kill 1", "oom_kill 1", "oom_kill 0"]


def test_a_group_dies_together_and_what_is_out_of_reach_lives(emulation: Cluster) -> None:
    script = """
mkdir /sys/fs/cgroup/a /sys/fs/cgroup/a/b; echo +memory > /sys/fs/cgroup/a/cgroup.subtree_control
echo 1 > /sys/fs/cgroup/a/b/memory.oom.group; echo 40M > /sys/fs/cgroup/a/b/memory.max
sh -c 'echo 0 > /sys/fs/cgroup/a/b/cgroup.procs; sleep 100' & sh -c 'echo 0 > /sys/fs/cgroup/a/b/cgroup.procs
echo -1000 > /proc/self/oom_score_adj; sleep 3' & sleep 1
python3 touch.py >/dev/null; wait $!; echo $?
cat /sys/fs/cgroup/a/b/cgroup.events; grep group_kill /sys/fs/cgroup/a/memory.events
"""
    if os.geteuid() != 0:
        pytest.skip("only root may lower oom_score_adj")
    assert shell(emulation, script, touch=TOUCH.format(then="pass"))[-3:] == ["populated 0", "frozen 0", "oom_group_kill 1"]


def test_births_beyond_the_limit_fail(emulation: Cluster) -> None:
    births = """
import os, threading, time
with open('/sys/fs/cgroup/a/cgroup.procs', 'w') as file:
    file.write('0')
threads = []
try:
    for _ in range(5):
        threads.append(threading.Thread(target=time.sleep, args=(1,)))
        threads[-1].start()
except RuntimeError:
    print(len(threads))
try:
    os.fork()
except BlockingIOError as error:
    print(error.strerror)
"""
    script = "mkdir /sys/fs/cgroup/a; echo 3 > /sys/fs/cgroup/a/pids.max; python3 births.py; cat /sys/fs/cgroup/a/pids.events"
    assert shell(emulation, script, births=births) == ["3", "Resource temporarily unavailable", "max 2"]


def test_processors_are_shared_by_weight_and_quota_and_bounded_by_cpuset(emulation: Cluster) -> None:
    script = """
cd /sys/fs/cgroup; mkdir light heavy bound; echo 300 > heavy/cpu.weight; echo '50000 100000' > bound/cpu.max
echo 1 > light/cpuset.cpus; echo 1 > heavy/cpuset.cpus; cd - >/dev/null
python3 compute.py light & python3 compute.py heavy & wait; python3 compute.py bound
"""
    assert shell(emulation, script, compute=COMPUTE) == ["heavy 1.33", "light 2.0", "bound 2.0"]


def test_a_cpuset_bounds_what_threads_may_ask_for(emulation: Cluster) -> None:
    script = """
cd /sys/fs/cgroup; mkdir a; echo 1 > a/cpuset.cpus; echo 0 > a/cgroup.procs
taskset -cp $$; taskset -c 0 true 2>/dev/null; echo $?; taskset -c 0,1 taskset -cp 0; nproc
echo > a/cpuset.cpus; cat a/cpuset.cpus.effective; taskset -cp $$
"""
    lines = shell(emulation, script.replace("taskset -cp 0;", "nproc;"))
    assert [line.rpartition(": ")[2] for line in lines] == ["1", "1", "1", "1", "0-1", "0,1"]


def test_groups_are_gone_with_the_power(emulation: Cluster) -> None:
    host = emulation.host("a")
    program = host.start(
        "cat /proc/self/cgroup; mkdir /sys/fs/cgroup/a && echo made; echo $$ > /sys/fs/cgroup/a/cgroup.procs; sleep 50"
    )
    host.crash(at="10s")
    host.boot(at="20s")
    host.start("true", at="30s")  # else the run is over with the power
    emulation.run()
    assert program.stdout.endswith("0::/\nmade\n") and program.ended_s == pytest.approx(70, abs=1)


SCENARIO = """
hosts: [{name: a, cores: 2}]
shared: [FOLDER]
processes: [{name: p, host: a, command: "sh FOLDER/limit.sh"}]
"""


def test_two_runs_have_one_digest(simunix: Simunix, tmp_path: Path) -> None:
    (tmp_path / "touch.py").write_text(TOUCH.format(then="time.sleep(0.003)"))
    (tmp_path / "limit.sh").write_text(f"cd {tmp_path}\n{LIMIT}")
    (tmp_path / "s.yaml").write_text(SCENARIO.replace("FOLDER", str(tmp_path)))
    ran, again = run_twice(simunix, tmp_path / "s.yaml", tmp_path, timeout=60)
    assert "oom_kill" in ran.output("a", "p") and ran.output("a", "p") == again.output("a", "p")
