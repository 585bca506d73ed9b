"""Which daemons of OAR run where, how they come up one after the other, and the paths that they keep."""

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
"""Hosts boot in waves, as a machine room does."""
TRIES = 300
"""How often Almighty's host asks the database, once a second, before the host gives up."""

# Private memory of PostgreSQL 15 with its connections, of Almighty with its modules, of a node's sshd and of a job's oarexec.
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
    """PostgreSQL of the folder `programs`, which makes its files at the first start and lets everybody in by password."""
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
    """Almighty, once its database answers; at the first start OAR's own tools make the tables and the properties."""
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
    """OAR's own sshd of a node, as Debian's /etc/init.d/oar-node starts it, but in the foreground.

    From its second boot on, the node tells OAR that it is alive again, for which /etc/default/oar-node has start_oar_node.
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
    """Return what writes the records of all jobs down at the end of a run, and behind them that these are all."""
    script = f"""PGPASSWORD={PASSWORD} exec {programs}/psql --quiet --no-psqlrc --csv -h {database} -U {USER} \\
    --output={RECORDS} {USER} <<'END'
{QUERY};
\\qecho '{LAST_LINE.strip()}'
END"""
    return ProcessSpec("records", host, ("/bin/sh", "-c", script), collects=True, essential=True)
