"""The counters in /proc are those of the emulation: they are equal in equal runs, whatever the real computer does."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

from simunix.testing import Cluster
from tests.conftest import Simunix
from tests.system.load import busy_computer

FILES = (
    "/proc/self/stat /proc/self/statm /proc/self/status /proc/self/io /proc/self/sched /proc/self/schedstat /proc/self/smaps "
    "/proc/self/smaps_rollup /proc/self/numa_maps /proc/self/oom_score /proc/1/stat /proc/vmstat /proc/pressure/cpu "
    "/proc/pressure/memory /proc/diskstats /proc/swaps /proc/partitions /proc/interrupts /proc/softirqs "
    "/proc/sys/fs/file-nr /proc/sys/fs/inode-nr /proc/sys/fs/dentry-state /proc/buddyinfo /proc/zoneinfo"
)
SIZES = """
import re
memory = bytearray(b"x" * (32 << 20))
status = open("/proc/self/status").read()
resident = int(re.search(r"VmRSS:\\s+(\\d+) kB", status)[1])
pages = int(open("/proc/self/statm").read().split()[1])
stat = int(open("/proc/self/stat").read().rpartition(")")[2].split()[21])
assert stat == pages and resident == 4 * pages, (stat, pages, resident)
assert resident > 32 << 10
print(re.search(r"Cpus_allowed_list:\\s+(\\S+)", status)[1], re.search(r"Cpus_allowed:\\s+(\\S+)", status)[1])
"""


def test_counters_do_not_depend_on_the_computer(emulation: Cluster) -> None:
    read = f"for file in {FILES}; do echo $file; cat $file; done; df -k / /dev/shm | tail -n 2"
    program = emulation.host("a", memory="8GiB").start(f"({read}) | grep -v memfd:")  # the number of an anonymous file
    emulation.run(check=True)
    first = program.stdout
    with busy_computer():
        emulation.run(check=True)
    assert program.stdout == first
    assert "some avg10=0.00 avg60=0.00 avg300=0.00 total=0\n" in first
    assert re.search(r"\nnonvoluntary_ctxt_switches:\t0\n", first) and re.search(r"\nSigQ:\t0/\d+\n", first)
    sizes = [line.split()[1:5] for line in first.splitlines()[-2:]]
    assert sizes == [["1073741824", "536870912", "536870912", "50%"], ["4194304", "2097152", "2097152", "50%"]]


def test_sizes_agree(emulation: Cluster) -> None:
    program = emulation.host("a", cores=40).start(["python3", "-c", SIZES])
    emulation.run(check=True)
    assert program.stdout == "0-39 ff,ffffffff\n"


def test_a_reader_that_goes_back_reads_anew(emulation: Cluster) -> None:
    script = (
        "import os\nfd = os.open('/proc/self/statm', os.O_RDONLY)\nfirst = os.read(fd, 100)\nmore = bytearray(1 << 24)\n"
        "os.lseek(fd, 0, 0)\nsecond = os.read(fd, 100)\nprint(int(second.split()[1]) - int(first.split()[1]) >= 4096)"
    )
    program = emulation.host("a").start(["python3", "-c", script])
    emulation.run(check=True)
    assert program.stdout == "True\n"


def test_the_size_of_the_disk_is_asked_for_once(simunix: Simunix, tmp_path: Path) -> None:
    """File managers and stress-ng's rename ask before each operation: a message each cost more than the operation."""
    program = "import os; [os.statvfs('/tmp') for _ in range(500)]"
    done = simunix("run", "--out", tmp_path / "out", "--", sys.executable, "-c", program)
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "out/run.json").read_text())["counts"]["messages"] < 100


def test_messages_and_semaphores_of_system_v_ask_nobody_where_nobody_waits(simunix: Simunix, tmp_path: Path) -> None:
    program = """
        my $queue = msgget(0, 0600); my $set = semget(0, 1, 0600);
        for (1..300) {
            msgsnd($queue, pack("l! a*", 1, "text"), 0) or die; msgrcv($queue, my $got, 10, 0, 0) or die;
            semop($set, pack("s!3", 0, 1, 0)) or die; semop($set, pack("s!3", 0, -1, 0)) or die;
        }
        msgctl($queue, 0, 0); semctl($set, 0, 0, 0);
    """
    done = simunix("run", "--out", tmp_path / "out", "--", "perl", "-e", program)
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "out/run.json").read_text())["counts"]["messages"] < 100
