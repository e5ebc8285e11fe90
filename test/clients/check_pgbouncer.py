"""check_pgbouncer.py POOL_SIZE SERVER_PORT: several clients share the server connections of pgbouncer's pool."""

import sys

import psycopg

import checks
from checks import check, equal

CLIENTS = 6
pool_size, server_port = map(int, sys.argv[1:])


class Pooled(checks.Driver):
    def connect(self, role):
        return psycopg.connect(user=role, autocommit=True, prepare_threshold=None)


driver = Pooled()
driver.role = "analyst"
with psycopg.connect(user="postgres", port=server_port) as superuser:
    clients = [driver.connect(driver.role) for _ in range(CLIENTS)]
    answers = driver.charged(2 * CLIENTS, f"{CLIENTS} clients that ask in turn, twice", lambda: [
        driver.value(client, checks.MEDIAN, 0.05, 0, 120) for _ in range(2) for client in clients])
    check(all(map(checks.is_age, answers)), f"{CLIENTS} clients that ask in turn, twice: all get ages")

    # An open transaction keeps its server connection, so the second client needs another one.
    clients[0].execute("BEGIN")
    for client in clients[:2]:
        driver.value(client, checks.MEDIAN, 0.05, 0, 120)
    clients[0].execute("ROLLBACK")
    workers = driver.value(superuser, "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'dpquantile session'")
    equal(workers, pool_size, "each server connection has a session worker")
sys.exit(checks.failures > 0)
