"""Whole sites, job tables, tables of costs and deployment files as inputs of the fuzzer: what reads each, and examples.

Several files of a site stand in one input, each after a line with its name.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

from rsg_server.errors import SimunixError
from rsg_server.platform.simgrid_xml.deployment import load_deployment
from simunix.calibration.measured import prices_of, read_measured
from simunix.calibration.prices import read_prices
from simunix.launch.emulation import COSTS
from simunix.rjms.slurm.beside import devices, will_drain
from simunix.rjms.slurm.files.lines import flattened
from simunix.rjms.slurm.site.names import Names
from simunix.rjms.slurm.site.sacct_jobs import read_jobs
from simunix.rjms.slurm.site.write import SiteFiles, import_site
from simunix.workload.formats.by_name import job_names, read_trace
from simunix.workload.formats.places import lines_of
from simunix.workload.formats.requests import table_jobs
from simunix.workload.transforms.selection import Selection
from tests.conftest import ROOT

SITES = ROOT / "tests/sites"
NAMES = ("accounts.cfg", "qos.txt", "jobs.txt", "reservations.txt", "usage.txt")
FILE = re.compile(r"^%%% ([a-z.]{1,20})\n", re.MULTILINE)
NEW = "new"
"""The folder that an import writes."""


class NoPlaceError(Exception):
    """A refusal that does not say which file, or which key, is wrong."""


def with_place(read: Callable[[], object], *places: str) -> None:
    """Read; a refusal must name one of the places."""
    try:
        read()
    except SimunixError as error:
        if not any(place in str(error) for place in places):
            raise NoPlaceError(str(error)) from error


def read_site(path: Path) -> None:
    """Import a site with its own names and with others, and ask its files what a run with `config` asks."""
    folder = path.parent / "site"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    parts = FILE.split(path.read_bytes().decode(errors="surrogateescape"))
    for name, text in zip(("slurm.conf", *parts[1::2]), parts[::2], strict=True):
        (folder / name.strip(".")).write_bytes(text.encode(errors="surrogateescape"))
    given = {name.partition(".")[0]: folder / name for name in NAMES if (folder / name).is_file()}
    files = SiteFiles(folder / "slurm.conf", **given)  # type: ignore[arg-type]
    for names in (None, Names()):
        shutil.rmtree(folder / NEW, ignore_errors=True)
        with_place(lambda names=names: import_site(files, folder / NEW, names), str(folder))  # type: ignore[misc]
    conf = folder / "slurm.conf"
    with_place(lambda: list(will_drain(conf, flattened(conf, "x"), ["n1"])), str(folder))
    with_place(lambda: devices(conf, flattened(conf, "x"), ["n1"]), str(folder))


def read_sacct_dump(path: Path) -> None:
    """Read a dump as a trace, and as the jobs of a site."""
    with_place(lambda: read_trace(path), str(path))
    with_place(lambda: job_names(path, read_trace(path)), str(path))
    with_place(lambda: read_jobs(path, []), str(path))


def read_table(path: Path) -> None:
    """Read a job table, and what is to be submitted of it."""

    def read() -> None:
        trace = read_trace(path)
        table_jobs(trace, Selection(), str(path))
        lines_of(path, trace.jobs["job"].tolist())

    with_place(read, str(path))


def read_costs(path: Path) -> None:
    """Read a table of costs, as a scenario gives it and as a run has measured it."""
    with_place(lambda: read_prices(path), str(path))
    shutil.copy(path, path.with_name(COSTS))
    with_place(lambda: prices_of([read_measured(path.parent)]), COSTS)


def read_deployment(path: Path) -> None:
    """Read SimGrid's deployment of actors."""
    with_place(lambda: load_deployment(path), str(path))


def sites() -> Sequence[bytes]:
    """The sites that tests import, and a small one with what is rare."""
    found = [RARE.encode()]
    for folder in sorted(SITES.iterdir()):
        if (conf := folder / "slurm.conf").is_file():
            others = [path for path in sorted(folder.iterdir()) if path.suffix in (".conf", ".cfg", ".txt") and path != conf]
            texts = (b"%%% " + path.name.encode() + b"\n" + path.read_bytes() for path in others)
            found.append(conf.read_bytes() + b"".join(texts))
    return found


RARE = """ClusterName=c
SlurmctldHost=head(10.0.0.1)
SlurmctldAddr=10.0.0.2
AccountingStorageType=accounting_storage/slurmdbd
SuspendExcNodes=s[1-2]:1,c1
SuspendExcParts=mix,burst
SchedulerParameters="bf_window=1,\\
bf_continue"
GresTypes=gpu
NodeName=DEFAULT CPUs=2 State=UNKNOWN Gres=gpu:a100:2
NodeName=s[1-2] Feature=static,"x"
NodeName=c[1-2] State=CLOUD Features="cloud, big" NodeAddr=x
FrontendName=fe[1-2]
DownNodes=s1,c1 State=DOWN Reason="not # yet"
NodeSet=clouds Feature=cloud
NodeSet=statics Nodes=s[1-2]
PartitionName=DEFAULT Nodes=s[1-2]
PartitionName=mix Nodes=s[1-2],c[1-2] Default=YES Alternate=burst
PartitionName=burst Nodes=clouds AllowQos=normal
%%% gres.conf
AutoDetect=nvml
NodeName=s1,c1 Name=gpu Type=a100 File=/dev/nvidia[0-1]
%%% topology.conf
SwitchName=a Nodes=s[1-2]
SwitchName=b Nodes=c[1-2]
SwitchName=top Switches=a,b
%%% qos.txt
Name|Priority|GraceTime|Preempt|PreemptMode|Flags
normal|10|1-00:00:00|||
%%% accounts.cfg
Cluster - 'c':Fairshare=1
Parent - 'root'
Account - 'a':Fairshare=1:GrpTRES=cpu=4
Parent - 'a'
User - 'ann':DefaultAccount='a':Fairshare=1
%%% usage.txt
Account|User|RawUsage
root||1000
a|ann|500.5
%%% jobs.txt
JobID|JobName|User|Account|Submit|Start|End|ElapsedRaw|Timelimit|ReqCPUS|AllocCPUS|ReqMem|Constraints|State|SubmitLine
1|a|ann|a|2024-03-01T08:00:00|2024-03-01T08:00:01|2024-03-01T08:05:01|300|00:10:00|1|1|4G|a|b|COMPLETED|sbatch -w s1 --wrap "x
 y | z" --begin=2024-03-01T09:00:00
2_[1-3,7%2]|b|ann|a|2024-03-01T08:00:00|Unknown|Unknown|0|UNLIMITED|2|0|0n||PENDING|sbatch -a 1-3,7 j.sh
%%% reservations.txt
ReservationName=r StartTime=2024-03-01T09:00:00 EndTime=2024-03-01T10:00:00 Nodes=s1,c1 Users=ann Flags=SPEC_NODES
"""
DUMP = RARE.partition("%%% jobs.txt\n")[2].partition("%%% ")[0]
TABLE = """# Note: user 1: ann
# UnixStartTime: 1709287200
JobID,JobName,User,Submit,Start,ElapsedRaw,Timelimit,ReqCPUS,ReqNodes,ReqMem,Dependency,Array,Hold,Begin,Steps,Arguments,State,NodeList
1,"a, b",ann,0,5,60,00:05:00,16,2-4,4Gc,,1-9%2,,,0+60x4 65+30x1,"--nodelist='n[1-2]' x",COMPLETED,n[1-2]
2_3,b,ann,2024-03-01T10:00:00,,10,UNLIMITED,1,,,afterok:1:1,,yes,+60,,,FAILED,
"""
COSTS_YAML = """format: simunix costs 1
computer: a
programs:
  slurmctld: {read: 1200, clock_read: 50, clock_read@1a3: 70}
  "sbatch:x": {write: 5}
"""
COSTS_JSON = (
    """{"format": "simunix costs 1", "programs": {"slurmctld": {"charged_ns": 5, "calls": {"read": [2, 300], "x": [1, 7]}}}}"""
)
DEPLOYMENT = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <actor host="h1" function="master" start_time="5" kill_time="100.5" on_failure="RESTART"><argument value="20"/></actor>
  <process host="h2" function="worker"><argument value="&lt;x"/><prop id="a" value="b"/></process>
</platform>
"""
