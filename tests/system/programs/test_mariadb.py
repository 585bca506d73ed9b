"""MariaDB: clients on two other hosts, a transaction that makes one wait for the other, many at once, an orderly end."""

from __future__ import annotations

import re

import pytest

from tests.system.programs.conftest import Needs, RunTwice

pytestmark = pytest.mark.slow

SQL = 'sql() { mariadb --host=db --user=tester --skip-column-names bank --execute "$1"; }'
SCENARIO = f"""
name: mariadb
hosts: [{{name: db, cores: 4}}, {{name: 'client[1-2]'}}]
network: {{bandwidth: 1Gbps, latency: 100us}}
environment: {{MYSQL_PWD: secret}}
stop: time
until: 40s
processes:
  - name: mariadbd
    host: db
    private: [/var/lib/mysql, /run/mysqld]
    command: |
      cd /var/lib/mysql
      mariadb-install-db --no-defaults --user=mysql --datadir=. --auth-root-authentication-method=normal > install.log || exit 1
      chown mysql /run/mysqld
      echo "CREATE USER tester IDENTIFIED BY 'secret';" > init.sql
      echo "CREATE DATABASE bank;" >> init.sql
      echo "GRANT ALL ON bank.* TO tester;" >> init.sql
      exec mariadbd --no-defaults --user=mysql --datadir=/var/lib/mysql --socket=SOCKET --bind-address=0.0.0.0 \\
        --init-file=/var/lib/mysql/init.sql
  - name: sql
    host: client1
    start: 5s
    command: |
      {SQL}
      sql "CREATE TABLE account (id INT PRIMARY KEY, owner VARCHAR(20), cents INT) ENGINE=InnoDB"
      sql "INSERT INTO account VALUES (1, 'anna', 100), (2, 'berta', 200)"
      sql "SELECT owner, cents FROM account ORDER BY id"
      sql "START TRANSACTION; UPDATE account SET cents = cents - 50 WHERE id = 1;
        UPDATE account SET cents = cents + 50 WHERE id = 2; SELECT SLEEP(10); SELECT SUM(cents) FROM account; COMMIT"
      sql "START TRANSACTION; DELETE FROM account; ROLLBACK; SELECT COUNT(*) FROM account"
  - name: sql
    host: client2
    start: 7s
    command: |
      {SQL}
      sql "SELECT cents FROM account WHERE id = 1"
      date +%T
      sql "UPDATE account SET cents = cents + 1 WHERE id = 1; SELECT cents FROM account WHERE id = 1; SELECT CURRENT_TIME"
      mariadb --host=db --user=nobody bank --execute "SELECT 1" || echo refused
  - name: slap
    host: client2
    start: 25s
    command: mariadb-slap --host=db --user=tester --create-schema=bank --auto-generate-sql --csv
      --concurrency=4 --iterations=2 --number-of-queries=200
  - name: stop
    host: db
    start: 35s
    expect: 1 # as pgrep, which finds none
    command: unset MYSQL_PWD; mariadb-admin --no-defaults --socket=SOCKET --user=root shutdown; sleep 1; pgrep -c mariadbd
""".replace("SOCKET", "/run/mysqld/mysqld.sock")


def test_clients_on_other_hosts(needs: Needs, run_twice: RunTwice) -> None:
    needs("mariadbd", "mariadb")
    run = run_twice(SCENARIO)
    log = run.everything("db", "mariadbd")
    assert run.output("client1", "sql").splitlines() == ["anna\t100", "berta\t200", "0", "300", "2"], log
    # What the first has not committed yet is not seen; to change it means to wait for the first's ten seconds of sleep.
    assert run.output("client2", "sql").splitlines() == ["100", "00:00:07", "51", "00:00:15", "refused"], log
    slap = re.search(r",mixed,([\d.]+),[\d.]+,[\d.]+,4,50", run.output("client2", "slap"))
    assert slap is not None, run.everything("client2", "slap")
    assert 0.02 < float(slap[1]) < 0.5  # fifty round trips of 0.4 ms and more for each of the four
    assert "Shutdown completed" in log
    assert run.output("db", "stop").split() == ["0"]
