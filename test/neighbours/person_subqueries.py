"""Subqueries in expressions about the person of a row: EXISTS, IN and one row of aggregates of the same person in a table of the unit."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, List, Tuple

from expressions import Column
from sql_tree import Expr, Item, Select

if TYPE_CHECKING:
    from trees import Part, Trees

# Rows of nobody are in no list, and nobody is in none and in all: the owner's query says so. $ stands for the column of persons of the list.
THE_PERSON = "(WITH this AS MATERIALIZED (SELECT # AS p), list AS (#) SELECT CASE WHEN p IS NOT NULL THEN p {} (SELECT $ FROM list WHERE $ IS NOT NULL) END FROM this)"
IN = (("# IN (#)", THE_PERSON.format("IN")), ("# = ANY (#)", THE_PERSON.format("IN")), ("# NOT IN (#)", THE_PERSON.format("NOT IN")))
EXISTS = ("EXISTS (#)", "NOT EXISTS (#)", "EXISTS (#)", "(EXISTS (#) OR false)")
VALUES = (("count(*)", "int8"), ("count(#)", "int8"), ("sum(#)", "int8"), ("min(#)", "int4"), ("max(#)", "int4"), ("count(DISTINCT #)", "int8"), ("coalesce(sum(#), -1) + count(*)", "int8"),
          ("count(*) FILTER (WHERE ?)", "int8"))
OF_VALUES = ("# > {}", "# = {}", "# IS NULL", "# < {} + 1", "coalesce(#, 0) <> {}")
COMPUTED = (("CASE WHEN # THEN {} ELSE {} END", "int4"), ("(#)::int4", "int4"))
MISSES = ("no person", "another column", "two columns", "range of persons")
MISSES_OF_SHAPES = {"exists": (*MISSES, "offset"), "in": ("limited list", "list of another column", "another column"), "value": (*MISSES, "other value", "groups of others")}
REFUSED_SHARE = 0.08


class PersonSubqueries:
    def __init__(self, trees: "Trees"):
        self.trees = trees
        self.choices = trees.choices
        self.depth = 0

    def conditions(self, part: "Part", share: float) -> Tuple[Expr, ...]:
        """Perhaps a condition about the person of a row."""
        if not part.persons or self.depth > 1 or not self.choices.chance(share / (1 + self.depth)):
            return ()
        return (self.condition(part),)

    def condition(self, part: "Part") -> Expr:
        person = self.person_of(part)
        shape = self.choices.random.choices(["exists", "in", "value"], [5, 4, 3])[0]
        miss = self.choices.one_of(MISSES_OF_SHAPES[shape]) if self.choices.chance(REFUSED_SHARE) else ""
        if miss in ("another column", "two columns") and not self.others(part):
            miss = ""
        if shape == "value":
            value = self.value(part, person, miss)
            return Expr(value.rule, self.choices.one_of(OF_VALUES).format(self.choices.random.randint(0, 3)), "bool", (value,))
        return self.exists(part, person, miss) if shape == "exists" else self.is_in(part, person, miss)

    def computed(self, part: "Part") -> Expr:
        """A value of a subquery, or of a condition with one, as a column."""
        if self.choices.chance(0.5):
            return self.value(part, self.person_of(part), "")
        text, kind = self.choices.one_of(COMPUTED)
        return Expr("of a subquery", text.format(*(self.choices.random.randint(1, 4) for _ in range(2))), kind, (self.condition(part),))

    def person_of(self, part: "Part") -> Column:
        """The person of the row, or of another row in it, where an outer join may have none."""
        others = [column for column in part.users if column not in part.persons and column.name == "patient"]
        persons = [column for column in part.persons if not column.sql.startswith("j")] or part.persons
        return self.choices.one_of(others if others and self.choices.chance(0.25) else persons if self.choices.chance(0.9) else part.persons)

    def others(self, part: "Part") -> List[Column]:
        """Columns that name nobody. Those with names of their own may be copies of ones that do."""
        return [column for column in part.columns if column not in part.users and column.name in ("city_id", "level", "score", "line")]

    # ---- the subquery

    def rows(self) -> "Part":
        """A table of the unit, or something of it. It does not limit the rows of a person, and may be one that the tree reads."""
        self.depth += 1
        name = self.choices.one_of(self.trees.in_subqueries)
        part = self.trees.table_named(name)
        used, unused = self.trees.used, self.trees.unused
        self.trees.used = []
        part = self.trees.led_to_persons(part, name)
        self.trees.used, self.trees.unused = used, unused
        if part.persons and self.choices.chance(0.2):
            part = self.trees.with_public(part)
        elif part.persons and self.choices.chance(0.3):
            part = self.trees.derived(part, self.trees.level_of_persons(part) if self.choices.chance(0.6) else None)
        self.depth -= 1
        return part if part.persons or self.choices.chance(REFUSED_SHARE) else self.rows()

    def select(self, part: "Part", person: Column, inner: "Part", miss: str, is_correlated: bool) -> Select:
        """The rows of a part, of this person if correlated."""
        self.depth += 1
        source, where = self.trees.as_list(inner)
        where += self.trees.conditions(inner.columns, 0.4) + self.conditions(inner, 0.25)
        if is_correlated and miss != "no person":
            own = self.choices.one_of(inner.persons or inner.users).expr()
            pair = (own, person.expr()) if self.choices.chance(0.7) else (person.expr(), own)
            where = (Expr("person", "# > #" if miss == "range of persons" else "# = #", "bool", pair), *where)
        if is_correlated and not miss and self.choices.chance(0.25):
            where += self.same_columns(part, inner)
        if miss in ("another column", "two columns"):
            other = self.choices.one_of(self.others(part))
            own = self.choices.one_of([column for column in inner.columns if column.type == other.type] or list(inner.columns))
            texts = ["# > #", "# <= #", "# <> #"] if miss == "two columns" else ["# = #", "# > #", "# <= #"]
            text = self.choices.one_of(texts) if own.type == other.type else "#::text <> #::text"
            where = (where[1:] if miss == "another column" else where) + (Expr("another column", text, "bool", (own.expr(), other.expr())),)
        self.depth -= 1
        return Select("subquery", (), source, where)

    def same_columns(self, part: "Part", inner: "Part") -> Tuple[Expr, ...]:
        """Perhaps a comparison of other columns than those of the persons, as groups are told apart."""
        pairs = [(own, other) for own in self.others(inner) for other in self.others(part) if own.type == other.type]
        if not pairs:
            return ()
        own, other = self.choices.one_of(pairs)
        sides = (own.expr(), other.expr()) if self.choices.chance(0.7) else (other.expr(), own.expr())
        return (Expr("same columns", "# = #", "bool", sides),)

    def exists(self, part: "Part", person: Column, miss: str) -> Expr:
        inner = self.rows()
        select = self.select(part, person, inner, miss, True)
        item = Item(self.choices.one_of([Expr("constant", "1", "int4"), self.choices.one_of(inner.columns).expr()]), "one")
        limit = "OFFSET 1" if miss == "offset" else self.choices.one_of(["", "", "", "LIMIT 1"])
        select = replace(select, items=(item,), limit=limit)
        if self.choices.chance(0.2):
            select = self.grouped(select, inner)
        return Expr(self.rule("EXISTS", miss), self.choices.one_of(EXISTS), "bool", (select,))

    def grouped(self, select: Select, inner: "Part") -> Select:
        """With aggregates of the rows of the person."""
        having = Expr("having", self.choices.one_of(["count(*) > {}", "count(*) < {}", "true"]).format(self.choices.random.randint(1, 3)), "bool")
        keys = (inner.persons[0].expr(),) if inner.persons and self.choices.chance(0.4) else ()
        return replace(select, items=(Item(Expr("constant", "1", "int4"), "one"),), group=keys, having=(having,), limit="")

    def is_in(self, part: "Part", person: Column, miss: str) -> Expr:
        inner = self.rows()
        is_correlated = self.choices.chance(0.04)
        miss = miss or ("this person" if is_correlated else "")
        select = self.select(part, person, inner, miss, is_correlated)
        column = self.choices.one_of(inner.columns if miss == "list of another column" or not inner.persons else inner.persons)
        if column.sql not in [one.sql for one in inner.persons]:
            miss = miss or "list of another column"
        select = replace(select, items=(Item(column.expr(), "patient"),), limit="LIMIT 2" if miss == "limited list" else "")
        if miss != "limited list" and inner.persons and self.choices.chance(0.35):
            select = replace(select, distinct="DISTINCT ") if self.choices.chance(0.4) else self.list_of_groups(select, inner, column)
        text, exact = self.choices.one_of(IN)
        return Expr(self.rule("NOT IN" if "NOT" in text else "IN", miss), text, "bool", (person.expr(), select), exact=exact.replace("$", "patient"))

    def list_of_groups(self, select: Select, inner: "Part", column: Column) -> Select:
        having = self.trees.groups.having(inner)
        return replace(select, group=(column.expr(), *self.trees.groups.other_keys(inner)), having=(having,))

    def value(self, part: "Part", person: Column, miss: str) -> Expr:
        """One row of aggregates."""
        inner = self.rows()
        select = self.select(part, person, inner, miss, True)
        integers = [column for column in inner.columns if column.type == "int4"]
        if miss == "other value" or not integers:
            miss = miss or "other value"
            return Expr(self.rule("value", miss), "(#)", "text", (replace(select, items=(Item(self.choices.one_of(inner.columns).expr(), "one"),), limit="LIMIT 1"),))
        text, kind = self.choices.one_of(VALUES)
        having, keys = (), ()
        if self.choices.chance(0.15):
            having = (self.trees.groups.having(inner),)
        others = [column for column in inner.columns if column not in inner.users]
        miss = "" if miss == "groups of others" and not others else miss
        if miss == "groups of others" or inner.persons and self.choices.chance(0.1):
            keys = (self.choices.one_of(others if miss == "groups of others" else inner.persons).expr(),)
        select = replace(select, items=(Item(self.trees.groups.filled(text, kind, inner, integers), "one"),), group=keys, having=having)
        return Expr(self.rule("value", miss), "(#)", kind, (select,))

    def rule(self, shape: str, miss: str) -> str:
        return f"subquery with {miss}" if miss else f"subquery: {shape}"
