"""Reads and writes by name: in C++, beside a program that is intercepted, and on disks that fail."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT, Simunix
from tests.system.rsg.running import HERE, PLATFORMS, compiled, run

TOLD = """\
Disk1 1e+08 4e+07
Disk2 2e+08 8e+07
read 1.000
wrote 2.000
heavy 2.667, 33333333 left of the light one
not yet 2.767
light 3.000
a size, a number of flops or a priority below 0, or no number
"""


def test_disks_in_c_plus_plus(tmp_path: Path) -> None:
    """Of 100 MB/s the heavy read has three quarters; what is left of the light one then has all."""
    assert run(PLATFORMS / "hosts_with_disks.xml", compiled(HERE / "programs/disks.cpp", tmp_path)) == TOLD


SCENARIO = """
name: disks
costs: {clock_read: 0, poll: 0, call: 0}
hosts: [{name: a}]
storages: [{name: scratch, host: a, read_bandwidth: 10MBps, write_bandwidth: 10MBps}]
mounts: [{path: /srv/scratch, host: a, storage: scratch, cache: false}]
processes:
  - {name: dd, host: a, start: 1s, command: [PYTHON, -c, WRITE]}
  - {name: actor, host: a, command: [PYTHON, -c, READ]}
events: [{at: 12.5s, storage: 'a:scratch', state: failing}]
"""
WRITE = """
import os, time
begin = time.monotonic()
file = os.open("/srv/scratch/file", os.O_WRONLY | os.O_CREAT)
os.write(file, bytes(10_000_000))
print(time.monotonic() - begin)
"""
READ = """
from simunix.rsg import Engine, StorageFailureException, this_actor
disk = this_actor.get_host().get_disks()[0]
disk.read(110_000_000)
print(Engine.get_clock())
this_actor.sleep_until(13)
try:
    disk.read(1)
except StorageFailureException as error:
    print(error)
"""


def test_a_read_by_name_and_a_write_of_a_daemon_share_a_disk(simunix: Simunix, tmp_path: Path) -> None:
    """The write has half of the disk: 2 s for what takes one; the read takes as much longer as the write has moved."""
    for name, program in (("write", WRITE), ("read", READ)):
        (tmp_path / f"{name}.py").write_text(program)
    text = SCENARIO.replace("-c, WRITE", f"{tmp_path}/write.py").replace("-c, READ", f"{tmp_path}/read.py")
    (tmp_path / "s.yaml").write_text(text.replace("PYTHON", sys.executable))
    done = simunix("run", tmp_path / "s.yaml", "--set", f"shared=[{tmp_path}, {ROOT}]", "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    wrote, read = ((tmp_path / f"out/hosts/a/{name}.out").read_text().splitlines() for name in ("dd", "actor"))
    assert float(wrote[0]) == pytest.approx(2.0, rel=1e-3)
    assert float(read[0]) == pytest.approx(12.0, rel=1e-3)
    assert read[1].startswith("read from scratch: the disk is failing")
