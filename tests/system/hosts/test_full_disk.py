"""A run whose own disk becomes full ends with one line, and what it has found so far; the emulated disks are another matter."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import Simunix

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="mounting needs root")

HEAD = """\
name: full
hosts: [{name: n1}]
storages:
  - {name: large, host: n1, read_bandwidth: 1GBps, write_bandwidth: 1GBps}
  - {name: small, host: n1, read_bandwidth: 1GBps, write_bandwidth: 1GBps, capacity: 1MiB}
mounts:
  - {path: /srv/large, host: n1, storage: large}
  - {path: /srv/small, host: n1, storage: small}
processes:
  - name: p
    host: n1
    command: |
"""


@pytest.fixture
def little(tmp_path: Path) -> Iterator[Path]:
    """A file system of 12 MiB."""
    folder = tmp_path / "little"
    folder.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=12m", "none", str(folder)], capture_output=True).returncode:
        pytest.skip("mounting is not allowed here")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)  # not lazily: nothing of a run is left there


def scenario(folder: Path, *commands: str, head: str = HEAD) -> Path:
    (folder / "s.yaml").write_text(head + "".join(f"      {command}\n" for command in commands))
    return folder / "s.yaml"


FILLERS = {
    "written": "dd if=/dev/zero of=/srv/large/f bs=1M count=64",
    "allocated": "fallocate -l 64M /srv/large/f",
    "elsewhere": "dd if=/dev/zero of=/tmp/simunix-filled bs=1M count=64",
    "output": "yes",
}
"""What makes the disk full, each in another way: on a mount, at once, on no mount, by what a program prints."""


@pytest.mark.parametrize("filler", FILLERS)
def test_the_run_ends_and_keeps_its_results(simunix: Simunix, tmp_path: Path, little: Path, filler: str) -> None:
    out = little / "out"
    commands = ("dd if=/dev/zero of=/srv/large/first bs=64k count=1 conv=fsync; sleep 5", FILLERS[filler])
    done = simunix("run", scenario(tmp_path, *commands, "echo went on"), "--out", out)
    assert done.returncode == 5, done.stderr
    assert done.stderr.startswith(f"simunix: {out}: the disk of the run is full: ") and done.stderr.count("\n") == 1
    assert "@n1 could not write at 5." in done.stderr and done.stderr.endswith("choose another folder with --out\n")
    record = json.loads((out / "run.json").read_text())
    assert record["failure"] in done.stderr and record["virtual_s"] >= 5 and not record["deterministic"]
    assert (out / "storages.csv").read_text().count("n1/large") >= 1
    assert "went on" not in (out / "hosts" / "n1" / "p.out").read_text()
    assert not list(out.glob(".reserve*"))


def test_an_emulated_disk_that_is_full_is_the_programs_affair(simunix: Simunix, tmp_path: Path, little: Path) -> None:
    small = "dd if=/dev/zero of=/srv/small/f bs=1M count=2 2>&1; echo full; echo x > /dev/full; echo went on"
    done = simunix("run", scenario(tmp_path, small), "--out", little / "out")
    assert done.returncode == 0, done.stderr
    text = (little / "out" / "hosts" / "n1" / "p.out").read_text()
    assert "No space left on device" in text and "went on" in text


def test_a_command_in_the_foreground_has_its_error(simunix: Simunix, little: Path) -> None:
    writes = "import sys; sys.stdout.flush(); f = open('f', 'wb', 0)\ntry:\n    [f.write(bytes(1 << 20)) for _ in range(64)]\n"
    program = f"{writes}except OSError as error:\n    print(error.strerror)\n"
    done = simunix("run", "--", sys.executable, "-c", program, cwd=little)
    assert done.stdout == "No space left on device\n" and done.returncode == 0, done.stderr


COPIED = """\
name: copies
hosts: [{name: 'n[1-2]'}]
storages: [{name: d, host: 'n[1-2]', read_bandwidth: 1GBps, write_bandwidth: 1GBps}]
mounts:
  - path: /usr/share/simunix-test
    host: 'n[1-2]'
    storage: d
    content: copy
processes:
  - name: p
    host: n1
    command: |
"""


def test_what_does_not_fit_is_said_before_the_start(simunix: Simunix, tmp_path: Path, little: Path) -> None:
    """Two copies of eight MiB do not fit into twelve; with `capacity: warn` the run is tried all the same, and cannot copy."""
    head = COPIED.replace("/usr/share/simunix-test", str(tmp_path / "data")).replace(
        "name: copies\n", f"shared: ['{tmp_path}']\n"
    )
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "f").write_bytes(os.urandom(8 << 20))
    file = scenario(tmp_path, "echo ran", head=head)
    done = simunix("run", file, "--out", little / "out")
    assert done.returncode == 2 and done.stderr.count("\n") == 1, done.stderr
    assert done.stderr.startswith(
        f"simunix: {file}:8: mounts[0].content: the run is to write about 16 MiB (16 MiB copied from "
    )
    assert "has 11 MiB left: free some space, or choose a folder of another disk with --out; to try all" in done.stderr
    done = simunix("run", file, "--out", little / "out", "--set", "capacity=warn")
    assert done.returncode == 2 and "mounts[0].content: the run is to write about 16 MiB" in done.stderr
    assert "cannot be copied" in done.stderr and "Traceback" not in done.stderr
    assert simunix("run", file, "--out", tmp_path / "out").returncode == 0
