"""OpenSSH: commands, their exit codes, data and a terminal through sshd on another host."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.system.programs.conftest import Needs, RunTwice, open_to_everybody

pytestmark = pytest.mark.slow

SSH = "ssh -i KEYS/user -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR root@server"
SSHD = "mkdir -p /run/sshd; exec /usr/sbin/sshd -D -e -f KEYS/sshd_config"
SCENARIO = f"""
name: ssh
hosts: [{{name: server}}, {{name: client}}]
network: {{bandwidth: 1Gbps, latency: 1ms}}
stop: time
until: 60s
processes:
  - {{name: sshd, host: server, command: "{SSHD}"}}
  - name: client
    host: client
    start: 5s
    command: |
      {SSH} 'hostname; echo $SSH_CLIENT; sleep 10; exit 3'; echo $?
      seq 100000 | {SSH} wc -l
      {SSH} -tt 'tty' | tr -d '\\r'
      date +%T
"""


def write_keys(folder: Path) -> None:
    """A user's and a host's key, and a configuration of sshd that uses nothing of this computer's."""
    for name in ("user", "host"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder / name], check=True)
    (folder / "sshd_config").write_text(
        f"HostKey {folder}/host\nAuthorizedKeysFile {folder}/user.pub\nStrictModes no\nUsePAM no\nPermitRootLogin yes\n"
    )


def test_commands_on_another_host(needs: Needs, run_twice: RunTwice, tmp_path: Path) -> None:
    needs("ssh", "/usr/sbin/sshd")
    write_keys(tmp_path)
    run = run_twice(SCENARIO.replace("KEYS", str(tmp_path)))
    told = run.output("client", "client").splitlines()
    assert told == ["server", "10.0.0.2 32768 22", "3", "100000", "/dev/pts/0", "00:00:15"], run.everything("client", "client")


PAM = f"""
name: pam
hosts: [{{name: server}}, {{name: client}}]
network: {{bandwidth: 1Gbps, latency: 1ms}}
stop: time
until: 60s
processes:
  - {{name: sshd, host: server, command: "{SSHD}"}}
  - name: client
    host: client
    start: 5s
    command: "{SSH.replace("root@", "nobody@")} id; echo $?"
  - name: user
    host: client
    user: nobody
    command: "printf 'x\\\\0' | /usr/sbin/unix_chkpwd nobody nullok; echo $?; chage -l nobody | head -n 1 | cut -c1-20"
"""


def test_an_ordinary_user_and_pam(needs: Needs, run_twice: RunTwice, tmp_path: Path) -> None:
    """sshd opens a session by PAM for a user whose shell refuses; what PAM runs for ordinary users is set-group-id shadow."""
    needs("ssh", "/usr/sbin/sshd")
    write_keys(tmp_path)
    configuration = tmp_path / "sshd_config"
    configuration.write_text(configuration.read_text().replace("UsePAM no", "UsePAM yes"))
    open_to_everybody(tmp_path)
    run = run_twice(PAM.replace("KEYS", str(tmp_path)))
    assert run.output("client", "client").splitlines() == ["This account is currently not available.", "1"]
    assert run.output("client", "user").splitlines() == ["7", "Last password change"], run.everything("client", "user")
