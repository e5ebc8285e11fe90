"""Clients ask while servers, processes, disks and standbys fail. run.sh starts it, as a user who may run a server.

usage: chaos.py SECONDS SEED DIRECTORY PROGRAMS FAULTS

After each episode the servers recover, and the accounts (accounts.py) compare what clients have received with what is charged. It
ends at the first finding. EPISODES: the names of those to choose from, all by default.
"""

import os
import random
import signal
import sys
import time
from collections import Counter
from pathlib import Path

import psycopg

import episodes
from accounts import Accounts
from clients import ROLES, Crowd
from server import CRASH, DoesNotStart, Server

HERE = Path(__file__).parent


class World:
    def __init__(self, seed, directory, programs, faults):
        self.rng = random.Random(seed)
        self.directory = Path(directory)
        self.programs = programs
        self.faults = faults
        self.servers = 0
        self.standby = None
        self.preloaded = self.rng.random() < 0.5
        self.findings = []
        self.hits = self.lost_bytes = self.lost_charges = self.failovers = 0
        self.primary = self.new_server()
        self.primary.initialise()
        self.primary.configure(shared_preload_libraries="dpquantile" if self.preloaded else "")
        self.primary.start()
        with self.primary.connect() as owner:
            owner.execute((HERE / "schema.sql").read_text(), prepare=False)
        self.accounts = Accounts(set(ROLES), self.directory / "answers")
        self.crowd = Crowd(self.accounts, self.primary, seed, self.found)

    def new_server(self):
        self.servers += 1
        return Server(self.directory / f"server{self.servers}", self.programs, self.faults)

    def found(self, what):
        if len(self.findings) < 20:
            print("FOUND:", what, flush=True)
        self.findings.append(what)

    # Standbys

    def need_standby(self, synchronous):
        if self.standby is None:
            self.primary.wait_until_ready()
            self.primary.configure(synchronous_standby_names="")
            self.standby = self.new_server()
            self.standby.copy_from(self.primary)
            self.standby.start()
        self.primary.configure(synchronous_standby_names="standby" if synchronous else "")
        self.wait_for_standby()

    def is_synchronous(self):
        return self.primary.settings.get("synchronous_standby_names") == "standby"

    def wait_for_standby(self):
        """Until it streams, and is synchronous if it is named"""
        wanted = "sync" if self.is_synchronous() else "async"
        end = time.monotonic() + 60
        while time.monotonic() < end:
            if not self.standby.runs():
                self.standby.wait_until_ready()
            try:
                with self.primary.connect() as owner:
                    row = owner.execute("SELECT state, sync_state, flush_lsn >= pg_current_wal_flush_lsn() FROM pg_stat_replication"
                                        " WHERE application_name = 'standby'").fetchone()
                if row and row[0] == "streaming" and row[1] == wanted and (row[2] or self.crowd.asking.is_set()):
                    return
            except psycopg.Error:
                pass
            time.sleep(0.05)
        raise DoesNotStart(f"the standby does not become {wanted}")

    def drop_standby(self):
        if self.standby is None:
            return
        self.primary.configure(synchronous_standby_names="")
        self.standby.remove()
        self.standby = None

    def end_primary(self):
        """For ever: it is fenced."""
        how = self.rng.choice(["kill", "lose_power", "stop"])
        if how == "kill":
            self.primary.kill()
        elif how == "lose_power":
            self.lost_bytes += self.primary.lose_power()
        else:
            self.primary.stop(signal.SIGQUIT)

    def promote(self, charges_may_be_lost=False):
        old, new = self.primary, self.standby
        new.configure(synchronous_standby_names="")
        new.program("pg_ctl", "promote", "-D", str(new.data))
        self.primary = self.crowd.primary = new
        self.standby = None
        self.failovers += 1
        if charges_may_be_lost:
            self.take_over(old)
        self.keep_log(old)
        old.remove()

    def take_over(self, old):
        """Compares what the asynchronous standby has with the old server, to which nobody else connects. Then either moves the budgets, or adds
        what is missing."""
        before = self.accounts.state()
        with self.primary.connect() as owner:
            for what in self.accounts.check(owner, charges_may_be_lost=True):
                self.found(f"after the failover: {what}")
        old.configure(synchronous_standby_names="")
        old.start()
        self.lost_charges += self.compare_with_old(old)
        if self.rng.random() < 0.5:
            self.accounts.go_back_to(before)
            self.move_budgets(old)
            return
        with self.primary.connect() as owner:
            self.accounts.repair(owner)

    def compare_with_old(self, old):
        """Only the latest charges may be missing: the check has found all numbers up to the last one. Returns whether any is."""
        ledger = "SELECT budget_id, number, epsilon, function, charged_at FROM dpquantile.ledger"
        charges = "SELECT budget_id, charges FROM dpquantile.budget"
        with self.primary.connect() as owner, old.connect() as other:
            here = {row[:2]: row for row in owner.execute(ledger)}
            there = {row[:2]: row for row in other.execute(ledger)}
            numbers, before = dict(owner.execute(charges).fetchall()), dict(other.execute(charges).fetchall())
        for budget, number in numbers.items():
            if number > before[budget]:
                self.found(f"the promoted standby has {number} charges of a budget, and the old server {before[budget]}")
        for key in here.keys() & there.keys():
            if here[key] != there[key]:
                self.found(f"the promoted standby has the charge {here[key]}, and the old server {there[key]}")
        return numbers != before

    def move_budgets(self, old):
        """The commands of docs/operations.md"""
        tables = ["budget", "budget_name", "ledger", "query_text", "table_identity", "table_name", "archived_by_table"]
        script = str(self.directory / "budgets.sql")
        old.program("pg_dump", "--data-only", *[part for table in tables for part in ("-t", f"dpquantile.{table}")], "-f", script, "postgres")
        self.primary.program("psql", "-X", "-q", "-1", "-v", "ON_ERROR_STOP=1", "-d", "postgres",
                             "-c", "TRUNCATE dpquantile.budget, dpquantile.ledger, dpquantile.query_text, dpquantile.budget_name",
                             "-c", "TRUNCATE dpquantile.table_identity, dpquantile.table_name, dpquantile.archived_by_table", "-f", script,
                             "-c", "SELECT dpquantile.note_table_name(relation) FROM dpquantile.protected_table")

    # Episodes

    def keep_log(self, server):
        text = server.new_log()
        for line in text.splitlines():
            if CRASH.search(line):
                self.found(f"the server's log: {line}")

    def settle(self):
        """Recovers, and checks."""
        self.primary.wait_until_ready()
        if self.standby is not None:
            self.wait_for_standby()
        self.crowd.pause()
        if self.standby is not None:
            self.wait_for_standby()
        with self.primary.connect() as owner:
            for what in self.accounts.check(owner):
                self.found(what)
        self.crowd.disk_fails = False
        for server in filter(None, (self.primary, self.standby)):
            self.keep_log(server)
        # A standby costs time: episodes that need one follow each other.
        if self.standby is not None and self.rng.random() < 0.1:
            self.drop_standby()

    def episode(self, names):
        for name in names:
            self.crowd.go()
            time.sleep(self.rng.random() * 0.6)
            episodes.EPISODES[name][1](self)
            self.primary.wait_until_ready()
        time.sleep(self.rng.random() * 0.4)
        self.settle()

    def end(self):
        self.crowd.end()
        for server in filter(None, (self.primary, self.standby)):
            server.kill()


def choose(rng, names):
    weights = [episodes.EPISODES[name][0] for name in names]
    return rng.choices(names, weights, k=rng.choice([1, 1, 1, 2, 3]))


def go_on(world, seconds, names):
    runs = Counter()
    answers = Counter()
    end = time.monotonic() + seconds
    checks = 0
    while time.monotonic() < end and not world.findings:
        chosen = choose(world.rng, names)
        before = world.accounts.answers
        try:
            world.episode(chosen)
        except (DoesNotStart, psycopg.Error) as error:
            world.found(f"{type(error).__name__}: {error}")
        checks += 1
        for name in chosen:
            runs[name] += 1
            answers[name] += world.accounts.answers - before
        if world.findings:
            print(f"in episode {checks}, {' and '.join(chosen)}, {'preloaded' if world.preloaded else 'not preloaded'}", flush=True)
    for name in names:
        print(f"  {name:30} {runs[name]:5} times {answers[name]:7} answers around it")
    return checks


def show_log(world):
    for server in filter(None, (world.primary, world.standby)):
        print(f"--- the end of the log of {server.directory.name}")
        print("\n".join((server.directory / "log").read_text(errors="replace").splitlines()[-30:]))


def main():
    seconds, seed, directory, programs, faults = int(sys.argv[1]), sys.argv[2], *sys.argv[3:]
    names = os.environ.get("EPISODES", "").split() or list(episodes.EPISODES)
    print(f"SEED={seed}", flush=True)
    world = World(seed, directory, programs, faults)
    try:
        checks = go_on(world, seconds, names)
    finally:
        world.end()
    accounts = world.accounts
    if not world.findings and len(names) == len(episodes.EPISODES) and (accounts.checked < checks or world.hits < checks / 10):
        world.found(f"{accounts.checked} answers and {world.hits} failed writes in {checks} episodes: this tests little")
    for text, number in world.crowd.answers.items():
        print(f"  {number:7} answers to {text}")
        if not number and len(names) == len(episodes.EPISODES):
            world.found("no answer to one of the statements: this tests little")
    if world.findings:
        show_log(world)
    states = ", ".join(f"{state} {count}" for state, count in world.crowd.errors.most_common(12))
    print(f"{accounts.checked} answers whose charges were found; errors: {states}")
    print(f"{world.hits} calls of the system failed or delayed, {world.lost_bytes} bytes of the write-ahead log lost with the power, "
          f"{world.failovers} failovers, {world.lost_charges} of them with lost charges")
    print(f"{checks - bool(world.findings)} passed, {len(world.findings)} failed")
    return 1 if world.findings else 0


if __name__ == "__main__":
    sys.exit(main())
