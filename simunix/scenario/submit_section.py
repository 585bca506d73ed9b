"""The keys of `workload:` in a scenario that say how jobs are submitted."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator

from simunix.scenario.section import Duration, Section
from simunix.workload.job import Job
from simunix.workload.transforms.order import SESSION_GAP_S

BY_RJMS: Literal["rjms"] = "rjms"
"""The value of `dependencies` that leaves a dependency to the RJMS."""
FORMERLY_BY_RJMS = "slurm"
"""The old name, of simunix 0.1, for BY_RJMS; it is still accepted."""


def _by_rjms(value: object) -> object:
    return BY_RJMS if value == FORMERLY_BY_RJMS else value


Ranges = tuple[tuple[int, int], ...]


def _ranges(value: object) -> Ranges:
    """Return inclusive ranges of numbers from a number `7`, a list `[1, 3]` or a text '1-5,9'. Raises ValueError for
    any other value.
    """
    if isinstance(value, int) and not isinstance(value, bool):
        return ((value, value),)
    if isinstance(value, (list, tuple)):
        return tuple(found for each in value for found in _ranges(each))
    found = []
    for part in value.split(",") if isinstance(value, str) else [""]:
        first, dash, last = part.strip().partition("-")
        if not first.isdecimal() or (dash and not (last.isdecimal() and int(first) <= int(last))):
            raise ValueError(f"expected numbers such as 7, [1, 3] or '1-5,9', got {value!r}")
        found.append((int(first), int(last or first)))
    return tuple(found)


_NUMBERS_SCHEMA = WithJsonSchema({"type": ["integer", "string", "array"]})
Numbers = Annotated[Ranges, BeforeValidator(_ranges), _NUMBERS_SCHEMA]


class SubmitOptions(Section):
    """Options of the submission of jobs, with the names of sbatch's options; `arguments` are further options, passed
    unchanged.

    With `hold`, the job is submitted held, and released after this time.
    """

    partition: str | None = None
    qos: str | None = None
    account: str | None = None
    nice: int | None = None
    priority: Annotated[int, Field(ge=0)] | None = None
    hold: Duration | None = None
    arguments: list[str] = []

    def over(self, other: SubmitOptions) -> SubmitOptions:
        """Return these options; options that these leave out are taken from `other`. The arguments of both are joined."""
        said = {name: value for name in SubmitOptions.model_fields if (value := getattr(self, name)) is not None}
        return other.model_copy(update={**said, "arguments": [*other.arguments, *self.arguments]})


class OptionRule(SubmitOptions):
    """Options for the jobs that have all numbers which the rule names: fields 1 and 12 to 16 of SWF, and the number of
    cores.
    """

    jobs: Numbers | None = None
    users: Numbers | None = None
    groups: Numbers | None = None
    executables: Numbers | None = None
    queues: Numbers | None = None
    partitions: Numbers | None = None
    cores: Numbers | None = None

    def fits(self, job: Job) -> bool:
        """Return whether a job has all numbers that the rule names."""
        return all(
            ranges is None or any(first <= getattr(job, field) <= last for first, last in ranges)
            for ranges, field in ((getattr(self, name), field) for name, field in CONDITIONS.items())
        )


CONDITIONS = {
    "jobs": "id",
    "users": "user",
    "groups": "group",
    "executables": "executable",
    "queues": "queue",
    "partitions": "partition",
    "cores": "cores",
}
"""The field of a job that each condition of a rule for submit options compares."""


def _partition_alone(value: object) -> object:
    """Return options for a short form: a name alone is the name of a partition."""
    return {"partition": value} if isinstance(value, str) else value


def _allow_name(schema: dict[str, Any]) -> None:
    options = schema["additionalProperties"]
    schema["additionalProperties"] = {"anyOf": [{"type": "string"}, options]}


_Options = Annotated[SubmitOptions, BeforeValidator(_partition_alone)]
ByNumber = Annotated[dict[Annotated[int, Field(strict=False)], _Options], Field(json_schema_extra=_allow_name)]


class PolicySection(Section):
    """A scheduling policy in Python, which decides instead of the RJMS's scheduler: all jobs are submitted held, and the
    policy starts them. See docs/guide/policies.md.

    `name` is a policy that simunix ships, or FILE.py:CLASS, a class that derives from `simunix.policy.Policy`. `options`
    are the arguments of its `__init__`. `on_error` says what happens when the policy raises an exception: `end` ends the
    run, `go_on` leaves the jobs in the queue until the next decision.
    """

    name: str
    options: dict[str, str | int | float] = {}
    on_error: Literal["end", "go_on"] = "end"


def _name_alone(value: object) -> object:
    """Return a policy for a short form: a text is the name of a policy without options."""
    return {"name": value} if isinstance(value, str) else value


def _allow_text(schema: dict[str, Any]) -> None:
    schema["anyOf"] = [{"type": "string"}, *schema["anyOf"]]


class SubmitSection(Section):
    """How the jobs of a workload are submitted.

    With `users: trace`, field 12 of the trace becomes users of the emulated hosts, named userN, in groups groupN (field
    13), and each job is submitted by its user. With `accounts: trace`, field 13 becomes the RJMS's account groupN,
    which is created beforehand if there is a database of accounts.

    `dependencies` says what fields 17 and 18 of the trace mean. With `think_time`, a job is submitted its think time
    after the preceding job has ended. With `rjms`, the job is submitted at its own moment, and the RJMS itself makes it
    wait for the end of the preceding job. With `feedback`, the users of the trace wait for their results. With
    `feedback: session`, a batch of jobs is submitted when the batch before it has ended and the trace's think time has
    passed; a longer think time than `session_gap` begins a new session, at its own moment. With `feedback: user`, all
    jobs of a user are one session. The end of a job is noticed every `poll_interval`.

    With a `policy`, jobs are submitted held, and a policy in Python starts them. With `arrays: bursts`, equal jobs
    of one moment are submitted as a job array. Options come from `partitions` (by field 16), `queues` (by field 15)
    and `options`; later ones override earlier ones.
    """

    client: str | None = None
    users: Literal["ignore", "trace"] = "ignore"
    accounts: Literal["ignore", "trace"] = "ignore"
    dependencies: Annotated[Literal["ignore", "think_time", "rjms"], BeforeValidator(_by_rjms)] = "ignore"
    feedback: Literal["none", "session", "user"] = "none"
    session_gap: Duration = int(SESSION_GAP_S * 10**9)
    poll_interval: Annotated[Duration, Field(gt=0)] = 5 * 10**9
    arrays: Literal["ignore", "bursts"] = "ignore"
    policy: Annotated[PolicySection | None, BeforeValidator(_name_alone), Field(json_schema_extra=_allow_text)] = None
    partitions: ByNumber = {}
    queues: ByNumber = {}
    options: list[OptionRule] = []

    @model_validator(mode="after")
    def _check(self) -> SubmitSection:
        if self.feedback != "none" and self.dependencies != "ignore":
            raise ValueError("feedback and dependencies both decide when a job is submitted; choose one of them")
        return self

    def options_of(self, job: Job) -> SubmitOptions:
        """Return all options for a job: by its partition, then by its queue, then by the rules in their order; later
        options override earlier ones.
        """
        found = SubmitOptions()
        for number, mapping in ((job.partition, self.partitions), (job.queue, self.queues)):
            if number in mapping:
                found = mapping[number].over(found)
        for rule in self.options:
            if rule.fits(job):
                found = rule.over(found)
        return found
