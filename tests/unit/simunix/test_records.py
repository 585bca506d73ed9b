"""Which records of an RJMS are read, and whether they list all jobs."""

from __future__ import annotations

from pathlib import Path

import pytest

from simunix.app.runner import _records
from simunix.launch.plan import PrivateSpec
from simunix.launch.run_directory import RunDirectory
from simunix.rjms.adapter import ClusterPlan
from simunix.rjms.oar.accounting import LAST_LINE
from simunix.rjms.oar.adapter import OAR

ROWS = "job_id,state\n1,Terminated\n"


def cluster(*records: str, end: str = "") -> ClusterPlan:
    """A cluster whose controller `m` keeps records below /var/log/oar."""
    return ClusterPlan(
        rjms=OAR,
        name="c",
        controller="m",
        login="m",
        files=(),
        processes=(),
        private={"m": (PrivateSpec("/var/log/oar"),)},
        records=records,
        nodes=("n",),
        cores=1,
        record_end=end,
    )


@pytest.mark.parametrize(
    ("text", "end", "expected"),
    [
        (ROWS + LAST_LINE, LAST_LINE, ([ROWS + LAST_LINE], True)),
        (ROWS, LAST_LINE, ([""], False)),
        (ROWS[:-3], LAST_LINE, ([""], False)),
        (None, LAST_LINE, ([""], False)),
        (ROWS, "", ([ROWS], True)),
        (None, "", ([""], True)),
    ],
    ids=["whole", "without its end", "cut in a row", "never written", "a file that grows", "no job has ended"],
)
def test_a_record_that_is_not_whole_tells_nothing(
    tmp_path: Path, text: str | None, end: str, expected: tuple[list[str], bool]
) -> None:
    directory = RunDirectory(tmp_path)
    folder = directory.private("m", "/var/log/oar")
    folder.mkdir(parents=True)
    if text is not None:
        (folder / "jobs.csv").write_text(text)
    assert _records(directory, cluster("/var/log/oar/jobs.csv", end=end)) == expected


def test_without_records_nothing_is_known(tmp_path: Path) -> None:
    assert _records(RunDirectory(tmp_path), cluster()) == ([], False)
