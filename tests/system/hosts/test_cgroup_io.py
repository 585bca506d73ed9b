"""io.max of cgroups on a host's storages: programs take the time that the limits say, and io.stat has what they have moved."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import Simunix
from tests.system.runs import run_twice

SCENARIO = """\
hosts: [{name: n1, memory: 1GiB}]
storages: [{name: disk, host: n1, read_bandwidth: 100MBps, write_bandwidth: 100MBps, readwrite_bandwidth: 100MBps}]
mounts:
  - {path: /srv/disk, host: n1, storage: disk}
  - {path: /srv/raw, host: n1, storage: disk, cache: false}
processes:
  - name: p
    host: n1
    command: |
      g=/sys/fs/cgroup; mkdir $g/a $g/b; cd /srv/disk
      t() { echo 0 >$g/$1/cgroup.procs; n=$1; shift; b=$(date +%s%N); "$@"; e=$(date +%s%N); echo "$n $(((e-b)/1000000))"; }
      w() { dd if=/dev/zero of=$1 bs=1000000 count=$2 status=none $3; }
"""


def prints(simunix: Simunix, folder: Path, *lines: str) -> list[str]:
    """What a shell on the host prints, in both of two runs; `t GROUP COMMAND` tells the milliseconds that it takes."""
    file = folder / "scenario.yaml"
    file.write_text(SCENARIO + "".join(f"      {line}\n" for line in lines))
    first, _ = run_twice(simunix, file, folder, timeout=60)
    return first.output("n1", "p").splitlines()


def close(lines: list[str], *expected: tuple[str, int]) -> bool:
    """Whether the first lines tell these milliseconds, but for those that opening files and starting programs take."""
    told = [(name, int(number)) for name, number in (line.split() for line in lines[: len(expected)])]
    return [name for name, _ in told] == [name for name, _ in expected] and all(
        wanted <= found <= wanted + 2 for (_, found), (_, wanted) in zip(told, expected, strict=True)
    )


def test_two_groups_of_dd_on_one_disk(simunix: Simunix, tmp_path: Path) -> None:
    """20 MB/s of 100 for a; b has the other 80 until its 80 MB are written, and a is no faster then."""
    lines = prints(
        simunix,
        tmp_path,
        'echo "8:16 wbps=20000000" >$g/a/io.max',
        "t a w /srv/raw/1 40 & t b w /srv/raw/2 80 & wait",
        "cat $g/a/io.max $g/a/io.stat $g/b/io.stat",
    )
    assert close(lines, ("b", 1000), ("a", 2000)), lines
    stats = [dict(word.split("=") for word in line.split()[1:]) for line in lines[3:]]
    assert lines[2] == "8:16 rbps=max wbps=20000000 riops=max wiops=max"
    assert [stat["wbytes"] for stat in stats] == ["40000000", "80000000"]
    assert all(int(stat["wios"]) >= 40 for stat in stats) and lines[3].startswith("8:16 rbytes=0 ")


def test_dds_of_a_group_share_its_limit_also_through_the_page_cache(simunix: Simunix, tmp_path: Path) -> None:
    lines = prints(
        simunix,
        tmp_path,
        'echo "8:16 wbps=20000000" >$g/a/io.max; echo "8:16 rbps=10000000" >$g/b/io.max',
        "t a w 1 10 conv=fsync & t a w 2 10 conv=fsync & wait",
        "t b dd if=1 of=/dev/null iflag=direct bs=1M status=none",
    )
    assert close(lines, ("a", 1000), ("a", 1000), ("b", 1000)), lines


def test_operations_per_second_and_a_limit_that_is_lifted(simunix: Simunix, tmp_path: Path) -> None:
    """50 writes of 10 per second take 4.9 s from the first to the last; the other group's limit is lifted after a second."""
    lines = prints(
        simunix,
        tmp_path,
        'echo "8:16 wiops=10" >$g/a/io.max; echo "8:16 wbps=1000000" >$g/b/io.max; : >/srv/raw/1; : >/srv/raw/2',
        "t a dd if=/dev/zero of=/srv/raw/1 bs=4096 count=50 conv=notrunc status=none & t b w /srv/raw/2 101 conv=notrunc &"
        ' sleep 1; echo "8:16 wbps=max" >$g/b/io.max; wait',
    )
    assert close(lines, ("b", 2000), ("a", 4900)), lines


@pytest.mark.parametrize(
    ("line", "error"),
    [("9:9 rbps=5", "No such device"), ("8:16 rbps=x", "Invalid argument"), ("8:16 wbps=0", "Numerical result out of range")],
)
def test_what_is_refused(simunix: Simunix, tmp_path: Path, line: str, error: str) -> None:
    assert error in "".join(prints(simunix, tmp_path, f'{{ /bin/echo "{line}" >$g/a/io.max; }} 2>&1; cat $g/a/io.max'))
