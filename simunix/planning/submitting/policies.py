"""Plan the daemon of a workload's `policy`, which runs on the controller's host (simunix.policy.daemon)."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from rsg_server.errors import SimunixError
from simunix.launch.plan import FileSpec, ProcessSpec
from simunix.launch.programs import check_program
from simunix.launch.shipped import FOLDER
from simunix.policy.daemon import GOES_ON
from simunix.policy.shipped import PolicyError, make
from simunix.rjms.adapter import ClusterPlan
from simunix.roots.tree import RootTree
from simunix.scenario.submit_section import PolicySection, SubmitSection

POLICY = "policy"


@dataclass(frozen=True, slots=True)
class PolicyPlan:
    """The daemon of a policy, and the user's file that it needs, if any."""

    process: ProcessSpec
    files: tuple[FileSpec, ...]


def plan_policy(
    section: SubmitSection,
    key: str,
    folder: Path,
    start_ns: int,
    cluster: ClusterPlan,
    roots: Mapping[str, RootTree],
    python: str,
) -> PolicyPlan | None:
    """Return the daemon of a workload's policy; None without a policy. Raises SimunixError, beginning with the wrong key."""
    if section.policy is None:
        return None
    policy, host, key = section.policy, cluster.controller, f"{key}.policy"
    clients = cluster.rjms.clients
    if not clients.policy or not cluster.diary:
        why = "writes no log that tells of jobs" if clients.policy else "cannot be told by simunix's policies when jobs start"
        raise SimunixError(f"{key}: {cluster.rjms.title} {why}; take the policy away")
    if section.client in clients.staying or section.arrays != "ignore":
        raise SimunixError(f"{key}: a policy starts single jobs; take client: {section.client} or arrays away")
    _check(policy, key, folder)
    if check_program(python, "", tree=roots[host]) is not None:
        raise SimunixError(
            f"{key}: no {python} in the root {roots[host].path} of {host}, which runs it; add the package python3"
        )
    name, files = policy.name, tuple[FileSpec, ...]()
    if ".py:" in name:
        path, _, class_name = name.rpartition(":")
        there = f"{FOLDER}/own/{Path(path).name}"
        name, files = f"{there}:{class_name}", (FileSpec(host, there, (folder / path).read_bytes()),)
    options = [f"{option}={value}" for option, value in policy.options.items()]
    goes_on = [GOES_ON] if policy.on_error == "go_on" else []
    argv = (python, "-m", clients.policy, cluster.diary, name, *goes_on, *options)
    environment = dict(cluster.environment)
    return PolicyPlan(ProcessSpec(POLICY, host, argv, start_ns, environment=environment, essential=True, serves=True), files)


def _check(policy: PolicySection, key: str, folder: Path) -> None:
    """Raise SimunixError if the policy cannot be made, as the daemon would say later."""
    path, colon, class_name = policy.name.rpartition(":")
    name = f"{os.path.join(folder, path)}:{class_name}" if colon else policy.name
    try:
        make(name, policy.options)
    except PolicyError as error:
        raise SimunixError(f"{key}: {error}") from error
