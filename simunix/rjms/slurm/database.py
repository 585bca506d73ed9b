"""slurmdbd and its MariaDB: the hosts on which they run, their files, and the order in which they start.

The source is slurmdbd.conf(5) of Slurm 22.05. No daemon waits for a fixed time: slurmdbd tries until its database
answers, and slurmctld starts when slurmdbd knows the cluster.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field

from rsg_server.errors import SimunixError
from simunix.launch.plan import FileSpec, PrivateSpec, ProcessSpec
from simunix.rjms.slurm import configuration, daemons
from simunix.rjms.slurm.section import SlurmSection
from simunix.rjms.slurm.usage import Usage, shell_lines
from simunix.roots.tree import THIS_COMPUTER, RootTree

SLURMDBD, SACCTMGR = "/usr/sbin/slurmdbd", "/usr/bin/sacctmgr"
MARIADBD, INSTALL = "/usr/sbin/mariadbd", "/usr/bin/mariadb-install-db"
CONFIG = "/etc/slurm/slurmdbd.conf"
DATA = "/var/lib/mysql"
SOCKET_FOLDER = "/run/mysqld"
GRANTS = f"{SOCKET_FOLDER}/simunix.sql"
MARIADBD_USER = "mysql"
MARIADBD_START_NS = 0
SLURMDBD_START_NS = 500 * 10**6
STORAGE_USER, STORAGE_PASS, STORAGE_LOC = "slurm", "simunix", "slurm_acct_db"
AUTH = daemons.MUNGE_PLUGINS["authtype"]
OF_DATABASE = (
    "accounting_storage_host",
    "accounting_storage_shared",
    "accounting_storage_enforce",
    "storage_host",
    "sacctmgr",
    "usage",
)
"""The keys of the section that are allowed only together with a database."""
MARIADB_RELEASE = rb"(\d+\.\d+)\.\d+-MariaDB"
OPTIONS_OF_RELEASE = {"10.5": " --innodb-flush-sync=OFF"}
"""Options that only some releases of MariaDB need. With `innodb_flush_sync`, 10.5 waits for its page cleaner in a loop without
any system call. simunix would have to preempt that loop, and no two runs would have the same event log."""
TRIES = 300
"""How often the host of slurmctld tries, once per second, to reach slurmdbd before it gives up."""


@dataclass(frozen=True, slots=True)
class Database:
    """The hosts of a cluster's slurmdbd (`dbd`) and MariaDB (`storage`), and the sacctmgr commands for the first start.

    If the database is `shared`, another cluster starts both daemons.
    """

    cluster: str
    dbd: str
    storage: str
    sacctmgr: tuple[str, ...] = ()
    user: str = "root"  # SlurmUser, which must be the user of slurmctld
    auth: str = AUTH  # AuthType, which must be equal for all daemons
    shared: bool = False
    usage: Usage = field(default_factory=dict)
    state: str = configuration.STATE  # StateSaveLocation


def of_section(section: SlurmSection, key: str, settings: Mapping[str, str]) -> Database | None:
    """Return the database that a section asks for; None if it asks for none. `settings` are the parameters of the
    user's own slurm.conf, if there is one.
    """
    if section.accounting_storage_type == "none":
        for name in OF_DATABASE:
            if getattr(section, name):
                raise SimunixError(f"{key}.{name}: of no use without a database; add accounting_storage_type: slurmdbd")
        return None
    dbd = section.accounting_storage_host or settings.get("accountingstoragehost") or section.controller
    if section.config is not None:
        _check_configuration(section, key, settings, dbd)
    if section.accounting_storage_shared and (section.storage_host or dbd == section.controller):
        wrong = "storage_host" if section.storage_host else "accounting_storage_host"
        raise SimunixError(
            f"{key}.{wrong}: with accounting_storage_shared another cluster starts slurmdbd; name only that host"
        )
    return Database(
        section.cluster,
        dbd,
        section.storage_host or dbd,
        tuple(_words(command, f"{key}.sacctmgr") for command in section.sacctmgr),
        settings.get("slurmuser", "root"),
        _authentication(section, settings),
        section.accounting_storage_shared,
        section.usage,
        settings.get("statesavelocation", configuration.STATE),
    )


def _authentication(section: SlurmSection, settings: Mapping[str, str]) -> str:
    """Return the plugin with which the cluster's daemons authenticate each other. slurmdbd must use that of slurmctld."""
    given = {name.lower(): value for name, value in section.parameters.items()}
    return str(given.get("authtype") or settings.get("authtype", AUTH))


def _check_configuration(section: SlurmSection, key: str, settings: Mapping[str, str], dbd: str) -> None:
    """Raise SimunixError if the user's own slurm.conf contradicts the section."""
    wanted = {
        "AccountingStorageType": "accounting_storage/slurmdbd",
        "AccountingStorageHost": dbd,
        "ClusterName": section.cluster,
    }
    for name, value in wanted.items():
        found = settings.get(name.lower(), "localhost" if name == "AccountingStorageHost" else "nothing")
        if found != value:
            raise SimunixError(
                f"{key}.config: {section.config}: {name} is {found}, but {value} for the section; make them agree"
            )
    if section.accounting_storage_enforce:
        raise SimunixError(f"{key}.accounting_storage_enforce: belongs into {section.config}, as AccountingStorageEnforce")


@dataclass(frozen=True, slots=True)
class DatabasePlan:
    """The plan of slurmdbd and MariaDB. `private` has the private paths of MariaDB's host; slurmctld, which waits for
    slurmdbd, is among the processes.
    """

    files: tuple[FileSpec, ...]
    processes: tuple[ProcessSpec, ...]
    private: tuple[PrivateSpec, ...]


def plan(database: Database, key: str, controller: str, roots: Mapping[str, RootTree], is_root: bool) -> DatabasePlan:
    """Plan both daemons, and a slurmctld that waits for them. Raises SimunixError with the name of a missing Debian
    package.
    """
    if database.shared:
        return DatabasePlan((), (slurmctld(database, controller),), ())
    _check_installed(database, key, roots)
    root = roots[database.storage]
    user = MARIADBD_USER if is_root and root.user(MARIADBD_USER) else "root"
    return DatabasePlan(
        (
            FileSpec(database.dbd, CONFIG, slurmdbd_conf(database).encode(), database.user, 0o600),
            FileSpec(database.storage, GRANTS, grants_sql().encode()),
        ),
        (mariadbd(database, user, root), slurmdbd(database), slurmctld(database, controller)),
        tuple(PrivateSpec(path, user if is_root else "") for path in (DATA, SOCKET_FOLDER)),
    )


def _check_installed(database: Database, key: str, roots: Mapping[str, RootTree]) -> None:
    for host, program, package in (
        (database.dbd, SLURMDBD, "slurmdbd"),
        (database.storage, MARIADBD, "mariadb-server"),
        (database.storage, INSTALL, "mariadb-server"),
    ):
        root = roots[host]
        if not root.has(program):
            where = "" if root == THIS_COMPUTER else f" in the root {root.path} of {host}"
            mend = f"as root: apt-get install {package}" if root == THIS_COMPUTER else f"make it with {package}"
            raise SimunixError(f"{key}.accounting_storage_type: no {program}{where}; {mend}")


# Files


def slurmdbd_conf(database: Database) -> str:
    """Return the content of slurmdbd.conf. slurmdbd refuses the file if users other than its owner, SlurmUser, may read
    it.
    """
    return f"""# Written by simunix from the scenario's slurm section.
AuthType={database.auth}
DbdHost={database.dbd}
SlurmUser={database.user}
StorageType=accounting_storage/mysql
StorageHost={database.storage}
StorageUser={STORAGE_USER}
StoragePass={STORAGE_PASS}
StorageLoc={STORAGE_LOC}
PidFile=/run/slurmdbd.pid
"""


def grants_sql() -> str:
    """Return the SQL statements, one per line, that mariadbd executes at its start. Slurm's database user may connect
    from any host.
    """
    return f"""CREATE USER IF NOT EXISTS '{STORAGE_USER}'@'%' IDENTIFIED BY '{STORAGE_PASS}';
GRANT ALL ON {STORAGE_LOC}.* TO '{STORAGE_USER}'@'%';
"""


# Processes


def mariadbd(database: Database, user: str, root: RootTree) -> ProcessSpec:
    """Return the process mariadbd, which creates its tables at the first start, with the settings that
    slurm.schedmd.com/accounting.html asks for.

    Native asynchronous I/O is switched off, since simunix refuses its system calls.
    """
    more = OPTIONS_OF_RELEASE.get(root.version_in(MARIADBD, MARIADB_RELEASE) or "", "")
    script = f"""cd {DATA}
set -- --no-defaults --user={user} --datadir={DATA} --innodb-use-native-aio=OFF --innodb-log-file-size=64M{more}
if ! [ -d mysql ] && ! {INSTALL} "$@" --skip-test-db >install.log 2>&1; then
    cat install.log >&2
    exit 1
fi
exec {MARIADBD} "$@" --socket={SOCKET_FOLDER}/mysqld.sock --bind-address=0.0.0.0 --init-file={GRANTS} \\
    --innodb-buffer-pool-size=1G --innodb-lock-wait-timeout=900"""
    return ProcessSpec("mariadbd", database.storage, ("/bin/sh", "-c", script), MARIADBD_START_NS, essential=True)


def slurmdbd(database: Database) -> ProcessSpec:
    """Return the process slurmdbd, which tries every five seconds to reach its database."""
    return ProcessSpec("slurmdbd", database.dbd, (SLURMDBD, "-D"), SLURMDBD_START_NS, essential=True)


def slurmctld(database: Database, controller: str) -> ProcessSpec:
    """Return the process slurmctld, started once slurmdbd answers and knows the cluster; else it would end at its first
    start.
    """
    commands = "".join(f"{SACCTMGR} --immediate {command} || exit 1\n" for command in database.sacctmgr)
    written = shell_lines(database.usage, database.state, SACCTMGR)
    cluster = shlex.quote(database.cluster)
    script = f"""tries=0
until clusters=$({SACCTMGR} --noheader --parsable2 show cluster format=cluster 2>/dev/null); do
    tries=$((tries + 1))
    [ $tries -lt {TRIES} ] || {{ echo 'slurmdbd on {database.dbd} does not answer; see slurmdbd.err there' >&2; exit 1; }}
    sleep 1
done
if ! echo "$clusters" | grep -qixF {cluster}; then
{SACCTMGR} --immediate add cluster {cluster} || exit 1
{commands}{written}fi
exec {daemons.SLURMCTLD} -D"""
    return ProcessSpec("slurmctld", controller, ("/bin/sh", "-c", script), daemons.SLURMCTLD_START_NS, essential=True)


def _words(command: str, key: str) -> str:
    """Return a sacctmgr command, with or without the word `sacctmgr` in front, with each word quoted for the shell.
    Raises SimunixError, beginning with `key`, for unbalanced quotes.
    """
    try:
        words = shlex.split(command)
        return shlex.join(words[1:] if words[:1] == ["sacctmgr"] else words)
    except ValueError as error:
        raise SimunixError(f"{key}: {command}: {error}; write it as for sacctmgr, e.g. add account physics") from None
