"""Files of /etc that are replaced while a run goes on, as adduser and apt do: the hosts keep those of the run's beginning.

Each test works on an /etc of its own, in a mount namespace of its own; this computer's stays as it is.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.system.tools.test_ends import LIMIT_S, environment

NAMES = ("passwd", "group", "hosts", "nsswitch.conf", "services", "hostname", "ld.so.cache")
REPLACE = """
shift
"$@" & run=$!
while ! [ -e begun ]; do sleep 0.05; kill -0 $run; done
for name in passwd group hosts nsswitch.conf services hostname ld.so.cache; do
    printf 'replaced:x:0:0::/:/bin/sh\\n' > /etc/$name.new
    mv /etc/$name.new /etc/$name
done
touch replaced
wait $run
"""
"""Run simunix, and once a program has made the file `begun`, replace the files."""
LOOK = (
    "cd {folder}; cat {files} | sha256sum; getent passwd daemon alice; getent hosts n2; touch begun; "
    "while ! test -e replaced; do sleep 0.1; done; cat {files} | sha256sum; getent passwd daemon alice; getent hosts n2; true"
)


def with_etc(folder: Path, script: str, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a script that gets the words that run simunix behind the name of the folder, with a copy of /etc for an /etc."""
    if os.geteuid() != 0:
        pytest.skip("mounting needs root")
    subprocess.run(["cp", "-a", "/etc", str(folder / "etc")], check=True)
    script = f'mount --bind "$1/etc" /etc\n{script}'
    shell = ["unshare", "-m", "--propagation", "private", "bash", "-ec", script, "bash", str(folder)]
    simunix = [sys.executable, "-m", "simunix.cli.main", *words]
    return subprocess.run([*shell, *simunix], cwd=folder, env=environment(), capture_output=True, text=True, timeout=LIMIT_S)


def look(folder: Path) -> str:
    """A command that prints what it sees of /etc before and after."""
    files = " ".join(f"/etc/{name}" for name in NAMES if Path("/etc", name).exists() or name in ("hosts", "hostname"))
    return LOOK.format(folder=folder, files=files)


def record(folder: Path) -> dict[str, Any]:
    """run.json."""
    found: dict[str, Any] = json.loads((folder / "out" / "run.json").read_text())
    return found


def halves(printed: str) -> tuple[list[str], list[str]]:
    """What was printed before and after."""
    lines = printed.splitlines()
    return lines[: len(lines) // 2], lines[len(lines) // 2 :]


def test_hosts_of_a_scenario_keep_their_users_and_names(tmp_path: Path) -> None:
    (tmp_path / "s.yaml").write_text(
        json.dumps(
            {
                "name": "s",
                "hosts": [{"name": "n[1-2]"}],
                "processes": [{"name": "p", "host": "n1", "command": ["/bin/sh", "-c", look(tmp_path)]}],
                "pace": 1,
            }
        )
    )
    done = with_etc(tmp_path, REPLACE, "run", "s.yaml", "--out", "out")
    assert done.returncode == 0, done.stderr
    before, after = halves((tmp_path / "out/hosts/n1/p.out").read_text())
    assert before == after and any("daemon:" in each for each in before) and any("n2" in each for each in before)
    assert record(tmp_path)["deterministic"] is True, record(tmp_path)["disturbances"]


def test_hosts_that_have_no_files_of_their_own_are_said_to_have_seen_it(tmp_path: Path) -> None:
    (tmp_path / "s.yaml").write_text(
        json.dumps(
            {
                "name": "s",
                "shared": ["/etc"],
                "hosts": [{"name": "n[1-2]"}],
                "processes": [{"name": "p", "host": "n1", "command": ["/bin/sh", "-c", look(tmp_path)]}],
                "pace": 1,
            }
        )
    )
    done = with_etc(tmp_path, REPLACE, "run", "s.yaml", "--out", "out")
    assert done.returncode == 0, done.stderr
    before, after = halves((tmp_path / "out/hosts/n1/p.out").read_text())
    assert before != after
    (reason,) = record(tmp_path)["disturbances"]
    assert reason.startswith("/etc/group, /etc/") and "were changed on this computer" in reason
    assert "NOT repeatable" in done.stdout


def test_a_single_command_keeps_them_too(tmp_path: Path) -> None:
    done = with_etc(tmp_path, REPLACE, "run", "--pace", "1", "--out", "out", "--", "/bin/sh", "-c", look(tmp_path))
    assert done.returncode == 0, done.stderr
    before, after = halves(done.stdout)
    assert before == after and before


def test_what_hosts_change_in_etc_is_their_own(tmp_path: Path) -> None:
    command = "echo $(hostname) >/etc/made; echo more >>/etc/services; cat /etc/made; tail -n 1 /etc/services; stat -c %a /etc"
    (tmp_path / "s.yaml").write_text(
        json.dumps(
            {
                "name": "s",
                "hosts": [{"name": "n[1-2]"}],
                "processes": [{"name": "p", "host": "n[1-2]", "command": ["/bin/sh", "-c", command]}],
            }
        )
    )
    done = with_etc(tmp_path, 'cd "$1"; shift; "$@"; ls /etc/made; tail -n 1 /etc/services', "run", "s.yaml", "--out", "out")
    for host in ("n1", "n2"):
        assert (tmp_path / f"out/hosts/{host}/p.out").read_text() == f"{host}\nmore\n755\n"
    assert "cannot access '/etc/made'" in done.stderr and not done.stdout.endswith("more\n")


def test_mounts_below_etc_are_seen(tmp_path: Path) -> None:
    """As in a container that gets its configuration mounted: a layer must not hide it."""
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/file").write_text("mounted\n")
    (tmp_path / "one").write_text("a file that is mounted\n")
    script = (
        'mkdir /etc/given; touch /etc/one; mount --bind "$1/mine" /etc/given; mount --bind "$1/one" /etc/one; shift; exec "$@"'
    )
    done = with_etc(tmp_path, script, "run", "--", "cat", "/etc/given/file", "/etc/one")
    assert done.stdout == "mounted\na file that is mounted\n", done.stderr
