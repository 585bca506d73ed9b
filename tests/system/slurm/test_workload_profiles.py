"""Wrong values of a `workload:` section about what its jobs do are reported in one clear line, before anything is started."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conftest import Simunix

pytestmark = pytest.mark.slurm

SCENARIO = """
name: wrong
hosts: [{name: ctl}, {name: n1}]
slurm: {controller: ctl, nodes: n1}
workload: {trace: TRACE, SECTION}
"""
SWF = "1 0 -1 10 1 -1 -1 1 20 -1 1 1 1 -1 1 -1 -1 -1\n"
PROFILES = {
    "d": {"type": "delay", "delay": 1},
    "smpi": {"type": "smpi", "trace": "t"},
    "pfs": {"type": "parallel_homogeneous_pfs", "bytes_to_read": 1},
}


@pytest.mark.parametrize(
    ("trace", "section", "message"),
    [
        ("d.json", "profile: sleep", "workload.profile: FOLDER/d.json is a workload of Batsim, which has profiles of its own"),
        ("d.json", "storage: {pfs: n2}", "workload.storage.pfs: 'n2' is not among the hosts; known: ctl, n1"),
        ("d.json", "end: 0", "workload: FOLDER/d.json has no usable job between begin and end; widen the window"),
        ("smpi.json", "start: 5s", "FOLDER/smpi.json: profiles.smpi: type 'smpi' replays a trace inside SimGrid"),
        (
            "pfs.json",
            "start: 5s",
            "FOLDER/pfs.json: profiles.pfs.storage: there is no storage 'pfs'; add it under workload",
        ),
        ("t.swf", "profile: {type: usage_trace}", "workload.profile: profiles.usage_trace: type 'usage_trace' replays a trace"),
        ("t.swf", "profile: nap", "workload.profile"),
        ("t.swf", "resources: racks", "workload.resources"),
    ],
)
def test_one_line_says_what_is_wrong(simunix: Simunix, tmp_path: Path, trace: str, section: str, message: str) -> None:
    for name, profile in PROFILES.items():
        job = {"id": 1, "subtime": 0, "res": 1, "profile": name}
        (tmp_path / f"{name}.json").write_text(json.dumps({"nb_res": 1, "jobs": [job], "profiles": {name: profile}}))
    (tmp_path / "t.swf").write_text(SWF)
    (tmp_path / "s.yaml").write_text(SCENARIO.replace("TRACE", trace).replace("SECTION", section))
    done = simunix("run", tmp_path / "s.yaml", "--out", tmp_path / "out")
    assert done.returncode != 0
    assert message.replace("FOLDER", str(tmp_path)) in done.stderr
    assert len(done.stderr.splitlines()) == 1, done.stderr
