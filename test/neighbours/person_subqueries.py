"""Subqueries in expressions about the person of a row: EXISTS, IN and one row of aggregates of the same person in a table of the unit, or of
the rows that refer to a row, that it refers to, or that refer to the same one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, List, Tuple

from expressions import Column
from public_levels import STAGED
from sql_tree import Expr, Item, Select

if TYPE_CHECKING:
    from trees import Link, Part, Trees

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
REFERENCE_SHARE = 0.65  # of those of rows that have one
# The tables of the subquery by the key that is compared, where the row around it refers, and where it is referred to
TABLES = {"order": (("orders", "lines", "tips"), ("lines", "tips")), "room": (("chats",), ("chats",))}
ANSWERS = "list of groups by another column"
KEY_OF_TWO = "line"
MISSES_OF_REFERENCES = ("another column", "two columns", "range of persons", "computed reference", "person for a reference")
COMPUTED_REFERENCES = ("# = # + 0", "# = # + 1", "# = coalesce(#, 11)", "# + 1 = #", "#::text = #::text", "# IS NOT DISTINCT FROM #")


@dataclass(frozen=True)
class Compared:
    """The rows of a subquery, and the columns that it compares."""

    outer: Column  # of the row around it
    inner: "Part"
    own: Tuple[Column, ...]  # any of them
    by_reference: bool
    of_readable: bool = False  # The row around is one that the analyst may read.
    sure: Tuple[Column, ...] = ()  # those of own along a reference of which groups are not chosen

    @property
    def may_group(self) -> bool:
        return bool(self.inner.persons) or self.by_reference


class PersonSubqueries:
    def __init__(self, trees: "Trees"):
        self.trees = trees
        self.choices = trees.choices
        self.depth = 0

    def may_ask(self, part: "Part") -> bool:
        return bool(part.persons or self.references(part))

    def conditions(self, part: "Part", share: float) -> Tuple[Expr, ...]:
        """Perhaps a condition about the person of a row."""
        if not self.may_ask(part) or self.depth > 1 or not self.choices.chance(share / (1 + self.depth)):
            return ()
        return (self.condition(part),)

    def condition(self, part: "Part") -> Expr:
        keys = [link for link in part.links if link.key == KEY_OF_TWO]
        if keys and self.choices.chance(REFUSED_SHARE):
            return self.part_of_key(self.choices.one_of(keys))
        shape = self.choices.random.choices(["exists", "in", "value"], [5, 4, 3])[0]
        compared = self.compared(part)
        misses = MISSES_OF_REFERENCES if compared.by_reference and shape != "in" else MISSES_OF_SHAPES[shape]
        miss = self.choices.one_of(misses) if self.choices.chance(REFUSED_SHARE) else ""
        if miss in ("another column", "two columns") and not self.others(part):
            miss = ""
        if shape == "value":
            value = self.value(part, compared, miss)
            return Expr(value.rule, self.choices.one_of(OF_VALUES).format(self.choices.random.randint(0, 3)), "bool", (value,))
        return self.exists(part, compared, miss) if shape == "exists" else self.is_in(part, compared, miss)

    def part_of_key(self, link: "Link") -> Expr:
        """A near miss: of two columns that refer to a row, or are referred to, one."""
        other = self.trees.table_named("lines" if link.refers else "parts")
        number = self.choices.one_of([0, 1])
        own = next(one for one in other.links if one.key == KEY_OF_TWO).columns[number]
        term = Expr("part of a key", "# = #", "bool", (own.expr(), link.columns[number].expr()))
        select = Select("subquery", (Item(Expr("constant", "1", "int4"), "one"),), other.source, (term,))
        return Expr("subquery with a part of a reference", self.choices.one_of(EXISTS), "bool", (select,))

    def computed(self, part: "Part") -> Expr:
        """A value of a subquery, or of a condition with one, as a column."""
        if self.choices.chance(0.5):
            return self.value(part, self.compared(part), "")
        text, kind = self.choices.one_of(COMPUTED)
        return Expr("of a subquery", text.format(*(self.choices.random.randint(1, 4) for _ in range(2))), kind, (self.condition(part),))

    def person_of(self, part: "Part") -> Column:
        """The person of the row, or of another row in it, where an outer join may have none."""
        others = [column for column in part.users if column not in part.persons and column.name == "patient"]
        persons = [column for column in part.persons if not column.sql.startswith("j")] or part.persons
        return self.choices.one_of(others if others and self.choices.chance(0.25) else persons if self.choices.chance(0.9) else part.persons)

    def references(self, part: "Part") -> List["Link"]:
        return [link for link in part.links if link.key in TABLES]

    def compared(self, part: "Part") -> Compared:
        """What compares persons, or along a reference."""
        links = self.references(part)
        if not links or part.persons and not self.choices.chance(REFERENCE_SHARE):
            inner = self.rows()
            return Compared(self.person_of(part), inner, inner.persons or inner.users, False)
        link = self.choices.one_of(links)
        inner, own = self.rows_of_reference(link)
        sure = tuple(one.columns[0] for one in inner.links if one.key == link.key and one.is_sure and one.columns[0] in own)
        return Compared(link.columns[0], inner, own, True, link.is_readable, sure)

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

    def rows_of_reference(self, link: "Link") -> Tuple["Part", Tuple[Column, ...]]:
        """Rows that refer to what the link does, or the rows themselves, perhaps joined with others; and the columns to compare."""
        self.depth += 1
        name = self.choices.one_of(TABLES[link.key][0 if link.refers else 1])
        part = self.trees.table_named(name)
        used, unused = self.trees.used, self.trees.unused
        self.trees.used = []
        if self.choices.chance(0.3):
            part = self.trees.led_to_persons(part, name)
        self.trees.used, self.trees.unused = used, unused
        if self.choices.chance(0.2):
            part = self.trees.with_public(part)
        elif self.choices.chance(0.3):
            part = self.trees.derived(part, self.trees.groups.along_reference(part) if self.trees.groups.references(part) and self.choices.chance(0.4) else
                                      self.trees.level(part, part.columns))
        self.depth -= 1
        own = tuple(one.columns[0] for one in part.links if one.key == link.key and not one.is_readable and (link.refers or one.refers))
        return (part, own) if own else self.rows_of_reference(link)

    def select(self, part: "Part", compared: Compared, miss: str, is_correlated: bool) -> Select:
        """The rows of a part, of this person if correlated."""
        person, inner = compared.outer, compared.inner
        self.depth += 1
        source, where = self.trees.as_list(inner)
        where += self.trees.conditions(inner.columns, 0.4) + self.conditions(inner, 0.25)
        if is_correlated and miss != "no person":
            where = (self.term(part, compared, miss), *where)
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

    def term(self, part: "Part", compared: Compared, miss: str) -> Expr:
        """By which the persons are compared, or the reference."""
        own, outer = self.choices.one_of(compared.own), compared.outer
        if miss == "person for a reference":
            persons = [column for column in part.columns if column.name == "patient"]
            of_inner = [column for column in compared.inner.columns if column.name == "patient"]
            if persons and (not of_inner or self.choices.chance(0.5)):
                outer = self.choices.one_of(persons)
            elif of_inner:
                own = self.choices.one_of(of_inner)
            else:
                miss = "computed reference"
        pair = (own.expr(), outer.expr()) if self.choices.chance(0.7) else (outer.expr(), own.expr())
        text = self.choices.one_of(COMPUTED_REFERENCES) if miss == "computed reference" else "# > #" if miss == "range of persons" else "# = #"
        return Expr("person", text, "bool", pair)

    def exists(self, part: "Part", compared: Compared, miss: str) -> Expr:
        inner = compared.inner
        select = self.select(part, compared, miss, True)
        item = Item(self.choices.one_of([Expr("constant", "1", "int4"), self.choices.one_of(inner.columns).expr()]), "one")
        limit = "OFFSET 1" if miss == "offset" else self.choices.one_of(["", "", "", "LIMIT 1"])
        select = replace(select, items=(item,), limit=limit)
        if self.choices.chance(0.2):
            select = self.grouped(select, compared)
        return Expr(self.rule("EXISTS", miss, compared), self.choices.one_of(EXISTS), "bool", (select,))

    def grouped(self, select: Select, compared: Compared) -> Select:
        """With aggregates of the rows of the person."""
        having = Expr("having", self.choices.one_of(["count(*) > {}", "count(*) < {}", "true"]).format(self.choices.random.randint(1, 3)), "bool")
        keys = (compared.own[0].expr(),) if compared.may_group and self.choices.chance(0.4) else ()
        return replace(select, items=(Item(Expr("constant", "1", "int4"), "one"),), group=keys, having=(having,), limit="")

    def is_in(self, part: "Part", compared: Compared, miss: str) -> Expr:
        inner = compared.inner
        is_correlated = self.choices.chance(0.04)
        miss = miss or ("this person" if is_correlated else "")
        select = self.select(part, compared, miss, is_correlated)
        column = self.choices.one_of(inner.columns if miss == "list of another column" or not compared.may_group else compared.own)
        if not compared.may_group or column.sql not in [one.sql for one in compared.own]:
            miss = miss or "list of another column"
        select = replace(select, items=(Item(column.expr(), "patient"),), limit="LIMIT 2" if miss == "limited list" else "")
        # Groups by another column are a list of private answers, and so are those by the column of a view, a computed one, and one of rows that an outer join may leave out.
        has_answers = miss == "list of another column" and not is_correlated or compared.by_reference and column in compared.own and column not in compared.sure
        if miss != "limited list" and compared.may_group and (self.choices.may_have_stages or not has_answers) and self.choices.chance(0.35):
            miss = ANSWERS if has_answers else miss
            select = replace(select, distinct="DISTINCT ") if self.choices.chance(0.4) else self.list_of_groups(select, inner, column)
        text, exact = self.choices.one_of(IN)
        return Expr(self.rule("NOT IN" if "NOT" in text else "IN", miss, compared), text, "bool", (compared.outer.expr(), select), exact=exact.replace("$", "patient"))

    def list_of_groups(self, select: Select, inner: "Part", column: Column) -> Select:
        having = self.trees.groups.having(inner)
        return replace(select, group=(column.expr(), *self.trees.groups.other_keys(inner)), having=(having,))

    def value(self, part: "Part", compared: Compared, miss: str) -> Expr:
        """One row of aggregates."""
        inner = compared.inner
        select = self.select(part, compared, miss, True)
        integers = [column for column in inner.columns if column.type == "int4"]
        if miss == "other value" or not integers:
            miss = miss or "other value"
            return Expr(self.rule("value", miss, compared), "(#)", "text", (replace(select, items=(Item(self.choices.one_of(inner.columns).expr(), "one"),), limit="LIMIT 1"),))
        text, kind = self.choices.one_of(VALUES)
        having, keys = (), ()
        if self.choices.chance(0.15):
            having = (self.trees.groups.having(inner),)
        others = [column for column in inner.columns if column not in inner.users and column not in compared.own]
        miss = "" if miss == "groups of others" and not others else miss
        if miss == "groups of others" or compared.may_group and self.choices.chance(0.1):
            keys = (self.choices.one_of(others if miss == "groups of others" else compared.own).expr(),)
        select = replace(select, items=(Item(self.trees.groups.filled(text, kind, inner, integers), "one"),), group=keys, having=having)
        return Expr(self.rule("value", miss, compared), "(#)", kind, (select,))

    def rule(self, shape: str, miss: str, compared: Compared) -> str:
        if miss == ANSWERS:
            return STAGED + miss
        if compared.of_readable and not miss:
            return "subquery with a reference of readable rows"
        return f"subquery with {miss}" if miss else f"subquery along a reference: {shape}" if compared.by_reference else f"subquery: {shape}"
