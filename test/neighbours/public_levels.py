"""What public tables are below private aggregates besides tables with a key: levels of them, several that are joined first, and subqueries in conditions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Sequence, Tuple

from expressions import Column, columns_of
from sql_tree import Expr, Query, Source, Text, walk

if TYPE_CHECKING:
    from choices import Choices

# FROM, with the alias for @ and a number for ?; the columns that choose one row, and the others
LEVELS = (
    ("(SELECT id, city_id, level FROM area WHERE level <> ?) AS @", "id", "city_id level"),
    ("(SELECT city_id AS id, count(*)::int4 AS level FROM area GROUP BY city_id) AS @", "id", "level"),
    ("(SELECT DISTINCT city_id AS id FROM area WHERE id > ?) AS @", "id", ""),
    ("(SELECT DISTINCT level AS id, city_id FROM area) AS @", "id city_id", ""),
    ("(SELECT a.id, c.id AS city_id, c.population AS level FROM area AS a LEFT JOIN city AS c ON c.id = a.city_id) AS @", "id", "city_id level"),
    ("(SELECT c.id, a.level FROM city AS c INNER JOIN area AS a ON a.id = c.id WHERE c.population > 200) AS @", "id", "level"),
    ("(SELECT q.a AS id, min(a.level) AS level FROM square AS q LEFT JOIN area AS a ON a.id = q.b GROUP BY q.a HAVING count(*) > ?) AS @", "id", "level"),
    ("(SELECT x.id, coalesce(x.level, ?) AS level FROM (SELECT id, max(level) AS level FROM area GROUP BY id) AS x WHERE x.id < 7) AS @", "id", "level"),
    ("(WITH w AS (SELECT id, city_id FROM area WHERE level IS NULL OR level > ?) SELECT w.id, w.city_id FROM w) AS @", "id", "city_id"),
    ("(WITH w AS MATERIALIZED (SELECT level AS id, max(city_id) AS city_id FROM area GROUP BY 1) SELECT * FROM w) AS @", "id", "city_id"),
    ("(SELECT v.id, a.level FROM (VALUES (1), (3), (7)) AS v (id) LEFT JOIN area AS a ON a.id = v.id) AS @", "id", "level"),
    ("(area AS @ INNER JOIN city AS @c ON @c.id = @.city_id AND @c.population > ?)", "id", "city_id level"),
    ("(square AS @ INNER JOIN area AS @a ON @a.id = @.level)", "a b", "level"),
    ("(SELECT count(*)::int4 AS id, max(level) AS level FROM area WHERE id > ?) AS @", "", "id level"),
)
MISSES = (  # with several rows for a key, or that look at several rows
    ("(SELECT city_id AS id, level FROM area) AS @", "id", "level"),
    ("(SELECT level AS id, city_id FROM area GROUP BY level, city_id) AS @", "id", "city_id"),
    ("(SELECT DISTINCT level AS id, city_id FROM area) AS @", "id", "city_id"),
    ("(SELECT l.id, a.level FROM area AS l LEFT JOIN area AS a ON a.city_id = l.city_id) AS @", "id", "level"),
    ("(SELECT id, level FROM area ORDER BY level LIMIT 3) AS @", "id", "level"),
    ("(SELECT id, (rank() OVER (ORDER BY level))::int4 AS level FROM area) AS @", "id", "level"),
    ("(SELECT DISTINCT ON (level) level AS id, city_id FROM area ORDER BY level, area.id) AS @", "id", "city_id"),
    ("(SELECT id FROM own.city) AS @", "id", ""),
    ("(area AS @ LEFT JOIN square AS @q ON @q.a = @.city_id AND @q.b = ?)", "id", "city_id level"),
    ("(area AS @ INNER JOIN area AS @a ON @a.city_id = @.city_id)", "id", "city_id level"),
)
# Subqueries. Some lists have NULL, some have no row.
CONDITIONS = (
    "# IN (SELECT city_id FROM area)", "# NOT IN (SELECT city_id FROM area)", "# NOT IN (SELECT id FROM area WHERE level = ?)", "# NOT IN (SELECT id FROM area WHERE id > 20)",
    "NOT (# IN (SELECT level FROM area WHERE id > ?))", "(# IN (SELECT level FROM area)) IS NULL", "(# NOT IN (SELECT city_id FROM area WHERE level = ?) OR # IS NULL)",
    "# = ANY (ARRAY(SELECT city_id FROM area WHERE id > ?))", "# <> ALL (ARRAY(SELECT level FROM area WHERE id < ?))", "# NOT IN (?, NULL)",
    "EXISTS (SELECT FROM area AS x WHERE x.id = #)", "NOT EXISTS (SELECT FROM area AS x WHERE x.city_id = # AND x.level = #)",
    "EXISTS (SELECT 1 FROM area AS x INNER JOIN city AS y ON y.id = x.city_id WHERE x.id = # AND y.population > 200)",
    "(SELECT x.level FROM area AS x WHERE x.id = #) > ?", "(SELECT x.level FROM area AS x WHERE x.id = #) IS NULL", "# < (SELECT avg(level) FROM area)",
    "(SELECT y.population FROM area AS x LEFT JOIN city AS y ON y.id = x.city_id WHERE x.id = #) > 200", "# = (SELECT max(id) FROM area WHERE level = ?)",
    "CASE WHEN # IN (SELECT city_id FROM area) THEN # > ? ELSE # IS NULL END", "(#, #) IN (SELECT a, b FROM square WHERE level > ?)", "(#, #) NOT IN (SELECT city_id, level FROM area)",
)
REFUSED_CONDITIONS = (
    "(SELECT x.level FROM area AS x WHERE x.city_id = #) > ?", "# > (SELECT level FROM area WHERE city_id = 1)", "(SELECT x.level FROM area AS x WHERE x.id > # ORDER BY 1 LIMIT 1) > ?",
    "EXISTS (SELECT FROM area AS x WHERE x.id > #)", "# IN (SELECT id FROM own.city)", "# IN (SELECT id FROM area ORDER BY level LIMIT 2)", "(SELECT max(x.level) FROM area AS x WHERE x.id > #) = ?",
    "# = ANY (ARRAY(SELECT x.city_id FROM area AS x WHERE x.id = #))", "# IN (SELECT x.level + # FROM area AS x)",
)
MISS_SHARE = 0.08
# Private answers of subqueries, which are asked first: the databases have the same ones only where they are recorded and played.
OF_ANSWERS = ("calls", "beds", "doses", "meals", "trips", "fed_beds", "known_meals", "most_doses", "orders", "lines", "clients", "own_orders", "ordered_lines")
STAGED_CONDITIONS = (
    "# > (SELECT count(*) FROM %T WHERE city_id > ?)", "# > (SELECT avg(level) FROM %T)", "# IN (SELECT level FROM %T GROUP BY level ORDER BY count(*) DESC LIMIT 2)",
    "# NOT IN (SELECT level FROM %T GROUP BY level HAVING count(*) > ?)", "# = ANY (ARRAY(SELECT level FROM %T GROUP BY 1 ORDER BY count(*) LIMIT ?))",
    "# < (SELECT count(*) FROM %T WHERE level > (SELECT count(*) / ? FROM %T))", "# > (SELECT level FROM area ORDER BY id LIMIT 1)", "# IN (SELECT level FROM area ORDER BY id LIMIT 3)",
    "# > 10 / (SELECT count(*) - ? FROM %T)", "CASE WHEN # > (SELECT count(*) FROM %T) THEN # ELSE ? END > ?", "# <= ALL (SELECT count(*) FROM %T GROUP BY level)",
    "# > (SELECT sqrt(-count(*)) FROM %T WHERE city_id IN (SELECT city_id FROM area ORDER BY 1 LIMIT ?))",
    "# < (SELECT sum(n) FROM (SELECT level, count(*) AS n FROM %T GROUP BY level) AS y WHERE n > ?)", "# <> (SELECT level FROM %T GROUP BY level ORDER BY count(*) DESC LIMIT 1)",
    "# > (WITH w AS (SELECT level, count(*) AS n FROM %T GROUP BY 1) SELECT max(n) FROM w)", "# > (SELECT count(DISTINCT #) FROM %T)", "(# > (SELECT count(*) FROM %T)) IS NULL",
    "# % 3 = (SELECT count(*) % 3 FROM %T)", "# NOT IN (SELECT level FROM area UNION SELECT ?)", "# > (SELECT count(*) FILTER (WHERE level > (SELECT count(*) FROM %T)) FROM %T)",
    "# > (SELECT level FROM %T LIMIT 1)", "(EXISTS (SELECT 1 FROM %T HAVING count(*) > ?) OR # > ?)", "(NOT EXISTS (SELECT level FROM %T GROUP BY level HAVING count(*) > ?) AND # > 0)",
    "(EXISTS (SELECT FROM area WHERE id > ? LIMIT 1) OR # IS NULL)", "(EXISTS (SELECT level FROM area UNION SELECT level FROM %T GROUP BY level) AND # > 1)",
    "(EXISTS (SELECT DISTINCT level FROM %T WHERE city_id = ?) OR # > 2)", "# > (SELECT (SELECT count(*) FROM %T) - ?)",
)
STAGED_LEVELS = (
    ("(SELECT level AS id, count(*)::int4 AS level FROM %T GROUP BY level) AS @", "id", "level"),
    ("(SELECT level AS id, count(*)::int4 AS level FROM %T WHERE city_id > ? GROUP BY level ORDER BY 2 DESC LIMIT ?) AS @", "id", "level"),
    ("(SELECT level AS id FROM %T GROUP BY level HAVING count(*) > ?) AS @", "id", ""), ("(SELECT count(*)::int4 AS id, avg(level)::int4 AS level FROM %T) AS @", "", "id level"),
    ("(SELECT id, level FROM area ORDER BY id LIMIT ?) AS @", "id", "level"),
    ("(WITH w AS (SELECT level AS id, count(*) AS n FROM %T GROUP BY 1) SELECT id, n::int4 AS level FROM w WHERE n > ?) AS @", "id", "level"),
)
STAGED_SHARE = 0.4
STAGED = "stage: "


@dataclass(frozen=True)
class StagedText(Text):
    """A level of answers."""


def has_stages(query: Query) -> bool:
    return any(isinstance(part, StagedText) or isinstance(part, Expr) and part.rule.startswith(STAGED) for part in walk(query))


def filled(choices: "Choices", text: str) -> str:
    while "%T" in text:
        text = text.replace("%T", choices.one_of(OF_ANSWERS), 1)
    return "".join(str(choices.random.randint(1, 4)) if sign == "?" else sign for sign in text)


def level(choices: "Choices", alias: str) -> Tuple[Source, Tuple[Column, ...], Tuple[str, ...]]:
    """FROM, its columns, and those by which one row is chosen."""
    is_staged = choices.may_have_stages and choices.chance(STAGED_SHARE)
    text, keys, others = choices.one_of(STAGED_LEVELS if is_staged else MISSES if choices.chance(MISS_SHARE) else LEVELS)
    names = keys.split() + others.split()
    made = StagedText if is_staged else Text
    return made(filled(choices, text).replace("@", alias)), columns_of({name: "int4" for name in names}, alias), tuple(f"{alias}.{key}" for key in keys.split())


def condition(choices: "Choices", columns: Sequence[Column]) -> Expr:
    """A condition on integers with a subquery over public tables."""
    is_staged = choices.may_have_stages and choices.chance(STAGED_SHARE)
    is_refused = not is_staged and choices.chance(MISS_SHARE)
    text = choices.one_of(STAGED_CONDITIONS if is_staged else REFUSED_CONDITIONS if is_refused else CONDITIONS)
    rule = STAGED + text if is_staged else f"{'refused ' if is_refused else ''}public subquery: {text}"
    return Expr(rule, filled(choices, text), "bool", tuple(choices.one_of(columns).expr() for _ in range(text.count("#"))))
