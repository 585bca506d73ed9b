"""A site's files with other names: no name of the site's is in any byte that is written, and all else is as it was."""

from __future__ import annotations

import contextlib
import csv
import io
import stat
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from simunix.cli.main import main
from simunix.rjms.slurm.site.names import Names
from tests.conftest import ROOT

UNIVERSITY = ROOT / "tests/sites/university"
KINDS = (
    *("user", "friend", "group", "account", "child", "node", "gpus", "head", "partition", "other", "qos", "licence", "server"),
    *("cluster", "job", "reservation", "switch", "spine", "nodeset", "wckey", "feature", "file", "path", "text", "mail"),
)
names_of_a_site = st.lists(st.from_regex(r"[b-df-hj-np-tv-z]{6,9}", fullmatch=True), min_size=len(KINDS), unique=True)
"""Words without vowels: no word of simunix, Slurm or YAML is among them."""


@dataclass
class Site:
    """A site whose every name is given."""

    folder: Path
    called: dict[str, str]

    def write(self) -> list[str]:
        """Write all files; the words of the command that imports them."""
        own = self.called
        self.folder.mkdir()
        for name, text in (
            ("slurm.conf", CONF),
            ("nodes.conf", NODES),
            ("gres.conf", GRES),
            ("topology.conf", TOPOLOGY),
            (f"{own['text']}.cfg", ACCOUNTS),
            ("qos.txt", QOS),
            (f"{own['user']}-jobs.txt", JOBS),
            ("reservations.txt", RESERVATIONS),
            (f"{own['mail']}.txt", USAGE),
        ):
            (self.folder / name).write_text(text.format(**own))
        words = ["--accounts", f"{own['text']}.cfg", "--qos", "qos.txt", "--sacct", f"{own['user']}-jobs.txt"]
        words += ["--reservations", "reservations.txt", "--usage", f"{own['mail']}.txt"]
        return [str(self.folder / "slurm.conf"), *(w if w.startswith("--") else str(self.folder / w) for w in words)]


CONF = """
ClusterName={cluster}
SlurmctldHost={head}01({head}.example.org)
SlurmctldHost={head}02
SlurmUser={user}
StateSaveLocation=/home/{user}/state
Prolog=/{path}/prolog.sh
MailDomain={mail}.org
SiteFactorParameters={text}
Licenses={licence}@{server}:5
SelectType=select/cons_tres
GresTypes=gpu
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost={server}.example.org
AccountingStorageTRES=gres/gpu,license/{licence}@{server}
PriorityWeightTRES=CPU=1000,license/{licence}@{server}=10
Include nodes.conf
PartitionName={partition} Nodes={node}[001-004] AllowAccounts={account},{child} Alternate={other} Default=YES QOS={qos}
PartitionName={other} Nodes={nodeset} AllowGroups={group} DenyQos={qos} \\
    TRESBillingWeights="CPU=1.0,License/{licence}@{server}=2"
"""
NODES = """
NodeName={node}[001-004] CPUs=8 RealMemory=32000 Feature=a100,{account}_rack,{feature}
NodeName={gpus}-n[1-2] CPUs=8 RealMemory=32000 Gres=gpu:a100:2 NodeAddr=10.9.8.[1-2] Reason="{friend} was here"
NodeName={gpus}-n3 CPUs=8 RealMemory=32000 NodeAddr=10.9.8.7 Comment="{text}"
NodeSet={nodeset} Nodes={node}[003-004]
DownNodes={node}004 State=DOWN Reason="{text}"
"""
GRES = """
NodeName={gpus}-n[1-2] Name=gpu Type=a100 File=/dev/nvidia[0-1]
NodeName={gpus}-n3 Name=tape File=/dev/{file}[0-1]
"""
TOPOLOGY = """
SwitchName={switch}[1] Nodes={node}[001-004]
SwitchName={switch}2 Nodes={gpus}-n[1-3]
SwitchName={spine} Switches={switch}[1-2]
"""
ACCOUNTS = """Cluster - '{cluster}':Fairshare=1:QOS='normal'
Parent - 'root'
User - 'root':DefaultAccount='root':AdminLevel='Administrator':Fairshare=1
Account - '{account}':Description='of {friend}':Organization='{text}':Fairshare=60:QOS='{qos},normal'
Parent - '{account}'
Account - '{child}':Description='{child}':Organization='{text}':GrpTRES=cpu=10,license/{licence}@{server}=2
User - '{user}':DefaultAccount='{account}':Fairshare=1:DefaultQOS='{qos}':Comment='{text}'
Parent - '{child}'
User - '{friend}':DefaultAccount='{child}':Partition='{partition}':WCKeys='{wckey}'
"""
QOS = """Name|Description|Priority|Preempt|GrpTRES
normal|{text}|0||
{qos}|{text}|10|normal|license/{licence}@{server}=2
"""
USAGE = """Account|User|RawUsage
root||3000
 {account}||3000
  {account}|{user}|2500
 {child}|{friend}|500
 {child}|{mail}|1
"""
JOBS = (
    "JobID|JobName|User|Group|Account|Partition|QOS|Submit|Start|End|ElapsedRaw|Timelimit|ReqCPUS|AllocCPUS|ReqMem|ReqTRES|"
    "Constraints|Licenses|Reservation|State|ExitCode|NodeList|SubmitLine\n"
    "1|{job}|{user}|{group}|{account}|{partition},{other}|{qos}|2024-03-01T08:00:00|2024-03-01T08:00:01|2024-03-01T08:01:01|60|"
    "00:10:00|2|2|0|cpu=2,license/{licence}@{server}=1,gres/gpu=1|a100&{feature}|{licence}@{server}:1|{reservation}|COMPLETED|0:0|"
    "{node}[001-002]|sbatch -w {node}[001-002] --wckey {wckey} --comment {text} -L {licence}@{server}:1 /home/{user}/{path}.sh "
    "{mail}\n"
    "2|{job}|{friend}|{group}|{child}|{other}|normal|2024-03-01T08:00:10|Unknown|2024-03-01T08:00:20|0|00:10:00|1|0|0|cpu=1|"
    "{account}_rack|||CANCELLED by {friend}|0:0|None assigned|"
    "sbatch --chdir=/home/{user} --mail-user {mail} --{text} {path} --exclude={gpus}-n3 x\n"
)
RESERVATIONS = (
    "ReservationName={reservation} StartTime=2024-03-01T08:11:30 EndTime=2024-03-01T09:30:00 Nodes={node}[001-002] "
    "Users={user},-{friend} Accounts={account} PartitionName={partition} Features={feature} Licenses={licence}@{server}:1 "
    "BurstBuffer={text} Groups={group} Comment={text} Flags=IGNORE_JOBS\n"
)


def written(folder: Path) -> list[tuple[str, str]]:
    """Every file, by its name and its bytes as characters."""
    return [(path.name, path.read_bytes().decode("latin-1")) for path in sorted(folder.iterdir())]


def names_in(text: str, called: dict[str, str]) -> list[str]:
    """What is called so that the text tells its name."""
    return [kind for kind, name in called.items() if name in text.lower()]


@pytest.mark.slow
@settings(max_examples=25)
@given(names_of_a_site)
def test_no_name_is_in_any_byte(tmp_path_factory: pytest.TempPathFactory, words: list[str]) -> None:
    folder = tmp_path_factory.mktemp("site")
    called = dict(zip(KINDS, words, strict=False))
    command = Site(folder / "etc", called).write()
    table = folder / "names.csv"
    told = io.StringIO()
    with contextlib.redirect_stdout(told):
        assert main(["slurm", "import", *command, "--anonymous", "--names", str(table), "-o", str(folder / "one")]) == 0
    told.write("".join(name + text for name, text in written(folder / "one")))
    assert names_in(told.getvalue(), called) == ["feature"] and "10.9.8" not in told.getvalue()
    with table.open() as file:
        rows = list(csv.DictReader(file))
    assert {row["name"] for row in rows} >= {called[key] for key in ("user", "account", "partition", "reservation", "cluster")}
    assert len({row["anonymous"] for row in rows}) == len(rows)
    assert stat.S_IMODE(table.stat().st_mode) == 0o600


def test_what_is_written_is_the_site_with_other_names(tmp_path: Path) -> None:
    called = {kind: f"{kind[::-1]}zq" for kind in KINDS}
    command = Site(tmp_path / "etc", called).write()
    for folder in ("out", "again"):
        assert main(["slurm", "import", *command, "--anonymous", "-o", str(tmp_path / folder)]) == 0
    assert written(tmp_path / "out") == written(tmp_path / "again")
    assert {name for _, text in written(tmp_path / "out") for name in names_in(text, called)} == {"feature"}
    conf = (tmp_path / "out/slurm.conf").read_text()
    assert "NodeName=host2-[001-004] CPUs=8 RealMemory=32000 Feature=a100,feature1,erutaefzq\n" in conf
    assert "NodeName=host3-[1-2] CPUs=8 RealMemory=32000 Gres=gpu:a100:2\n" in conf
    assert "PartitionName=partition1 Nodes=host2-[001-004] AllowAccounts=account1,account2 Alternate=partition2" in conf
    assert "Licenses=licence1:5\n" in conf and "AccountingStorageTRES=gres/gpu,license/licence1\n" in conf
    assert (tmp_path / "out/topology.conf").read_text().splitlines()[2] == "SwitchName=switch2 Switches=switch1-[1-2]"
    assert "NodeName=host3-3 Name=tape File=/dev/file1-[0-1]\n" in (tmp_path / "out/gres.conf").read_text()
    scenario = yaml.safe_load((tmp_path / "out/scenario.yaml").read_text())
    assert scenario["slurm"]["sacctmgr"] == [
        "add qos qos1",
        "modify qos qos1 set Priority=10 Preempt=normal GrpTRES=license/licence1=2",
        "add account account1 Parent=root Fairshare=60 QosLevel=qos1,normal",
        "add account account2 Parent=account1 GrpTRES=cpu=10,license/licence1=2",
        "add user user1 Account=account1 DefaultAccount=account1 Fairshare=1 DefaultQOS=qos1",
        "add user user2 Account=account2 DefaultAccount=account2 Partition=partition1",
    ]
    assert scenario["slurm"]["usage"] == {"account1": {"user1": 2500.0}, "account2": {"user2": 500.0}}
    words = "ReservationName=reservation1 StartTime=now+720seconds Duration=78 'Nodes=host2-[001-002]' Users=user1,-user2"
    assert words in scenario["processes"][-1]["command"]
    lines = [line for line in (tmp_path / "out/jobs.csv").read_text().splitlines() if not line.startswith("#")]
    jobs = list(csv.DictReader(lines))
    assert [job["User"] for job in jobs] == ["user1", "user2"] and jobs[0]["JobName"] == jobs[1]["JobName"] == "job1"
    assert jobs[0]["Arguments"] == "'--nodelist=host2-[001-002]' --wckey=wckey1"
    assert (jobs[0]["Partition"], jobs[0]["Constraints"]) == ("partition1,partition2", "a100&erutaefzq")
    assert (jobs[1]["Arguments"], jobs[1]["Constraints"], jobs[1]["State"]) == ("--exclude=host3-3", "feature1", "CANCELLED")
    told = (tmp_path / "out/changes.txt").read_text()
    assert "slurm.conf:8: MailDomain=…: left out: it may tell a name, and nothing does with --anonymous\n" in told
    assert "sacct: 1 submit lines with another option: left out" in told
    assert "included file 1:3: NodeAddr=…: left out: addresses are the run's own\n" in told
    assert "usage: usage of 1 users: left out: --accounts has no such user in that account\n" in told
    assert "accounts: 2 values of Organization: left out: it may tell" in told


def test_names_that_mean_something_stay() -> None:
    names = Names()
    assert (
        names.of("user", "root") == "root" and names.of("qos", "normal") == "normal" and names.of("account", "root") == "root"
    )
    assert names.hosts("ALL") == "ALL" and names.each("group", "ALL,staff") == "ALL,group1"
    assert names.of("user", "root2") == "user1" and names.of("account", "Physics") == names.of("account", "physics")
    assert names.hosts("a1,b[07-08],a2") == "host1-1,host2-[07-08],host1-2" and names.hosts("r[1-2]n[1-2]") == (
        "host3-[1-2],host4-[1-2]"
    )
    names.of("partition", "gpu")
    names.of("partition", "smith")
    assert names.features("gpu&smith_gpu|[rack1*2]") == "gpu&feature1|[rack1*2]"


def test_scripts_and_tables_of_names(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["slurm", "import", str(UNIVERSITY / "slurm.conf"), "-o", str(tmp_path / "out")]
    for more, message in (
        (["--names", str(tmp_path / "n.csv")], "--names: only --anonymous makes new names; give --anonymous too"),
        (
            ["--anonymous", "--names", str(tmp_path / "out/n.csv")],
            "the table must not be in the scenario's folder; write it outside",
        ),
        (["--anonymous", "--names", str(UNIVERSITY / "qos.txt")], "qos.txt: exists already; name a new file"),
    ):
        assert main([*words, *more]) == 2
        assert message in capsys.readouterr().err and not (tmp_path / "out").exists()
    assert main([*words, "--anonymous", "--scripts"]) == 0
    assert "scripts: --scripts: left out: a script may tell names" in capsys.readouterr().out
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        *("slurm.conf", "gres.conf", "cgroup.conf", "scenario.yaml", "changes.txt"),
    }
