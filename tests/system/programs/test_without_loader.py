"""Programs that no loader brings the shim into, as distributions ship them: setuid, static, written in Go."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from simunix.roots.tracing import tracing_is_allowed
from tests.conftest import Simunix

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not tracing_is_allowed(), reason="ptrace(2) is forbidden here"),
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root, whose hosts have more than one user"),
]

NAP = "a=$(date +%s); sleep 1000; echo $(id -u) $(( $(date +%s) - a ))"


@pytest.mark.parametrize(
    ("program", "command", "user"),
    [
        ("sudo", f"sudo -n sh -c '{NAP}'", 0),
        ("sudo", f"sudo -n -u nobody sh -c '{NAP}'", 65534),
        ("su", f"su -s /bin/sh nobody -c '{NAP}'", 65534),
        ("fakeroot", f"setpriv --reuid 65534 --clear-groups fakeroot sh -c '{NAP}'", 0),
        ("busybox", f"busybox sh -c '{NAP}'", 0),
        ("gosu", f"gosu nobody sh -c '{NAP}'", 65534),
    ],
)  # fmt: skip
def test_what_it_runs_is_emulated(simunix: Simunix, program: str, command: str, user: int) -> None:
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed")
    done = simunix("run", "--", "sh", "-c", command, timeout=30)
    assert done.stdout == f"{user} 1000\n", done.stderr


def test_a_static_program_of_go(simunix: Simunix, tmp_path: Path) -> None:
    go = shutil.which("go")
    if go is None:
        pytest.skip("go is not installed")
    settings = {"CGO_ENABLED": "0", "GO111MODULE": "off", "GOCACHE": str(tmp_path / "cache")}
    words = [go, "build", "-o", tmp_path / "server", Path(__file__).with_name("server.go")]
    subprocess.run(words, check=True, env={**os.environ, **settings})
    done = simunix("run", "--", tmp_path / "server", timeout=60)
    assert done.stdout == "answers 2s\nthreads 12s\nchild <nil> 1m52s\nticks 10h2m0s\n", done.stderr


@pytest.mark.parametrize("linked", ["-static", "-no-pie"])
def test_what_binfmt_misc_runs(simunix: Simunix, tmp_path: Path, linked: str) -> None:
    (tmp_path / "year.c").write_text(
        "#include <stdio.h>\n#include <time.h>\nint main(void) { time_t now = time(0); puts(asctime(gmtime(&now))); }\n"
    )
    subprocess.run(["gcc", linked, "-o", tmp_path / "year", tmp_path / "year.c"], check=True)
    text = tmp_path / "text"
    text.write_bytes(b"SIMUNIX-YEAR\n")
    text.chmod(0o755)
    table = tmp_path / "table"
    table.mkdir()
    if subprocess.run(["mount", "-t", "binfmt_misc", "none", table], capture_output=True, check=False).returncode != 0:
        pytest.skip("binfmt_misc cannot be mounted here")
    name = f"simunix-{os.getpid()}"
    try:
        (table / "register").write_text(f":{name}:M::SIMUNIX-YEAR::{tmp_path}/year:")
        done = simunix("run", "--epoch", "2001-02-03", "--", "sh", "-c", f"cd {tmp_path}; ./text; ./text", timeout=30)
    finally:
        with contextlib.suppress(OSError):
            (table / name).write_text("-1")
        subprocess.run(["umount", table], check=True)
    assert done.stdout.count("2001") == 2, done.stdout + done.stderr
