"""/tmp and /var/tmp are each host's own; the folder of the scenario, and what commands name there, are the user's."""

from __future__ import annotations

import os
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from simunix.launch.run_directory import remove_tree
from tests.conftest import Simunix
from tests.needs import needs_root
from tests.starts import FRESH

FOLDERS = ("/tmp", "/var/tmp")
MARK = f"simunix-own-{os.getpid()}"


@pytest.fixture(params=FOLDERS)
def computers(request: pytest.FixtureRequest) -> Iterator[Path]:
    """A folder of this computer's temporary folder, which no command names."""
    folder = Path(request.param) / MARK
    folder.mkdir()
    yield folder
    remove_tree(folder)  # overlays leave folders without permissions there
    for left in Path(request.param).glob(f"{MARK}*"):
        left.unlink()


def run(simunix: Simunix, folder: Path, processes: str, more: str = "") -> dict[str, str]:
    """What the processes of a scenario print, by host."""
    (folder / "s.yaml").write_text(f"name: own\nhosts: [{{name: 'a[1-2]'}}]\n{more}\nprocesses:\n{processes}")
    done = simunix("run", folder / "s.yaml", "--out", folder / "out")
    assert done.returncode == 0, done.stderr
    assert (folder / "out/hosts/a1/p.err").read_text() == ""
    return {host: (folder / f"out/hosts/{host}/p.out").read_text() for host in ("a1", "a2")}


def process(command: str) -> str:
    return f"  - {{name: p, host: 'a[1-2]', command: ['/bin/sh', '-c', {command!r}]}}\n"


@pytest.mark.parametrize("folder", FOLDERS)
def test_hosts_do_not_share_names(simunix: Simunix, tmp_path: Path, folder: str) -> None:
    name = f"{folder}/{MARK}-name"
    command = f"stat -c %a {folder}; cat {name} 2>&1; hostname >{name}; cat {name}"
    printed = run(simunix, tmp_path, process(command))
    for host in ("a1", "a2"):
        lines = printed[host].splitlines()
        assert lines[0] == "1777"
        assert "No such file" in lines[1] and lines[2] == host
    assert not os.path.exists(name)


def test_the_run_directory_may_be_there(simunix: Simunix, computers: Path) -> None:
    name = f"{computers.parent}/{MARK}-name"
    printed = run(simunix, computers, process(f"hostname >{name}; cat {name}"))
    assert printed == {"a1": "a1\n", "a2": "a2\n"}


def test_private_paths_may_be_there(simunix: Simunix, tmp_path: Path) -> None:
    (tmp_path / "s.yaml").write_text(
        "name: own\nhosts: [{name: a, private: [/tmp/some/own, /var/tmp]}]\nprocesses:\n"
        "  - {name: p, host: a, command: 'echo 1 >/tmp/some/own/f; cat /tmp/some/own/f; stat -c %a /tmp /var/tmp'}\n"
    )
    done = simunix("run", tmp_path / "s.yaml", "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out/hosts/a/p.out").read_text() == "1\n1777\n1777\n"


def test_the_folder_of_the_scenario_is_seen(simunix: Simunix, computers: Path) -> None:
    (computers / "input").write_text("mine\n")
    computers.chmod(0o711)
    # The folder's name is put together by the shell, so that the command does not name it.
    folder = f"{computers.parent}/{MARK[:4]}''{MARK[4:]}"
    printed = run(simunix, computers, f'  - {{name: p, host: "a[1-2]", command: "cat {folder}/input; stat -c %a {folder}"}}\n')
    assert printed["a1"] == "mine\n711\n"


def test_what_a_command_names_is_seen(simunix: Simunix, tmp_path: Path, computers: Path) -> None:
    script = computers / "script"
    script.write_text("#!/bin/sh\necho here\n")
    script.chmod(0o755)
    assert run(simunix, tmp_path, process(f"cd {computers} && ./script"))["a1"] == "here\n"


def test_a_folder_may_be_shared(simunix: Simunix, tmp_path: Path, computers: Path) -> None:
    (computers / "input").write_text("mine\n")
    folder = f"{computers.parent}/{MARK[:4]}''{MARK[4:]}"
    command = f'  - {{name: p, host: "a[1-2]", command: "cat {folder}/input; echo theirs >{folder}/output"}}\n'
    printed = run(simunix, tmp_path, command, f"shared: [{computers}]")
    assert printed["a1"] == "mine\n"
    assert (computers / "output").read_text() == "theirs\n"


def test_a_shared_folder_must_exist(simunix: Simunix, tmp_path: Path) -> None:
    (tmp_path / "s.yaml").write_text("name: x\nhosts: [{name: a}]\nshared: [/tmp/none/such]\n")
    done = simunix("run", tmp_path / "s.yaml", "--out", tmp_path / "out")
    assert done.returncode != 0
    assert "shared" in done.stderr and "'/tmp/none/such'" in done.stderr


# A single command


def skip_without_layer(folder: str) -> None:
    """An ordinary user can have no layer over a folder in which something is mounted: see the guide."""
    if os.geteuid() != 0 and f" {folder}/" in Path("/proc/self/mounts").read_text():
        pytest.skip(f"something is mounted below {folder}")


@pytest.mark.slow
def test_commands_at_a_time_are_in_nobodys_way(tmp_path: Path) -> None:
    """Equal random numbers choose equal names; in a common folder the later one would have to choose again."""
    skip_without_layer("/tmp")
    command = [*FRESH, "run", "--", "sh", "-c", "file=$(mktemp) && echo $file $$ && sleep 1 && ls $file"]
    runs = [subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True) for _ in range(4)]
    printed = {run.communicate()[0] for run in runs}
    assert [run.returncode for run in runs] == [0] * 4
    assert len(printed) == 1, printed


def test_a_command_reads_this_computers_files_and_changes_none(simunix: Simunix, tmp_path: Path, computers: Path) -> None:
    skip_without_layer(str(computers.parent))
    file = computers.parent / f"{MARK}-file"
    file.write_text("mine\n")
    done = simunix("run", "--", "sh", "-c", f"cat {file}; echo theirs >{file}; cat {file}; echo new >{file}2", cwd=tmp_path)
    assert (done.stdout, done.returncode) == ("mine\ntheirs\n", 0), done.stderr
    assert file.read_text() == "mine\n" and not Path(f"{file}2").exists()
    assert stat.S_IMODE(os.stat(computers.parent).st_mode) == 0o1777


def test_a_command_says_what_it_has_left(simunix: Simunix, tmp_path: Path) -> None:
    done = simunix("run", "--", "sh", "-c", f"echo >/var/tmp/{MARK}-left", cwd=tmp_path)
    assert f"/var/tmp/{MARK}-left" in done.stderr and "--out" in done.stderr
    done = simunix("run", "--", "sh", "-c", f"echo >/var/tmp/{MARK}-left; rm /var/tmp/{MARK}-left", cwd=tmp_path)
    assert "--out" not in done.stderr


def test_a_commands_working_folder_is_the_users(simunix: Simunix, computers: Path) -> None:
    done = simunix("run", "--", "sh", "-c", "echo result >file; mkdir sub", cwd=computers)
    assert done.returncode == 0, done.stderr
    assert (computers / "file").read_text() == "result\n" and (computers / "sub").is_dir()


def test_folders_that_a_command_names_are_the_users(simunix: Simunix, tmp_path: Path, computers: Path) -> None:
    done = simunix("run", "--", "cp", "/etc/hostname", f"{computers}/copy", cwd="/")
    assert done.returncode == 0, done.stderr
    assert (computers / "copy").exists()


def test_all_of_it_may_be_shared_with_a_command(simunix: Simunix, tmp_path: Path, computers: Path) -> None:
    name = f"{MARK}-shared"
    folder = computers.parent
    done = simunix("run", "--set", f"shared=[{folder}]", "--", "sh", "-c", f"cd {folder}; echo x >{name}", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (folder / name).read_text() == "x\n"


def test_a_command_may_run_in_the_temporary_folder_itself(simunix: Simunix) -> None:
    file = Path(f"/tmp/{MARK}-result")
    done = simunix("run", "--", "sh", "-c", f"echo x >{file.name}", cwd="/tmp")
    assert done.returncode == 0, done.stderr
    assert file.read_text() == "x\n"
    file.unlink()


@pytest.fixture
def mounted(request: pytest.FixtureRequest) -> Iterator[Path]:
    """A folder of this computer in which something is mounted."""
    folder = Path(request.param) / MARK
    (folder / "mount").mkdir(parents=True)
    if subprocess.run(["mount", "-t", "tmpfs", "none", folder / "mount"], capture_output=True).returncode:
        folder.joinpath("mount").rmdir()
        folder.rmdir()
        pytest.skip("mounting is not allowed here")
    yield folder
    subprocess.run(["umount", folder / "mount"], check=True)
    remove_tree(folder)


@needs_root("an ordinary user mounts nothing here")
@pytest.mark.parametrize("mounted", FOLDERS, indirect=True)
def test_where_something_is_mounted_hosts_have_their_own_all_the_same(simunix: Simunix, tmp_path: Path, mounted: Path) -> None:
    """In a user namespace the kernel lays no layer over such a folder, and the host wrote to this computer's."""
    name = f"{mounted.parent}/{MARK}-name"
    done = simunix("run", "--", "sh", "-c", "echo >$PLACE; ls -d $PLACE /proc/1/fd/*/tmp", env={"PLACE": name})
    assert (done.stdout, os.path.exists(name)) == (f"{name}\n", False), done.stderr
    printed = run(simunix, tmp_path, process(f"echo >{name}; ls {name}"))
    assert (printed["a1"], os.path.exists(name)) == (f"{name}\n", False)


@needs_root("an ordinary user mounts nothing here")
@pytest.mark.parametrize("mounted", ["/srv"], indirect=True)
def test_a_private_path_may_be_new_beside_a_mount(simunix: Simunix, tmp_path: Path, mounted: Path) -> None:
    state = mounted / "state"
    (tmp_path / "s.yaml").write_text(
        f"name: private\nhosts: [{{name: a, private: [{state}]}}]\n"
        f"processes: [{{name: p, host: a, command: ['/bin/sh', '-c', 'echo >{state}/file; ls {state}']}}]\n"
    )
    done = simunix("run", tmp_path / "s.yaml", "--out", tmp_path / "out")
    assert (done.returncode, state.exists()) == (0, False), done.stderr
    assert (tmp_path / "out/hosts/a/p.out").read_text() == "file\n"
