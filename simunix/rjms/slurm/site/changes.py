"""The rules for parameters of a site's slurm.conf that cannot be used in an emulation: which parameters are removed or
replaced, and why.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Change:
    """A difference between the site's files and the scenario: the place in the files, the text there, and what became
    of it.
    """

    place: str
    what: str
    reason: str


NOT_RUN = "scripts of the site are not run"
SCRIPT = f"{NOT_RUN}; --scripts takes along those that are beside slurm.conf"
TAKEN = ("prolog", "epilog", "prologslurmctld", "epilogslurmctld", "taskprolog", "taskepilog")
"""The parameters that name a script; with --scripts, a script in the folder of slurm.conf is copied into the scenario.
"""
SUBMIT_SCRIPT = "job_submit.lua"
PATH = "a path of the emulated hosts instead"
GATHERED = "hosts have no such counters"
OWN_FOLDERS = "folders that jobs have for themselves are not made"
SECRETS = "keys and passwords of the site are not needed"
ELSEWHERE = "programs outside of the cluster are not there"

ADDRESSES = "addresses are the run's own"
RULES: Mapping[str, tuple[str | None, str]] = {
    **dict.fromkeys(
        (
            *("srunprolog", "srunepilog", "healthcheckprogram", "healthcheckinterval", "healthchecknodestate", "rebootprogram"),
            *("unkillablestepprogram", "slurmctldprimaryonprog", "slurmctldprimaryoffprog", "resvprolog", "resvepilog"),
            "clifilterplugins",
        ),
        (None, NOT_RUN),
    ),
    **dict.fromkeys((*TAKEN, "jobsubmitplugins"), (None, SCRIPT)),
    **dict.fromkeys(("resumeprogram", "suspendprogram", "suspendtime", "resumefailprogram"), (None, "nodes are always on")),
    **dict.fromkeys(("pluginstackconfig",), (None, "SPANK plugins of the site are not installed")),
    **dict.fromkeys(("plugindir", "slurmctldsyslogdebug", "slurmdsyslogdebug"), (None, ELSEWHERE)),
    **dict.fromkeys(("authaltparameters", "authalttypes", "authinfo", "accountingstoragepass"), (None, SECRETS)),
    **dict.fromkeys(("jobcredentialprivatekey", "jobcredentialpubliccertificate", "jobcomppass"), (None, SECRETS)),
    **dict.fromkeys(("jobcomphost", "jobcompport", "jobcompuser", "jobcompparams"), (None, "jobs.csv is made from a file")),
    **dict.fromkeys(
        ("accountingstoragebackuphost", "accountingstorageexternalhost", "accountingstorageport", "accountingstorageuser"),
        (None, ELSEWHERE),
    ),
    **dict.fromkeys(("backupcontroller", "backupaddr", "controlmachine"), (None, "there is one controller")),
    **dict.fromkeys(("controladdr", "slurmctldaddr"), (None, ADDRESSES)),
    **dict.fromkeys(("acctgatherenergytype", "acctgatherprofiletype", "acctgatherfilesystemtype"), (None, GATHERED)),
    **dict.fromkeys(("acctgatherinterconnecttype", "coreSpecplugin".lower()), (None, GATHERED)),
    "jobcontainertype": (None, OWN_FOLDERS),
    **dict.fromkeys(("slurmctldlogfile",), ("/var/log/slurm/slurmctld.log", PATH)),
    **dict.fromkeys(("slurmdlogfile",), ("/var/log/slurm/slurmd.log", PATH)),
    **dict.fromkeys(("slurmschedlogfile",), ("/var/log/slurm/sched.log", PATH)),
    "statesavelocation": ("/var/spool/slurmctld", PATH),
    "slurmdspooldir": ("/var/spool/slurmd", PATH),
    "slurmctldpidfile": ("/run/slurmctld.pid", PATH),
    "slurmdpidfile": ("/run/slurmd.pid", PATH),
    "slurmuser": ("root", "a user that every host has"),
    "authtype": ("auth/munge", "the key of the run's own munge is used"),
    "credtype": ("cred/munge", "the key of the run's own munge is used"),
    "jobcomptype": ("jobcomp/filetxt", "jobs.csv is made from a file"),
    "jobcomploc": ("/var/log/slurm/jobcomp.log", "jobs.csv is made from a file"),
    "mpidefault": ("none", "jobs sleep"),
    "mailprog": ("/bin/true", ELSEWHERE),
}
"""The value that replaces a parameter (None removes it) and the reason, by the parameter's lower-case name."""
NEEDED = {
    "statesavelocation": "StateSaveLocation",
    "slurmdspooldir": "SlurmdSpoolDir",
    "slurmctldpidfile": "SlurmctldPidFile",
    "slurmdpidfile": "SlurmdPidFile",
    "slurmctldlogfile": "SlurmctldLogFile",
    "slurmdlogfile": "SlurmdLogFile",
    "slurmuser": "SlurmUser",
    "jobcomptype": "JobCompType",
    "jobcomploc": "JobCompLoc",
    "mpidefault": "MpiDefault",
    "mailprog": "MailProg",
}
"""The parameters that the emulated slurm.conf sets even if the site's does not, because Slurm's own default would not
work.
"""
NODE_WORDS = {
    **dict.fromkeys(("nodeaddr", "bcastaddr"), ADDRESSES),
    "nodehostname": "hosts are called as their nodes",
    "port": "port 6818",
}
"""The words that are removed from NodeName lines, and why."""
