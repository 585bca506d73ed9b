"""Make the sacctmgr commands that create a workload's users before slurmctld starts, as in sacctmgr(1) of Slurm 22.05."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence


def account_commands(new: Sequence[str], associations: Mapping[str, Sequence[str]], qos: Collection[str]) -> list[str]:
    """Return the sacctmgr commands that create new accounts, and users with their accounts, of which the first is the
    default.

    `qos` are the qualities of service that jobs ask for. These qualities of service, and accounts that are not new,
    must exist before the commands run. Users with equal accounts share a command.
    """
    commands = (
        [f"modify account root set QosLevel+={','.join(sorted(qos))}"] if qos else []
    )  # these accounts inherit the limits of the account root
    commands += [f"add account {','.join(new)} Description=trace Organization=trace"] if new else []
    together: dict[tuple[str, ...], list[str]] = {}
    for user, own in associations.items():
        together.setdefault(tuple(own), []).append(user)
    for own, users in together.items():
        default = "" if "root" in users else f" DefaultAccount={own[0]}"  # the user root already has a default account, root
        commands.append(f"add user {','.join(users)} Account={','.join(own)}{default}")
    return commands
