"""Hosts in root file systems of their own. The fast tests use a toy root, put together from this computer's own programs."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT, Simunix

PROGRAMS = ("/bin/sh", "/bin/cat", "/bin/date", "/bin/sleep", "/usr/bin/id", "/bin/ls", "/bin/hostname")
IN_USER_NAMESPACE = """
import sys
from simunix.launch import emulation
from simunix.launch.factory.container import Isolation
emulation.probe = lambda *_: (Isolation.WHICH, "as the test wants it")
from simunix.cli.main import main
sys.exit(main(sys.argv[1:]))
"""


def copy_into(root: Path, file: str) -> None:
    """Copy a file to its own path below a root."""
    target = root / file.lstrip("/")
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(file, target)


@pytest.fixture
def toy(tmp_path: Path) -> Path:
    """A root with a shell, a few programs, and a user whom nobody else has."""
    root = tmp_path / "toy"
    for program in PROGRAMS:
        copy_into(root, program)
        listed = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
        for library in re.findall(r"(/\S+) \(0x", listed):
            copy_into(root, library)
    for folder in ("etc", "tmp", "run", "var/spool", "proc"):
        (root / folder).mkdir(parents=True, exist_ok=True)
    (root / "etc/os-release").write_text('PRETTY_NAME="Toy Linux"\n')
    (root / "etc/passwd").write_text("root:x:0:0::/root:/bin/sh\ntoyuser:x:4321:4322::/:/bin/sh\n")
    (root / "etc/group").write_text("root:x:0:\ntoygroup:x:4322:\nothers:x:4400:toyuser,root\n")
    (root / "etc/greeting").write_text("from the root\n")
    return root


def contents(folder: Path) -> dict[str, object]:
    """Everything below a folder, with what a write would change."""
    found: dict[str, object] = {}
    for path in sorted(folder.rglob("*")):
        status = path.lstat()
        found[str(path)] = (status.st_mode, status.st_uid, status.st_size, status.st_mtime_ns)
    return found


SCENARIO = """
name: two-roots
epoch: 2000-01-01T00:00:00Z
root: toy
hosts: [{name: 'a[1-2]', private: [/var/spool/deep/own]}, {name: here, root: /}]
processes:
  - {name: p, host: 'a[1-2]', command: 'SCRIPT'}
  - {name: q, host: here, command: 'test -e /etc/greeting || echo none; sleep 5; date +%s'}
"""
SCRIPT = (
    "hostname; cat /etc/greeting; cat /etc/hostname; echo $(hostname) > /var/spool/deep/own/f; echo mine > /etc/greeting; "
    "echo x > /tmp/y; sleep 86400; date +%s; cat /etc/greeting /var/spool/deep/own/f; ls /"
)


def test_hosts_in_a_root_of_their_own(fresh_simunix: Simunix, tmp_path: Path, toy: Path) -> None:
    before = contents(toy)
    (tmp_path / "s.yaml").write_text(SCENARIO.replace("SCRIPT", SCRIPT))
    digests = set()
    for name in ("x", "y"):
        done = fresh_simunix("run", tmp_path / "s.yaml", "--out", tmp_path / name)
        assert done.returncode == 0, done.stderr
        digests.add((tmp_path / name / "events.jsonl").read_bytes())
    assert len(digests) == 1
    hosts = tmp_path / "x/hosts"
    for host in ("a1", "a2"):
        output = (hosts / host / "p.out").read_text()
        assert output.startswith(f"{host}\nfrom the root\n{host}\n946771200\nmine\n{host}\n"), output
        assert "simunix" not in output.split("946771200")[1]  # nothing of this computer is left in /
        assert (hosts / host / "p.err").read_text() == ""
        assert (hosts / host / "files/var_spool_deep_own/f").read_text() == f"{host}\n"
        assert (hosts / host / "root/upper/etc/greeting").read_text() == "mine\n"
    assert (hosts / "here/q.out").read_text() == "none\n946684805\n"
    assert contents(toy) == before


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_users_are_those_of_the_root(simunix: Simunix, tmp_path: Path, toy: Path) -> None:
    (tmp_path / "s.yaml").write_text(
        "name: users\nhosts: [{name: a, root: toy}]\n"
        "processes: [{name: p, host: a, user: toyuser, private: [/srv/own], command: 'id -u; id -G; ls -ldn /srv/own'}]\n"
    )
    done = simunix("run", tmp_path / "s.yaml", "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    assert re.match(r"4321\n4322 4400\n\S+ \d+ 4321 4322 ", (tmp_path / "out/hosts/a/p.out").read_text())


def test_the_run_directory_is_visible(simunix: Simunix, tmp_path: Path, toy: Path) -> None:
    out = tmp_path / "out"
    (tmp_path / "s.yaml").write_text(
        f"name: visible\nhosts: [{{name: a, root: toy}}]\nprocesses: [{{name: p, host: a, command: 'ls {out}/etc'}}]\n"
    )
    assert simunix("run", tmp_path / "s.yaml", "--out", out).returncode == 0
    assert (out / "hosts/a/p.out").read_text() == "hosts\nnsswitch.conf\nresolv.conf\n"


def run_isolated(which: str, tmp_path: Path) -> subprocess.CompletedProcess[str]:
    """Run s.yaml with an isolation that is not this user's best."""
    command = [sys.executable, "-c", IN_USER_NAMESPACE.replace("WHICH", which), "run", str(tmp_path / "s.yaml")]
    command += ["--out", str(tmp_path / "out")]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(command, capture_output=True, text=True, timeout=60, env=environment, check=False)


def test_in_a_user_namespace(tmp_path: Path, toy: Path) -> None:
    (tmp_path / "s.yaml").write_text(SCENARIO.replace("SCRIPT", SCRIPT))
    done = run_isolated("USER_NAMESPACE", tmp_path)
    if "cannot make a user namespace" in done.stderr:
        pytest.skip("no user namespaces here")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out/hosts/a2/p.out").read_text().startswith("a2\nfrom the root\na2\n946771200\nmine\na2\n")


def test_without_namespaces_a_root_is_refused(tmp_path: Path, toy: Path) -> None:
    (tmp_path / "s.yaml").write_text(SCENARIO.replace("SCRIPT", "true"))
    done = run_isolated("NONE", tmp_path)
    assert done.returncode == 2
    assert "host a1: a root of its own needs namespaces" in done.stderr
    assert "Traceback" not in done.stderr


BAD = {
    "no such root": ("name: x\nhosts: [{name: a, root: none}]\n", "hosts[0].root: ", "simunix root make RELEASE"),
    "no root": ("name: x\nroot: .\nhosts: [{name: a}]\n", "root: ", "not a root file system of x86-64 Linux"),
    "no program": (
        "name: x\nhosts: [{name: a, root: toy}]\nprocesses: [{name: p, host: a, command: [/usr/bin/python3]}]\n",
        "processes[0].command: /usr/bin/python3: no such program in the root ",
        "/toy; install it",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_what_cannot_be_is_said_in_one_line(simunix: Simunix, tmp_path: Path, toy: Path, name: str) -> None:
    text, *words = BAD[name]
    (tmp_path / "s.yaml").write_text(text)
    done = simunix("run", tmp_path / "s.yaml", "--out", tmp_path / "out")
    assert done.returncode == 2
    assert all(word in done.stderr for word in words), done.stderr
    assert done.stderr.strip().count("\n") == 0
    assert not (tmp_path / "out").exists()


def pretend_slurm(root: Path, version: str) -> None:
    """Files by which a root is known to have a Slurm; nothing of them can run."""
    for program in ("/usr/sbin/munged", "/usr/sbin/slurmctld", "/usr/sbin/slurmd", "/usr/bin/sbatch"):
        (root / program[1:]).parent.mkdir(parents=True, exist_ok=True)
        (root / program[1:]).touch(mode=0o755)
    library = root / "usr/lib/x86_64-linux-gnu/slurm-wlm/libslurmfull.so"
    library.parent.mkdir(parents=True, exist_ok=True)
    library.write_bytes(b"\0" + version.encode() + b"\0")


SLURM = "name: x\nroot: toy\nhosts: [{name: 'a,b'}]\nslurm: {controller: a, nodes: b}\n"


def test_a_slurm_that_is_missing_or_unfit_is_named(simunix: Simunix, tmp_path: Path, toy: Path) -> None:
    (tmp_path / "t.swf").write_text("1 0 -1 100 1 -1 -1 1 200 -1 1 1 1 -1 1 -1 -1 -1\n")
    (tmp_path / "s.yaml").write_text(SLURM + "workload: {trace: t.swf}\n")
    run = ("run", tmp_path / "s.yaml", "--out", tmp_path / "out")
    assert re.search(r"slurm: not installed in the root \S+/toy: munge, slurm-client, slurmctld, slurmd;", simunix(*run).stderr)
    pretend_slurm(toy, "19.05.8")
    assert re.search(r"slurm: Slurm 19.05.8 in \S+/toy is older than 20.11", simunix(*run).stderr)
    pretend_slurm(toy, "24.11.5")
    done = simunix(*run)
    assert re.search(r"workload: no /usr/bin/python3 in the root \S+/toy of a, .*; add the package python3", done.stderr)
    assert done.returncode == 2
    assert not (tmp_path / "out").exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files to others")
def test_a_root_without_munges_user(simunix: Simunix, tmp_path: Path, toy: Path) -> None:
    pretend_slurm(toy, "24.11.5")
    (tmp_path / "s.yaml").write_text(SLURM)
    done = simunix("run", tmp_path / "s.yaml", "--out", tmp_path / "out")
    assert done.returncode != 0
    assert re.search(r"host a: /etc/munge/munge.key: no user 'munge' in \S+/toy/etc/passwd\n$", done.stderr)


def test_root_show(simunix: Simunix, toy: Path) -> None:
    done = simunix("root", "show", toy)
    assert (done.returncode, done.stderr) == (0, "")
    assert re.match(r"release  Toy Linux\nglibc    \d+\.\d+\nslurm    none\n", done.stdout)
    assert simunix("root", "show", "/nowhere").returncode == 2


@pytest.mark.slow
def test_joining_from_a_folder_that_the_root_does_not_have(simunix: Simunix, tmp_path: Path, toy: Path) -> None:
    (tmp_path / "s.yaml").write_text("name: long\nhosts: [{name: a, root: toy}]\nstop: time\npace: 1000\n")
    command = [sys.executable, "-m", "simunix.cli.main", "run", str(tmp_path / "s.yaml"), "--out", str(tmp_path / "out")]
    with subprocess.Popen(command, env={**os.environ, "PYTHONPATH": str(ROOT)}, stdout=subprocess.DEVNULL) as emulation:
        try:
            while not (tmp_path / "out/control.sock").exists():
                assert emulation.poll() is None
            done = simunix("run", "--join", tmp_path / "out", "--", "/bin/sh", "-c", "pwd; cat /etc/greeting", cwd=toy)
        finally:
            simunix("ctl", tmp_path / "out", "stop")
            emulation.wait(timeout=30)
    assert (done.returncode, done.stdout, done.stderr) == (0, "/\nfrom the root\n", "")


def test_a_path_that_no_layer_can_be_made_of(simunix: Simunix, tmp_path: Path, toy: Path) -> None:
    toy.rename(tmp_path / "toy:1")
    (tmp_path / "s.yaml").write_text(
        "name: x\nhosts: [{name: a, root: 'toy:1'}]\nprocesses: [{name: p, host: a, command: 'true'}]\n"
    )
    done = simunix("run", tmp_path / "s.yaml", "--out", tmp_path / "out")
    assert done.returncode != 0
    assert re.search(r"host a: \S+/toy:1: no ',', ':' or '\\' in a path", done.stderr)
    assert "Traceback" not in done.stderr
