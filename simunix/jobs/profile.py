"""What a job does, in Batsim's words: profile types of its versions 4 and 5 (and older names), and a few of our own.

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
    """`ret` is the exit code of a job that has done all of it; keys that are not known are left alone, as Batsim does."""

    model_config = ConfigDict(extra="allow", frozen=True, populate_by_name=True, defer_build=True)
    ret: Annotated[int, Field(ge=0, le=255)] = 0


class Delay(Profile):
    """The job takes `delay` seconds, in which seconds of suspension count."""

    delay: _Seconds


class Suspendable(Profile):
    """The job takes `delay` seconds, in which seconds of suspension do not count."""

    delay: _Seconds


class Failure(Profile):
    """The job fails after `delay` seconds."""

    delay: _Seconds = 0.0
    ret: Annotated[int, Field(ge=1, le=255)] = 1


class ParallelTask(Profile):
    """`cpu[i]` flops on host i, `com[i·n + j]` bytes from host i to host j, all at once."""

    cpu: list[_Amount] | None = None
    com: list[_Amount] | None = None


class Homogeneous(Profile):
    """`cpu` flops on each host, `com` bytes from each to each other, or a share of them (`generation_strategy`)."""

    cpu: _Amount = 0.0
    com: _Amount = 0.0
    generation_strategy: _Strategy = "DefinedAmountsUsedForEachValue"


class HomogeneousTotal(Homogeneous):
    """`cpu` flops and `com` bytes in all, the same for each host and pair of hosts."""

    generation_strategy: _Strategy = "DefinedAmountsSpreadUniformly"


class OnStorage(Profile):
    """Each host reads and writes so many bytes at a storage, or a share of them."""

    bytes_to_read: _Amount = 0.0
    bytes_to_write: _Amount = 0.0
    storage: str = Field(default="pfs", validation_alias=AliasChoices("storage", "host"))
    generation_strategy: _Strategy = "DefinedAmountsUsedForEachValue"


class Staging(Profile):
    """`nb_bytes` bytes from one storage to another."""

    nb_bytes: _Amount
    source: str = Field(validation_alias="from")
    target: str = Field(validation_alias="to")


class Sequence(Profile):
    """Other profiles, one after the other, all of them `repeat` times."""

    seq: Annotated[list[str], Field(min_length=1)]
    repeat: Annotated[int, Field(ge=1, lt=1 << 62)] = 1


class Command(Profile):
    """A real command, on the first host; with a `launcher`, on all of them."""

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
"""Types of Batsim that cannot be run, and why."""


def parse_profile(description: Mapping[str, Any], where: str) -> Profile:
    """A profile of a workload file. Raises SimunixError that begins with `where`."""
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
    """What each of `parts` gets of an amount: the whole amount, or an equal share."""
    return total / max(1, parts) if profile.generation_strategy in SPREAD else total
