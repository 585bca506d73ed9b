"""What a job does, as a Batsim profile: the profile types of Batsim 4 and 5 (with their older names), and a few types
of simunix's own.

Formats: https://batsim.readthedocs.io/en/latest/input-workload.html; what each does here: docs/guide/jobs.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, ValidationError

from rsg_server.errors import SimunixError

_Amount = Annotated[float, Field(ge=0, lt=9e18, allow_inf_nan=False)]
_Seconds = Annotated[float, Field(ge=0, lt=9e9, allow_inf_nan=False)]
SPREAD = ("DefinedAmountsSpreadUniformly", "defined_amount_spread_uniformly")
EACH = ("DefinedAmountsUsedForEachValue", "defined_amount_used_for_each_value")
_Strategy = Literal[
    "DefinedAmountsUsedForEachValue",
    "defined_amount_used_for_each_value",
    "DefinedAmountsSpreadUniformly",
    "defined_amount_spread_uniformly",
]


class Profile(BaseModel):
    """The base of all job profiles (what a job does). `ret` is the exit code of a job that has completed its profile.
    Unknown keys are ignored, as in Batsim.
    """

    model_config = ConfigDict(extra="allow", frozen=True, populate_by_name=True, defer_build=True)
    ret: Annotated[int, Field(ge=0, le=255)] = 0


class Delay(Profile):
    """A job that takes `delay` seconds; time during which the job is suspended counts."""

    delay: _Seconds


class Suspendable(Profile):
    """A job that takes `delay` seconds; time during which the job is suspended does not count."""

    delay: _Seconds


class Failure(Profile):
    """A job that fails after `delay` seconds."""

    delay: _Seconds = 0.0
    ret: Annotated[int, Field(ge=1, le=255)] = 1


class ParallelTask(Profile):
    """A job that computes and communicates at once: `cpu[i]` flops on host i, and `com[i·n + j]` bytes from host i to
    host j, of n hosts.
    """

    cpu: list[_Amount] | None = None
    com: list[_Amount] | None = None


class Homogeneous(Profile):
    """A job that computes `cpu` flops on each host and sends `com` bytes from each host to each other.
    `generation_strategy` may say that the numbers are totals, of which each host gets a share.
    """

    cpu: _Amount = 0.0
    com: _Amount = 0.0
    generation_strategy: _Strategy = "DefinedAmountsUsedForEachValue"


class HomogeneousTotal(Homogeneous):
    """A job that computes `cpu` flops and sends `com` bytes in total, in equal parts for all hosts and pairs of hosts."""

    generation_strategy: _Strategy = "DefinedAmountsSpreadUniformly"


class OnStorage(Profile):
    """A job that reads and writes bytes at a storage. Each host transfers the given number of bytes, or an equal share
    of it.
    """

    bytes_to_read: _Amount = 0.0
    bytes_to_write: _Amount = 0.0
    storage: str = Field(default="pfs", validation_alias=AliasChoices("storage", "host"))
    generation_strategy: _Strategy = "DefinedAmountsUsedForEachValue"


class Staging(Profile):
    """A job that copies `nb_bytes` bytes from one storage to another."""

    nb_bytes: _Amount
    source: str = Field(validation_alias="from")
    target: str = Field(validation_alias="to")


class Sequence(Profile):
    """A job that does other profiles one after the other, and repeats the whole list `repeat` times."""

    seq: Annotated[list[str], Field(min_length=1)]
    repeat: Annotated[int, Field(ge=1, lt=1 << 62)] = 1


class Command(Profile):
    """A job that runs a real command on its first host; with a `launcher`, on all its hosts."""

    command: Annotated[str, Field(min_length=1, pattern=r"^[^\n\r\x00]+$")]
    launcher: Literal["none", "srun", "mpiexec"] = "none"


TYPES: dict[str, type[Profile]] = {
    # version 5
    "DelayProfile": Delay,
    "ParallelTaskProfile": ParallelTask,
    "ParallelTaskHomogeneousProfile": Homogeneous,
    "SequentialCompositionProfile": Sequence,
    "ParallelTaskOnStorageHomogeneousProfile": OnStorage,
    "ParallelTaskDataStagingBetweenStoragesProfile": Staging,
    # version 4
    "delay": Delay,
    "parallel": ParallelTask,
    "parallel_homogeneous": Homogeneous,
    "parallel_homogeneous_total": HomogeneousTotal,
    "composed": Sequence,
    "parallel_homogeneous_pfs": OnStorage,
    "data_staging": Staging,
    # between the two, and before
    "ptask": ParallelTask,
    "ptask_homogeneous": Homogeneous,
    "sequential_composition": Sequence,
    "ptask_on_storage_homogeneous": OnStorage,
    "ptask_data_staging_between_storages": Staging,
    "msg_par": ParallelTask,
    "msg_par_hg": Homogeneous,
    "msg_par_hg_tot": HomogeneousTotal,
    "msg_par_hg_pfs": OnStorage,
    # ours
    "suspendable": Suspendable,
    "failure": Failure,
    "command": Command,
}

_REPLAY = "replays a trace inside SimGrid, which is not here; describe the job as a parallel task or a sequence of them"
_TALK = "talks with Batsim's scheduler, which a real RJMS does not"
REFUSED: dict[str, str] = {
    "smpi": _REPLAY,
    "usage_trace": _REPLAY,
    "trace_replay": _REPLAY,
    "TraceReplayProfile": _REPLAY,
    "send": _TALK,
    "recv": _TALK,
    "SchedulerSendProfile": _TALK,
    "SchedulerRecvProfile": _TALK,
}
"""Profile types of Batsim that simunix does not support, and why."""


def parse_profile(description: Mapping[str, Any], where: str) -> Profile:
    """Return the profile that the description of a workload file means. Raises SimunixError, whose message begins with
    `where`, for a malformed profile.
    """
    kind = description.get("type")
    if isinstance(kind, str) and kind in REFUSED:
        raise SimunixError(f"{where}: type {kind!r} {REFUSED[kind]}")
    if not isinstance(kind, str) or kind not in TYPES:
        raise SimunixError(f"{where}.type: {kind!r} is no type of profile; known: {', '.join(TYPES)}")
    try:
        return TYPES[kind].model_validate({key: value for key, value in description.items() if key != "type"})
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        raise SimunixError(f"{where}.{key}: {first['msg']}; a profile of type {kind!r}, see docs/guide/jobs.md") from error


def share(profile: Homogeneous | OnStorage, total: float, parts: int) -> float:
    """Return the amount for each of `parts` hosts: the total, or an equal share of it, as the profile's strategy says."""
    return total / max(1, parts) if profile.generation_strategy in SPREAD else total
