"""The daemons of OAR: which run on which host, in which order they start, and which paths of the host they need for
themselves.
"""

from __future__ import annotations

from simunix.launch.plan import Footprint, PrivateSpec, ProcessSpec
from simunix.rjms.oar.accounting import LAST_LINE, QUERY
from simunix.rjms.oar.layout import (
    ADMINISTRATOR_PASSWORD,
    ALMIGHTY,
    CONF_FOLDER,
    DATA,
    HOME,
    LOG,
    LOGS,
    PASSWORD,
    POSTGRES_HOME,
    POSTGRES_SOCKETS,
    POSTGRES_USER,
    RANKS,
    RECORDS,
    SSHD,
    SSHD_CONF,
    USER,
)

STATEMENTS = f"{LOGS}/resources.sql"
BOOTED = f"{LOGS}/booted"
POSTGRES_START_NS = 0
ALMIGHTY_START_NS = 1 * 10**9
SSHD_START_NS = 1 * 10**9
WAVE_HOSTS = 32
WAVE_NS = 50 * 10**6
"""The pause between the starts of groups of hosts: hosts boot one group after the other, as in a machine room."""
TRIES = 300
"""How often the host of Almighty tries, once per second, to reach the database before it gives up."""

# the private memory of PostgreSQL 15 with its connections, of Almighty with its modules, of a node's sshd, and of a
# job's oarexec
POSTGRES_FOOTPRINT = Footprint(32 << 20, 12)
ALMIGHTY_FOOTPRINT = Footprint(64 << 20, 40)
SSHD_FOOTPRINT = Footprint(3 << 20, 1, 12 << 20, 5, 5)

PATHS = (
    PrivateSpec(CONF_FOLDER, mode=None, copied=True),
    PrivateSpec(HOME, mode=None, copied=True),
    PrivateSpec(LOGS, USER),
    PrivateSpec(RANKS, shared=True),
)
DATABASE_PATHS = (PrivateSpec(POSTGRES_HOME, POSTGRES_USER), PrivateSpec(POSTGRES_SOCKETS, POSTGRES_USER))


def postgres(host: str, programs: str) -> ProcessSpec:
    """Return the process of PostgreSQL, whose programs are in the folder `programs`. PostgreSQL creates its files at
    the first start, and accepts every user with a password.
    """
    script = f"""cd {POSTGRES_HOME}
if ! [ -e {DATA} ]; then
    echo {ADMINISTRATOR_PASSWORD} > password
    {programs}/initdb --pgdata={DATA} --auth=scram-sha-256 --pwfile=password > initdb.log || exit 1
    echo 'host all all all scram-sha-256' >> {DATA}/pg_hba.conf
fi
exec {programs}/postgres -D {DATA} -c listen_addresses='*' -c unix_socket_directories={POSTGRES_SOCKETS}"""
    return ProcessSpec(
        "postgres",
        host,
        ("/bin/sh", "-c", script),
        POSTGRES_START_NS,
        user=POSTGRES_USER,
        environment={"HOME": POSTGRES_HOME, "USER": POSTGRES_USER},
        essential=True,
        footprint=POSTGRES_FOOTPRINT,
    )


def almighty(host: str, database: str, programs: str) -> ProcessSpec:
    """Return the process of Almighty, which starts once its database answers. At the first start, OAR's own tools
    create the tables and the properties.
    """
    psql = f"PGPASSWORD={PASSWORD} {programs}/psql --quiet --no-psqlrc --set=ON_ERROR_STOP=1 -h {database} -U {USER} {USER}"
    script = f"""export PATH={programs}:$PATH
touch {LOG} && chown {USER} {LOG}
tries=0
until pg_isready -q -h {database}; do
    tries=$((tries + 1))
    [ $tries -lt {TRIES} ] || {{ echo 'PostgreSQL on {database} does not answer; see postgres.err there' >&2; exit 1; }}
    sleep 1
done
if ! {psql} -c 'SELECT version FROM schema' > /dev/null 2>&1; then
    oar-database --create --force-yes --db-admin-user={POSTGRES_USER} --db-admin-pass={ADMINISTRATOR_PASSWORD} || exit 1
    oarproperty --quiet --varchar --add host && oarproperty --quiet --add cpu --add core || exit 1
    {psql} --file={STATEMENTS} || exit 1
fi
exec {ALMIGHTY}"""
    return ProcessSpec(
        "almighty",
        host,
        ("/bin/sh", "-c", script),
        ALMIGHTY_START_NS,
        essential=True,
        footprint=ALMIGHTY_FOOTPRINT,
    )


def sshd(host: str, index: int) -> ProcessSpec:
    """Return the process of OAR's own sshd on a node, started as Debian's /etc/init.d/oar-node does, but in the
    foreground.

    From its second boot on, the node tells OAR that it is alive again, by start_oar_node of /etc/default/oar-node.
    """
    script = f"""mkdir -p /run/sshd
if [ -e {BOOTED} ]; then
    (sleep 1; oarnodesetting -s Alive -h {host}) &
fi
touch {BOOTED}
exec {SSHD} -D -e -f {SSHD_CONF} -o PidFile=/run/oar-node_sshd.pid"""
    return ProcessSpec(
        "oar-node",
        host,
        ("/bin/sh", "-c", script),
        SSHD_START_NS + index // WAVE_HOSTS * WAVE_NS,
        essential=True,
        footprint=SSHD_FOOTPRINT,
    )


def records(host: str, database: str, programs: str) -> ProcessSpec:
    """Return the process that writes the records of all jobs into a file at the end of a run, and a last line which
    says that they are complete.
    """
    script = f"""PGPASSWORD={PASSWORD} exec {programs}/psql --quiet --no-psqlrc --csv -h {database} -U {USER} \\
    --output={RECORDS} {USER} <<'END'
{QUERY};
\\qecho '{LAST_LINE.strip()}'
END"""
    return ProcessSpec("records", host, ("/bin/sh", "-c", script), collects=True, essential=True)
