"""Programs written only against Remote SimGrid's API, one idea a file: what each prints is in its comments, behind `//>`."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.system.rsg.running import HERE, compiled, run

FAMILIES = HERE / "families"
SLOW = ("actor_create_race", "burst_of_clients", "mailbox_large")


def test_there_are_as_many_as_were_asked_for() -> None:
    assert len(list(FAMILIES.glob("*.cpp"))) >= 20


@pytest.mark.parametrize(
    "name",
    [pytest.param(path.stem, marks=[pytest.mark.slow] * (path.stem in SLOW)) for path in sorted(FAMILIES.glob("*.cpp"))],
)
def test_a_program_prints_what_its_comments_say(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (FAMILIES / f"{name}.cpp").read_text()
    expected = re.findall(r"^//> (.*)$", text, re.MULTILINE)
    monkeypatch.delenv("RSG_AUTOCONNECT", raising=False)
    if "// autoconnect: no" not in text:
        monkeypatch.setenv("RSG_AUTOCONNECT", "1")
    assert expected
    told = run(FAMILIES / "platform.xml", compiled(FAMILIES / f"{name}.cpp", tmp_path)).splitlines()
    assert told == expected
