"""How well the time of a private query tells whether a row is in a table. neighbour_times.sh starts it.

usage: neighbour_times.py TIMES

For each case there are tables with a row (or a person, or a group) and tables without it, and otherwise equal. One session of the analyst
asks them in random order. A classifier learns from the times on half of the tables, and says of the times on the other half on which
side each was. Its advantage is the share of the tables with the row that it names right, less the share of those without that it
names wrong: 0 for a guess, 1 if the time tells all. Each time that it sees has cost a charge.
"""

import random
import sys
import time
from dataclasses import dataclass
from typing import List

import numpy
import psycopg2
from sklearn.ensemble import HistGradientBoostingClassifier

PAIRS = 4  # tables of each side
RECENT = 10  # the times before, which tell how fast the machine is at the moment
WARM_UP = 200


@dataclass
class Case:
    name: str
    query: str  # {t}: the table; {k}: a number, another one each time, because the same query again gives the kept answer
    row: str  # the rows that only one side has, as a query
    rows: int = 1000
    person: bool = False
    # Conditions of which as many as are accepted, up to 1024, stand in the query at {c}. {n}: another number in each
    condition: str = ""


ROW = "SELECT 1, 50, 3, 'x', 0.5"
FAR_VALUE = "SELECT 1, 1000000, 3, 'x', 0.5"
LONG_NUMBER = "SELECT 1, 50, 3, 'x', (repeat('9', 50) || '.' || repeat('9', 50))::numeric"
QUANTILES = "{{.1,.2,.3,.4,.5,.6,.7,.8,.9}}"


def text_of(bytes_: int) -> str:
    return f"SELECT 1, 50, 3, repeat('a', {bytes_}), 0.5"


CASES = [
    Case("`count(*)`, one row more of 1000", "SELECT count(*) FROM {t} WHERE v > -{k}", ROW),
    Case("`count(*)`, one row more of none", "SELECT count(*) FROM {t} WHERE v > -{k}", ROW, rows=0),
    Case("`count(*)`, one row more of one", "SELECT count(*) FROM {t} WHERE v > -{k}", ROW, rows=1),
    Case("`count(*)` of rows that fit, one of none", "SELECT count(*) FROM {t} WHERE v > 100000 AND v < {k}", "SELECT 1, 100001, 3, 'x', 0.5"),
    Case("`dp_median`, a far value", "SELECT dp_median(v, 0.01, 0, 1e6) FROM {t} WHERE v > -{k}", FAR_VALUE),
    Case("`dp_quantiles`, nine, a far value", f"SELECT dp_quantiles(v, '{QUANTILES}', 0.01, 0, 1e6) FROM {{t}} WHERE v > -{{k}}", FAR_VALUE),
    Case("`GROUP BY`, one group more", "SELECT g, count(*) FROM {t} WHERE v > -{k} GROUP BY g", "SELECT 1, 50, 77, 'x', 0.5"),
    Case("a person of 50 rows, of which 3 count", "SELECT count(*) FROM {t} WHERE v > -{k}",
         "SELECT 1000000, 50, 3, 'x', 0.5 FROM generate_series(1, 50)", person=True),
    Case("a text of 60 kB, one `LIKE`", "SELECT count(*) FROM {t} WHERE a LIKE '%aaab{k}'", text_of(60000)),
    Case("a text of 1 kB, the most `LIKE`", "SELECT count(*) FROM {t} WHERE v > -{k} AND ({c})", text_of(1000), condition="a LIKE '%aaab{n}'"),
    Case("a number of 100 digits, the most `exp()`", "SELECT count(*) FROM {t} WHERE v > -{k} AND ({c})", LONG_NUMBER, condition="exp(n / 1e48) = -{n}"),
]


def execute(connection, sql: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(sql)


def make_tables(owner, number: int, case: Case) -> None:
    for side in range(2):
        for copy in range(PAIRS):
            name = f"t{number}_{side}_{copy}"
            execute(owner, f"CREATE TABLE {name} AS SELECT i AS id, i % 100 AS v, i % 5 AS g, 'abc'::text AS a, 0.5::numeric AS n FROM generate_series(1, {case.rows}) i")
            if side:
                execute(owner, f"INSERT INTO {name} {case.row}")
            protected = f"'{name}', 'id', 3" if case.person else f"'{name}'"
            execute(owner, f"SELECT dp_protect_table({protected}), dp_set_domain('{name}', 'g', ARRAY[0, 1, 2, 3, 4, 77])")
            execute(owner, f"SELECT dp_grant_private_access('{name}', 'analyst', epsilon => 0.01)")
            execute(owner, f"VACUUM (ANALYZE, FREEZE) {name}")


def conditions(analyst, number: int, case: Case) -> str:
    """As many as are accepted."""
    copies = 1024
    while True:
        joined = " OR ".join(case.condition.format(n=n) for n in range(copies))
        try:
            execute(analyst, case.query.format(t=f"t{number}_0_0", k=0, c=joined))
            return joined
        except psycopg2.errors.StatementTooComplex:
            copies //= 2
            if copies == 0:
                raise


def times_of(analyst, number: int, case: Case, times: int, rng: random.Random) -> numpy.ndarray:
    """A row for each query: side, table, seconds."""
    found = []
    condition = conditions(analyst, number, case) if case.condition else ""
    with analyst.cursor() as cursor:
        for k in range(-WARM_UP, times):
            side, copy = rng.randrange(2), rng.randrange(PAIRS)
            sql = case.query.format(t=f"t{number}_{side}_{copy}", k=1000000 + k, c=condition)
            start = time.perf_counter()
            cursor.execute(sql)
            seconds = time.perf_counter() - start
            cursor.fetchall()
            if k >= 0:
                found.append((side, copy, seconds))
    return numpy.array(found)


def features(seconds: numpy.ndarray) -> numpy.ndarray:
    """What the analyst knows when a query has ended: its time, and the times of those before."""
    columns: List[numpy.ndarray] = [seconds]
    recent = numpy.array([numpy.median(seconds[max(0, i - RECENT) : i + 1]) for i in range(len(seconds))])
    columns.append(seconds - recent)
    columns.append(recent)
    return numpy.column_stack(columns)


def advantage(found: numpy.ndarray) -> float:
    sides, copies = found[:, 0], found[:, 1]
    seen = features(found[:, 2])
    learn = copies < PAIRS / 2
    classifier = HistGradientBoostingClassifier(max_iter=50, max_leaf_nodes=8, min_samples_leaf=50, random_state=1)
    classifier.fit(seen[learn], sides[learn])
    guess, truth = classifier.predict(seen[~learn]), sides[~learn]
    return float(guess[truth == 1].mean() - guess[truth == 0].mean())


def main() -> None:
    times = int(sys.argv[1]) // len(CASES)
    rng = random.Random(1)
    owner = psycopg2.connect(dbname="postgres", user="postgres")
    owner.autocommit = True
    execute(owner, "SET client_min_messages = warning; CREATE EXTENSION dpquantile; CREATE ROLE analyst LOGIN;"
                   " SELECT dp_grant_budget('analyst', 1e6, 0.9, smallest_charge => 0.001), dp_restrict_role('analyst')")
    # The standard error of an advantage where there is none: of two shares of times / 4 answers each
    error = (0.5 / (times / 4)) ** 0.5
    print(f"{times} query times of one session for each case. Half of them teach the classifier. An advantage below {2 * error:.3f} may be chance.\n")
    print("| case | median with the row, ms | without, ms | advantage |\n|---|---:|---:|---:|")
    for number, case in enumerate(CASES):
        make_tables(owner, number, case)
        analyst = psycopg2.connect(dbname="postgres", user="analyst")
        analyst.autocommit = True
        found = times_of(analyst, number, case, times, rng)
        analyst.close()
        with_row, without = (1000 * numpy.median(found[found[:, 0] == side, 2]) for side in (1, 0))
        print(f"| {case.name} | {with_row:.3f} | {without:.3f} | {advantage(found):.3f} |", flush=True)


main()
