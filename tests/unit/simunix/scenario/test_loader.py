"""What is said of a value that may be a word or a section: its key as it is written, and what may stand there."""

from __future__ import annotations

from pathlib import Path

import pytest

from simunix.scenario.loader import ScenarioError, load
from simunix.scenario.model import Scenario

WORDS = "Input should be 'free', 'charged' or 'modelled'"


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("chargd", f"cpu_policy: {WORDS}, got 'chargd'"),
        ("3", f"cpu_policy: {WORDS}, got 3"),
        ("{default: chargd}", f"cpu_policy.default: {WORDS}, got 'chargd'"),
        ("{programs: {slurmd: x}}", f"cpu_policy.programs.slurmd: {WORDS}, got 'x'"),
        (
            "{programs: {/usr/sbin/slurmd: free}}",
            "cpu_policy.programs./usr/sbin/slurmd: expected a name that a file can have, of 1 to 200 characters without '/', "
            "got '/usr/sbin/slurmd'",
        ),
        ("{defalt: free}", "cpu_policy.defalt: unknown key; did you mean 'default'? known: default, programs"),
    ],
)
def test_a_word_or_a_section(tmp_path: Path, value: str, message: str) -> None:
    file = tmp_path / "scenario.yaml"
    file.write_text(f"hosts:\n  - {{name: h, cores: 1}}\ncpu_policy: {value}\n")
    with pytest.raises(ScenarioError) as raised:
        load(Scenario, file)
    assert str(raised.value) == f"{file}:3: {message}"
