"""Levels with window functions within the rows of each person, or with the first row of each (DISTINCT ON), below private aggregates."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, List, Sequence, Tuple

from expressions import Column
from rules import parsed
from sql_tree import Derived, Expr, Item, Select, Table

if TYPE_CHECKING:
    from choices import Choices
    from sources import Rows
    from trees import Part, Trees

# Window functions whose value does not depend on the order of rows with equal keys, with their types; T is that of the argument. The window
# takes the place of @.
OF_RANKS = (("rank() OVER @", "int8"), ("dense_rank() OVER @", "int8"), ("percent_rank() OVER @", "float8"), ("cume_dist() OVER @", "float8"),
            ("dense_rank() OVER @ - 1", "int8"))
OF_ORDER = (("row_number() OVER @", "int8"), ("row_number() OVER @", "int8"), ("ntile(2) OVER @", "int4"), ("row_number() OVER @ + 1", "int8"))
OF_INTEGERS_IN_ORDER = (("lag(#) OVER @", "T"), ("lag(#, 2) OVER @", "T"), ("lead(#, 1, -1) OVER @", "int4"), ("lead(#, -1) OVER @", "T"), ("first_value(#) OVER @", "T"),
                        ("last_value(#) OVER @", "T"), ("nth_value(#, 2) OVER @", "T"), ("# - lag(#) OVER @", "T"))
OF_INTEGERS = (("sum(#) OVER @", "int8"), ("avg(#) OVER @", "numeric"), ("min(#) OVER @", "T"), ("max(#) OVER @", "T"), ("count(#) OVER @", "int8"),
               ("sum(#) FILTER (WHERE ?) OVER @", "int8"), ("coalesce(max(#) OVER @, 0)", "T"))
OF_CONDITIONS = (("count(*) OVER @", "int8"), ("count(*) FILTER (WHERE ?) OVER @", "int8"), ("(bool_and(?) OVER @)::int4", "int4"),
                 ("(bool_or(?) OVER @)::int4", "int4"), ("(every(?) OVER @)::int4", "int4"))
REFUSED = (("ntile(#) OVER @", "int4"), ("ntile(0) OVER @", "int4"), ("lag(#, #) OVER @", "int4"), ("array_agg(#) OVER @", "int4[]"), ("nth_value(#, 0) OVER @", "int4"),
           ("stddev(#) OVER @", "numeric"), ("sum(#::float8) OVER @", "float8"))
# Whether the rows of a frame depend on the order of rows with equal keys
FRAMES = (("", False), ("RANGE UNBOUNDED PRECEDING", False), ("RANGE BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING", False),
          ("GROUPS BETWEEN 1 PRECEDING AND 1 FOLLOWING", False), ("GROUPS UNBOUNDED PRECEDING", False), ("GROUPS BETWEEN 2 PRECEDING AND CURRENT ROW", False),
          ("ROWS UNBOUNDED PRECEDING", True), ("ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING", True), ("ROWS 2 PRECEDING", True),
          ("ROWS BETWEEN 1 FOLLOWING AND 2 FOLLOWING", True), ("RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW", False))
REFUSED_FRAMES = ("ROWS 1000 PRECEDING", "ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING", "ROWS UNBOUNDED PRECEDING EXCLUDE CURRENT ROW", "ROWS # PRECEDING",
                  "GROUPS UNBOUNDED PRECEDING EXCLUDE TIES", "RANGE 1 PRECEDING")
# The same over the wide tables, of which many rows of a person have equal keys. USER is the person.
OF_ROWS = """
int8: row_number() OVER (PARTITION BY USER ORDER BY #) : text
int8: row_number() OVER (PARTITION BY USER ORDER BY #, #) : int4 text
int8: row_number() OVER (PARTITION BY USER) :
int8: rank() OVER (PARTITION BY USER ORDER BY #) : int4
int4: first_value(#) OVER (PARTITION BY USER ORDER BY #) : int4 text
int4: lag(#) OVER (PARTITION BY USER ORDER BY # DESC) : int4 date
date: lead(#) OVER (PARTITION BY USER ORDER BY #) : date int4
int8: sum(#) OVER (PARTITION BY USER ORDER BY # ROWS 2 PRECEDING) : int4 text
int8: count(*) FILTER (WHERE #) OVER (PARTITION BY USER ORDER BY #) : bool date
"""
PARTITIONS_OF_OTHERS = ("ORDER BY #", "", "PARTITION BY #", "PARTITION BY coalesce(#, 1) ORDER BY #")
IN_ORDER = "window in the order of equal rows"  # the rule of what the owner's query may give otherwise
NUMBERS = ("int4", "int8")
REFUSED_SHARE = 0.05
DISTINCT_ON_SHARE = 0.3
NUMBERED_SHARE = 0.35


def windows_of_rows(choices: "Choices", rows: "Rows", where: Tuple[Expr, ...]) -> Tuple[Select, "Rows"]:
    """Rows with a window over those of their person, and what they are as rows of FROM, where their name is the alias."""
    alias = choices.new_name("t")
    rule = choices.one_of(list(parsed(OF_ROWS)))
    window = choices.inside.apply(replace(rule, text=rule.text.replace("USER", str(rows.user))), rows.columns, 0)
    items = tuple({column.name: Item(column.expr(), column.name) for column in rows.columns}.values()) + (Item(window, choices.new_name("n")),)
    columns = tuple(Column(f"{alias}.{item.name}", item.expr.type) for item in items)
    select = Select("windows over wide rows", items, rows.source, where)
    return select, replace(rows, source=Table(alias, alias), columns=columns, alias=alias, user=f"{alias}.{str(rows.user).split('.')[-1]}")


class PersonWindows:
    def __init__(self, trees: "Trees"):
        self.trees = trees
        self.choices = trees.choices

    def level(self, part: "Part") -> Tuple[Select, "Part"]:
        """A level over a part, and what it is as a part of FROM under the alias in its source."""
        if self.choices.chance(DISTINCT_ON_SHARE):
            return self.first_rows(part)
        if self.choices.chance(NUMBERED_SHARE):
            return self.numbered_rows(part)
        return self.windows(part)

    def windows(self, part: "Part") -> Tuple[Select, "Part"]:
        person = self.person_of(part)
        items = tuple(Item(self.function(part, person), self.choices.new_name("n")) for _ in range(self.choices.one_of([1, 1, 2])))
        return self.level_of(part, "windows" if person in part.persons else "windows of others", items, part.has_one_row)

    def numbered_rows(self, part: "Part") -> Tuple[Select, "Part"]:
        """The rows of a person that have a number, mostly one of each."""
        person = self.choices.one_of(part.persons)
        others = self.some_keys(part, [0, 0, 0, 1])
        keys, is_total = self.order(part)
        text = "row_number() OVER (PARTITION BY " + ", ".join("#" * (1 + len(others))) + self.order_by(keys) + ")"
        rule = "row_number" if is_total else IN_ORDER
        number = Expr(rule, text, "int8", (person.expr(), *others, *keys))
        select, inner = self.level_of(part, "numbered rows", (Item(number, "rn"),), part.has_one_row)
        condition = self.choices.one_of(["# = 1"] * 5 + ["1 = #", "# = 2", "# <= 1", "# < 3", "# = 1 OR # IS NULL"])
        column = inner.columns[-1]
        has_one_row = part.has_one_row or not others and condition.count("#") == 1 and "=" in condition and "<" not in condition
        chosen = Expr("numbers", condition, "bool", (column.expr(),) * condition.count("#"))
        around = replace(inner, source=Derived(select, str(inner.source.alias)), where=(chosen,))  # type: ignore[union-attr]
        outer, shown = self.trees.level(around, [one for one in around.columns if one is not column or self.choices.chance(0.3)])
        return outer, replace(shown, has_one_row=has_one_row)

    def first_rows(self, part: "Part") -> Tuple[Select, "Part"]:
        """DISTINCT ON the person, or the person and something else."""
        person = self.person_of(part)
        others = self.some_keys(part, [0, 0, 0, 1])
        chosen = (person.expr(), *others)
        keys, is_total = self.order(part)
        select, first = self.level_of(part, "first rows" if person in part.persons else "first rows of others", (), False)
        order = list(chosen) if self.choices.chance(0.8) else list(reversed(chosen))
        rule = "order" if is_total else IN_ORDER
        text = "DISTINCT ON (" + ", ".join(expr.sql() for expr in chosen) + ") "
        directed = tuple(replace(key, rule=rule, text=f"{key.text}{self.direction()}") for key in keys)
        # Without ORDER BY any row of a person may be the first.
        order_by = (*order, *directed) if is_total or self.choices.chance(0.8) else ()
        kind = select.kind if order_by else "first rows without order"
        has_one_row = part.has_one_row or not others
        return replace(select, kind=kind, distinct=text, order=order_by), replace(first, has_one_row=has_one_row)

    # ---- parts of it

    def level_of(self, part: "Part", kind: str, items: Tuple[Item, ...], has_one_row: bool) -> Tuple[Select, "Part"]:
        """A level with columns of the part, and these items."""
        select, shown = self.trees.level(part, self.trees.some_columns(part) if self.choices.chance(0.4) else list(part.columns), computed=False)
        alias = str(shown.source.alias)  # type: ignore[union-attr]
        columns = tuple(Column(f"{alias}.{item.name}", item.expr.type) for item in items)
        whose = tuple(item for item in select.items if item.is_exact)
        of_rows = tuple(item for item in select.items if not item.is_exact)
        of_groups = tuple(column for column in columns if column.type in NUMBERS)
        return (replace(select, kind=kind, items=of_rows + items + whose, limit=""),
                replace(shown, columns=shown.columns + columns, of_groups=shown.of_groups + of_groups, public=(), has_one_row=has_one_row))

    def person_of(self, part: "Part") -> Column:
        """Mostly the column that names the person of each row, and of another where an outer join may have no row."""
        others = [column for column in part.users if column not in part.persons]
        return self.choices.one_of(others if others and self.choices.chance(0.1) else part.persons)

    def some_keys(self, part: "Part", numbers: Sequence[int]) -> Tuple[Expr, ...]:
        columns = [column for column in part.columns if column.type in NUMBERS and column not in part.persons]
        return tuple(column.expr() for column in self.choices.some_of(columns, 1, 1)) if columns and self.choices.one_of(numbers) else ()

    def function(self, part: "Part", person: Column) -> Expr:
        """A window function of the rows of each person, perhaps with the same in something else."""
        integers = [column for column in part.columns if column.type in NUMBERS]
        if not integers or self.choices.chance(REFUSED_SHARE):
            return self.refused(part, person, integers)
        keys, is_total = self.order(part) if self.choices.chance(0.85) else ((), False)
        text, kind = self.choices.one_of(self.choices.one_of([OF_RANKS, OF_ORDER, OF_INTEGERS_IN_ORDER, OF_INTEGERS, OF_CONDITIONS]))
        frame, depends_on_order = self.choices.one_of(FRAMES) if keys and (text, kind) in OF_INTEGERS + OF_CONDITIONS and self.choices.chance(0.6) else ("", False)
        depends_on_order |= (text, kind) in OF_ORDER + OF_INTEGERS_IN_ORDER
        others = self.some_keys(part, [0, 0, 0, 1])
        window = "(PARTITION BY " + ", ".join("#" * (1 + len(others))) + self.order_by(keys) + (" " + frame if frame else "") + ")"
        column = self.choices.one_of(integers)
        before = tuple(column.expr() if sign == "#" else self.trees.condition(part.columns) for sign in text.split("@")[0] if sign in "#?")
        rule = IN_ORDER if depends_on_order and not is_total else text
        return Expr(rule, text.replace("?", "#").replace("@", window), column.type if kind == "T" else kind, (*before, person.expr(), *others, *keys))

    def refused(self, part: "Part", person: Column, integers: List[Column]) -> Expr:
        """A near miss: of rows of several persons, or of what may fail or take long."""
        column = self.choices.one_of(integers or part.columns).expr()
        kind = self.choices.one_of(["window", "frame", "function"])
        if kind == "window" or not integers:
            text = f"count(*) OVER ({self.choices.one_of(PARTITIONS_OF_OTHERS)})"
            return Expr("refused window", text, "int8", (column,) * text.count("#"))
        if kind == "frame":
            text = f"max(#) OVER (PARTITION BY # ORDER BY # {self.choices.one_of(REFUSED_FRAMES)})"
            return Expr("refused frame", text, column.type, (column, person.expr(), column, column)[:text.count("#")])
        text, kind = self.choices.one_of(REFUSED)
        values = (column,) * text.count("#")
        return Expr("refused window function", text.replace("@", "(PARTITION BY # ORDER BY #)"), kind, (*values, person.expr(), column))

    def order(self, part: "Part") -> Tuple[Tuple[Expr, ...], bool]:
        """Keys, and whether rows that are equal in them are equal in all columns."""
        if self.choices.chance(0.4):
            columns = list(part.columns)
            self.choices.random.shuffle(columns)
            return tuple(column.expr() for column in columns), True
        columns = self.choices.some_of([column for column in part.columns if column not in part.persons] or part.columns, 1, 2)
        keys = [column.expr() for column in columns[:self.choices.one_of([1, 1, 2])]]
        if keys[0].type in NUMBERS and self.choices.chance(0.15):
            keys[0] = Expr("computed key", "coalesce(#, 2)", keys[0].type, (keys[0],))
        return tuple(keys), False

    def order_by(self, keys: Tuple[Expr, ...]) -> str:
        return " ORDER BY " + ", ".join("#" + self.direction() for _ in keys) if keys else ""

    def direction(self) -> str:
        return self.choices.one_of(["", "", " DESC", " NULLS FIRST", " DESC NULLS LAST"])
