"""Levels with a row for each person, or for each person and something else: GROUP BY and DISTINCT with the column of the persons, below
private aggregates."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, List, Sequence, Tuple

from expressions import Column
from rules import parsed
from sql_tree import Expr, Item, Select, Table

if TYPE_CHECKING:
    from choices import Choices
    from sources import Rows
    from trees import Link, Part, Trees

# What the owner's query rounds otherwise, or computes in the order of the rows
ROUNDED = "rounded otherwise"
OTHER_PERSON = "another column in the place of the person"  # GROUP BY around it is plain SQL with groups that are chosen
# The aggregate of values of a type, with the type that it gives. The refused ones are near misses: they depend on the order of rows, or fail.
OF_INTEGERS = (("sum(#)", "int8"), ("avg(#)", "numeric"), ("min(#)", "int4"), ("max(#)", "int4"), ("count(#)", "int8"), ("count(DISTINCT #)", "int8"),
               ("stddev(#)", "numeric"), ("var_pop(#)", "numeric"), ("bit_xor(#)", "int4"), ("bit_and(#)", "int4"), ("percentile_disc(0.5) WITHIN GROUP (ORDER BY #)", "int4"),
               ("percentile_disc(0.3) WITHIN GROUP (ORDER BY # DESC)", "int4"), ("percentile_cont(0.25) WITHIN GROUP (ORDER BY #)", "float8"))
EXACT = {
    "int4": OF_INTEGERS,
    "int8": (("sum(#)", "numeric"), ("avg(#)", "numeric"), ("min(#)", "int8"), ("max(#)", "int8"), ("count(#)", "int8"), ("count(DISTINCT #)", "int8")),
    "numeric": (("sum(#)", "numeric"), ("avg(#)", "numeric"), ("min(#)", "numeric"), ("max(#)", "numeric"), ("stddev(#)", "numeric"), ("count(#)", "int8"),
                ("count(DISTINCT #)", "int8")),
    "float8": (("sum(#)", "float8"), ("sum(#)", "float8"), ("avg(#)", "float8"), ("min(#)", "float8"), ("max(#)", "float8"), ("stddev(#)", "float8"), ("count(#)", "int8"),
               ("count(DISTINCT #)", "int8"), ("percentile_disc(0.5) WITHIN GROUP (ORDER BY #)", "float8"), ("percentile_cont(0.5) WITHIN GROUP (ORDER BY #)", "float8"),
               ("sum(#) FILTER (WHERE ?)", "float8")),
    "text": (("count(#)", "int8"), ("count(DISTINCT #)", "int8")),
    "varchar": (("count(#)", "int8"),),
    "date": (("min(#)", "date"), ("max(#)", "date"), ("count(#)", "int8"), ("percentile_disc(0.5) WITHIN GROUP (ORDER BY #)", "date")),
}
# The owner's: sums of decimals do not depend on the order. None: what is rounded otherwise.
EXACT_OF_OWNER = {"sum(#)": "sum(#::numeric)::float8", "avg(#)": "avg(#::numeric)::float8", "sum(#) FILTER (WHERE ?)": "(sum(#::numeric) FILTER (WHERE #))::float8",
                  "stddev(#)": None, "var_pop(#)": None, "percentile_cont(0.5) WITHIN GROUP (ORDER BY #)": None}
OF_CONDITIONS = (("count(*)", "int8"), ("count(*) FILTER (WHERE ?)", "int8"), ("bool_and(?)::int4", "int4"), ("bool_or(?)::int4", "int4"),
                 ("every(?)::int4", "int4"), ("1 + count(*)", "int8"), ("coalesce(sum(#) FILTER (WHERE ?), 0)", "int8"))
REFUSED = {
    "int4": (("array_agg(#)", "int4[]"), ("sum(# ORDER BY 1)", "int8"), ("mode() WITHIN GROUP (ORDER BY #)", "int4"), ("percentile_disc(#) WITHIN GROUP (ORDER BY #)", "int4"),
             ("corr(#, 1)", "float8")),
    "int8": (("array_agg(#)", "int8[]"), ("regr_count(#, 1)", "int8")),
    "numeric": (("mode() WITHIN GROUP (ORDER BY #)", "numeric"),),
    "float8": (("array_agg(#)", "float8[]"), ("regr_slope(#, 1)", "float8")),
    "text": (("string_agg(#, ',')", "text"), ("array_agg(#)", "text[]"), ("mode() WITHIN GROUP (ORDER BY #)", "text")),
}
HAVING_OF_ROWS = """
bool: count(*) > 2 :
bool: count(#) >= 3 : text
bool: min(#) < 40 : int4
bool: sum(#) > 50 : int4
bool: bool_or(#) : bool
bool: NOT every(#) : bool
bool: true :
bool: count(*) > 0 AND false :
"""
# Windows over the groups of a person: # is the person, and @ all keys, in which no two groups of a person are equal. The refused ones are over others, too.
WINDOWS = (("rank() OVER (PARTITION BY # ORDER BY count(*))", "int8"), ("dense_rank() OVER (PARTITION BY # ORDER BY count(*) DESC, @)", "int8"),
           ("row_number() OVER (PARTITION BY # ORDER BY @)", "int8"), ("(sum(count(*)) OVER (PARTITION BY #))::int8", "int8"), ("count(*) OVER (PARTITION BY #)", "int8"),
           ("lag(count(*)) OVER (PARTITION BY # ORDER BY @)", "int8"), ("max(count(*)) OVER (PARTITION BY # ORDER BY @ ROWS 1 PRECEDING)", "int8"),
           ("count(*) - min(count(*)) OVER (PARTITION BY #)", "int8"))
REFUSED_WINDOWS = (("rank() OVER (ORDER BY count(*))", "int8"), ("count(*) OVER ()", "int8"), ("max(count(*)) OVER (ORDER BY @)", "int8"))
WINDOW_SHARE = 0.2
LIST_SHARE = 0.2  # of the levels that have it: groups by this key alone
OF_LIST = "level"  # the column that has a domain with a list, from 1 to 4, as protect.sql states
KEY_TYPES = ("int4", "int8", "date", "text", "varchar")
REFUSED_SHARE = 0.06
OTHER_PERSON_SHARE = 0.3  # where an outer join has the column of a person that may be absent
KEYS = ("order", "line", "room")  # of references
REFERENCE_SHARE = 0.35  # of the groups of rows that have one: those along a reference
PART_OF_KEY_SHARE = 0.08
DISTINCT_SHARE = 0.35
HAVING = ("count(*) >= {}", "count(#) = {}", "min(#) < {}", "sum(#) > avg(#)", "bool_or(?)", "NOT every(?)", "count(*) FILTER (WHERE ?) > 0",
          "true", "1 < {}", "false", "count(*) > 0 AND false", "max(#) IS NULL OR true", "NULL::bool", "count(*) > {} - 1")


# The same over the wide tables, with FILTER, conditions and keys of all functions that rows may call
OF_ROWS = """
int8: count(*) :
int8: count(#) : int4
int8: count(#) : text
int8: sum(#) : int4
numeric: sum(#) : int8
numeric: sum(#) : numeric
numeric: avg(#) : int4
numeric: avg(#) : numeric
int4: min(#) : int4
int4: max(#) : int4
int8: max(#) : int8
date: min(#) : date
date: max(#) : date
timestamptz: min(#) : timestamptz
timestamptz: max(#) : timestamptz
bool: bool_and(#) : bool
bool: bool_or(#) : bool
bool: every(#) : bool
float8: sum(#) : float8
float8: avg(#) : float8
float8: min(#) : float8
float8: stddev(#) : float8
numeric: max(#) : numeric
interval: sum(#) : interval
int8: count(DISTINCT #) : text
int8: count(DISTINCT #) : numeric
float8: percentile_disc(0.5) WITHIN GROUP (ORDER BY #) : float8
float8: percentile_cont(0.5) WITHIN GROUP (ORDER BY #) : int4
"""
REFUSED_OF_ROWS = """
text[]: array_agg(#) : text
text: string_agg(#, ',') : text
text: mode() WITHIN GROUP (ORDER BY #) : text
date: (array_agg(# ORDER BY #))[1] : date date
text: (array_agg(#))[1] : text
int4: (array_agg(#))[1] : int4
"""


def groups_of_rows(choices: "Choices", rows: "Rows", where: Tuple[Expr, ...]) -> Tuple[Select, "Rows"]:
    """The groups of rows by their person, perhaps with other keys, and what they are as rows of FROM, where their name is the alias."""
    alias = choices.new_name("t")
    user = next(column for column in rows.columns if column.sql == rows.user)
    inside = choices.inside
    others = [inside.expr(choices.one_of(("text", "int4", "date", "bool")), rows.columns, 1) for _ in range(choices.one_of([0, 0, 0, 1, 2]))]
    keys = [user.expr(), *(expr for expr in others if expr.rule not in ("constant", "parameter"))]
    has_miss = choices.misses("order of a person's rows")
    is_distinct = not has_miss and choices.chance(DISTINCT_SHARE)
    rules = list(parsed(REFUSED_OF_ROWS if has_miss else OF_ROWS))
    items = [Item(keys[0], user.name), *(Item(key, choices.new_name("k")) for key in keys[1:])]
    for _ in range(0 if is_distinct else choices.one_of([1, 1, 2, 3])):
        rule = choices.one_of(rules)
        items.append(Item(inside.apply(rule, rows.columns, 1 if choices.chance(0.3) else 0), choices.new_name("n")))
    having = () if is_distinct or not choices.chance(0.3) else (inside.apply(choices.one_of(list(parsed(HAVING_OF_ROWS))), rows.columns, 1),)
    select = Select("distinct persons" if is_distinct else "persons", tuple(items), rows.source, where, () if is_distinct else tuple(keys), having,
                    distinct="DISTINCT " if is_distinct else "")
    columns = tuple(Column(f"{alias}.{item.name}", item.expr.type) for item in items)
    most_rows = 1 if len(keys) == 1 else rows.most_rows
    return select, replace(rows, source=Table(alias, alias), columns=columns, alias=alias, user=f"{alias}.{user.name}", most_rows=most_rows)


class PersonGroups:
    def __init__(self, trees: "Trees"):
        self.trees = trees
        self.choices = trees.choices

    def level(self, part: "Part", by_person_alone: bool = False) -> Tuple[Select, "Part"]:
        """The groups of a part, and what they are as a part of FROM under the alias in its source."""
        if not part.persons or not by_person_alone and self.references(part) and self.choices.chance(REFERENCE_SHARE):
            return self.along_reference(part)
        person = self.person_of(part)
        keys = (person.expr(),) + (() if by_person_alone else self.other_keys(part))
        names = ("patient",) + tuple(self.name_of_key(key, keys) for key in keys[1:])
        is_distinct = self.choices.chance(DISTINCT_SHARE)
        of_rows = () if is_distinct else self.aggregates(part)
        if not is_distinct and self.choices.chance(WINDOW_SHARE):
            of_rows += (self.window(keys),)
        items = [*map(Item, keys, names), *(Item(expr, self.choices.new_name("n")) for expr in of_rows)]
        shown = [item for item in items if item.expr is not keys[0] or is_distinct or self.choices.chance(0.92)] or items
        self.choices.random.shuffle(shown)
        alias = self.choices.new_name("t")
        of = {item.name: Column(f"{alias}.{item.name}", item.expr.type) for item in items}
        columns = tuple(of[item.name] for item in shown)
        persons = tuple(column for column in columns if column.name == "patient")
        source, where = self.trees.as_list(part)
        where += self.trees.conditions(part.columns, 0.3) + self.trees.subqueries.conditions(part, 0.1)
        having = () if is_distinct or not self.choices.chance(0.3) else (self.having(part),)
        kind = "distinct persons" if is_distinct else "persons"
        select = Select(kind if person in part.persons else "persons that may be absent", (*shown, Item(keys[0], "whose", is_exact=True)), source, where,
                        () if is_distinct else keys, having, distinct="DISTINCT " if is_distinct else "", limit=self.limit())
        of_groups = tuple(column for column in columns if column not in persons)
        return select, replace(part, source=Table(alias, alias), columns=columns, users=persons or columns[:1], user=Column(f"{alias}.whose", person.type),
                               public=(), where=(), keys=(), side=(), links=(), persons=persons, of_groups=of_groups,
                               has_one_row=all(key == keys[0] for key in keys) or part.has_one_row,
                               group_of="")

    def references(self, part: "Part") -> List["Link"]:
        """What refers to a row of one person, and the keys of such rows."""
        return [] if part.has_public_side else [link for link in part.links if link.key in KEYS and not link.is_readable]

    def along_reference(self, part: "Part", by_key_alone: bool = False) -> Tuple[Select, "Part"]:
        """Groups by what refers, or by the key of a row: each is of one person, whom nothing shows. By a part of it, the groups are chosen."""
        link = self.choices.one_of(self.references(part))
        columns = list(link.columns)
        if not by_key_alone and self.choices.chance(PART_OF_KEY_SHARE):
            columns = [self.choices.one_of([column for column in part.columns if column.type in ("int4", "int8") and column not in part.persons] if len(columns) == 1 else columns)]
        is_key = link.is_sure and all(column in columns for column in link.columns)
        others = () if by_key_alone else tuple(key for key in self.other_keys(part) if key.text not in [column.sql for column in columns])
        keys = tuple(column.expr() if is_key else replace(column.expr(), rule=OTHER_PERSON) for column in columns) + others
        names = [self.choices.new_name("k") for _ in columns] + [self.name_of_key(key, keys) for key in others]
        is_distinct = self.choices.chance(DISTINCT_SHARE)
        items = [*map(Item, keys, names), *(Item(expr, self.choices.new_name("n")) for expr in (() if is_distinct else self.aggregates(part)))]
        shown = [item for item in items if is_distinct or not is_key or self.choices.chance(0.92)] or items
        alias = self.choices.new_name("t")
        outside = {item.name: Column(f"{alias}.{item.name}", item.expr.type) for item in items}
        own = tuple(outside[name] for name in names[:len(columns)])
        source, where = self.trees.as_list(part)
        where += self.trees.conditions(part.columns, 0.3) + self.trees.subqueries.conditions(part, 0.1)
        having = () if is_distinct or not self.choices.chance(0.3) else (self.having(part),)
        assert part.user is not None
        whose = part.user.expr() if is_distinct else Expr("person of a group", "min(#)", part.user.type, (part.user.expr(),))
        select = Select("distinct references" if is_distinct else "references", (*shown, Item(whose, "whose", is_exact=True)), source, where,
                        () if is_distinct else keys, having, distinct="DISTINCT " if is_distinct else "", limit=self.limit())
        of_shown = tuple(outside[item.name] for item in shown)
        links = (replace(link, columns=own),) if is_key and all(column in of_shown for column in own) else ()
        return select, replace(part, source=Table(alias, alias), columns=of_shown, users=of_shown[:1], user=Column(f"{alias}.whose", part.user.type), public=(), where=(), keys=(),
                               side=(), links=links, persons=(), of_groups=tuple(column for column in of_shown if column not in own),
                               group_of=link.key if links and not others else "")

    def person_of(self, part: "Part") -> Column:
        """Mostly the column that names the person of each row, and of another where an outer join may have no row."""
        others = [column for column in part.users if column not in part.persons and column.name == "patient"]
        return self.choices.one_of(others if others and self.choices.chance(OTHER_PERSON_SHARE) else part.persons)

    def other_keys(self, part: "Part") -> Tuple[Expr, ...]:
        listed = [column for column in part.columns if column.name == OF_LIST and column.type == "int4"]
        if listed and self.choices.chance(LIST_SHARE):
            return (self.choices.one_of(listed).expr(),)
        columns = [column for column in part.columns if column.type in KEY_TYPES and column not in part.persons or self.choices.chance(REFUSED_SHARE)]
        keys: List[Expr] = []
        for _ in range(self.choices.one_of([0, 0, 0, 1, 1, 2]) if columns else 0):
            column = self.choices.one_of(columns)
            expr = column.expr()
            if column.type in ("int4", "int8") and self.choices.chance(0.3):
                text = self.choices.one_of(["coalesce(#, 2)", "# / 2", "nullif(#, 1)", "# + 0"])
                expr = Expr("computed key", text, column.type, (expr,))
            keys.append(expr)
        return tuple(keys)

    def name_of_key(self, key: Expr, keys: Tuple[Expr, ...]) -> str:
        has_list = key.rule == "column" and [other.text.split(".")[-1] for other in keys].count(OF_LIST) == 1 and key.text.endswith("." + OF_LIST)
        return OF_LIST if has_list else self.choices.new_name("k")

    def window(self, keys: Tuple[Expr, ...]) -> Expr:
        is_refused = self.choices.chance(REFUSED_SHARE)
        text, kind = self.choices.one_of(REFUSED_WINDOWS if is_refused else WINDOWS)
        by = ", ".join(["#"] * len(keys))
        children = tuple(child for sign in text if sign in "#@" for child in (keys[:1] if sign == "#" else keys))
        return Expr(f"{'refused ' if is_refused else ''}window beside GROUP BY: {text}", text.replace("@", by), kind, children)

    def aggregates(self, part: "Part") -> Tuple[Expr, ...]:
        return tuple(self.aggregate(part) for _ in range(self.choices.one_of([0, 1, 1, 2, 3])))

    def aggregate(self, part: "Part") -> Expr:
        choose = self.choices.one_of
        integers = [column for column in part.columns if column.type == "int4"]
        if self.choices.chance(0.5):
            text, kind = choose([one for one in OF_CONDITIONS if integers or "#" not in one[0]])
            return self.filled(text, kind, part, integers)
        among = REFUSED if self.choices.chance(REFUSED_SHARE) else EXACT
        columns = [column for column in part.columns if column.type in among]
        if not columns:
            return Expr("count(*)", "count(*)", "int8")
        column = choose(columns)
        text, kind = choose(among[column.type])
        expr = self.filled(text, kind, part, [column])
        if column.type != "float8" and not text.startswith(("stddev", "var")) or text not in EXACT_OF_OWNER:
            return expr
        owners = EXACT_OF_OWNER[text]
        return replace(expr, exact=owners) if owners else replace(expr, rule=ROUNDED)

    def having(self, part: "Part") -> Expr:
        integers = [column for column in part.columns if column.type == "int4"]
        text = self.choices.one_of([text for text in HAVING if integers or "#" not in text])
        return self.filled(text.format(self.choices.random.randint(1, 3)), "bool", part, integers)

    def filled(self, text: str, kind: str, part: "Part", columns: Sequence[Column]) -> Expr:
        """The expression with a column in the place of each #, and a condition in that of each ?."""
        children = tuple(self.choices.one_of(columns).expr() if sign == "#" else self.trees.condition(part.columns) for sign in text if sign in "#?")
        return Expr(text, text.replace("?", "#"), kind, children)

    def limit(self) -> str:
        return self.choices.one_of(["LIMIT 0", "LIMIT 5", "OFFSET 0", "OFFSET 1", "LIMIT ALL", "ORDER BY 1"]) if self.choices.chance(0.04) else ""
