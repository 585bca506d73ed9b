"""Make the files of a Grid Engine cell from the platform: the files that qconf would write with classic spooling
(bootstrap(5)).

The installed program `spooldefaults` adds the complexes and user sets of its release.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from rsg_server.errors import SimunixError
from simunix.rjms.gridengine.layout import (
    ADMINISTRATOR,
    COMMON,
    EXECD_SPOOL,
    HOST_FILES,
    KEEP_HOSTS,
    MASTER_SPOOL,
    PROGRAMS,
)

PARALLEL = "mpi"
"""The parallel environment of jobs on several cores: Grid Engine takes all free slots of one host, then those of the
next.
"""
WHOLE = "nodes"
"""The parallel environment of jobs on whole nodes, with one slot on each node."""
EXCLUSIVE = "exclusive"
"""The complex that a job on whole nodes asks for, so that no other job runs beside it; see complex(5), EXCL."""
SLOTS_MAX = 9_999_999

BOOTSTRAP = {
    "admin_user": ADMINISTRATOR,
    "default_domain": "none",
    "ignore_fqdn": "false",
    "spooling_method": "classic",
    "spooling_lib": "libspoolc",
    "spooling_params": f"{COMMON};{MASTER_SPOOL}",
    "binary_path": PROGRAMS,
    "qmaster_spool_dir": MASTER_SPOOL,
    "security_mode": "none",
    "listener_threads": "2",
    "worker_threads": "2",
    "scheduler_threads": "1",
}
CONFIGURATION = {
    "conf_name": "global",
    "conf_version": "0",
    "execd_spool_dir": EXECD_SPOOL,
    "mailer": "/bin/true",
    "xterm": "/usr/bin/xterm",
    "load_sensor": "none",
    "prolog": "none",
    "epilog": "none",
    "shell_start_mode": "unix_behavior",
    "login_shells": "bash,sh,ksh,csh,tcsh",
    "min_uid": "0",  # root submits the jobs of a trace if the trace's users are ignored
    "min_gid": "0",
    "user_lists": "none",
    "xuser_lists": "none",
    "projects": "none",
    "xprojects": "none",
    "enforce_project": "false",
    "enforce_user": "auto",
    "load_report_time": "00:00:40",
    "max_unheard": "00:05:00",
    "reschedule_unknown": "00:00:00",
    "loglevel": "log_warning",
    "administrator_mail": "none",
    "set_token_cmd": "none",
    "pag_cmd": "none",
    "token_extend_time": "none",
    "shepherd_cmd": "none",
    "qmaster_params": "none",
    "execd_params": "none",
    # docs/guide/gridengine.md gives the reason for this value
    "reporting_params": "accounting=true reporting=false flush_time=00:00:15 accounting_flush_time=00:00:00"
    " joblog=false sharelog=00:00:00",
    "finished_jobs": "100",
    "gid_range": "65400-65500",
    "qlogin_command": "builtin",
    "qlogin_daemon": "builtin",
    "rlogin_command": "builtin",
    "rlogin_daemon": "builtin",
    "rsh_command": "builtin",
    "rsh_daemon": "builtin",
    "max_aj_instances": "2000",
    "max_aj_tasks": "75000",
    "max_u_jobs": "0",
    "max_jobs": "0",
    "auto_user_oticket": "0",
    "auto_user_fshare": "0",
    "auto_user_default_project": "none",
    "auto_user_delete_time": "86400",
    "delegated_file_staging": "false",
    "reprioritize": "0",
    "jsv_url": "none",
    "jsv_allowed_mod": "ac,h,i,e,o,j,M,N,p,w",
}
"""Debian's default configuration with other values of min_uid, min_gid and mail, and with shells chosen by a script's
first line; see sge_conf(5).
"""
SCHEDULER = {
    "algorithm": "default",
    "schedule_interval": "0:0:15",
    "maxujobs": "0",
    "queue_sort_method": "0",
    "job_load_adjustments": "np_load_avg=0.50",
    "load_adjustment_decay_time": "0:7:30",
    "load_formula": "np_load_avg",
    "schedd_job_info": "true",
    "flush_submit_sec": "0",
    "flush_finish_sec": "0",
    "params": "none",
    "reprioritize_interval": "0:0:0",
    "halftime": "168",
    "usage_weight_list": "cpu=1.000000 mem=0.000000 io=0.000000",
    "compensation_factor": "5.000000",
    "weight_user": "0.250000",
    "weight_project": "0.250000",
    "weight_department": "0.250000",
    "weight_job": "0.250000",
    "weight_tickets_functional": "0",
    "weight_tickets_share": "0",
    "weight_tickets_override": "0",
    "share_override_tickets": "TRUE",
    "share_functional_shares": "TRUE",
    "max_functional_jobs_to_schedule": "200",
    "report_pjob_tickets": "TRUE",
    "max_pending_tasks_per_job": "50",
    "halflife_decay_list": "none",
    "policy_hierarchy": "OFS",
    "weight_ticket": "0.500000",
    "weight_waiting_time": "0.278000",
    "weight_deadline": "3600000.000000",
    "weight_urgency": "0.500000",
    "weight_priority": "0.000000",
    "max_reservation": "0",
    "default_duration": "INFINITY",
}
"""Grid Engine's own defaults, which a qmaster without the file writes. The value 0 of queue_sort_method means load; see
sched_conf(5).
"""
_QUEUE = {
    "seq_no": "0",
    "load_thresholds": "NONE",
    "suspend_thresholds": "NONE",
    "nsuspend": "1",
    "suspend_interval": "00:05:00",
    "priority": "0",
    "min_cpu_interval": "00:05:00",
    "processors": "UNDEFINED",
    "qtype": "BATCH INTERACTIVE",
    "ckpt_list": "NONE",
    "pe_list": f"{PARALLEL} {WHOLE}",
    "rerun": "FALSE",
    "tmpdir": "/tmp",
    "shell": "/bin/sh",
    "shell_start_mode": "unix_behavior",
    "notify": "00:00:60",
    "initial_state": "default",
}
_UNSET = (
    *("prolog", "epilog", "starter_method", "suspend_method", "resume_method", "terminate_method", "owner_list", "user_lists"),
    *("xuser_lists", "subordinate_list", "complex_values", "projects", "xprojects", "calendar"),
)
_LIMITS = ("rt", "cpu", "fsize", "data", "stack", "core", "rss", "vmem")


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """The content of a cell's files: `slots` has the cores of each node, by name. Hosts in `submitters` may submit
    jobs, in addition to the nodes.
    """

    controller: str
    submitters: tuple[str, ...]
    slots: Mapping[str, int]
    queue: str
    scheduler: Mapping[str, str]
    configuration: Mapping[str, str]


def changed(defaults: Mapping[str, str], changes: Mapping[str, object], key: str) -> dict[str, str]:
    """Return the defaults with the scenario's changes. Raises SimunixError, beginning with `key`, for an unknown
    parameter.
    """
    for name in changes:
        if name not in defaults:
            raise SimunixError(f"{key}.{name}: no such parameter; known: {', '.join(sorted(defaults))}")
    return {**defaults, **{name: str(value) for name, value in changes.items()}}


def shared_files(cell: Cell) -> dict[str, str]:
    """Return the files in the cell's folder, which all hosts of the cluster share, by path."""
    return {
        f"{COMMON}/bootstrap": _text(BOOTSTRAP),
        f"{COMMON}/act_qmaster": f"{cell.controller}\n",
        f"{COMMON}/configuration": _text(cell.configuration),
        f"{COMMON}/sched_configuration": _text(cell.scheduler),
    }


def master_files(cell: Cell) -> dict[str, str]:
    """Return the files in the qmaster's spool folder, by path: those that qconf -ah, -as, -ae, -ahgrp, -ap, -ac and -aq
    would make.
    """
    texts = {
        "managers": f"{ADMINISTRATOR}\nroot\n",
        "hostgroups/@allhosts": _text({"group_name": "@allhosts", "hostlist": " ".join(cell.slots) or "NONE"}),
        f"cqueues/{cell.queue}": _text(_queue(cell)),
        f"pe/{PARALLEL}": _text(_parallel_environment(PARALLEL, "$fill_up")),
        f"pe/{WHOLE}": _text(_parallel_environment(WHOLE, "1")),
        f"centry/{EXCLUSIVE}": _text(_EXCLUSIVE),
    }
    texts |= {f"admin_hosts/{name}": _text({"hostname": name}) for name in dict.fromkeys((cell.controller, *cell.slots))}
    texts |= {f"submit_hosts/{name}": _text({"hostname": name}) for name in dict.fromkeys((*cell.submitters, *cell.slots))}
    texts |= {f"exec_hosts/{name}": _text(_execution_host(name)) for name in cell.slots}
    texts |= {f"qinstances/{cell.queue}/{name}": _text(_queue_instance(cell.queue, name)) for name in cell.slots}
    return {f"{MASTER_SPOOL}/{name}": text for name, text in texts.items()}


def keep_hosts() -> str:
    """Return a program that Grid Engine runs at the start of a parallel job. The program saves the list of the job's
    hosts, because the accounting names only the first host.

    The program's argument is the path of the job's pe_hostfile, whose folder is called JOB.TASK; see sge_pe(5),
    start_proc_args.
    """
    return (
        "#!/bin/sh\n"
        "folder=${1%/*}\n"
        "line=${folder##*/}\n"
        'while read host slots rest; do line="$line $host $slots"; done < "$1"\n'
        f'echo "$line" >> {HOST_FILES}\n'
    )


def start_ranks() -> str:
    """Return a program that starts its arguments on each slot of a parallel job, as rank 0, 1, … (PMI_RANK), and waits
    for all ranks.
    """
    return (
        "#!/bin/sh\n"
        "rank=0\n"
        "while read host slots rest <&3; do\n"
        "    while [ $slots -gt 0 ]; do\n"
        f'        {PROGRAMS}/qrsh -inherit -nostdin $host /usr/bin/env PMI_RANK=$rank "$@" 3<&- &\n'
        '        rank=$((rank + 1)) slots=$((slots - 1)) started="$started $!"\n'
        "    done\n"
        "done 3< $PE_HOSTFILE\n"
        "code=0\n"
        "for each in $started; do wait $each || code=$?; done\n"
        "exit $code\n"
    )


def _queue(cell: Cell) -> dict[str, str]:
    """Return the cluster queue, in which every node has as many slots as cores. Only nodes whose number differs from
    the most common number are listed.
    """
    usual = Counter(cell.slots.values()).most_common(1)[0][0] if cell.slots else 1
    slots = [str(usual), *(f"[{name}={count}]" for name, count in cell.slots.items() if count != usual)]
    fields = {"qname": cell.queue, "hostlist": "@allhosts", **_QUEUE, "slots": ",".join(slots)}
    fields |= dict.fromkeys(_UNSET, "NONE")
    return fields | {f"{kind}_{limit}": "INFINITY" for limit in _LIMITS for kind in ("s", "h")}


def _queue_instance(queue: str, host: str) -> dict[str, str]:
    """Return the queue on one host, in the state unknown (1024) until the host's execd has reported."""
    return {"qname": queue, "hostname": host, "state": "1024", "pending_signal": "0", "pending_signal_del": "0", "version": "1"}


def _parallel_environment(name: str, rule: str) -> dict[str, str]:
    return {
        "pe_name": name,
        "slots": str(SLOTS_MAX),
        "user_lists": "NONE",
        "xuser_lists": "NONE",
        "start_proc_args": f"{KEEP_HOSTS} $pe_hostfile",
        "stop_proc_args": "NONE",
        "allocation_rule": rule,
        "control_slaves": "TRUE",
        "job_is_first_task": "FALSE",
        "urgency_slots": "min",
        "accounting_summary": "TRUE",
        "qsort_args": "NONE",
    }


_EXCLUSIVE = {
    "name": EXCLUSIVE,
    "shortcut": EXCLUSIVE,
    "type": "BOOL",
    "relop": "EXCL",
    "requestable": "YES",
    "consumable": "YES",
    "default": "0",
    "urgency": "1000",
}


def _execution_host(name: str) -> dict[str, str]:
    fields = {"hostname": name, "load_scaling": "NONE", "complex_values": f"{EXCLUSIVE}=TRUE", "load_values": "NONE"}
    fields |= {"processors": "0", "reschedule_unknown_list": "NONE"}
    return fields | dict.fromkeys(
        ("user_lists", "xuser_lists", "projects", "xprojects", "usage_scaling", "report_variables"), "NONE"
    )


def _text(fields: Mapping[str, str]) -> str:
    return "".join(f"{name} {value}\n" for name, value in fields.items())
