"""The paths of OAR in Debian's packages, and which package has which program."""

from __future__ import annotations

USER = "oar"
CONF_FOLDER = "/etc/oar"
CONF = f"{CONF_FOLDER}/oar.conf"
SSHD_CONF = f"{CONF_FOLDER}/sshd_config"
HOME = "/var/lib/oar"
"""The home folder of the user `oar`, with the key by which OAR's hosts log in to each other, and the files of running
jobs.
"""
LOGS = "/var/log/oar"
LOG = f"{LOGS}/oar.log"
RECORDS = f"{LOGS}/jobs.csv"
"""The file with the job records, which is written at the end of a run; see `accounting.QUERY`."""
RANKS = "/var/lib/oar-ranks"
"""The folder, shared by all hosts of a cluster, with the program that starts the ranks of a job."""
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
"""A file of each Debian package that the hosts of a cluster need; all hosts usually have one root file system."""
