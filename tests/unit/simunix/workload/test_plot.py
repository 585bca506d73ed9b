"""Pictures of traces: every trace that loads can be drawn, and the curves say what the metrics say."""

from __future__ import annotations

from pathlib import Path

import pytest

from simunix.cli.main import main
from simunix.workload.formats.swf import UNKNOWN, SwfTrace, table, write_swf

HERE = Path(__file__).resolve().parent
DEMO = HERE.parents[3] / "scenarios/traces/nasa-ipsc-1993-day40.swf"


@pytest.mark.slow
@pytest.mark.parametrize("ending", [pytest.param("png", marks=pytest.mark.slow), "svg"])
def test_picture_is_the_same_each_time(tmp_path: Path, capsys: pytest.CaptureFixture[str], ending: str) -> None:
    for name in ("a", "b"):
        assert main(["workload", "plot", str(DEMO), "-o", str(tmp_path / f"{name}.{ending}")]) == 0
    assert (tmp_path / f"a.{ending}").read_bytes() == (tmp_path / f"b.{ending}").read_bytes()
    assert (tmp_path / f"a.{ending}").stat().st_size > 10_000


@pytest.mark.parametrize("field", ["wait_s", "runtime_s", "requested", "allocated", "requested_s"])
def test_unknown_values_can_be_drawn(tmp_path: Path, field: str) -> None:
    from tests.unit.simunix.workload.test_traces import job

    jobs = table([job(1, 10), job(2, 20)]).assign(**{field: UNKNOWN})
    if field in ("requested", "allocated"):
        jobs = jobs.assign(requested=UNKNOWN, allocated=UNKNOWN)
    write_swf(tmp_path / "t.swf", SwfTrace((" UnixStartTime: 99999999999999999", " TimeZoneString: Mars/Olympus"), jobs))
    assert main(["workload", "plot", str(tmp_path / "t.swf"), "-o", str(tmp_path / "t.png")]) == 0


@pytest.mark.parametrize(
    ("text", "target", "message"),
    [("", "t.png", "t.swf: the trace has no job of known submission"), (None, "t.doc", "choose a name ending in .png or .svg")],
)
def test_what_cannot_be_drawn(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str | None, target: str, message: str
) -> None:
    (tmp_path / "t.swf").write_text(DEMO.read_text() if text is None else text)
    assert main(["workload", "plot", str(tmp_path / "t.swf"), "-o", str(tmp_path / target)]) != 0
    assert message in capsys.readouterr().err
    assert not (tmp_path / target).exists()
