"""What happens to the servers while clients ask. Each episode leaves a mended disk; World.settle() starts what is down and checks."""

import errno
import signal
import time

import psycopg

WORKERS = "backend_type LIKE 'dpquantile%'"


def end_processes(world, function, condition):
    """Cancels or terminates the server processes of which the condition holds, if the server answers."""
    try:
        with world.primary.connect() as owner:
            owner.execute("SET statement_timeout = '2s'")
            owner.execute(f"SELECT {function}(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND {condition}")
    except psycopg.Error:
        pass


def random_process(world, condition):
    try:
        with world.primary.connect() as owner:
            pids = [pid for pid, in owner.execute(f"SELECT pid FROM pg_stat_activity WHERE {condition}")]
    except psycopg.Error:
        return None
    return world.rng.choice(pids) if pids else None


def kill_one(world, condition):
    for _ in range(20):
        pid = random_process(world, condition)
        if pid:
            world.primary.send(signal.SIGKILL, [pid])
            world.primary.wait_for_end(pid)
            return
        time.sleep(0.02)


# Processes

def kill_a_client(world):
    kill_one(world, "backend_type = 'client backend' AND usename <> 'postgres'")


def kill_a_worker(world):
    kill_one(world, WORKERS)


def kill_any_process(world):
    kill_one(world, "pid <> pg_backend_pid()")


def cancel_and_terminate(world):
    for _ in range(world.rng.randrange(5, 25)):
        function = world.rng.choice(["pg_cancel_backend", "pg_cancel_backend", "pg_terminate_backend"])
        end_processes(world, function, world.rng.choice([WORKERS, "usename <> 'postgres' AND state <> 'idle'"]))
        time.sleep(world.rng.random() * 0.1)


# Servers

def kill_the_postmaster(world):
    world.primary.kill_postmaster()


def kill_the_server(world):
    world.primary.kill()


def lose_power(world):
    world.lost_bytes += world.primary.lose_power()


def stop_immediately(world):
    world.primary.stop(signal.SIGQUIT)


def restart(world):
    world.primary.stop(signal.SIGINT)


def switch_preloading(world):
    world.preloaded = not world.preloaded
    world.primary.configure(shared_preload_libraries="dpquantile" if world.preloaded else "")
    world.rng.choice([restart, stop_immediately, lose_power])(world)


def change_synchronous_commit(world):
    world.primary.configure(synchronous_commit=world.rng.choice(["off", "local", "remote_write", "on", "remote_apply"]))


# The owner

def archive(world):
    """As docs/operations.md says: the charges are kept elsewhere before the commit."""
    with world.primary.connect() as owner, owner.transaction():
        owner.execute("SET LOCAL synchronous_commit = on")
        rows = owner.execute("SELECT b.role::text, a.number, a.epsilon FROM dp_archive_ledger('infinity') a"
                             " JOIN dpquantile.budget b USING (budget_id)")
        world.accounts.keep_archived(rows.fetchall())


def grant_more(world):
    with world.primary.connect() as owner:
        owner.execute("SET synchronous_commit = on")
        owner.execute("SELECT dp_grant_budget(role, (epsilon_spent + %s)::float8) FROM dpquantile.budget WHERE role = 'poor'::regrole AND table_id IS NULL",
                      (world.rng.choice([0.2, 1, 3]),))


# The disk. Some of these end in a PANIC of the server, some in errors of the charges.

def with_bad_disk(world, server, action, error, *fragments, power_may_fail=True):
    hits = server.hits()
    world.crowd.disk_fails = True
    server.fail(action, error, *fragments)
    end = time.monotonic() + 1.5
    while time.monotonic() < end and (server.hits() < hits + 3 or world.rng.random() < 0.9):
        time.sleep(0.05)
    if power_may_fail and world.rng.random() < 0.3:
        lose_power(world)
    server.mend()
    world.hits += server.hits() - hits


def owner_does(world, *statements):
    try:
        with world.primary.connect() as owner:
            owner.execute("SET statement_timeout = '3s'")
            for statement in statements:
                owner.execute(statement)
    except psycopg.Error:
        pass


def full_disk_of_the_log(world):
    """No space for a new segment, or for any write"""
    action = world.rng.choice(["grow", "grow", "write"])
    with_bad_disk(world, world.primary, action, errno.ENOSPC, "/pg_wal/")


def ledger_files(world):
    with world.primary.connect() as owner:
        files = [path for path, in owner.execute(
            "SELECT '/' || pg_relation_filepath(oid) FROM pg_class WHERE relname ~ '^(ledger|budget|query_text|budget_name)(_|$)'"
            " AND relnamespace = 'dpquantile'::regnamespace AND pg_relation_filepath(oid) IS NOT NULL")]
    return files


def full_disk_of_the_ledger(world):
    files = ledger_files(world)
    action = world.rng.choice(["grow", "grow", "write"])
    if action == "grow" and world.rng.random() < 0.5:
        owner_does(world, "VACUUM FULL dpquantile.ledger")  # no free space in its pages
        files = ledger_files(world)
    with_bad_disk(world, world.primary, action, errno.ENOSPC, *files)


def failing_flush_of_the_log(world):
    """PostgreSQL ends with a PANIC. If it recovers by itself, it takes what the system has in memory for durable: so the power may fail only
    if it does not (restart_after_crash), and it is started again when the disk is mended (docs/operations.md)."""
    recovers = world.rng.random() < 0.5
    world.primary.configure(restart_after_crash="on" if recovers else "off")
    with_bad_disk(world, world.primary, "flush", errno.EIO, "/pg_wal/", power_may_fail=not recovers)
    if world.primary.runs():
        world.primary.kill()
    world.primary.configure(restart_after_crash="on")


def failing_flush_of_data(world):
    world.crowd.disk_fails = True
    hits = world.primary.hits()
    world.primary.fail("flush", errno.EIO, "/base/", "/pg_xact/", "/global/")
    owner_does(world, "CHECKPOINT")
    if world.rng.random() < 0.3:
        lose_power(world)
    world.primary.mend()
    world.hits += world.primary.hits() - hits


def slow_flush(world):
    """Clients and workers are ended while charges wait for the disk."""
    world.primary.fail("slow", 1, "/pg_wal/")
    hits = world.primary.hits()
    for _ in range(8):
        end_processes(world, world.rng.choice(["pg_cancel_backend", "pg_terminate_backend"]), world.rng.choice([WORKERS, "usename <> 'postgres'"]))
        time.sleep(0.2)
    if world.rng.random() < 0.5:
        lose_power(world)
    world.primary.mend()
    world.hits += world.primary.hits() - hits


# Standbys

def disturb_waiting(world, may_restart):
    """While the synchronous standby is lost"""
    for _ in range(world.rng.randrange(5, 15)):
        time.sleep(world.rng.random() * 0.2)
        step = world.rng.randrange(8)
        if step < 3:
            end_processes(world, world.rng.choice(["pg_cancel_backend", "pg_terminate_backend"]), WORKERS)
        elif step < 5:
            end_processes(world, world.rng.choice(["pg_cancel_backend", "pg_terminate_backend"]), "usename <> 'postgres'")
        elif step == 5:
            change_synchronous_commit(world)
        elif step == 6 and may_restart:
            world.rng.choice([stop_immediately, kill_the_server, lose_power, kill_a_worker, kill_a_client])(world)
            world.primary.wait_until_ready()


def lose_the_standby(world):
    """Whoever asks after the loss gets no answer before the standby is back, or is promoted."""
    world.need_standby(synchronous=True)
    time.sleep(world.rng.random())
    way = world.rng.choice(["kill", "stop", "freeze"])
    if way == "kill":
        world.standby.kill()
    elif way == "stop":
        world.standby.stop()
    else:
        world.standby.send(signal.SIGSTOP, world.standby.processes())
    start = time.monotonic()
    disturb_waiting(world, may_restart=True)
    answers = world.accounts.answers_between(start, time.monotonic())
    if answers:
        world.found(f"{answers} answers to questions that were asked while the only synchronous standby was lost ({way})")
    if way == "freeze":
        world.standby.send(signal.SIGCONT, world.standby.processes())
    if world.rng.random() < 0.5:
        world.end_primary()
        if way != "freeze":
            world.standby.start()
        world.promote()
    elif way != "freeze":
        world.standby.start()


def bad_disk_of_the_standby(world):
    world.need_standby(synchronous=True)
    time.sleep(world.rng.random() * 0.5)
    action, error = world.rng.choice([("write", errno.ENOSPC), ("grow", errno.ENOSPC), ("flush", errno.EIO)])
    standby = world.standby
    hits = standby.hits()
    standby.fail(action, error, "/pg_wal/")
    disturb_waiting(world, may_restart=False)
    if action == "flush":
        standby.kill()  # as in failing_flush_of_the_log
    elif world.rng.random() < 0.4:
        world.lost_bytes += standby.lose_power()
    standby.mend()
    world.hits += standby.hits() - hits
    standby.wait_until_ready()
    if world.rng.random() < 0.5:
        world.end_primary()
        world.promote()


def fail_over(world):
    world.need_standby(synchronous=True)
    time.sleep(world.rng.random())
    if world.rng.random() < 0.3:
        with world.standby.connect() as owner:
            owner.execute("SELECT pg_wal_replay_pause()")
        time.sleep(0.2)
    world.end_primary()
    if world.rng.random() < 0.3:
        world.lost_bytes += world.standby.lose_power()
        world.standby.start()
    world.promote()


def fail_over_without_synchrony(world):
    """docs/operations.md: an asynchronous standby may lack the latest charges, and no others; the owner adds what is missing."""
    world.need_standby(synchronous=False)
    time.sleep(world.rng.random() * 0.5)
    late = world.rng.random() < 0.7
    if late:
        world.standby.kill()
        time.sleep(0.5)
    world.end_primary()
    if late:
        world.standby.start()
    world.crowd.pause()
    world.promote(charges_may_be_lost=True)


def drop_the_standby(world):
    world.drop_standby()


EPISODES = {function.__name__: (weight, function) for weight, function in [
    (4, kill_a_client), (4, kill_a_worker), (2, kill_any_process), (4, cancel_and_terminate), (2, kill_the_postmaster), (2, kill_the_server),
    (4, lose_power), (2, stop_immediately), (2, restart), (3, switch_preloading), (2, change_synchronous_commit), (2, archive), (3, grant_more),
    (4, full_disk_of_the_log), (4, full_disk_of_the_ledger), (4, failing_flush_of_the_log), (3, failing_flush_of_data), (3, slow_flush),
    (5, lose_the_standby), (2, bad_disk_of_the_standby), (4, fail_over), (4, fail_over_without_synchrony), (2, drop_the_standby)]}
