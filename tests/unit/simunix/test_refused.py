"""Jobs that the RJMS has refused are told with their reasons, counted, and with the line of the trace that each stands in."""

from __future__ import annotations

import gzip
from pathlib import Path

from simunix.app.refused import refused_lines
from simunix.results.jobs_csv import JobRow
from simunix.workload.formats.places import lines_of

SWF = "; Version: 2.2\n\n7 0 -1 60 1 -1 -1 1 90 -1 1 1 1 -1 1 1 -1 -1\n9 1 -1 60 1 -1 -1 1 90 -1 1 1 1 -1 1 1 -1 -1\n"


def row(job: int, state: str, metadata: str = "", workload: str = "t.swf") -> JobRow:
    return JobRow(
        job_id=job,
        workload_name=workload,
        profile="sleep 1",
        submission_time=0.0,
        requested_number_of_resources=1,
        requested_time=60,
        success=0,
        final_state=state,
        metadata=metadata,
    )


def test_lines_of_jobs(tmp_path: Path) -> None:
    (tmp_path / "t.swf").write_text(SWF)
    (tmp_path / "t.swf.gz").write_bytes(gzip.compress(SWF.encode()))
    (tmp_path / "plain.csv").write_text("# x\nJobID,Submit\n11,0\n12,1\n")
    (tmp_path / "arrays.csv").write_text("JobID,Submit\n5_1,0\n5_2,0\n")
    for name in ("t.swf", "t.swf.gz"):
        assert lines_of(tmp_path / name, (7, 9, 8)) == {7: 3, 9: 4}
    assert lines_of(tmp_path / "plain.csv", (12,)) == {12: 4}
    assert lines_of(tmp_path / "arrays.csv", (1, 2)) == {1: 2, 2: 3}
    assert lines_of(tmp_path / "gone.csv", (1,)) == {} == lines_of(tmp_path / "gone.csv", ())


def test_refusals_are_counted_by_reason(tmp_path: Path) -> None:
    (tmp_path / "t.swf").write_text(SWF)
    rows = [row(7, "REJECTED", "too wide"), row(8, "COMPLETED"), row(9, "REJECTED", "5_1; no partition")]
    rows += [row(number, "REJECTED", f"5_{number}; no partition", "b.json") for number in (1, 2, 3)]
    assert list(refused_lines(rows, {"t.swf": tmp_path / "t.swf"})) == [
        f"4 jobs refused: job 9 ({tmp_path}/t.swf:4), job 1 (b.json), job 2 (b.json) and 1 more: no partition",
        f"1 job refused: job 7 ({tmp_path}/t.swf:3): too wide",
    ]
    many = [row(number, "REJECTED", f"reason {number}") for number in range(8)]
    assert list(refused_lines(many, {}))[-1] == "3 jobs refused for 3 other reasons: metadata in jobs.csv has each"
    assert list(refused_lines([row(8, "COMPLETED")], {})) == []
