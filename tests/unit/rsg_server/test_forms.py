"""The server's two forms, compiled and interpreted: which one runs, and that both do the same."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from rsg_server import compiled

ROOT = Path(__file__).resolve().parents[3]
PACKAGE = ROOT / "rsg_server"
MANIFEST = PACKAGE / "_compiled.json"
needs_library = pytest.mark.skipif(compiled.form != "compiled", reason=f"the server is {compiled.description()}")


def environment(form: str) -> dict[str, str]:
    """The environment of a process that is to run the server in a form."""
    kept = {key: value for key, value in os.environ.items() if key != compiled.PURE}
    return kept | ({compiled.PURE: "1"} if form == "interpreted" else {})


def said(folder: Path, form: str = "compiled") -> str:
    """What a process says of the form that it runs, and whether the class of the timeline is an ordinary one."""
    program = "import rsg_server.clock.timeline as module; from rsg_server import compiled; print(compiled.description())"
    program += "; print(hasattr(module.Timeline.add, '__code__'))"
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, cwd=folder, env=environment(form), capture_output=True, text=True, check=True)
    return done.stdout.replace("\n", " ").strip()


@needs_library
def test_the_compiled_modules_run() -> None:
    assert said(ROOT) == "compiled False"


@needs_library
def test_it_is_interpreted_where_that_is_asked_for() -> None:
    assert said(ROOT, "interpreted") == "interpreted (SIMUNIX_PURE is set) True"


@needs_library
def test_an_edited_module_is_never_run_in_its_old_form(tmp_path: Path) -> None:
    """A new time alone changes nothing, since the checksum is the same; another text does, whatever the time."""
    copy = tmp_path / "rsg_server"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    module = copy / "clock/timeline.py"
    os.utime(module, ns=(0, 0))
    assert said(tmp_path) == "compiled False"
    module.write_text(module.read_text() + "\n")
    assert said(tmp_path) == "interpreted (clock/timeline.py has changed since it was compiled) True"


@needs_library
def test_a_library_that_cannot_be_loaded(tmp_path: Path) -> None:
    copy = tmp_path / "rsg_server"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    found = json.loads((copy / MANIFEST.name).read_text())
    (copy / found["library"]).write_bytes(b"")
    assert said(tmp_path).startswith("interpreted (the library cannot be loaded: ")
    (copy / MANIFEST.name).write_text(json.dumps(found | {"library": "_compiled.cpython-27.so"}))
    assert said(tmp_path) == "interpreted (compiled for another Python) True"
    (copy / MANIFEST.name).unlink()
    assert said(tmp_path) == "interpreted (nothing is compiled) True"


@pytest.mark.slow
@needs_library
def test_the_unit_tests_of_the_server_interpreted() -> None:
    """With the compiled server they are run as they are, but for those that put a function of their own in place of one."""
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "tests/unit/rsg_server", "-m", "not slow"]
    done = subprocess.run(command, cwd=ROOT, env=environment("interpreted"), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-4000:]
    assert "replaces a function" not in done.stdout


@pytest.mark.slow
@needs_library
@pytest.mark.slurm
def test_a_scenario_comes_out_the_same(tmp_path: Path) -> None:
    digests = {}
    for form in ("compiled", "interpreted"):
        out = tmp_path / form
        command = [sys.executable, "-m", "simunix.cli.main", "run", "scenarios/batsim.yaml", "--out", str(out)]
        subprocess.run(command, cwd=ROOT, env=environment(form), stdin=subprocess.DEVNULL, capture_output=True, check=True)
        assert json.loads((out / "run.json").read_text())["server"].startswith(form)
        digests[form] = hashlib.sha256((out / "events.jsonl").read_bytes()).hexdigest()
    assert digests["compiled"] == digests["interpreted"]
