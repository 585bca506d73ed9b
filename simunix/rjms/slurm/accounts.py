"""What sacctmgr is told of a workload's users before slurmctld starts. man sacctmgr(1) of Slurm 22.05 is the source."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence


def account_commands(new: Sequence[str], associations: Mapping[str, Sequence[str]], qos: Collection[str]) -> list[str]:
    """Commands for sacctmgr that make the new accounts, and users with theirs (the first is their default).

    `qos` are those that jobs ask for; they and other accounts must exist by then. Users of the same accounts share a command.
    """
    commands = (
        [f"modify account root set QosLevel+={','.join(sorted(qos))}"] if qos else []
    )  # all other accounts inherit those of root
    commands += [f"add account {','.join(new)} Description=trace Organization=trace"] if new else []
    together: dict[tuple[str, ...], list[str]] = {}
    for user, own in associations.items():
        together.setdefault(tuple(own), []).append(user)
    for own, users in together.items():
        default = "" if "root" in users else f" DefaultAccount={own[0]}"  # the user root has a default account already: root
        commands.append(f"add user {','.join(users)} Account={','.join(own)}{default}")
    return commands
