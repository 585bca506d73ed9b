"""Jobs of sacct whose names, constraints and commands hold bars and line breaks, which sacct prints as they are."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rsg_server.errors import SimunixError
from simunix.cli.main import main
from simunix.rjms.slurm.site.sacct_jobs import FORMAT, read_jobs
from simunix.workload.formats.sacct import job_ids, read_sacct
from simunix.workload.formats.sacct_rows import sacct_rows

NAMES = FORMAT.split(",")
PATH = Path("jobs.sacct")
JOB = {
    **dict.fromkeys(NAMES, ""),
    **{"JobID": "1", "JobName": "run", "User": "ann", "Group": "lab", "Account": "root", "Partition": "all", "QOS": "normal"},
    **{"Submit": "2024-03-01T10:00:00", "Start": "2024-03-01T10:00:01", "End": "2024-03-01T10:01:01", "ElapsedRaw": "60"},
    **{"Timelimit": "00:10:00", "ReqCPUS": "1", "AllocCPUS": "1", "ReqMem": "100M", "ReqTRES": "cpu=1,mem=100M,node=1"},
    **{"State": "COMPLETED", "ExitCode": "0:0", "NodeList": "s1", "SubmitLine": "sbatch job.sh"},
}


def printed(*jobs: dict[str, str]) -> str:
    """What sacct prints of some jobs, of which only what differs from JOB is given."""
    rows = ("|".join({**JOB, "JobID": str(number), **job}.values()) for number, job in enumerate(jobs, 1))
    return "\n".join(["|".join(NAMES), *rows]) + "\n"


def rows_of(text: str) -> list[dict[str, str]]:
    return [dict(zip(NAMES, fields, strict=True)) for _, fields in sacct_rows(PATH, text)]


@pytest.mark.parametrize(
    "job",
    [
        {"JobName": "wr|ap"},
        {"JobName": "|"},
        {"JobName": "a\nb"},
        {"JobName": "a|\nb|", "SubmitLine": "sbatch --wrap 'a | b'"},
        {"Constraints": "big|fast"},
        {"Constraints": "big|fast", "SubmitLine": "sbatch -C big|fast job.sh"},
        {"Constraints": "a|b", "Licenses": "x"},
        {"Licenses": "a|b"},
        {"SubmitLine": "sbatch --wrap 'x\n\n\ny | cat'"},
        {"JobName": "2024-03-01T10:00:00|x", "Constraints": "a|b|c", "SubmitLine": "sbatch a|b|c"},
    ],
)
def test_bars_and_line_breaks_stay_in_their_fields(job: dict[str, str]) -> None:
    found = rows_of(printed(job, {"JobName": "next"}, job))
    assert [row["JobID"] for row in found] == ["1", "2", "3"]
    for row in (found[0], found[2]):
        assert {name: row[name].rstrip("\n") for name in job} == {name: value.rstrip("\n") for name, value in job.items()}
        assert {name: row[name] for name in NAMES if name not in (*job, "JobID")} == {
            name: JOB[name] for name in NAMES if name not in (*job, "JobID")
        }


texts = st.text(st.sampled_from("ab |\n"), min_size=1, max_size=8).filter(
    lambda text: text[0] not in "|\n" and text[-1] not in "|\n"
)


@settings(max_examples=200)
@given(st.lists(st.tuples(texts, texts), min_size=1, max_size=4))
def test_any_name_and_command_is_found_again(jobs: list[tuple[str, str]]) -> None:
    text = printed(*({"JobName": name, "SubmitLine": f"sbatch {command}"} for name, command in jobs))
    assert [(row["JobName"], row["SubmitLine"]) for row in rows_of(text)] == [(name, f"sbatch {line}") for name, line in jobs]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (printed({}, {"ReqCPUS": "1|x"}), "jobs.sacct:3: expected 23 fields as in the first line, got 24; "),
        (printed({}) + "2|cut\n" + "|".join(JOB.values()), "jobs.sacct:3: expected 23 fields as in the first line, got 2; "),
        ("JobID|State\n1|COMPLETED\nfoo\n2|FAILED\n", "jobs.sacct:3: expected 2 fields as in the first line, got 1; "),
    ],
)
def test_what_cannot_be_divided_is_named_with_its_line(text: str, message: str) -> None:
    with pytest.raises(SimunixError) as refused:
        list(sacct_rows(PATH, text))
    assert str(refused.value).startswith(message)
    assert str(refused.value).endswith("leave out columns that may hold a |, such as Comment")


def test_all_who_read_sacct_read_such_jobs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "jobs.sacct"
    path.write_text(printed({"JobName": "a|b\nc"}, {"Constraints": "big|fast", "SubmitLine": "sbatch x |\n cat"}, {}))
    assert job_ids(path) == ["1", "2", "3"]
    assert read_sacct(path).jobs["runtime_s"].tolist() == [60, 60, 60]
    trace = read_jobs(path, [])
    assert trace.jobs["JobName"].tolist() == ["a|b c", "run", "run"]
    assert trace.jobs["Constraints"].tolist() == ["", "big|fast", ""]
    assert main(["workload", "stats", str(path)]) == 0
    assert capsys.readouterr().out.split()[:2] == ["jobs", "3"]


def test_jobs_without_a_state_are_refused_with_a_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "jobs.sacct"
    path.write_text(
        "JobID|Submit|Start|End|AllocCPUS|State\n1|2024-03-01T08:00:00|2024-03-01T08:00:01|2024-03-01T08:05:01|1|\n"
    )
    assert main(["workload", "stats", str(path)]) == 2
    assert f"{path}:2: State: expected a state such as COMPLETED" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("job", "told"),
    [
        ({"ReqCPUS": "00:10:00"}, ":2: ReqCPUS: expected a whole number, got '00:10:00'; mend it"),
        ({"JobID": "1_[0-99999999]"}, ":2: JobID: an array of more than 4,000,001 elements"),
        ({"JobID": "1_[3-]"}, ":2: JobID: expected a whole number, got ''"),
        ({"SubmitLine": "sbatch --begin=2024-03-01T10:00:00Z x"}, ""),
    ],
)
def test_numbers_that_are_none_are_named_with_their_line(tmp_path: Path, job: dict[str, str], told: str) -> None:
    path = tmp_path / "jobs.sacct"
    path.write_text(printed(job))
    if not told:
        assert len(read_jobs(path, []).jobs) == 1
        return
    with pytest.raises(SimunixError) as refused:
        read_jobs(path, [])
    assert str(refused.value).startswith(f"{path}{told}")
