"""Burst buffers on real Slurm: its plugin burst_buffer/lua, the script that simunix ships, and copies that take their time."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest

from tests.conftest import ROOT, Simunix
from tests.system.runs import run, run_twice

pytestmark = [pytest.mark.slurm]

CLUSTER = """\
name: buffers
hosts: [{name: ctl, cores: 4, memory: 8GiB}]
storages:
  - {name: pfs, host: ctl, read_bandwidth: 50MBps, write_bandwidth: 25MBps}
  - {name: flash, host: ctl, read_bandwidth: 400MBps, write_bandwidth: 200MBps}
mounts:
  - {path: /srv/pfs, host: ctl, storage: pfs, cache: false}
  - {path: /srv/flash, host: ctl, storage: flash, cache: false}
slurm:
  controller: ctl
  nodes: ctl
  burst_buffers: [{name: rack1, path: /srv/flash, capacity: 500MB}]
until: 5m
stop: user
processes:
  - name: user
    host: ctl
    user: daemon
    start: 10s
    command: |
"""
JOB = """\
#!/bin/sh
#BB_LUA pool=rack1 capacity=300M
#BB_LUA stage_in /srv/pfs/input data/in
#BB_LUA stage_out out /srv/pfs/result
echo "begins $(date +%s.%N)"
cat $BURST_BUFFER/data/in > $BURST_BUFFER/out
echo "ends $(date +%s.%N)"
"""
MB, NS = 10**6, 10**9


def scenario(folder: Path, *commands: str) -> Path:
    """A user's commands on that cluster."""
    (folder / "s.yaml").write_text(CLUSTER + "".join(f"      {command}\n" for command in commands))
    return folder / "s.yaml"


def moments(text: str) -> list[float]:
    return [float(number) for number in re.findall(r"(?:begins|ends) (\S+)", text)]


@pytest.mark.slow
def test_data_is_staged_in_and_out_and_a_full_pool_makes_jobs_wait(simunix: Simunix, tmp_path: Path) -> None:
    user = (
        "cat > /tmp/job.sh <<'END'",
        *JOB.splitlines(),
        "END",
        "dd if=/dev/zero of=/srv/pfs/input bs=1000000 count=100 status=none",
        "for i in 1 2; do sbatch -D /tmp -o /tmp/$i.out /tmp/job.sh; done",
        "sleep 3; squeue -h -o '%i %T %r'; scontrol show burst | grep 'PoolName'",
        "while squeue -h | grep -q .; do sleep 1; done; cat /tmp/1.out /tmp/2.out",
        "ls /srv/flash; stat -c '%U %s %n' /srv/pfs/*; scontrol show bbstat",
    )
    first, _ = run_twice(simunix, scenario(tmp_path, *user), tmp_path)
    text = first.everything("ctl", "user")
    assert "2 PENDING BurstBufferResources" in text and "TotalSpace=476MiB FreeSpace=176MiB UsedSpace=300MiB" in text, text
    assert "daemon 100000000 /srv/pfs/result" in text and "rack1 /srv/flash 500000000" in text, text
    begin, end, second, _ = moments(text)
    assert end - begin == pytest.approx(0.25 + 0.5, rel=0.02)  # from flash to flash
    assert second - end > 0.25 + 4.0, text  # the second job's room is the first one's until that has been staged out
    assert moved(first.out) == {"ctl/pfs": (200 * MB, 300 * MB), "ctl/flash": (400 * MB, 400 * MB)}


def moved(out: Path) -> dict[str, tuple[int, int]]:
    """Bytes read and written by storage, from storages.csv."""
    found: dict[str, tuple[int, int]] = {}
    with (out / "storages.csv").open() as file:
        for row in csv.DictReader(file):
            read, written = found.get(row["storage"], (0, 0))
            found[row["storage"]] = read + int(row["read_bytes"]), written + int(row["written_bytes"])
    return found


@pytest.mark.slow
def test_each_rack_has_a_burst_buffer_and_both_share_the_file_system(simunix: Simunix, tmp_path: Path) -> None:
    """The shipped scenario: 20 MB of 10 and 5 MB/s are staged in and out by both racks at a time, in a rack by one job only."""
    first, _ = run_twice(simunix, ROOT / "scenarios/burst-buffers.yaml", tmp_path)
    text = first.everything("controller", "user")
    assert text.count("BurstBufferResources") >= 4 and text.count("-rw-r--r-- 1 daemon daemon 20000000") == 4, text
    times = dict(zip(("1-1", "1-2", "2-1", "2-2"), zip(*[iter(moments(text))] * 2, strict=True), strict=True))
    for begin, end in times.values():
        assert end - begin == pytest.approx(20 / 80 + 20 / 40, rel=0.01), text  # in its own rack, whatever the other one does
    for number in (1, 2):
        assert times[f"1-{number}"][0] == pytest.approx(times[f"2-{number}"][0], abs=0.1), text
        staged_out = times[f"{number}-1"][1] + 20 / 80 + 20 / (5 / 2)
        staged_in = 20 / (10 / 2) + 20 / 40
        assert 0 < times[f"{number}-2"][0] - staged_out - staged_in < 5, text  # what is left is Slurm's: it looks now and then
    found = moved(first.out)
    assert found["flash1/flash"] == found["flash2/flash"] == (80 * MB, 80 * MB)
    assert found["pfs1/pfs"] == pytest.approx((80 * MB, 100 * MB), abs=10_000)  # the input, four outputs, what jobs print


@pytest.mark.slow
def test_what_a_script_asks_for_wrongly_is_said(simunix: Simunix, tmp_path: Path) -> None:
    asked = {
        "pool=none capacity=3M": "Burst Buffer request invalid",
        "pool=rack1": "expected '#BB_LUA pool=NAME capacity=SIZE', got: #BB_LUA pool=rack1",
        r"pool=rack1 capacity=1M\n#BB_LUA stage_in": "expected '#BB_LUA stage_in FROM [TO]'",
        r"pool=rack1 capacity=1M\n#BB_LUA stage_out ../x /srv/pfs/y": "a path leads out of the job's folder: ../x",
    }
    user = [f"printf '#!/bin/sh\\n#BB_LUA {words}\\n' | sbatch" for words in asked]
    ran = run(simunix, scenario(tmp_path, *user, "true"), tmp_path / "out")  # the last refusal is no failure of the run
    text = ran.everything("ctl", "user")
    for error in asked.values():
        assert error in text, text
    assert "Submitted" not in text


@pytest.mark.parametrize(
    ("buffers", "error"),
    [
        ("[{name: a, path: srv, capacity: 1GB}]", "slurm.burst_buffers[0].path: expected absolute paths below /"),
        ("[{name: a, path: /srv/a b, capacity: 1GB}]", "slurm.burst_buffers[0].path: '/srv/a b' has a space in it"),
        (
            "[{name: a, path: /srv, capacity: 1GB}, {name: a, path: /srv, capacity: 1GB}]",
            "slurm.burst_buffers[1].name: there is a burst buffer 'a' already; choose another name",
        ),
    ],
)
def test_burst_buffers_that_cannot_be(simunix: Simunix, tmp_path: Path, buffers: str, error: str) -> None:
    text = CLUSTER.replace("[{name: rack1, path: /srv/flash, capacity: 500MB}]", buffers) + "      true\n"
    (tmp_path / "s.yaml").write_text(text)
    done = simunix("run", tmp_path / "s.yaml", "--out", tmp_path / "out")
    assert done.returncode == 2 and error in done.stderr, done.stderr
