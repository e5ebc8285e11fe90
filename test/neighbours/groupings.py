"""Whether mechanisms are given the same whoever finds the groups: the node GroupedRows, or PostgreSQL's Agg.

The same rows are asked for all private aggregates, by keys of many types, in each way in which a plan may group them (WAYS). PostgreSQL's Agg does it where
an aggregate has DISTINCT. EXPLAIN tells whether each way is taken, and the pages that a read wrote, whether rows waited for their groups. All else must be
equal: rows and their order, charges, and on the tape all that a mechanism of each group is given, draws and gives.

No family is left out. dp_keep_group stands in HAVING, beside families that are not charged for each group; and keys of which equal ones look different stand
beside families without random choices, because noise is made of the key as it looks. Protected rows are not asked: no analyst can have PostgreSQL group them.

Of the planted faults in the node and its table (test/mutants) it finds rows_of_full_groups, keys_of_one_hash, every_second_part, last_rows_that_wait,
hash_of_an_equal_key and keys_that_look_alike. It does not find room_after_none, which needs a group of a million rows, headers_of_keys and equality_of_a_key,
which need operators of one's own, or parts_read_again, which needs outer values: sql/grouped_rows.sql has these."""

from __future__ import annotations

import multiprocessing
import os
from collections import Counter
from dataclasses import dataclass, replace
from itertools import zip_longest
from pathlib import Path
from typing import List, Optional, Tuple

from databases import connect, must
from finding import LINE
from outcome import Outcome, execute, use_texts
from private_aggregates import AGGREGATES
from recording import Execution, executions_of
from report import Report

DATABASE = "fuzz_groupings"
MOST_DIFFERENCES = 3
MOST_LETTERS = 2000  # of what differs
CALLS_OF_QUERY = 7
KEEP_AT = 16  # rows; a group has about as many

# Of each key, PostgreSQL expects few values in the table few, and many in the table many. That -1 and NULL differ, and two texts of one hash,
# shows in the first groups of some. What is large is compressed or stored elsewhere.
SETUP = """
CREATE EXTENSION dpquantile;
SELECT dp_grant_budget('postgres', 1e12, 0.9, smallest_charge => 1e-9);
CREATE TYPE mood AS ENUM ('low', 'middle', 'high');
CREATE TYPE pair AS (number int4, title text);
CREATE DOMAIN title AS text;
CREATE COLLATION no_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE TABLE few AS
SELECT i AS id, hashint4(i) & 31 AS person, (hashint4(i * 7) & 1023)::float8 / 10 AS x, hashint4(i * 13) & 63 AS n, date '2024-01-01' + (hashint4(i * 17) & 63) AS day,
       CASE m WHEN 0 THEN NULL WHEN 1 THEN -1 ELSE m END::int4 AS k_int4, CASE m WHEN 0 THEN NULL WHEN 1 THEN -1 ELSE m::int8 << 40 END AS k_int8, (m - 50)::int2 AS k_int2,
       m % 2 = 0 AS k_bool, m % 20 AS k_twenty, CASE m WHEN 0 THEN 'name 8065' WHEN 1 THEN 'name 275570' WHEN 2 THEN NULL ELSE 'name ' || m END AS k_text,
       ('title ' || m)::title AS k_title, ('name ' || m)::name AS k_name, (m || repeat(' ', i % 2))::char(8) AS k_char, CASE WHEN i % 3 = 0 THEN m + 1.0 ELSE m + 1.000 END AS k_numeric,
       CASE WHEN m = 0 AND i % 2 = 0 THEN float8 '-0' WHEN m = 1 THEN 'NaN' ELSE m END AS k_float8, CASE WHEN m = 0 AND i % 2 = 0 THEN float4 '-0' ELSE m END::float4 AS k_float4,
       date '2000-01-01' + m AS k_date, timestamptz '2000-01-01' + m * interval '1 hour' AS k_time, CASE WHEN i % 2 = 0 THEN interval '24 hours' ELSE interval '1 day' END * m AS k_interval,
       md5(m::text)::uuid AS k_uuid, ('\\x' || md5(m::text))::bytea AS k_bytea, ('{low,middle,high}'::mood[])[1 + m % 3] AS k_mood,
       ARRAY[m % 50, NULL, m] AS k_array, int4range(m % 100, m % 100 + m % 9) AS k_range, ROW(m, 'title ' || m % 40)::pair AS k_pair,
       jsonb_build_object('m', m, 'n', CASE WHEN i % 2 = 0 THEN 1.0 ELSE 1.00 END) AS k_jsonb, (CASE WHEN i % 2 = 0 THEN 'CASE ' ELSE 'case ' END || m) COLLATE no_case AS k_no_case,
       repeat('long ', 500 + m % 30) AS k_long, (SELECT string_agg(md5(j::text), '') FROM generate_series(m % 7, 80) j) AS k_elsewhere
  FROM (SELECT i, hashint4(i * 3) & 127 AS m FROM generate_series(1, 2100) i) r;
CREATE TABLE many AS TABLE few;
DO $$
DECLARE
  key name;
BEGIN
  FOR key IN SELECT attname FROM pg_attribute WHERE attrelid = 'few'::regclass AND attnum > 0 LOOP
    EXECUTE format('ALTER TABLE few ALTER %I SET (n_distinct = 2)', key);
    EXECUTE format('ALTER TABLE many ALTER %I SET (n_distinct = -1)', key);
  END LOOP;
END $$;
ANALYZE few, many"""


@dataclass(frozen=True)
class Key:
    """What rows are grouped by. Where equal keys look different, any row of a group gives its key: `alike` is an expression by which they look alike."""

    sql: str
    alike: str = ""
    is_chosen: bool = False  # whether dp_keep_group decides which groups are shown


FEW_GROUPS = Key("k_twenty")
MOST_GROUPS = Key("id")
KEYS = [Key("k_int4"), Key("k_int2"), Key("k_title"), Key("k_name"), Key("k_date"), Key("k_time"), Key("k_uuid"), Key("k_bytea"), Key("k_mood, k_int2"), Key("k_array"), Key("k_range"),
        Key("k_pair"), Key("k_long"), Key("k_elsewhere"), Key("k_int4, k_text"), Key("k_twenty, k_int8"), Key("k_int4 % 3, lower(k_text)"), Key("k_int8", is_chosen=True),
        Key("k_text", is_chosen=True), Key("k_char", "rtrim(k_char::text)"), Key("k_numeric", "trim_scale(k_numeric)"), Key("k_float8", "k_float8 + 0"),
        Key("k_float4, k_bool", "k_float4 + 0, k_bool"), Key("k_interval", "extract(epoch FROM k_interval)"), Key("k_jsonb", "k_jsonb ->> 'm'"),
        Key("k_no_case", 'lower(k_no_case::text COLLATE "C")')]


@dataclass(frozen=True)
class Way:
    """How rows are grouped, and in which table and memory they are then."""

    name: str
    table: str
    memory: str
    rows_wait: Optional[bool] = None  # on disk, for groups that have no room beside others; None: is not known
    workers: int = 0


WITH_ROOM = Way("as they come", "few", "256MB", rows_wait=False)
WITHOUT_ROOM = Way("as they come", "few", "64kB", rows_wait=True)
PART_BY_PART = Way("part by part", "many", "64kB")
BY_WORKERS = Way("by workers", "few", "64MB", workers=2)
BY_POSTGRESQL = Way("by PostgreSQL", "few", "64MB")
WAYS = (WITH_ROOM, WITHOUT_ROOM, PART_BY_PART, BY_WORKERS)

# These take milliseconds a group.
SLOW = ("dp_learn_bounds", "dp_cdf")
# Those that choose at random also where noise is 0, are charged for each group, or count users
OF_RANDOM_CHOICES = ("dp_median", "dp_quantile", "dp_quantiles", "dp_synthesize", "dp_iqr", "dp_user_mean", "dp_user_variance", "dp_user_grid_stats")
CHOICES = [aggregate.call("", user="id / 2") for aggregate in AGGREGATES if aggregate.name == "dp_keep_group"]


def calls(but: Tuple[str, ...]) -> List[str]:
    """Of all aggregates but these, for values of three types. A part of them leaves rows out."""
    every = [aggregate.call(value, type=kind, user="person", grid="(n % 3)::text")
             for kind, value in (("float8", "x"), ("int4", "n"), ("date", "day")) for aggregate in AGGREGATES
             if aggregate.name not in ("dp_keep_group",) + but and (kind in aggregate.types or aggregate.values == "-" and kind == "float8")]
    return [call + (" FILTER (WHERE n > 30)" if number % 5 == 0 else "") for number, call in enumerate(every)]


@dataclass(frozen=True)
class Question:
    """A query, to be asked in each way."""

    key: Key
    calls: Tuple[str, ...]
    number: int

    def sql(self, way: Way) -> str:
        answers = ", ".join(self.calls + (f"dp_count_distinct({'DISTINCT ' if way == BY_POSTGRESQL else ''}n + 1, 1) AS last",))
        having = f" HAVING {CHOICES[self.number % len(CHOICES)]}" if self.key.is_chosen else ""
        return f"SELECT {self.key.alike or self.key.sql}, {answers} FROM {way.table} GROUP BY {self.key.sql}{having}"


def questions() -> List[Question]:
    """Each key with some calls, and all calls with some keys."""
    asked = [Question(MOST_GROUPS, ("dp_count(1)",), 0)]
    for is_any in (True, False):  # families
        keys = [key for key in KEYS if is_any != (key.is_chosen or key.alike != "")]
        every = calls(SLOW if is_any else SLOW + OF_RANDOM_CHOICES)
        sets = [tuple(every[begin:begin + CALLS_OF_QUERY]) for begin in range(0, len(every), CALLS_OF_QUERY)]
        asked += [Question(key, sets[number % len(sets)], number) for number, key in enumerate(keys)]
    return asked + [Question(FEW_GROUPS, (call,), 0) for call in calls(()) if call.startswith(SLOW)]


@dataclass(frozen=True)
class Asked:
    """What a query showed in one way."""

    outcome: Outcome
    execution: Execution

    @property
    def rows_waited(self) -> bool:
        return "temporary" in self.execution.left.get("buffers", "")

    def calls(self, with_keys: bool) -> "Counter[str]":
        """All that mechanisms of each group were given, drew and gave, by the columns of the answers."""
        return Counter(f"group {group if with_keys else ''} column {column}: {call}" for (group, column), call in self.execution.calls.items())


def first_difference(first: Asked, second: Asked, with_keys: bool) -> Optional[Tuple[object, object]]:
    if first.outcome.error or second.outcome.error:
        return first.outcome, second.outcome
    if first.execution.charges != second.execution.charges:
        return first.execution.charges, second.execution.charges
    one, other = first.calls(with_keys), second.calls(with_keys)
    if one != other:
        return min(one - other, default="no more"), min(other - one, default="no more")
    return next((pair for pair in zip_longest(first.outcome.rows, second.outcome.rows) if pair[0] != pair[1]), None)


class Groupings:
    """A database in which the questions are asked."""

    def __init__(self) -> None:
        use_texts()
        maintenance = connect("postgres", "postgres")
        must(maintenance, f"CREATE DATABASE {DATABASE}")
        maintenance.close()
        self.connection = connect(DATABASE, "postgres")
        self.tape = Path(os.environ["TAPES"]) / DATABASE
        must(self.connection, SETUP)
        must(self.connection, f"SET statement_timeout = '20s'; SET fuzz.keep_at = {KEEP_AT}; SET hash_mem_multiplier = 1; SET min_parallel_table_scan_size = 0; "
                              "SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0")
        self.report = Report()

    def run(self) -> None:
        for question in questions():
            expected = self.ask(question, BY_POSTGRESQL)
            for way in WAYS:
                self.compare(question, self.planned(question, way), expected)
                if self.report.failed >= MOST_DIFFERENCES:
                    return

    def planned(self, question: Question, way: Way) -> Way:
        """The way with the least memory in which it is planned. Where the states of few groups are large, more memory is needed."""
        for memory in (way.memory, "128kB", "256kB", "512kB", "1MB") if way == WITHOUT_ROOM else ():
            candidate = replace(way, memory=memory)
            if self.name_of_way(question, candidate) == way.name:
                return candidate
        return way

    def ask(self, question: Question, way: Way) -> Asked:
        # Noise is made of the key as it looks.
        noise = "none" if question.key.alike else "fixed"
        must(self.connection, f"SET work_mem = '{way.memory}'; SET max_parallel_workers_per_gather = {way.workers}; SET fuzz.noise = '{noise}'; SET fuzz.tape = '{self.tape}'")
        outcome = execute(self.connection, question.sql(way))
        must(self.connection, "SET fuzz.tape = ''")
        executions = executions_of(self.tape.read_text("latin-1"))
        return Asked(outcome, executions[0] if executions else Execution())

    def compare(self, question: Question, way: Way, expected: Asked) -> None:
        asked = self.ask(question, way)
        self.report.groupings += 1
        found = first_difference(expected, asked, with_keys=not question.key.alike) or self.other_way(question, way, asked)
        if found is not None:
            self.report.failed += 1
            print(LINE, f"DIFFERENCE of groups, {way.name} with work_mem {way.memory}", f"query: {question.sql(way)}", f"by PostgreSQL: {question.sql(BY_POSTGRESQL)}",
                  str(found[0])[:MOST_LETTERS], "   but", str(found[1])[:MOST_LETTERS], LINE, sep="\n", flush=True)

    def other_way(self, question: Question, way: Way, asked: Asked) -> Optional[Tuple[object, object]]:
        """The way in which rows should be grouped and in which they are, if it is another one."""
        names = [(each.name, self.name_of_way(question, each)) for each in (way, BY_POSTGRESQL)]
        if way.rows_wait is not None:
            names.append((f"rows wait: {way.rows_wait}", f"rows wait: {asked.rows_waited}"))
        return next((pair for pair in names if pair[0] != pair[1]), None)

    def name_of_way(self, question: Question, way: Way) -> str:
        must(self.connection, f"SET work_mem = '{way.memory}'; SET max_parallel_workers_per_gather = {way.workers}")
        plan = "\n".join(str(row[0]) for row in must(self.connection, f"EXPLAIN (COSTS off) {question.sql(way)}"))
        if "(GroupedRows)" not in plan:
            return BY_POSTGRESQL.name
        return BY_WORKERS.name if "Gather" in plan else PART_BY_PART.name if "In Parts: true" in plan else WITH_ROOM.name


def check_groupings(results: "multiprocessing.Queue[Report]") -> None:
    groupings = Groupings()
    groupings.run()
    results.put(groupings.report)
