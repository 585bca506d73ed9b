"""Write the fair-share usage that users have before a run, as the state file `assoc_usage` that slurmctld reads at its
start.

sacctmgr can set usage only to 0. So a shell on the controller writes the file before slurmctld's first start, when
slurmdbd has numbered the associations. The format was found from files of slurmctld 22.05: the protocol version (two
bytes), a moment (eight bytes), then an entry for each user's association. An entry has the association's number (four
bytes), its usage as the text of a number, an empty text for its TRES, and the seconds of its jobs (four bytes). A text
follows its length (four bytes) and ends with a zero byte. slurmctld adds the usage of users to their accounts.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping

from rsg_server.errors import SimunixError
from simunix.rjms.slurm.releases import Release

RELEASE: Release = (22, 5)
"""The Slurm release whose file `assoc_usage` simunix can write."""
PROTOCOL = 38
"""The high byte of SLURM_PROTOCOL_VERSION in this release; the low byte is 0."""
STATE_FILE = "assoc_usage"
Usage = Mapping[str, Mapping[str, float]]
"""TRES-seconds, as in RawUsage of sshare, by account and then by user."""
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
"""The awk program that turns lines ACCOUNT|USER|USAGE, followed by lines NUMBER|ACCOUNT|USER, into escapes for printf.
A user's first association in an account counts.
"""


def check_release(usage: Usage, release: Release, key: str) -> None:
    """Raise SimunixError if usage is given for a slurmctld whose file format is not known."""
    if usage and release != RELEASE:
        here, known = (f"{year}.{month:02d}" for year, month in (release, RELEASE))
        raise SimunixError(
            f"{key}.usage: simunix knows only the usage file of Slurm {known}, here is {here}; take usage out, or give {known}"
        )


def shell_lines(usage: Usage, folder: str, sacctmgr: str) -> str:
    """Return lines of a shell script that write the file into a folder; "" without usage. The lines end the script if a
    user is unknown.
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
