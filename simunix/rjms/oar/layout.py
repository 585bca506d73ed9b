"""Where an OAR of Debian's packages keeps what, and which programs belong to which package."""

from __future__ import annotations

USER = "oar"
CONF_FOLDER = "/etc/oar"
CONF = f"{CONF_FOLDER}/oar.conf"
SSHD_CONF = f"{CONF_FOLDER}/sshd_config"
HOME = "/var/lib/oar"
"""The home of the user `oar`: the key with which OAR's hosts let each other in, and the files of running jobs."""
LOGS = "/var/log/oar"
LOG = f"{LOGS}/oar.log"
RECORDS = f"{LOGS}/jobs.csv"
"""What is collected of the table of jobs at the end of a run; see `accounting.QUERY`."""
RANKS = "/var/lib/oar-ranks"
"""A folder that all hosts of a cluster share, for the program that starts the ranks of a job."""
START_RANKS = f"{RANKS}/start_ranks"
SCHEMA = "/usr/lib/oar/database"
SCHEDULERS = "/usr/lib/oar/schedulers"
VERSION_FILE = "/usr/share/perl5/OAR/Version.pm"
SSHD, ALMIGHTY, OARSUB = "/usr/sbin/sshd", "/usr/sbin/Almighty", "/usr/bin/oarsub"
NODE_PROGRAM = "/etc/init.d/oar-node"

POSTGRES_USER = "postgres"
POSTGRES_VERSIONS = "/usr/lib/postgresql"
POSTGRES_HOME = "/var/lib/postgresql/oar"
POSTGRES_SOCKETS = "/run/postgresql"
DATA = f"{POSTGRES_HOME}/data"
ADMINISTRATOR_PASSWORD, PASSWORD, READER_PASSWORD = "postgres", "oar", "oar_ro"

PACKAGES = {
    ALMIGHTY: "oar-server",
    "/var/lib/dpkg/info/oar-server-pgsql.list": "oar-server-pgsql",
    NODE_PROGRAM: "oar-node",
    OARSUB: "oar-user",
    "/var/lib/dpkg/info/oar-user-pgsql.list": "oar-user-pgsql",
    POSTGRES_VERSIONS: "postgresql",
}
"""A path of each package that the hosts of a cluster need, which have one root as a rule."""
