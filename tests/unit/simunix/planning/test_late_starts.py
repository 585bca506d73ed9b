"""A process that the run's end comes before is said before the start."""

from __future__ import annotations

from pathlib import Path

import pytest

from simunix.planning.expand import expand, with_options
from simunix.rjms.scenario import load

SECOND = 10**9


@pytest.mark.parametrize(
    ("starts", "until_s", "told"),
    [
        ((0, 5), None, ()),
        ((0, 5), 6, ()),
        (
            (0, 5),
            5,
            (
                "process p1 on h is never started: its start is 5 s, and the run ends at 5 s (until); "
                "let it start earlier, or the run end later",
            ),
        ),
        (
            (9, 5, 7),
            2,
            ("process p1 on h is never started (nor are 2 others): its start is 5 s, and the run ends at 2 s",),
        ),
    ],
)
def test_late_starts(tmp_path: Path, starts: tuple[int, ...], until_s: int | None, told: tuple[str, ...]) -> None:
    lines = "".join(f"  - {{name: p{at}, host: h, start: {start}s, command: [/bin/true]}}\n" for at, start in enumerate(starts))
    (tmp_path / "s.yaml").write_text(f"hosts:\n  - {{name: h, cores: 1}}\nprocesses:\n{lines}")
    plan = expand(load(tmp_path / "s.yaml"), tmp_path).plan
    found = with_options(plan, None if until_s is None else until_s * SECOND, None).warnings
    assert len(found) == len(told)
    assert all(text.startswith(start) for text, start in zip(found, told, strict=True))
