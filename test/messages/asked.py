"""What the analyst asks: queries that call a function for the values of rows, each with the faults that are to happen in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Callable, Iterator, List, Sequence

import private_aggregates
from inside_functions import public_choices
from session import Row

Ask = Callable[[str], Sequence[Row]]  # a superuser asks, and gets the rows

FUNCTIONS = """
SELECT format('%I.%I', p.pronamespace::regnamespace, p.proname), p.prorettype = 'bool'::regtype, p.oid,
       (SELECT string_agg(declared || ':' || type::oid || ':' || marked, '|' ORDER BY number)
          FROM unnest(p.proargtypes) WITH ORDINALITY u (argument, number) JOIN sample ON declared = argument), p.pronargs, p.provariadic <> 0
  FROM pg_proc p
 WHERE dpquantile.how_total(p.oid) IN ('as it is', 'variant') ORDER BY p.oid"""

CASTS = """
SELECT format('c25::%s IS NOT NULL', t.oid::regtype), typinput::oid, '0:25:' || marked
  FROM pg_type t JOIN sample ON declared = 25
 WHERE t.typnamespace = 'pg_catalog'::regnamespace AND t.typtype = 'b' AND dpquantile.how_total(typinput) = 'from text'
UNION ALL
SELECT format('c%s::text IS NOT NULL', declared), typoutput, format('0:%s:%s', t.oid, marked) FROM sample JOIN pg_type t ON t.oid = type
 WHERE dpquantile.how_total(typoutput) = 'to text'"""

# What compares and hashes the values of a type: 2 of a btree prepares a sort.
SUPPORT = """
SELECT DISTINCT declared, a.amproc::oid, CASE WHEN amname = 'btree' AND amprocnum = 2 THEN 'sort' ELSE 'same' END, format('0:%s:%s', type::oid, marked)
  FROM sample JOIN pg_opclass o ON opcintype = declared AND opcdefault JOIN pg_am m ON m.oid = opcmethod
  JOIN pg_amproc a ON amprocfamily = opcfamily AND amproclefttype = declared AND amprocrighttype = declared
 WHERE amname IN ('btree', 'hash') AND amprocnum <= 2
UNION ALL
SELECT DISTINCT declared, oprcode::oid, 'same', format('0:%s:%s', type::oid, marked) FROM sample JOIN pg_operator ON oprname = '=' AND oprleft = declared AND oprright = declared
ORDER BY 1, 2"""

KEYS = (
    "SELECT c{0} FROM person GROUP BY c{0} HAVING dp_keep_group(100, 1e-12)",
    "SELECT CASE WHEN id > 0 THEN c{0} END FROM person GROUP BY 1 HAVING dp_keep_group(100, 1e-12)",
    "SELECT dp_count_distinct(c{0}, 1) IS NOT NULL FROM person",
    "SELECT dp_count(1) IS NOT NULL FROM person WHERE c{0} IN ({1}, NULL)",
    "SELECT n, dp_count(1) IS NOT NULL FROM (VALUES ({1}, 1)) l (k, n) LEFT JOIN person ON k = c{0} GROUP BY n",
    "SELECT dp_count(1) IS NOT NULL FROM person a JOIN (VALUES ({1}, 1)) l (k, n) ON k = c{0}",
)

# Their transition functions are called for the marked row just after the condition has seen it.
AGGREGATES = (
    "dp_count(1)", "dp_count(c25, 1)", "dp_sum(c23, 1, 0, 9)", "dp_avg(c1700, 1, 0, 9)", "dp_median(c23, 1, 0, 9)",
    *(aggregate.call("c701") for aggregate in private_aggregates.AGGREGATES if "float8" in aggregate.types and not aggregate.of_users),
)
SEES_ROW = ("person WHERE c23 = 0 OR id > 0", 65, "0:23:0")
TRANSITIONS = """
SELECT DISTINCT aggtransfn::oid FROM pg_aggregate JOIN pg_proc p ON p.oid = aggtransfn
 WHERE probin LIKE '%dpquantile' AND aggfnoid IN (SELECT oid FROM pg_proc WHERE proname = '{}') ORDER BY 1"""

@dataclass(frozen=True)
class Asked:
    """A query, what the row is seen by (TRIGGER and its values in faults.cpp), and where the fault happens."""

    name: str
    sql: str
    trigger: int
    values: str
    target: str = "same"


def count_of(condition: str) -> str:
    return f"SELECT dp_count(1) IS NOT NULL FROM person WHERE {condition}"


def calls(name: str, is_condition: bool, is_variadic: bool, trigger: int, values: List[str]) -> Iterator[Asked]:
    """Calls of a function with columns for its arguments, then with constants for more and more of its texts."""
    texts = [i for i, value in enumerate(values) if value.startswith("25:")]
    for public in public_choices(texts):
        arguments = [f"'{public[i]}'" if i in public else "c" + value.split(":")[0] for i, value in enumerate(values)]
        seen = [f"{i}:{value.split(':', 1)[1]}" for i, value in enumerate(values) if i not in public]
        if is_variadic:
            arguments[-1] = f"VARIADIC {arguments[-1]}"
        call = f"{name}({', '.join(arguments)})"
        if seen:
            yield Asked(name, count_of(call if is_condition else f"{call} IS NOT NULL"), trigger, "|".join(seen))


def functions(ask: Ask) -> Iterator[List[Asked]]:
    """For each function that rows may call, the calls that may be accepted."""
    for name, is_condition, trigger, text, arguments, is_variadic in ask(FUNCTIONS):
        values = str(text).split("|")
        if len(values) != int(str(arguments)):
            raise RuntimeError(f"test/total/samples.sql lacks a type of {name}")
        yield list(calls(str(name), is_condition == "t", is_variadic == "t", int(str(trigger)), values))


def conversions(ask: Ask) -> Iterator[Asked]:
    for condition, trigger, values in ask(CASTS):
        yield Asked(str(condition), count_of(str(condition)), int(str(trigger)), str(values))


def transitions(ask: Ask) -> Iterator[List[Asked]]:
    """For each aggregate, its possible transition functions."""
    rows, trigger, values = SEES_ROW
    for aggregate in AGGREGATES:
        name = aggregate.split("(")[0]
        yield [Asked(f"{aggregate}, {row[0]}", f"SELECT ({aggregate}) IS NOT NULL FROM {rows}", trigger, values, str(row[0]))
               for row in ask(TRANSITIONS.format(name))]


def allocations(number: int) -> Iterator[Asked]:
    """The allocation of this number after the marked row was seen fails."""
    rows, trigger, values = SEES_ROW
    for aggregate in AGGREGATES:
        yield Asked(f"{aggregate}, allocation {number}", f"SELECT ({aggregate}) IS NOT NULL FROM {rows}", trigger, values, f"memory {number}")


def keys(ask: Ask) -> Iterator[Asked]:
    """Queries that sort, hash and compare values, with each function that may do it."""
    constants = {row[0]: f"{row[1]}" for row in ask("SELECT declared, format('%L::%s', marked, type) FROM sample")}
    for declared, trigger, target, values in ask(SUPPORT):
        for query in KEYS:
            yield Asked(f"{trigger} of {declared}", query.format(declared, constants[declared]), int(str(trigger)), str(values), str(target))
