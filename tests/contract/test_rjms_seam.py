"""The seam between simunix and RJMSs: only an RJMS's own folder names its daemons and commands."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import ROOT

SIMUNIX = ROOT / "simunix"
NAMES = {
    "slurm": "slurm|squeue|sbatch|srun|sacct|scontrol|\\bsinfo|scancel|munge|jobcomp",
    "gridengine": "grid ?engine|qsub|qstat|qacct|sge_|sgeadmin",
    "oar": "\\boar(sub|stat|resume|nodes|property|sh|conf)?\\b|oar-|almighty",
    "htcondor": "condor",
}
"""What names an RJMS, by the name of its folder."""
FREE = ("cli",)
"""The texts of the command line."""
EXCEPTIONS = {
    "rjms/registry.py": "the table of the RJMSs",
    "jobs/profile.py": "`srun` is a word of the format: the launcher of a profile",
    "jobs/script.py": "`srun` is a word of the format: the launcher of a profile",
    "scenario/submit_section.py": "`dependencies: slurm` is how scenarios of 0.1 spell `rjms`",
    "workload/formats/sacct.py": "dumps of Slurm's accounting are a format of traces",
    "workload/formats/sacct_rows.py": "dumps of Slurm's accounting are a format of traces",
    "workload/formats/by_name.py": "dumps of Slurm's accounting are a format of traces",
    "roots/debootstrap.py": "a message gives a Debian package as an example",
    "report/requests.py": "a table of well-known ports and their daemons",
    "report/differences.py": "a key of run.json that is compared",
}
"""Files outside that may name an RJMS, and why."""


def sources() -> list[Path]:
    return [path for path in sorted(SIMUNIX.rglob("*.py")) if not path.relative_to(SIMUNIX).as_posix().startswith(FREE)]


def words_of(path: Path) -> Iterator[tuple[int, str]]:
    """Line and text of all names, imports and strings that the code consists of; documentation may give examples."""
    tree = ast.parse(path.read_text())
    documentation = {
        id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        line = getattr(node, "lineno", 0)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documentation:
            yield line, node.value
        for attribute in ("id", "attr", "arg", "name", "module", "asname"):
            if isinstance(word := getattr(node, attribute, None), str):
                yield line, word


def named(path: Path) -> list[str]:
    """Words of a file that name an RJMS, but the one whose folder the file is in."""
    own = path.relative_to(SIMUNIX).parts[1] if path.is_relative_to(SIMUNIX / "rjms") else ""
    pattern = re.compile("|".join(words for name, words in NAMES.items() if name != own), re.IGNORECASE)
    found = [f"{path.relative_to(ROOT)}:{line}: {word!r:.80}" for line, word in words_of(path) if pattern.search(word)]
    return list(dict.fromkeys(found))


@pytest.mark.parametrize("path", sources(), ids=lambda path: str(path.relative_to(SIMUNIX)))
def test_only_its_own_folder_names_an_rjms(path: Path) -> None:
    if path.relative_to(SIMUNIX).as_posix() not in EXCEPTIONS:
        assert named(path) == []


@pytest.mark.parametrize("name", EXCEPTIONS)
def test_every_exception_is_needed(name: str) -> None:
    assert named(SIMUNIX / name), f"{name} names no RJMS any more; take it out of EXCEPTIONS"
