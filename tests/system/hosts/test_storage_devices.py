"""Each storage is a device of its own: stat(2) agrees with mountinfo, so that df, du -x and find -xdev tell them apart."""

from __future__ import annotations

import os
from pathlib import Path

from tests.conftest import Simunix
from tests.system.runs import run, run_twice

SCENARIO = """\
hosts: [{name: n1}, {name: fs1}]
network: {bandwidth: 1Gbps, latency: 10us}
storages:
  - {name: one, host: n1, read_bandwidth: 100MiBps, write_bandwidth: 40MiBps, capacity: 1GiB}
  - {name: two, host: n1, read_bandwidth: 100MiBps, write_bandwidth: 40MiBps, capacity: 2GiB}
  - {name: far, host: fs1, read_bandwidth: 100MiBps, write_bandwidth: 40MiBps, capacity: 3GiB}
mounts:
  - {path: /srv/one, host: n1, storage: one}
  - {path: /srv/one/two, host: n1, storage: two}
  - {path: /srv/far, host: n1, server: fs1, storage: far}
processes:
  - name: p
    host: n1
    command: |
"""


def ran(simunix: Simunix, folder: Path, *lines: str) -> str:
    """What a shell on the host prints, in both of two runs."""
    file = folder / "scenario.yaml"
    file.write_text(SCENARIO + "".join(f"      {line}\n" for line in lines))
    first, _ = run_twice(simunix, file, folder)
    return first.output("n1", "p")


def test_df_without_a_path_lists_each_storage(simunix: Simunix, tmp_path: Path) -> None:
    text = ran(simunix, tmp_path, "df --output=source,size,target | grep srv")
    assert [line.split() for line in text.splitlines()] == [
        ["/dev/sdb", "1048576", "/srv/one"],
        ["fs1:/srv/far", "3145728", "/srv/far"],
        ["/dev/sdc", "2097152", "/srv/one/two"],
    ]


def test_no_device_of_a_file_server_is_one_of_this_computer(simunix: Simunix, tmp_path: Path) -> None:
    """The kernel numbers file systems without a disk from 1 on, lowest first: those of other hosts count, too.

    Of two mounts whose device is the same df looks at one only, so that it made other calls in some runs.
    """
    text = ran(simunix, tmp_path, "awk '/far/ {print $3}' /proc/self/mountinfo; stat -c %Hd:%Ld /srv/far")
    shown, told = text.split()
    assert shown == told and int(shown.removeprefix("0:")) > 1_000_000


def test_stat_and_its_kin_have_the_device_of_mountinfo(simunix: Simunix, tmp_path: Path) -> None:
    programs = (
        "import os; [print(s.st_dev) for s in (os.stat('f'), os.lstat('l'), os.fstat(os.open('f', 0)), os.stat('/srv/far'))]"
    )
    text = ran(
        simunix,
        tmp_path,
        "cd /srv/one && touch f && ln -s two/g l && touch two/g",
        "awk '/srv/ {print $3}' /proc/self/mountinfo",
        "stat -c %d . f l two two/g && stat -L -c %d l",
        f'python3 -c "{programs}"',
        "find . -xdev -type f; mountpoint two; stat -c %m f l two/g",
    )
    shown, devices = text.split()[:3], text.split()[3:13]
    assert (shown[0], shown[2]) == ("8:16", "8:32")
    one, far, two = (str(os.makedev(*map(int, device.split(":")))) for device in shown)
    assert devices == [one, one, one, two, two, two, one, one, one, far]
    assert text.split()[13:] == ["./f", "two", "is", "a", "mountpoint", "/srv/one", "/srv/one", "/srv/one/two"]


def test_sync_has_all_storages_write_at_a_time_and_waits_for_what_another_fsync_writes(
    simunix: Simunix, tmp_path: Path
) -> None:
    """40 MiB on each of two disks take a second; so does what is being written for another program."""
    text = ran(
        simunix,
        tmp_path,
        "t() { b=$(date +%s%N); $*; e=$(date +%s%N); echo $(((e - b + 5000000) / 10000000)); }",
        "fill() { for f in $*; do dd if=/dev/zero of=$f bs=1M count=40 status=none; done; }",
        "fill /srv/one/f /srv/one/two/f; t sync",
        "fill /srv/one/f; sync -d /srv/one/f & sleep 0.5; t sync -d /srv/one/f; wait",
        "fill /srv/one/f; sync -d /srv/one/f & sleep 0.5; t sync; wait",
    )
    first, second, third = (int(line) for line in text.split())
    assert first == 100
    assert second < 60 and second == third, "in hundredths; the fill before takes no time"
    assert second >= 49


def test_hosts_show_no_disk_of_this_computer(simunix: Simunix, tmp_path: Path) -> None:
    """Of a host without storages, and of one that has mounts of servers only."""
    text = SCENARIO.replace("{name: n1}", "{name: n1}, {name: plain}")
    looks = "ls /sys/block /sys/class/block; cat /sys/block/sda/stat; ls /sys/dev/block; cat /proc/diskstats"
    for host in ("plain", "fs1"):
        file = tmp_path / f"{host}.yaml"
        file.write_text(text.replace("host: n1\n    command", f"host: {host}\n    command") + f"      {looks}\n")
        words = run(simunix, file, tmp_path / host).output(host, "p").split()
        disks = ["sda"] + ["sdb"] * (host == "fs1")
        assert words[:2] == ["/sys/block:", "sda"]
        assert [word for word in words if word.startswith(("sd", "vd", "nvme", "loop"))] == disks * 3


def test_a_host_may_have_more_disks_than_there_are_letters(simunix: Simunix, tmp_path: Path) -> None:
    rates = "read_bandwidth: 1GBps, write_bandwidth: 1GBps"
    storages = "".join(f"  - {{name: s{number}, host: n1, {rates}}}\n" for number in range(30))
    mounts = ", ".join(f"{{path: /srv/m{number}, host: n1, storage: s{number}}}" for number in (24, 25, 29))
    looks = 'grep -o "^/dev/sd.* /srv/m[0-9]*" /proc/mounts; lsblk -ln -o NAME,MOUNTPOINT | grep srv'
    (tmp_path / "s.yaml").write_text(
        f"hosts: [{{name: n1}}]\nstorages:\n{storages}mounts: [{mounts}]\n"
        f"processes:\n  - name: p\n    host: n1\n    command: |\n      {looks}\n"
    )
    lines = run(simunix, tmp_path / "s.yaml", tmp_path / "out").output("n1", "p").splitlines()
    assert lines[:3] == ["/dev/sdz /srv/m24", "/dev/sdaa /srv/m25", "/dev/sdae /srv/m29"]
    assert [line.split() for line in lines[3:]] == [["sdz", "/srv/m24"], ["sdaa", "/srv/m25"], ["sdae", "/srv/m29"]]
