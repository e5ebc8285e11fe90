"""Two databases that differ in one row of a protected table, or in all rows of one user."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Dict, List, Optional, Sequence, Tuple

import psycopg2
import psycopg2.extensions

import references
from expressions import quoted
from outcome import Outcome, execute
from choices import Protected
from rows import BOSSES, FIRST_NEW_ID, TOO_LONG, Change, Columns, Row, odd_row, rows_of_table, small_row

TEMPLATE = "fuzz_template"
ROW_COUNTS = {"staff": 320, "visits": 300, "stays": 300, "patients": 50, "events": 200, "hidden": 220}
# Those of trees.py: so small that most joins find one row or none. In trips a person has several rows with equal keys.
SMALL_ROW_COUNTS = {"calls": 8, "beds": 7, "doses": 9, "meals": 9, "trips": 30, "notes": 9, "slips": 7, "bills": 9,
                    **{table: 0 for table in references.TABLES}}  # references.py says how many
USERS = 60
# The table that a protected view reads
STORED_IN = {"roster": "hidden"}
# The tables that protect users, and how many rows of each a query sees, as protect.sql has it
OF_USERS: Dict[str, Optional[int]] = {"visits": None, "stays": 3, "patients": 1, "beds": 1, "doses": 2, "meals": 3, "trips": 40,
                                      "notes": 3, "slips": 3, "bills": 3, "clients": 1, "orders": 2, "lines": 4, "parts": 6, "invoices": 2, "tips": 3, "chats": 3, "passes": 2}
# Those whose users are the same. Neighbours differ by all rows of one user in all of them.
UNITS = (("stays", "patients"), ("beds", "doses", "meals", "trips"), ("notes", "slips"), references.TABLES)
ONE_ROW_OF_USER = ("patients",)
# What the analyst may read of its rows is the same in both databases.
PARTLY_READABLE = "passes"
KEYS = {"staff": "id", "visits": "patient", "stays": "patient", "patients": "patient", "events": "id", "hidden": "id", "calls": "id",
        "beds": "patient", "doses": "patient", "meals": "patient", "trips": "patient", "notes": "patient", "slips": "patient", "bills": "patient", **references.KEYS}
LARGE = ("staff", "staff", "staff", "visits", "stays", "stays", "patients", "events", "roster")
SMALL = ("calls", "beds", "orders", "notes", "doses", "lines", "meals", "slips", "beds", "clients", "calls", "doses", "invoices", "bills", "meals", "parts", "trips", "lines", "chats", "tips", "passes")
SMALL_EACH = int(os.environ.get("SMALL_EACH", "2"))  # Each second change is one of a small table, where the variable says no other.

ORDER_SHARE = 0.4     # of the changes of tables that are not alike: none but the order of the rows
REPLACED_SHARE = 0.2  # of the others: both have a row, or rows of a user, but not the same

COLUMNS_QUERY = """
SELECT a.attname, CASE WHEN t.typname = '_text' THEN 'text[]' ELSE t.typname END
  FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid
 WHERE a.attrelid = '{}'::regclass AND a.attnum > 0 ORDER BY a.attnum"""

CHARGES_QUERY = """
SELECT number, function, mechanism, neighbours, epsilon, delta, rho, grouping_sets, groups
  FROM dpquantile.ledger WHERE role_name = 'analyst' AND number > {} ORDER BY number"""


def connect(database: str, user: str) -> psycopg2.extensions.connection:
    connection = psycopg2.connect(dbname=database, user=user)
    connection.autocommit = True
    return connection


def must(connection: psycopg2.extensions.connection, sql: str) -> Tuple[Row, ...]:
    """The rows of a statement of the owner, which must not fail."""
    outcome = execute(connection, sql)
    if outcome.error:
        raise RuntimeError(f"{sql[:500]}\n{outcome}")
    return outcome.rows


def columns_of_table(connection: psycopg2.extensions.connection, table: str) -> Columns:
    return {str(name): str(kind) for name, kind in must(connection, COLUMNS_QUERY.format(table))}


def values(rows: Sequence[Row]) -> str:
    return ", ".join("(" + ", ".join(quoted(value) for value in row) + ")" for row in rows)


@dataclass
class Neighbour:
    """One of the two databases: a session of the analyst, one of the owner."""

    name: str
    analyst: psycopg2.extensions.connection
    owner: psycopg2.extensions.connection
    last_charge: int = 0

    @property
    def tape(self) -> Path:
        return Path(os.environ["TAPES"]) / self.name

    def insert(self, table: str, rows: Sequence[Row]) -> None:
        if rows:
            must(self.owner, f"INSERT INTO {table} VALUES {values(rows)}")

    def delete(self, table: str, key: str) -> None:
        must(self.owner, f"DELETE FROM {table} WHERE {KEYS[table]} = {quoted(key)}")

    def execute(self, sql: str) -> Outcome:
        """What a statement shows the owner."""
        return execute(self.owner, sql)

    def end_transaction(self) -> None:
        if self.analyst.info.transaction_status:
            execute(self.analyst, "ROLLBACK")

    def record(self, statements: Sequence[str], played: str) -> List[Outcome]:
        """Executes the statements while the session records a tape and plays another."""
        must(self.analyst, f"SET fuzz.play = '{played}'; SET fuzz.tape = '{self.tape}'")
        outcomes = [execute(self.analyst, statement) for statement in statements]
        self.end_transaction()
        must(self.analyst, "SET fuzz.tape = ''; SET fuzz.play = ''")
        return outcomes

    def new_charges(self) -> Tuple[Row, ...]:
        """What the analyst was charged since the last call, without the numbers of the charges."""
        charges = must(self.owner, CHARGES_QUERY.format(self.last_charge))
        if charges:
            self.last_charge = int(str(charges[-1][0]))
        return tuple(charge[1:] for charge in charges)


class Neighbours:
    """A pair of databases."""

    def __init__(self, number: int, random: Random, in_rho: bool = False):
        self.random = random
        self.names = [f"fuzz_{number}{letter}{'_rho' if in_rho else ''}" for letter in "ab"]
        maintenance = connect("postgres", "postgres")
        for name in self.names:
            must(maintenance, f"CREATE DATABASE {name} TEMPLATE {TEMPLATE}")
        maintenance.close()
        self.sides = [Neighbour(name, connect(name, "analyst"), connect(name, "postgres")) for name in self.names]
        for side in self.sides:
            must(side.owner, "SET session_replication_role = replica")  # Rows are loaded without their foreign keys.
        if in_rho:
            for side in self.sides:
                must(side.owner, "SELECT dp_grant_budget('analyst', 1e12, 0.9, 'zcdp', smallest_charge => 1e-9)")
        owner = self.sides[0].owner
        self.columns = {table: columns_of_table(owner, table) for table in KEYS}
        self.protected = [self.protected_table(owner, table) for table in ("staff", "visits", "stays", "patients", "events", "roster")]
        self.small = [self.protected_table(owner, table) for table in SMALL_ROW_COUNTS]
        self.rows: Dict[str, List[Row]] = {}
        self.changed: Optional[Change] = None
        self.changes = 0
        self.next_id = FIRST_NEW_ID
        self.are_alike = False  # except for the change
        self.settings: List[str] = []  # of the analyst's sessions

    def protected_table(self, owner: psycopg2.extensions.connection, table: str) -> Protected:
        return Protected(table, columns_of_table(owner, table), references.USERS.get(table, "patient") if table in OF_USERS else None, OF_USERS.get(table), table in UNITS[0])

    def load(self, alike: bool) -> None:
        """Other rows in all tables: the same in both databases, in another order and with other statistics unless they are to be alike."""
        self.changed = None
        self.are_alike = alike
        odd_share = self.random.choice([0, 0, 0.01, 0.05])
        for table, count in ROW_COUNTS.items():
            rows = rows_of_table(self.columns[table], count, odd_share, self.random)
            self.rows[table] = self.with_users(rows, table not in ONE_ROW_OF_USER) if table in OF_USERS else rows
        patients = self.random.choice([3, 9])  # Some have several rows, or most have one.
        for table, count in SMALL_ROW_COUNTS.items():
            self.rows[table] = [small_row(self.columns[table], number + 1, self.random, patients) for number in range(count)]
        self.rows.update(references.all_rows(self.random))
        for table, rows in references.readable_rows(self.random).items():
            for neighbour in self.sides:
                self.fill(neighbour, table, rows, False)
        for side, neighbour in enumerate(self.sides):
            for table, rows in self.rows.items():
                self.fill(neighbour, table, rows, side == 1 and not alike and table != PARTLY_READABLE)

    def with_users(self, rows: Sequence[Row], some_are_of_nobody: bool) -> List[Row]:
        return [(None if some_are_of_nobody and number % 29 == 0 else str(number % USERS + 1),) + row[1:] for number, row in enumerate(rows)]

    def fill(self, neighbour: Neighbour, table: str, rows: List[Row], differs: bool) -> None:
        owner = neighbour.owner
        must(owner, f"DELETE FROM {table}")
        must(owner, f"VACUUM {table}")
        if differs:
            neighbour.insert(table, [row for row in rows[:100]])
            must(owner, f"DELETE FROM {table}")
        neighbour.insert(table, self.random.sample(rows, len(rows)) if differs else rows)
        statistics = self.random.choice(["none", "analyzed", "false"]) if differs else "analyzed"
        if statistics != "none":
            must(owner, f"ANALYZE {table}")
        if statistics == "false":
            must(owner, f"UPDATE pg_class SET reltuples = 1e6, relpages = 3 WHERE oid = '{table}'::regclass")

    def change(self) -> Change:
        """Takes the last change back and makes another. Returns it."""
        if self.changed is not None:
            self.apply(self.changed, undo=True)
        self.changes += 1
        number = self.changes // SMALL_EACH
        protected = SMALL[number % len(SMALL)] if self.changes % SMALL_EACH == 0 else self.random.choice(LARGE)
        table = STORED_IN.get(protected, protected)
        is_of_order = not self.are_alike and self.random.random() < ORDER_SHARE
        self.changed = Change(table, (), True, 0, "") if is_of_order else self.random_change(table)
        if len(self.changed.key) < TOO_LONG and not is_of_order and self.random.random() < REPLACED_SHARE:
            self.changed = self.replaced(self.changed)
        self.apply(self.changed, undo=False)
        return self.changed

    def random_change(self, table: str) -> Change:
        side = self.random.randrange(2)
        if table in references.TABLES:
            return self.change_of_references(table, side)
        key_position = list(self.columns[table]).index(KEYS[table])
        if self.random.random() < 0.35:
            # Other rows refer to the first ones.
            rows = self.rows[table][:BOSSES] if self.random.random() < 0.5 else self.rows[table]
            key = str(self.random.choice([row[key_position] for row in rows if row[key_position] is not None]))
            return Change(table, self.rows_with_key(table, key), False, side, key,
                          tuple((other, self.rows_with_key(other, key)) for other in self.others_of_unit(table)))
        self.next_id += 1
        # The keys of public tables end at 12, those of the rows of small tables before that.
        key = str(self.random.choice([10, 12]) if table in SMALL and self.random.random() < 0.5 else self.next_id)
        most = 3 if table in SMALL else 12
        return Change(table, self.new_rows(table, key, [1, most // 4 + 1, most]), True, side, key,
                      tuple((other, self.new_rows(other, key, [0, 1, most // 4 + 1, most // 2, most])) for other in self.others_of_unit(table)))

    def change_of_references(self, table: str, side: int) -> Change:
        """All rows of a person, who is there or not."""
        persons = {references.person_of(other, row) for other in references.TABLES for row in self.rows[other]}
        there = sorted(person for person in persons if person is not None)
        is_new = self.random.random() < 0.65
        self.next_id += 1
        key = self.random.choice(["10", "12", str(self.next_id)]) if is_new else self.random.choice(there)
        rows = references.rows_of_person(key, self.random) if is_new else {
            other: tuple(row for row in self.rows[other] if references.person_of(other, row) == key) for other in references.TABLES}
        return Change(table, rows[table], is_new, side, key, tuple((other, rows[other]) for other in references.TABLES if other != table))

    def replaced(self, change: Change) -> Change:
        """Other rows with the same key in the other database."""
        if change.table in references.TABLES:
            rows = references.rows_of_person(change.key, self.random)
            rows[PARTLY_READABLE] = references.with_other_levels(dict(change.parts())[PARTLY_READABLE], self.random)
            return replace(change, instead=tuple(rows.items()))
        self.next_id += 1
        return replace(change, instead=tuple((table, self.new_rows(table, change.key, [max(1, len(rows)), 3])) for table, rows in change.parts()))

    def others_of_unit(self, table: str) -> List[str]:
        return [other for unit in UNITS if table in unit for other in unit if other != table]

    def rows_with_key(self, table: str, key: str) -> Tuple[Row, ...]:
        position = list(self.columns[table]).index(KEYS[table])
        return tuple(row for row in self.rows[table] if row[position] == key)

    def new_rows(self, table: str, key: str, counts: Sequence[int]) -> Tuple[Row, ...]:
        """With a new key, as many as one of the counts if they are of a user."""
        count = self.random.choice(counts) if table in OF_USERS else 1
        count = min(count, 1) if table in ONE_ROW_OF_USER else count
        position = list(self.columns[table]).index(KEYS[table])
        any_row = small_row if table in SMALL else odd_row
        rows = [any_row(self.columns[table], self.next_id, self.random) for _ in range(count)]
        return tuple(row[:position] + (key,) + row[position + 1:] for row in rows)

    def apply(self, change: Change, undo: bool) -> None:
        here, there = self.sides[change.side], self.sides[1 - change.side]
        for table, _ in change.instead if undo else ():
            there.delete(table, change.key)
        passes = dict(change.parts()).get(PARTLY_READABLE, ()) if change.key else ()
        blanks = references.of_nobody(passes) if not change.instead else []
        if undo and blanks:
            there.delete(PARTLY_READABLE, change.key)
        for table, rows in change.parts() if change.key else ():
            if change.is_new == undo:
                (here if change.is_new else there).delete(table, change.key)
            else:
                (here if change.is_new else there).insert(table, rows)
        for table, rows in () if undo else change.instead:
            there.insert(table, rows)
        there.insert(PARTLY_READABLE, () if undo else blanks)
        if passes and not change.is_new:  # so that they lie where the other ones do
            here.delete(PARTLY_READABLE, change.key)
            here.insert(PARTLY_READABLE, passes)

    def values_of_change(self) -> Dict[str, List[Optional[str]]]:
        """The values in which the neighbours differ, by type."""
        found: Dict[str, List[Optional[str]]] = {}
        if self.changed is not None:
            for row in self.changed.rows:
                for kind, value in zip(self.columns[self.changed.table].values(), row):
                    found.setdefault(kind, []).append(value)
        return found

    def changed_values(self) -> Dict[str, str]:
        """The values of the changed row, or of one of them, by column."""
        if self.changed is None:
            return {}
        if not self.changed.rows:
            return {"patient": self.changed.key} if self.changed.key else {}
        row = self.random.choice(self.changed.rows)
        return {name: value for name, value in zip(self.columns[self.changed.table], row) if value is not None}

    def close(self) -> None:
        for side in self.sides:
            side.analyst.close()
            side.owner.close()

    def new_charges(self) -> Tuple[Tuple[Row, ...], Tuple[Row, ...]]:
        return self.sides[0].new_charges(), self.sides[1].new_charges()

    def set(self, name: str, value: str) -> None:
        self.change_settings(f"SET {name} = '{value}'")

    def change_settings(self, statement: str) -> None:
        """RESET ALL, or SET."""
        self.settings = self.settings + [statement] if statement.startswith("SET") else []
        self.both(statement)

    def renew_sessions(self) -> None:
        """Sessions of the analyst whose caches are empty."""
        for side in self.sides:
            side.analyst.close()
            side.analyst = connect(side.name, "analyst")
            for statement in self.settings:
                execute(side.analyst, statement)

    def end_transactions(self) -> None:
        for side in self.sides:
            side.end_transaction()

    def both(self, sql: str) -> List[Outcome]:
        return [execute(side.analyst, sql) for side in self.sides]
