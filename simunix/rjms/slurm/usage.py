"""Fair-share usage that users have from before a run, as the state file `assoc_usage` that slurmctld reads at its start.

sacctmgr can only set usage to 0, so the file is written: by a shell on the controller, before slurmctld's first start, when
slurmdbd knows the numbers of the associations. What the file consists of was read from the files of slurmctld 22.05: version of
the protocol (two bytes), a moment (eight), then an entry for each user's association. An entry has the association's number
(four bytes), its usage as the text of a number, no text of its TRES, and the seconds of its jobs (four). A text follows its
length (four) and ends with a byte 0. slurmctld adds to accounts what their users have.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping

from rsg_server.errors import SimunixError
from simunix.rjms.slurm.releases import Release

RELEASE: Release = (22, 5)
"""The release whose file is known."""
PROTOCOL = 38
"""The high byte of SLURM_PROTOCOL_VERSION of this release; the low one is 0."""
STATE_FILE = "assoc_usage"
Usage = Mapping[str, Mapping[str, float]]
"""TRES-seconds, as RawUsage of sshare tells them: by account, then by user."""
AWK = r"""
function byte(n) { return sprintf("\\0%03o", n % 256) }
function four(n) { return byte(int(n / 16777216)) byte(int(n / 65536)) byte(int(n / 256)) byte(n) }
BEGIN { printf "%s%s%s%s", byte(PROTOCOL), byte(0), four(0), four(now) }
NR == FNR { raw[$1, $2] = $3; next }
($2, $3) in raw {
    printf "%s%s%s%s%s%s", four($1), four(length(raw[$2, $3]) + 1), raw[$2, $3], byte(0), four(0), four(0)
    delete raw[$2, $3]
}
END {
    for (one in raw) {
        split(one, of, SUBSEP)
        print "usage: no association of " of[2] " with " of[1] > "/dev/stderr"
        missing = 1
    }
    exit missing
}
""".replace("PROTOCOL", str(PROTOCOL))
"""From lines ACCOUNT|USER|USAGE, then lines NUMBER|ACCOUNT|USER, to escapes for printf; a user's first association counts."""


def check_release(usage: Usage, release: Release, key: str) -> None:
    """Refuse usage for a slurmctld whose file is not known. Raises SimunixError."""
    if usage and release != RELEASE:
        here, known = (f"{year}.{month:02d}" for year, month in (release, RELEASE))
        raise SimunixError(
            f"{key}.usage: only the file of Slurm {known} is known, here is {here}; take usage out, or give {known}"
        )


def shell_lines(usage: Usage, folder: str, sacctmgr: str) -> str:
    """Return lines of a shell script that write the file into a folder; "" without usage. They end the script if a user
    is unknown.
    """
    lines = "\n".join(f"{account}|{user}|{raw:.6f}" for account, users in usage.items() for user, raw in users.items())
    if not lines:
        return ""
    file = shlex.quote(f"{folder}/{STATE_FILE}")
    return f"""printf '%s\\n' {shlex.quote(lines)} >{file}.told
{sacctmgr} --noheader --parsable2 show associations format=id,account,user >{file}.known || exit 1
escaped=$(LC_ALL=C awk -F'|' -v now="$(date +%s)" {shlex.quote(AWK)} {file}.told {file}.known) || exit 1
printf '%b' "$escaped" >{file}
rm {file}.told {file}.known
"""
