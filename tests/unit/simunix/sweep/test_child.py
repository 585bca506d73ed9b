"""The command of a run, and the last line of its output."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from simunix.sweep import child
from simunix.sweep.runs import Run

RUN = Run(Path("/s.yaml"), (("seed", "1"),), 2, 7, ("slurm.nodes=4", "seed=1"))


def test_the_command_of_a_run_can_be_repeated_by_hand(tmp_path: Path) -> None:
    command = child.command(tmp_path, RUN)
    assert command[1:8] == ["-m", "simunix.cli.main", "run", "/s.yaml", "--seed", "7", "--out"]
    assert command[8:] == [str(child.run_folder(tmp_path, RUN)), "--set", "slurm.nodes=4", "--set", "seed=1"]


@given(st.lists(st.text("ab ", max_size=3)), st.text("xyz", min_size=1))
def test_the_last_words_are_the_last_line_with_anything_in_it(before: list[str], last: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        log = child.log_file(Path(folder), RUN)
        log.parent.mkdir()
        log.write_text("\n".join([*before, f"simunix: {last}", "", " "]))
        assert child.last_words(Path(folder), RUN) == last


def test_without_output_there_are_no_last_words(tmp_path: Path) -> None:
    assert child.last_words(tmp_path, RUN) == ""


def test_a_run_does_not_begin_once_the_sweep_is_told_to_stop(tmp_path: Path) -> None:
    child.stop_file(tmp_path).touch()
    assert child.execute(tmp_path, RUN) == child.STOPPED
    assert not child.log_file(tmp_path, RUN).exists()
