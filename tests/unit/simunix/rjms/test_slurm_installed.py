"""Settings of a slurm.conf that an installed Slurm does not know are reported before the start, with their places and
replacements.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from rsg_server.errors import SimunixError
from simunix.rjms.slurm.files.lines import read_lines
from simunix.rjms.slurm.installed import check_installed, installed
from simunix.roots.tree import RootTree

KNOWN = (
    "ClusterName",
    "SelectType",
    "TaskPlugin",
    "AuthAltTypes",
    "PluginDir",
    "RoutePlugin",
    "NodeName",
    "CPUs",
    "QosMaxNodes",
)

OFTEN = """
AccountingStorageTRES AuthAltTypes BatchStartTimeout ControlMachine CompleteWait DefMemPerCPU EnforcePartLimits FastSchedule
GresTypes HealthCheckProgram InactiveLimit JobAcctGatherFrequency KillWait LaunchParameters MaxArraySize MinJobAge OverTimeLimit
PluginDir PreemptMode PriorityDecayHalfLife PriorityWeightFairshare PropagateResourceLimitsExcept ReturnToService SlurmctldHost
SuspendExcNodes TreeWidth UnkillableStepTimeout VSizeFactor NodeName Sockets Feature Features Weight PartitionName MaxNodes
MinNodes LLN OverSubscribe AllowAccounts TRESBillingWeights DownNodes NodeSet State Reason
"""


def root(path: Path, plugins: str = "select_cons_tres select_linear task_affinity task_none auth_munge") -> RootTree:
    """A root with a library of Slurm's that knows some words, and plugins."""
    folder = path / "root/usr/lib/x86_64-linux-gnu/slurm-wlm"
    folder.mkdir(parents=True)
    words = b"\0".join(word.encode() for word in KNOWN)
    (folder / "libslurmfull.so").write_bytes(b"ELF\x00" + words + b"\x0024.11.5\0")
    for name in plugins.split():
        (folder / f"{name}.so").touch()
    return RootTree(path / "root")


def conf(path: Path, text: str) -> Path:
    (path / "slurm.conf").write_text(text)
    return path / "slurm.conf"


def test_what_is_there_is_taken(tmp_path: Path) -> None:
    text = "ClusterName=c\nSELECTTYPE=select/cons_tres\nTaskPlugin=affinity,task/none\nRoutePlugin=route/x\nNodeName=n CPUs=2\n"
    check_installed(conf(tmp_path, text + "NodeName=m MaxNodes=2\n"), {"SelectType": None}, "slurm", [root(tmp_path)])


def test_what_is_missing_is_named_with_its_place_and_what_is_there(tmp_path: Path) -> None:
    text = (
        "# from /etc/slurm/slurm.conf:22\nSelectType=select/cons_res\nTaskPlugin=task/none,task/site\nAuthAltTypes=auth/jwt\n"
    )
    given = conf(tmp_path, f"{text}Shape=round\nNodeName=n1 Colour=red\n")
    with pytest.raises(SimunixError) as refused:
        check_installed(given, {"TaskPlugin": "gurke"}, "slurm", [root(tmp_path)])
    told, folder = str(refused.value), tmp_path / "root/usr/lib/x86_64-linux-gnu/slurm-wlm"
    assert told.startswith("slurm: Slurm would not start; settings that it does not know: (1) slurm.parameters.TaskPlugin: ")
    parts = told.split("; (")
    assert parts[0].endswith(
        f"TaskPlugin=gurke: Slurm 24.11.5 has no plugin task/gurke in {folder}; give one that is there: affinity, none"
    )
    assert parts[1].startswith(f"2) {given}:2 (from /etc/slurm/slurm.conf:22): SelectType=select/cons_res: ")
    assert parts[2].endswith("install slurm-wlm-jwt-plugin, or give one that is there: munge")
    assert (
        parts[3] == f"4) {given}:5: Shape=round: Slurm 24.11.5 knows no such word; take it out, or give a release that knows it"
    )
    assert parts[4].startswith(f"5) {given}:6: Colour=red: Slurm 24.11.5 knows no such word")


def test_plugins_are_looked_for_where_the_configuration_says(tmp_path: Path) -> None:
    tree = root(tmp_path)
    own = tree.path / "opt/plugins"
    own.mkdir(parents=True)
    (own / "select_site.so").touch()
    check_installed(conf(tmp_path, "PluginDir=/opt/plugins\nSelectType=select/site\n"), {}, "slurm", [tree])
    with pytest.raises(SimunixError, match=r"no plugin select/linear in .*/opt/plugins; give one that is there: site"):
        check_installed(conf(tmp_path, "PluginDir=/opt/plugins\nSelectType=select/linear\n"), {}, "slurm", [tree])


def test_a_library_that_knows_nothing_is_not_asked(tmp_path: Path) -> None:
    folder = tmp_path / "usr/lib/x86_64-linux-gnu/slurm-wlm"
    folder.mkdir(parents=True)
    (folder / "libslurmfull.so").write_bytes(b"\x0024.11.5\0")
    assert installed(RootTree(tmp_path)) is None
    check_installed(conf(tmp_path, "Shape=round\n"), {}, "slurm", [RootTree(tmp_path)])


def test_values_are_read_as_slurm_reads_them(tmp_path: Path) -> None:
    text = (
        "DownNodes=n1 Reason=it's_old State=DOWN\nSchedulerParameters+=bf_continue\nNodeName=n1 Reason=\"it's down\" CPUs=2\n"
    )
    lines = list(read_lines(conf(tmp_path, text), "a slurm.conf"))
    assert [list(line.pairs) for line in lines] == [
        ["downnodes", "reason", "state"],
        ["schedulerparameters"],
        ["nodename", "reason", "cpus"],
    ]


@pytest.mark.slurm
def test_every_parameter_of_the_manual_is_known() -> None:
    """No word that this computer's Slurm takes may be refused; man slurm.conf(5) has these."""
    here = installed(RootTree(Path("/")))
    if here is None:
        pytest.skip("not installed: slurmctld")
    assert [word for word in OFTEN.split() if not here._knows(word)] == []
    assert not here._knows("PriorityWeightFareShare")
