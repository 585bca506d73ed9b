"""slurmd with a site's own cgroup.conf asks the system bus for its scope, as natively: containing prologs, logins, 24.11."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conftest import Simunix
from tests.needs import needs
from tests.roots import KeptRoot

pytestmark = [pytest.mark.slurm, pytest.mark.slow]

CONF = """
ClusterName=site
SlurmctldHost=c
SlurmUser=root
AuthType=auth/munge
StateSaveLocation=/var/lib/slurm/state
SlurmdSpoolDir=/var/lib/slurm/spool
ProctrackType=proctrack/cgroup
TaskPlugin=task/cgroup,task/affinity
JobAcctGatherType=jobacct_gather/cgroup
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
PrologFlags=Contain,X11
NodeName=n1 CPUs=2 RealMemory=3000 State=UNKNOWN
PartitionName=p Nodes=ALL Default=YES
"""
SCENARIO = """
until: 80s
ROOT
hosts: [{name: c, cores: 2, memory: 4GiB}, {name: n1, cores: 2, memory: 4GiB}]
slurm: {controller: c, nodes: n1, config: slurm.conf}
shared: [FOLDER]
processes:
  - {name: user, host: c, start: 15s, user: daemon, directory: /tmp, command: "sbatch -o /dev/null --wrap 'sleep 30'; sleep 60"}
  - {name: look, host: n1, start: 21s, command: [sh, -c, LOOK]}
"""
SCOPE = "/system.slice/n1_slurmstepd.scope"
STEPS = f"cd /sys/fs/cgroup{SCOPE}; ls -d job_1/*/; sleep 30; ls -d job_1 2>/dev/null; echo left\n"


def run(simunix: Simunix, folder: Path, look: str, root: str = "") -> str:
    """What is seen on the node while a job of the user daemon runs there."""
    (folder / "slurm.conf").write_text(CONF)
    (folder / "cgroup.conf").write_text("ConstrainCores=yes\nConstrainRAMSpace=yes\n")
    (folder / "s.yaml").write_text(
        SCENARIO.replace("FOLDER", str(folder)).replace("ROOT", root).replace("LOOK", json.dumps(look))
    )
    done = simunix("run", folder / "s.yaml", "--out", folder / "out", timeout=200)
    assert done.returncode == 0, done.stderr
    assert "simunix-bus" in (folder / "out/events.jsonl").read_text()
    return (folder / "out/hosts/n1/look.out").read_text()


def test_a_job_is_contained_from_its_prolog_on(simunix: Simunix, tmp_path: Path) -> None:
    assert run(simunix, tmp_path, STEPS).split() == ["job_1/step_batch/", "job_1/step_extern/", "left"]


def test_slurm_24_11_finds_its_scope(simunix: Simunix, fresh_simunix: Simunix, tmp_path: Path) -> None:
    root = KeptRoot("trixie", "trixie", ("slurm-wlm", "munge", "python3")).made(fresh_simunix)
    seen = run(simunix, tmp_path, STEPS, f"root: {root}")
    assert seen.split() == ["job_1/step_batch/", "job_1/step_extern/", "left"]


ADOPTED = """
import ctypes, sys
pam = ctypes.CDLL("libpam.so.0", mode=ctypes.RTLD_GLOBAL)  # the module is not linked with it
TALK = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
class Conversation(ctypes.Structure):
    _fields_ = [("talk", TALK), ("data", ctypes.c_void_p)]
handle, conversation = ctypes.c_void_p(), Conversation(TALK(lambda *messages: 19), None)
pam.pam_start(b"sshd", sys.argv[1].encode(), ctypes.byref(conversation), ctypes.byref(handle))
print(sys.argv[1], pam.pam_acct_mgmt(handle, 0), open("/proc/self/cgroup").read().strip())
"""
"""What sshd does before a session: PAM's account phase."""
MODULE = "/lib/security/pam_slurm_adopt.so"
LOGINS = f"""
echo 'account required {MODULE}' >/etc/pam.d/sshd
for user in daemon games; do /usr/bin/python3 FOLDER/adopted.py $user; done
sleep 30
/usr/bin/python3 FOLDER/adopted.py daemon
"""


@needs(MODULE)
def test_pam_slurm_adopt_puts_a_login_into_the_job_of_its_user(simunix: Simunix, tmp_path: Path) -> None:
    """Whoever has no job there, or none any more, may not log in (6 is PAM_PERM_DENIED)."""
    (tmp_path / "adopted.py").write_text(ADOPTED)
    seen = run(simunix, tmp_path, LOGINS.replace("FOLDER", str(tmp_path)))
    assert seen.splitlines() == [f"daemon 0 0::{SCOPE}/job_1/step_extern/user/task_0", "games 6 0::/", "daemon 6 0::/"]
