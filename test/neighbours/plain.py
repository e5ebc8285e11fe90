"""Blocks over trees of FROM in plain SQL: PostgreSQL's own aggregates, which private ones answer, by keys with lists and by keys that are chosen."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, List, Optional, Sequence, Tuple

from expressions import Column
from person_groups import OF_LIST
from sql_tree import Expr, Item, Select

if TYPE_CHECKING:
    from trees import Part, Trees

CLIPPED = "least(greatest(#, 0), 3)"
REFUSED_SHARE = 0.06
HAVING_SHARE = 0.08
ERROR = "dp_error_of"
PLAIN = "plain block over a tree"
CHOSEN = "plain block by chosen keys"
# Keys of which the list is read from the public table
OF_TABLE = "key of a public table"
BY_TABLES = "plain block by keys of public tables"
PUBLIC_SHARE = 0.5  # that are joined with one more public table


@dataclass(frozen=True)
class Standard:
    """An aggregate. {} is for FILTER. Answers that the owner's query gives otherwise have no exact text."""

    text: str
    type: str
    bound: Optional[float] = None
    exact: str = ""
    of: str = "any"  # its values: any column, integers, persons, or the column with a domain
    is_public: bool = False  # the bounds of the column, whatever the rows are


# Of which NULL is in the list, though no row may have it
ALSO_NULL = "plain key that may be NULL"
# A bound of a column of a public table, which is that of all its rows
OF_PUBLIC_ROWS = "plain bound of public rows"
COUNTS = (Standard("count(*){}", "int8", 1, "count(*){}"), Standard("count(#){}", "int8", 1, "count(#){}"), Standard("count(#){}", "int8", 1, "count(#){}"),
          Standard("count(DISTINCT #){}", "int8", 1, "count(DISTINCT #){}", "integers"), Standard("count(DISTINCT #){}", "int8", 1, "count(DISTINCT #){}", "persons"))
SUMS = (Standard(f"sum({CLIPPED}){{}}", "int8", 3, f"coalesce(sum({CLIPPED}){{}}, 0)", "integers"), Standard("sum(#){}", "int8", 4, "coalesce(sum(#){}, 0)", "list"),
        Standard(f"avg({CLIPPED}){{}}", "numeric", None, "", "integers"), Standard("avg(#){}", "numeric", None, "", "list"),
        Standard("stddev(#){}", "numeric", None, "", "list"), Standard("percentile_cont(0.5) WITHIN GROUP (ORDER BY #){}", "float8", None, "", "list"),
        Standard("percentile_disc(0.5) WITHIN GROUP (ORDER BY #){}", "int4", None, "", "list"), Standard(ERROR + "(count(#))", "float8", None, "", "integers", True),
        Standard("max(#)", "int4", None, "greatest(max(#), 4)", "list", True), Standard("min(#)", "int4", None, "least(min(#), 1)", "list", True))
REFUSED = (Standard("array_agg(#){}", "int4[]", None, "", "integers"), Standard("string_agg(#::text, ','){}", "text", None, "", "integers"),
           Standard("sum(#){}", "int8", None, "", "integers"), Standard("mode() WITHIN GROUP (ORDER BY #){}", "int4", None, "", "integers"), Standard("bit_or(#){}", "int4", None, "", "integers"))
HAVING = ("count(*) > {}", "count(DISTINCT #) > {}", "# IS NOT NULL", "count(*) > {} OR true")


class PlainBlocks:
    def __init__(self, trees: "Trees"):
        self.trees = trees
        self.choices = trees.choices

    def block(self, part: "Part") -> Select:
        if not part.has_public_side and self.choices.chance(PUBLIC_SHARE):
            part = self.trees.with_public(part)
        keys, kind = self.keys(part)
        items = tuple(Item(key, self.choices.new_name("k")) for key in keys)
        items += tuple(Item(self.answer(part), self.choices.new_name("a")) for _ in range(self.choices.one_of([1, 1, 2, 3])))
        having = (self.having(part, keys),) if keys and self.choices.chance(HAVING_SHARE) else ()
        source, where = self.trees.as_list(part)
        where += self.trees.conditions(self.trees.columns_of_where(part), 0.25) + self.trees.subqueries.conditions(part, 0.02 if part.has_public_side else 0.2)
        if part.user is not None:
            items += (Item(replace(part.user.expr(), bound=self.trees.least_limit(part, bool(keys))), "whose", is_exact=True),)
        order = (Expr("order", "1", "int4", (), not keys),) if self.choices.chance(0.1) else ()
        return Select(kind, items, source, where, keys, having, order)

    def keys(self, part: "Part") -> Tuple[Tuple[Expr, ...], str]:
        if part.has_public_side:
            columns = self.choices.some_of(part.side or part.columns, 1, 2) if self.choices.chance(0.8) else []
            keys = tuple(column.expr() for column in columns)
            return keys, self.trees.kind_of_block(part, keys)
        listed = [column for column in part.protected if column.name == OF_LIST and column.type == "int4"]
        of_list = 9 if set(listed) & set(part.of_groups) else 4  # A person may be in several groups.
        tables = [column for column in part.public if column.sql in self.trees.of_tables]
        of_tables = 12 if tables else 0
        shape = self.choices.random.choices(["none", "list", "condition", "between", "chosen", "tables"], [5, of_list, 1, 2, 0.3 if self.choices.in_rho else 2, of_tables])[0]
        if shape == "tables":
            beside = self.choices.some_of(listed, 1, 1) if listed and self.choices.chance(0.4) else []
            return (*(self.key_of_table(column) for column in self.choices.some_of(tables, 1, 3)), *(column.expr() for column in beside)), BY_TABLES
        if shape == "list" and listed:
            column = self.choices.one_of(listed).expr()
            text = self.choices.one_of(["#", "#", "#", "# + 1", "coalesce(#, 2)", "# % 2"])
            return (column if text == "#" else Expr("plain key", text, "int4", (column,)),), PLAIN
        if shape == "condition" and listed:
            return (Expr("plain key", "# > 2", "bool", (self.choices.one_of(listed).expr(),)),), PLAIN
        whole = [column for column in part.protected if column.type in ("int4", "int8")]
        if shape == "between" and whole:
            column = self.choices.one_of(whole).expr()
            text = self.choices.one_of([CLIPPED, f"{CLIPPED} - # % 2", "# % 3", f"({CLIPPED} + # % 2) * 2", f"({CLIPPED})::text", "nullif(# % 2, 1)"])
            return (Expr(ALSO_NULL if "nullif" in text else "plain key between bounds", text, "text" if "text" in text else column.type, (column,) * text.count("#")),), PLAIN
        if shape == "chosen":
            columns = [column for column in part.protected or part.columns if column.type in ("int4", "int8", "text", "date")]
            return tuple(column.expr() for column in self.choices.some_of(columns, 1, 2)), CHOSEN
        return (), PLAIN

    def key_of_table(self, column: Column) -> Expr:
        text = self.choices.one_of(["#", "#", "#", "coalesce(#, 0)", "# % 2", "# > 2", "CASE WHEN # < 3 THEN # END"])
        return Expr(OF_TABLE, text, "bool" if ">" in text else column.type, (column.expr(),) * text.count("#"))

    def having(self, part: "Part", keys: Sequence[Expr]) -> Expr:
        text = self.choices.one_of(HAVING).format(self.choices.random.randint(0, 3))
        child = keys[0] if "IS NOT" in text else self.choices.one_of(part.columns).expr()
        return Expr("plain HAVING", text, "bool", (child,) * text.count("#"), is_answer="count" in text)

    def answer(self, part: "Part") -> Expr:
        if self.choices.chance(REFUSED_SHARE):
            return self.call(self.choices.one_of(REFUSED), part, "refused plain aggregate")
        among = COUNTS if self.choices.chance(0.55) else SUMS
        if part.has_public_side and self.choices.chance(0.85):
            among = tuple(one for one in among if "#" in one.text)
        return self.call(self.choices.one_of(among), part, "")

    def call(self, standard: Standard, part: "Part", rule: str) -> Expr:
        columns = self.columns(standard, part)
        if not columns:
            return self.call(COUNTS[0], part, rule)
        chosen = self.choices.one_of(columns)
        column = chosen.expr()
        values = (column,) * standard.text.count("#")
        filters, conditions = "", [f"{part.user.sql} IS NOT NULL"] if part.user is not None and not self.trees.counts_all(part, values) else []
        if self.choices.chance(0.12) and not standard.is_public:
            filters = " FILTER (WHERE #)"
            conditions.append("#")
            values += self.trees.subqueries.conditions(part, 0.3) or (self.trees.condition(part.columns),)
        exact = standard.exact.format(f" FILTER (WHERE {' AND '.join(conditions)})" if conditions else "")
        if standard.text.startswith("count(*)") and part.has_public_side and part.user is not None and not filters:
            exact = f"greatest({exact}, 1)"  # A public row counts that matches no row of a person.
        if standard.exact.startswith(("greatest", "least")) and chosen in part.public:
            rule = OF_PUBLIC_ROWS
        most = self.trees.most_rows(part) or 1
        return Expr(rule or "plain " + standard.text.replace("{}", ""), standard.text.format(filters), standard.type, values, not standard.is_public,
                    standard.bound and standard.bound * most, exact)

    def columns(self, standard: Standard, part: "Part") -> List[Column]:
        protected = list(part.protected if part.protected and (part.has_public_side or self.choices.chance(0.8)) else part.columns)
        if standard.of == "any":
            return protected
        if standard.of == "persons":
            return list(part.persons)
        integers = [column for column in protected if column.type in ("int4", "int8")]
        return integers if standard.of == "integers" else [column for column in integers if column.name == OF_LIST and column.type == "int4"]
