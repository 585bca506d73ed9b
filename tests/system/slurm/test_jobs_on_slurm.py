"""What jobs do, on real Slurm: Batsim's workloads unchanged, each kind of profile with the time it must take."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT, Simunix

pytestmark = [pytest.mark.slurm, pytest.mark.slow]

CLUSTER = """
name: jobs
hosts:
  - {name: ctl, cores: 4}
  - {name: 'n[1-4]', cores: 1, speed: 1Gf}
  - {name: 'disk[1-2]', cores: 1}
network: {bandwidth: 1Gbps, latency: 10us}
slurm: {controller: ctl, nodes: 'n[1-4]', extra: "EXTRA"}
workload: {trace: TRACE, start: 10s, storage: {pfs: disk1, nfs: disk2}MORE}
"""
LV08_BANDWIDTH = 0.97
"""Share of a link's bandwidth that a flow gets in SimGrid's model LV08 (docs/guide/network.md)."""
LINK_BYTES_PER_S = 1e9 / 8
Run = tuple[dict[str, dict[str, str]], Path]


def run(simunix: Simunix, folder: Path, trace: Path | str, extra: str = "", more: str = "", processes: str = "") -> Run:
    """Rows of jobs.csv by what the trace calls the job, and the run directory."""
    text = CLUSTER.replace("TRACE", str(trace)).replace("EXTRA", extra).replace("MORE", more)
    (folder / "s.yaml").write_text(text + processes)
    done = simunix("run", folder / "s.yaml", "--out", folder / "out", timeout=200)
    assert done.returncode == 0, done.stderr
    with (folder / "out/jobs.csv").open() as file:
        return {row["metadata"].partition(";")[0] or row["job_id"]: row for row in csv.DictReader(file)}, folder / "out"


def batsim(folder: Path, profiles: dict[str, dict[str, Any]], **jobs: dict[str, Any]) -> Path:
    """A workload in which every job has a profile of its own name, unless it says another."""
    filled = [{"id": name, "subtime": 0, "res": 1, "profile": name, **job} for name, job in jobs.items()]
    path = folder / "w.json"
    path.write_text(json.dumps({"nb_res": 4, "jobs": filled, "profiles": profiles}))
    return path


def steps(out: Path, row: dict[str, str]) -> list[float]:
    """Seconds of a job's outermost steps, from its log."""
    (log,) = (out / "shared/run_simunix_jobs").glob(f"swf-{row['job_id']}-*.log")
    moments = [float(line.split()[0]) for line in log.read_text().splitlines() if re.match(r"\d+\.\d{9} (begins|ends) ", line)]
    return [end - begin for begin, end in zip(moments[::2], moments[1::2], strict=True)]


def test_a_workload_of_batsim_runs_unchanged_and_the_same_twice(fresh_simunix: Simunix, tmp_path: Path) -> None:
    trace = ROOT / "scenarios/traces/batsim_test_various_profile_types.json"
    rows, out = run(fresh_simunix, tmp_path, trace)
    assert {row["final_state"] for row in rows.values()} == {"COMPLETED"} and len(rows) == 11
    assert steps(out, rows["delay"]) == pytest.approx([20.2], abs=1e-4)
    assert steps(out, rows["homo_no_com"]) == pytest.approx([0.0002], abs=2e-4)
    digest = json.loads((out / "run.json").read_text())["events_sha256"]
    run(fresh_simunix, tmp_path, trace)
    assert json.loads((out / "run.json").read_text())["events_sha256"] == digest


def test_batsims_parallel_tasks_take_the_time_that_they_say(simunix: Simunix, tmp_path: Path) -> None:
    """Bytes and bandwidth a thousandth of what they are, so that the times are the file's own.

    Two tasks of six ranks each send and receive 5 GB and 6.25 GB at most, each at 1 GB/s: the file, which says 10 s, must have
    a network in mind whose links carry both directions in turn.
    """
    workload = json.loads((ROOT / "scenarios/traces/batsim_test_ptasks.json").read_text())
    for profile in workload["profiles"].values():
        profile["com"] = [size / 1000 for size in profile["com"]]
    (tmp_path / "w.json").write_text(json.dumps(workload))
    done = simunix(
        *(
            "run",
            ROOT / "scenarios/batsim-ptasks.yaml",
            "--out",
            tmp_path / "out",
            "--set",
            f"workload.trace={tmp_path / 'w.json'}",
        ),
        *("--set", "network.bandwidth=8Mbps"),
        timeout=200,
    )
    assert done.returncode == 0, done.stderr
    with (tmp_path / "out/jobs.csv").open() as file:
        rows = {row["metadata"]: row for row in csv.DictReader(file)}
    assert len(rows) == 20 and {row["final_state"] for row in rows.values()} == {"COMPLETED"}
    full_duplex = {"network-only-6-transfer": 5.0, "network-only-9-transfer-hg": 6.25}
    for job in workload["jobs"]:
        expected = full_duplex.get(job["profile"], workload["profiles"][job["profile"]]["expected_execution_time"])
        assert steps(tmp_path / "out", rows[job["id"]]) == pytest.approx([expected], rel=0.002), job["id"]


def test_each_profile_takes_its_time(simunix: Simunix, tmp_path: Path) -> None:
    size = 12_500_000
    profiles: dict[str, dict[str, Any]] = {
        "one": {"type": "parallel", "com": [0, size, 0, 0]},
        "fan": {"type": "ParallelTaskProfile", "com": [0, size, size, 0, 0, 0, 0, 0, 0]},
        "pfs": {"type": "parallel_homogeneous_pfs", "bytes_to_read": size},
        "stage": {"type": "data_staging", "nb_bytes": size, "from": "pfs", "to": "nfs"},
        "flops": {"type": "parallel_homogeneous", "cpu": 5e9, "com": 0},
        "seq": {"type": "composed", "repeat": 3, "seq": ["flops", "wait"]},
        "wait": {"type": "delay", "delay": 2},
        "fails": {"type": "failure", "delay": 4, "ret": 9},
        "command": {"type": "command", "command": "hostname", "launcher": "srun"},
    }
    sizes = {"one": 2, "fan": 3, "pfs": 2, "stage": 1, "flops": 2, "seq": 2, "fails": 1, "command": 4, "too_large": 5}
    jobs = {name: {"res": res, "subtime": 20 * place} for place, (name, res) in enumerate(sizes.items())}
    jobs["too_large"]["profile"] = "wait"
    rows, out = run(simunix, tmp_path, batsim(tmp_path, profiles, **jobs))
    alone_s = size / (LV08_BANDWIDTH * LINK_BYTES_PER_S)
    expected = {"one": alone_s, "fan": 2 * alone_s, "pfs": 2 * alone_s, "stage": alone_s, "flops": 5, "seq": 21, "fails": 4}
    for name, seconds in expected.items():
        assert steps(out, rows[name])[0] == pytest.approx(seconds, rel=0.01), name
    assert rows["fails"]["final_state"] == "FAILED"
    assert rows["too_large"]["final_state"] == "REJECTED"
    assert {rows[name]["final_state"] for name in sizes} == {"COMPLETED", "FAILED", "REJECTED"}
    (log,) = (out / "shared/run_simunix_jobs").glob(f"swf-{rows['command']['job_id']}-*.log")
    assert set(re.findall(r"^n\d$", log.read_text(), re.MULTILINE)) == {"n1", "n2", "n3", "n4"}


def test_oversubscribed_nodes_compute_half_as_fast(simunix: Simunix, tmp_path: Path) -> None:
    """Two jobs of four ranks on four nodes of one core each, all at once."""
    trace = batsim(
        tmp_path,
        {"flops": {"type": "parallel_homogeneous", "cpu": 10e9, "com": 0}},
        **{name: {"res": 4, "profile": "flops"} for name in ("a", "b")},
    )
    rows, out = run(simunix, tmp_path, trace, "PartitionName=shared Nodes=n[1-4] Default=YES State=UP OverSubscribe=FORCE:2")
    assert [rows[name]["starting_time"] for name in "ab"] == [rows["a"]["starting_time"]] * 2
    assert steps(out, rows["b"])[0] == pytest.approx(20, rel=0.01)


def test_suspended_jobs(simunix: Simunix, tmp_path: Path) -> None:
    """Of 60 s, a delay counts those in which it is suspended; suspendable and computing jobs do not."""
    trace = batsim(
        tmp_path,
        {
            "suspendable": {"type": "suspendable", "delay": 60},
            "computes": {"type": "parallel_homogeneous", "cpu": 60e9, "com": 0},
            "delay": {"type": "delay", "delay": 60},
        },
        suspendable={},
        computes={"res": 2},
        delay={},
    )
    command = "for i in 1 2 3; do scontrol suspend $i; done; sleep 100; for i in 1 2 3; do scontrol resume $i; done"
    processes = f"processes: [{{name: user, host: ctl, start: 30s, command: '{command}'}}]\n"
    rows, out = run(simunix, tmp_path, trace, processes=processes)
    assert {row["final_state"] for row in rows.values()} == {"COMPLETED"}
    assert steps(out, rows["suspendable"]) == pytest.approx([160], abs=3)
    assert steps(out, rows["computes"]) == pytest.approx([160], abs=5)
    assert steps(out, rows["delay"]) == pytest.approx([120], abs=5)
    (log,) = (out / "shared/run_simunix_jobs").glob(f"swf-{rows['suspendable']['job_id']}-*.log")
    suspended = re.findall(r"suspended for (\d+\.\d+) s$", log.read_text(), re.MULTILINE)
    assert len(suspended) == 1 and float(suspended[0]) == pytest.approx(100, abs=3)
    assert sum(map(float, suspended)) + 60 == pytest.approx(steps(out, rows["suspendable"])[0], abs=1e-3)


def test_jobs_of_an_swf_trace_compute(simunix: Simunix, tmp_path: Path) -> None:
    line = "{} {} -1 {} 2 -1 -1 2 100 -1 1 1 1 -1 1 -1 -1 -1\n"
    (tmp_path / "t.swf").write_text(line.format(1, 0, 20) + line.format(2, 5, 30))
    rows, out = run(simunix, tmp_path, tmp_path / "t.swf", more=", profile: compute, resources: nodes")
    assert steps(out, rows["1"]) == pytest.approx([20], abs=1e-3)
    assert steps(out, rows["2"]) == pytest.approx([30], abs=1e-3)
    assert rows["2"]["allocated_hosts"] == "n[3-4]"


def test_profiles_on_storages_take_their_time(simunix: Simunix, tmp_path: Path) -> None:
    """Paths that all nodes keep on storages: read beside write, two ranks, staging; and what jobs.csv says of that."""
    both = {"type": "parallel_homogeneous_pfs", "storage": "scratch", "bytes_to_read": 1e8, "bytes_to_write": 4e7}
    profiles: dict[str, dict[str, Any]] = {
        "both": both,
        "two": {"type": "parallel_homogeneous_pfs", "storage": "scratch", "bytes_to_write": 4e7},
        "stage": {"type": "data_staging", "nb_bytes": 1e8, "from": "scratch", "to": "archive"},
        "waits": {"type": "delay", "delay": 3},
    }
    storages = """
storages:
  - {name: scratch, host: 'n[1-4]', read_bandwidth: 100MBps, write_bandwidth: 40MBps}
  - {name: archive, host: 'n[1-4]', read_bandwidth: 50MBps, write_bandwidth: 50MBps, latency: 10ms}
mounts:
  - {path: /srv/scratch, host: 'n[1-4]', storage: scratch}
  - {path: /srv/archive, host: 'n[1-4]', storage: archive}
"""
    jobs: dict[str, dict[str, Any]] = {"two": {"res": 2}, "both": {}, "stage": {"subtime": 60}, "waits": {"subtime": 120}}
    text = CLUSTER.replace("{pfs: disk1, nfs: disk2}", "{scratch: /srv/scratch, archive: /srv/archive/}")
    trace = batsim(tmp_path, profiles, **jobs)
    (tmp_path / "s.yaml").write_text(text.replace("TRACE", str(trace)).replace("EXTRA", "").replace("MORE", "") + storages)
    done = simunix("run", tmp_path / "s.yaml", "--out", tmp_path / "out", timeout=200)
    assert done.returncode == 0, done.stderr
    with (tmp_path / "out/jobs.csv").open() as file:
        rows = {row["metadata"].partition(";")[0]: row for row in csv.DictReader(file)}
    expected = {"both": [1.4], "two": [1.0], "stage": [2.0], "waits": [3.0]}
    assert {row["final_state"] for row in rows.values()} == {"COMPLETED"}
    for name, times in expected.items():
        assert steps(tmp_path / "out", rows[name]) == pytest.approx(times, rel=0.05), name
        waited = 0.0 if name == "waits" else times[0]
        assert float(rows[name]["io_time"]) == pytest.approx(waited, rel=0.05), name
    with (tmp_path / "out/storages.csv").open() as file:
        used = list(csv.DictReader(file))
    assert sum(int(row["read_bytes"]) for row in used) == pytest.approx(2e8, rel=1e-3)
    assert sum(int(row["written_bytes"]) for row in used) == pytest.approx(2.2e8, rel=1e-3)


@pytest.mark.parametrize(("fair_per", "expected"), [("application", [20, 10]), ("operation", [20, 20])])
def test_a_job_of_three_nodes_beside_one_of_one(simunix: Simunix, tmp_path: Path, fair_per: str, expected: list[float]) -> None:
    """Each rank writes 20 MB to a server of 4 MB/s: half of that for each job, or 1 MB/s for each rank."""
    storages = f"""
storages: [{{name: d, host: disk1, read_bandwidth: 4MBps, write_bandwidth: 4MBps, fair_per: {fair_per}}}]
mounts: [{{path: /srv/pfs, host: 'n[1-4]', server: disk1, storage: d}}]
"""
    profile = {"type": "parallel_homogeneous_pfs", "bytes_to_write": 2e7}
    trace = batsim(tmp_path, {"w": profile}, three={"res": 3, "profile": "w"}, one={"res": 1, "profile": "w"})
    text = CLUSTER.replace("{pfs: disk1, nfs: disk2}", "{pfs: /srv/pfs}").replace("TRACE", str(trace))
    (tmp_path / "s.yaml").write_text(text.replace("EXTRA", "").replace("MORE", "") + storages)
    done = simunix("run", tmp_path / "s.yaml", "--out", tmp_path / "out", timeout=200)
    assert done.returncode == 0, done.stderr
    with (tmp_path / "out/jobs.csv").open() as file:
        rows = {row["metadata"].partition(";")[0]: row for row in csv.DictReader(file)}
    assert [steps(tmp_path / "out", rows[name])[0] for name in ("three", "one")] == pytest.approx(expected, rel=0.05)


def test_a_path_that_is_on_no_storage_is_refused(simunix: Simunix, tmp_path: Path) -> None:
    trace = batsim(tmp_path, {"p": {"type": "delay", "delay": 1}}, p={})
    text = CLUSTER.replace("{pfs: disk1, nfs: disk2}", "{pfs: /srv/none}").replace("TRACE", str(trace))
    (tmp_path / "s.yaml").write_text(text.replace("EXTRA", "").replace("MORE", ""))
    done = simunix("run", tmp_path / "s.yaml", "--out", tmp_path / "out")
    assert done.returncode == 2
    assert "workload.storage.pfs: /srv/none of n1 is on no storage; mount one there under mounts, or name a host" in done.stderr
