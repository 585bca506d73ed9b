"""Read what HTCondor recorded of its jobs: the schedd's history file, which is a sequence of ClassAds
(condor_history(1)).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from simunix.rjms.adapter import CompletedJob
from simunix.rjms.htcondor.clients import DURATION_EXCEEDED

BANNER = "*** "
"""The beginning of the line that ends a job's ClassAd."""
COMPLETED, REMOVED = 4, 3
"""The values of JobStatus for a completed and for a removed job."""
EXECUTION_EXCEEDED = 47
"""The HoldReasonCode of a job that ran longer than its allowed_execute_duration."""
LIMITS = (DURATION_EXCEEDED, EXECUTION_EXCEEDED)
_HOST = re.compile(r"[^,@\s\"]+@([^,@\s\"]+)")


def parse(history: Iterable[str]) -> dict[str, CompletedJob]:
    """Return all jobs by the number of their HTCondor cluster; jobs of a cluster with several jobs by NUMBER_INDEX."""
    jobs = (_job(ad) for ad in _ads(history) if "ClusterId" in ad)
    return {job.element or str(job.number): job for job in jobs}


def _ads(lines: Iterable[str]) -> Iterator[dict[str, str]]:
    """Yield the attributes of each job as texts. A ClassAd without an end, which the end of the run has cut off, is
    left out.
    """
    ad: dict[str, str] = {}
    for line in lines:
        if line.startswith(BANNER):
            yield ad
            ad = {}
        else:
            name, equals, value = line.partition(" = ")
            if equals:
                ad[name] = value.strip()


def _number(ad: Mapping[str, str], name: str) -> float | None:
    """Return a numeric attribute of a ClassAd; None if it is missing or no number."""
    try:
        return float(ad[name])
    except (KeyError, ValueError):
        return None


def _text(ad: Mapping[str, str], name: str) -> str:
    value = ad.get(name, "")
    return value.strip('"') if value.startswith('"') else ""


def _job(ad: Mapping[str, str]) -> CompletedJob:
    number, index = int(ad["ClusterId"]), int(ad["ProcId"])
    start_s = _number(ad, "JobCurrentStartDate") or None
    return CompletedJob(
        number=number,
        name=_text(ad, "JobBatchName"),
        state=_state(ad),
        submit_s=_number(ad, "QDate") or 0.0,
        start_s=start_s,
        end_s=_end_s(ad, start_s),
        nodes=",".join(dict.fromkeys(_HOST.findall(ad.get("AllRemoteHosts") or ad.get("LastRemoteHost", "")))),
        cores=int((_number(ad, "RequestCpus") or 1) * (_number(ad, "MaxHosts") or 1)),
        limit_s=_number(ad, "AllowedJobDuration"),
        element=f"{number}_{index}" if (_number(ad, "TotalSubmitProcs") or 1) > 1 else "",
        user=_text(ad, "Owner"),
        account=_text(ad, "AcctGroup"),
    )


def _end_s(ad: Mapping[str, str], start_s: float | None) -> float:
    """Return when a job ended, in Unix time. A job that was held for exceeding its limit, and then removed, ended when
    it was held.
    """
    completed = _number(ad, "CompletionDate") or 0.0
    if completed > 0:
        return completed
    lasted = _number(ad, "LastRemoteWallClockTime")
    if start_s is not None and lasted is not None:
        return start_s + lasted
    return _number(ad, "EnteredCurrentStatus") or 0.0


def _state(ad: Mapping[str, str]) -> str:
    """Return the job's final state in the words that simunix uses for all RJMSs."""
    if _number(ad, "JobStatus") == COMPLETED:
        return "COMPLETED" if ad.get("ExitCode") == "0" else "FAILED"
    is_late = any(_number(ad, name) in LIMITS for name in ("HoldReasonCode", "LastHoldReasonCode"))
    return "TIMEOUT" if is_late else "CANCELLED"
