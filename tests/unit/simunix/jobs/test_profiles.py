"""Batsim's profiles become scripts of the job program; what cannot be run is named, with where it stands."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rsg_server.errors import SimunixError
from simunix.jobs.profile import REFUSED, TYPES
from simunix.jobs.script import PIECE_BYTES, Profiles, Stage, job_script, room_bytes
from simunix.jobs.workload import Scripts, batsim_jobs, with_profile
from simunix.rjms.slurm.clients import submit_command
from simunix.workload.formats.batsim import read_workload
from simunix.workload.job import Job
from simunix.workload.transforms.selection import Selection

EXAMPLES = Path(__file__).parents[1] / "workload"
STAGE = Stage("/bin/program", ("srun", "--quiet"), {"pfs": ("disk", 6000), "nfs": ("tape", 6000), "own": "/srv/own"})


def script(description: dict[str, Any], ranks: int = 4, **others: dict[str, Any]) -> list[str]:
    profiles = Profiles({"p": description, **others}, "w.json")
    return job_script(profiles, "p", ranks, STAGE).splitlines()


def body(description: dict[str, Any], ranks: int = 4, **others: dict[str, Any]) -> list[str]:
    return [line for line in script(description, ranks, **others)[3:] if not line.startswith(("launch", "storage"))]


def writing(size: float, storage: str = "own") -> dict[str, Any]:
    return {"type": "parallel_homogeneous_pfs", "bytes_to_write": size, "bytes_to_read": 1e15, "storage": storage}


@pytest.mark.parametrize(
    ("description", "expected"),
    [
        (writing(7), 4 * 7),
        (writing(1e12), 4 * PIECE_BYTES),
        (writing(1e12, "pfs"), 0),  # a server's, which keeps nothing
        ({"type": "data_staging", "nb_bytes": 1e12, "from": "own", "to": "own"}, PIECE_BYTES),
        ({"type": "data_staging", "nb_bytes": 9, "from": "own", "to": "own"}, 9),
        ({"type": "composed", "seq": ["small", "large", "small"], "repeat": 100}, 400),
        ({"type": "command", "command": "write * 0 7"}, 0),
    ],
)
def test_what_a_script_takes_of_a_disk_at_a_time(description: dict[str, Any], expected: int) -> None:
    lines = script(description, small=writing(7), large=writing(100))
    assert room_bytes("\n".join(lines)) == expected


@pytest.mark.parametrize(
    ("description", "expected"),
    [
        ({"type": "delay", "delay": 20.2}, ["delay 20.2"]),
        ({"type": "DelayProfile", "delay": 10, "ret": 3}, ["delay 10", "exit 3"]),
        ({"type": "suspendable", "delay": 1e6}, ["suspendable 1000000"]),
        ({"type": "failure", "delay": 5}, ["delay 5", "exit 1"]),
        ({"type": "command", "command": "hostname"}, ["run hostname"]),
        ({"type": "command", "command": "./a b", "launcher": "mpiexec"}, ["run mpiexec -n 4 ./a b"]),
        ({"type": "parallel_homogeneous", "cpu": 1e9, "com": 10}, ["task", "cpu * 1000000000", "send * * 10", "end"]),
        ({"type": "parallel_homogeneous_total", "cpu": 8, "com": 24}, ["task", "cpu * 2", "send * * 2", "end"]),
        (
            {
                "type": "ParallelTaskHomogeneousProfile",
                "cpu": 8,
                "com": 0,
                "generation_strategy": "DefinedAmountsSpreadUniformly",
            },
            ["task", "cpu * 2", "end"],
        ),
        ({"type": "parallel_homogeneous_pfs", "bytes_to_read": 7}, ["task", "read * 0 7", "end"]),
        ({"type": "ptask_on_storage_homogeneous", "bytes_to_write": 7, "host": "nfs"}, ["task", "write * 0 7", "end"]),
        ({"type": "data_staging", "nb_bytes": 9, "from": "pfs", "to": "nfs"}, ["stage 0 1 9"]),
    ],
)
def test_profiles_as_scripts(description: dict[str, Any], expected: list[str]) -> None:
    assert body(description) == expected


def test_a_matrix_goes_row_by_row_from_sender_to_receiver() -> None:
    lines = body({"type": "parallel", "cpu": [5, 0], "com": [1, 2, 3, 0]}, ranks=2)
    assert lines == ["task", "cpu 0 5", "send 0 0 1", "send 0 1 2", "send 1 0 3", "end"]


def test_sequences_nest_and_stop_where_a_part_fails() -> None:
    inner = {"type": "composed", "repeat": 2, "seq": ["a", "b"]}
    lines = body(
        {"type": "SequentialCompositionProfile", "repeat": 3, "seq": ["inner", "a"]},
        inner=inner,
        a={"type": "delay", "delay": 1},
        b={"type": "delay", "delay": 2, "ret": 7},
    )
    assert lines == ["repeat 3", "repeat 2", "delay 1", "delay 2", "exit 7", "end", "delay 1", "end"]


def test_only_several_ranks_are_launched_and_only_named_storages_are_known() -> None:
    profile = {"type": "parallel_homogeneous_pfs", "bytes_to_read": 7, "storage": "nfs"}
    assert script(profile, 1)[2:4] == ["ranks 1", "storage tape 6000"]
    assert script(profile, 2)[2:5] == ["ranks 2", "launch srun --quiet", "storage tape 6000"]
    assert script({**profile, "storage": "own"}, 1)[2:4] == ["ranks 1", "storage /srv/own"]
    assert "launch srun --quiet" not in script({"type": "delay", "delay": 1}, 2)


@pytest.mark.parametrize(
    ("description", "message"),
    [
        ({"type": "smpi", "trace": "t"}, r"^w.json: profiles.p: type 'smpi' replays a trace inside SimGrid"),
        ({"type": "usage_trace"}, r"^w.json: profiles.p: type 'usage_trace' replays"),
        ({"type": "TraceReplayProfile"}, r"^w.json: profiles.p: type 'TraceReplayProfile' replays"),
        ({"type": "send"}, "talks with Batsim's scheduler"),
        ({"type": "delai", "delay": 1}, r"^w.json: profiles.p.type: 'delai' is no type of profile; known: DelayProfile, "),
        ({}, r"profiles.p.type: None is no type"),
        ({"type": ["delay"]}, r"profiles.p.type: \['delay'\] is no type"),
        ({"type": "delay"}, r"^w.json: profiles.p.delay: Field required"),
        ({"type": "delay", "delay": -1}, r"profiles.p.delay: Input should be greater than or equal to 0"),
        ({"type": "delay", "delay": 1, "ret": 256}, r"profiles.p.ret: "),
        ({"type": "parallel", "cpu": [1, 2]}, r"profiles.p.cpu: 2 values, but a job on 4 resources needs 4"),
        ({"type": "parallel", "com": [1] * 4}, r"profiles.p.com: 4 values, but a job on 4 resources needs 16"),
        ({"type": "parallel", "cpu": [1, 2, 3, "x"]}, r"profiles.p.cpu.3: "),
        ({"type": "parallel_homogeneous", "generation_strategy": "Spread"}, r"profiles.p.generation_strategy: "),
        ({"type": "composed", "seq": []}, r"profiles.p.seq: "),
        ({"type": "composed", "seq": ["q"]}, r"^w.json: profiles.p.seq.0: there is no profile 'q'"),
        ({"type": "composed", "seq": ["p"]}, r"p -> p: a sequence cannot contain itself"),
        ({"type": "composed", "seq": ["p"], "repeat": 0}, r"profiles.p.repeat: "),
        ({"type": "parallel_homogeneous_pfs", "storage": "hpst"}, r"profiles.p.storage: there is no storage 'hpst'"),
        ({"type": "data_staging", "nb_bytes": 1, "from": "pfs", "to": "x"}, r"profiles.p.to: there is no storage 'x'"),
        ({"type": "data_staging", "nb_bytes": 1, "from": "pfs", "to": "own"}, r"'pfs' and 'own' are a host and a path"),
        ({"type": "command", "command": "a\nexit 0"}, r"profiles.p.command: "),
    ],
)
def test_what_cannot_be_run_is_named(description: dict[str, Any], message: str) -> None:
    with pytest.raises(SimunixError, match=message):
        script(description)


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
_keys = st.sampled_from(["delay", "cpu", "com", "seq", "repeat", "ret", "nb_bytes", "from", "to", "storage", "command"])


@given(st.sampled_from([*TYPES, *REFUSED, "x"]), st.dictionaries(_keys, _json, max_size=5), st.integers(1, 3))
def test_no_description_is_worse_than_refused(kind: str, rest: dict[str, Any], ranks: int) -> None:
    message = None
    lines: list[str] = []
    try:
        lines = script({**rest, "type": kind}, ranks, q={"type": "delay", "delay": 1})
    except SimunixError as error:
        message = str(error)
    assert message is None or message.startswith("w.json: profiles.p")
    assert message is not None or lines[0] == "#!/bin/program"
    assert sum(line in ("task", "end") or line.startswith("repeat") for line in lines) % 2 == 0


@given(st.integers(1, 12), st.floats(0, 1e15))
def test_a_total_is_spread_over_all_and_rounded_up(ranks: int, total: float) -> None:
    lines = body({"type": "parallel_homogeneous_total", "cpu": total, "com": total}, ranks)
    for line in lines[1:-1]:
        parts = ranks if line.startswith("cpu") else ranks * (ranks - 1)
        amount = int(line.split()[-1])
        assert total <= amount * parts + 1 and (amount - 1) * parts < total + 1


# Workloads


def scripts(on_nodes: bool = False) -> Scripts:
    return Scripts("/run/s", STAGE, "/run/%x.log", on_nodes)


@pytest.mark.parametrize("name", ["batsim_test_delays", "batsim_test_various_profile_types", "batsim_test_compo_sequence"])
def test_batsims_own_examples_have_a_script_for_every_job(name: str) -> None:
    path = EXAMPLES / f"{name}.json"
    made = scripts()
    jobs = batsim_jobs(read_workload(path), Selection(), made, str(path))
    assert len(jobs) == len(json.loads(path.read_text())["jobs"])
    assert [job.submit_s for job in jobs] == sorted(job.submit_s for job in jobs)
    assert {job.work.script for job in jobs if job.work} == set(made.files)


def workload(tmp_path: Path, *jobs: dict[str, Any]) -> list[Job]:
    text = {"nb_res": 4, "jobs": jobs, "profiles": {"d": {"type": "delay", "delay": 5}}}
    (tmp_path / "w.json").write_text(json.dumps(text))
    return batsim_jobs(read_workload(tmp_path / "w.json"), Selection(processors=2, margin=1.5), scripts(), "w.json")


def test_res_walltime_and_ids(tmp_path: Path) -> None:
    first, second = workload(
        tmp_path,
        {"id": "b", "subtime": 5, "res": 2, "profile": "d", "walltime": 100},
        {"id": "a", "subtime": 1, "res": 1, "profile": "d"},
    )
    assert (first.name, first.id, first.requested_s) == ("a", 2, float("inf"))
    assert (second.name, second.id, second.requested_s, second.cores) == ("b", 1, 150.0, 4)
    assert not any(word.startswith("--time") for word in submit_command(first))
    assert submit_command(second)[2:] == (
        "--job-name=swf-1",
        "--ntasks=2",
        "--cpus-per-task=2",
        "--time=4",
        "--output=/run/%x.log",
        "/run/s/0-d-2.job",
    )


def test_an_id_that_is_there_twice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SimunixError, match=r"^w.json: jobs: id 1 is there twice"):
        workload(tmp_path, *({"id": name, "subtime": 0, "res": 1, "profile": "d"} for name in (1, "01")))


def test_a_job_that_does_not_fit_its_profile_is_named(tmp_path: Path) -> None:
    text = {"nb_res": 4, "jobs": [{"id": 7, "subtime": 0, "res": 3, "profile": "p"}], "profiles": {"p": {"type": "smpi"}}}
    (tmp_path / "w.json").write_text(json.dumps(text))
    with pytest.raises(SimunixError, match=r"profiles.p: type 'smpi' .* \(job 7\)$"):
        batsim_jobs(read_workload(tmp_path / "w.json"), Selection(), scripts(), "w.json")


def test_jobs_of_other_traces_do_what_the_section_says() -> None:
    job = Job(1, 0.0, 30.0, 60.0, 4)
    made = scripts(on_nodes=True)
    (slow,) = with_profile([job], "compute", made, 2e9, "workload.profile")
    assert slow.work is not None and slow.work.profile == "compute 30"
    assert "cpu * 60000000000" in made.files[slow.work.script]
    assert "--nodes=4" in submit_command(slow) and "--exclusive" in submit_command(slow)
    (other,) = with_profile([job], {"type": "failure", "delay": 2}, made, 2e9, "workload.profile")
    assert other.work is not None and "exit 1" in made.files[other.work.script]
    with pytest.raises(SimunixError, match=r"^workload.profile: profiles.smpi: type 'smpi'"):
        with_profile([job], {"type": "smpi"}, made, 2e9, "workload.profile")
