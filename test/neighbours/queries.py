"""Random queries: release blocks and what is around them. Most are of shapes that are accepted, some have one near miss."""

from __future__ import annotations

from dataclasses import replace
from typing import Callable, Dict, List, Optional, Sequence, Tuple

from blocks import Blocks
from choices import MISSES_OUTSIDE, Choices
from expressions import Column, columns_of
from sources import CITY, KEY_TYPES, Rows
from trees import Trees
from sql_tree import Cte, Derived, Expr, Item, Join, Query, Select, SetOperation, Source, Table, Text, With, depends_on_answers, items_of

TREE_SHARE = 0.85  # where the neighbours differ in a table that trees read
NEVER_FAIL = ["# IS NULL", "#::text", "coalesce(#, NULL)", "count(#) OVER ()", "lag(#) OVER ()", "first_value(#) OVER ()"]


class Queries:
    def __init__(self, choices: Choices):
        self.choices = choices
        self.blocks = Blocks(choices)
        self.trees = Trees(choices, self.blocks)

    def query(self) -> Query:
        self.choices.begin_query()
        if self.choices.focus in self.choices.small and self.choices.chance(TREE_SHARE):
            self.choices.miss = None
            return self.query_over_tree()
        if self.choices.miss in MISSES_OUTSIDE:
            return self.with_miss_outside()
        productions: List[Callable[[], Query]] = [self.blocks.block, self.derived, self.chain, self.union, self.sublinks, self.correlated,
                                                  self.cte, self.blocks.block_over_cte, self.probe, self.grouped]
        # Prepared statements choose between plans by costs, and so by what is planned outside of the release.
        of_ctes = 6 if self.choices.inside.parameters is None else 25
        return self.choices.random.choices(productions, [30, 20, 8, 8, 7, 7, 7, of_ctes, 3, 4])[0]()

    def query_over_tree(self) -> Query:
        if self.choices.chance(0.95):
            return self.trees.query()
        return self.derived(self.trees.block(self.trees.tree()))

    def columns_of_query(self, query: Query, alias: str) -> Tuple[Column, ...]:
        return tuple(Column(f"{alias}.{item.name}", item.expr.type, depends_on_answers(item), item.expr.bound)
                     for item in items_of(query))

    # ---- one inner query

    def around(self, kind: str, source: Source, columns: Tuple[Column, ...]) -> Select:
        """A query level over answers and keys, perhaps with a join to a public table, conditions, an order, a limit."""
        public = [column for column in columns if not column.is_answer]
        numbers = [column for column in public if column.type == "int4"]
        if numbers and self.choices.chance(0.3):
            source, columns = self.joined(source, columns, self.choices.one_of(numbers))
            public = [column for column in columns if not column.is_answer]
        most = 2 if public else 0
        where = tuple(self.choices.outside.expr("bool", public, 2) for _ in range(self.choices.random.randint(0, most)))
        items = self.items(columns, public)
        limit = self.choices.one_of(["LIMIT 1000", "LIMIT 3", "OFFSET 1", "LIMIT 0"]) if self.choices.chance(0.2) else ""
        return Select(kind, items, source, where, (), (), self.blocks.order_of(items), limit)

    def joined(self, source: Source, columns: Tuple[Column, ...], key: Column) -> Tuple[Source, Tuple[Column, ...]]:
        alias = self.choices.new_name("c")
        operator = self.choices.one_of(["=", "=", ">"])
        kind = self.choices.one_of(["INNER", "LEFT", "FULL" if operator == "=" else "LEFT"])
        condition = Expr("outer join", f"# {operator} {alias}.id", "bool", (key.expr(),))
        return Join(source, kind, Table("city", alias), (condition,)), columns + columns_of(CITY, alias)

    def items(self, columns: Sequence[Column], public: Sequence[Column]) -> Tuple[Item, ...]:
        exprs = [column.expr() for column in columns if self.choices.chance(0.85)]
        if public and self.choices.chance(0.3):
            exprs.append(self.choices.outside.expr(self.choices.one_of(KEY_TYPES), public, 1))
        exprs += [Expr("of an answer", self.choices.one_of(NEVER_FAIL), "text", (column.expr(),))
                  for column in columns if column.is_answer and self.choices.chance(0.1)]
        exprs = exprs or [Expr("constant", "1", "int4")]
        return tuple(Item(expr, self.choices.new_name("o")) for expr in exprs)

    def derived(self, inner: Optional[Query] = None) -> Select:
        alias = self.choices.new_name("d")
        query = inner or (self.blocks.block_over_cte() if self.choices.chance(0.1) else self.blocks.block())
        return self.around("derived", Derived(query, alias), self.columns_of_query(query, alias))

    def chain(self) -> Select:
        return self.derived(self.derived())

    def grouped(self) -> Select:
        """Groups of answers by their public keys. Nothing sorts them."""
        alias = self.choices.new_name("d")
        query = self.blocks.block()
        columns = self.columns_of_query(query, alias)
        keys = tuple(column.expr() for column in columns if not column.is_answer)
        answers = tuple(Expr("count", "count(#)", "int8", (column.expr(),)) for column in columns if column.is_answer)
        exprs = (*keys, *answers, Expr("count", "count(*)", "int8"))
        items = tuple(Item(expr, self.choices.new_name("o")) for expr in exprs)
        return Select("grouped", items, Derived(query, alias), (), keys)

    def cte(self) -> Query:
        name, alias = self.choices.new_name("w"), self.choices.new_name("d")
        query = self.blocks.block()
        cte = Cte(name, query, self.choices.one_of(["", "", "NOT MATERIALIZED ", "MATERIALIZED "]))
        return With((cte,), self.around("cte", Table(name, alias), self.columns_of_query(query, alias)))

    # ---- several releases

    def union(self) -> Query:
        def branch(number: int) -> Select:
            block, alias = self.blocks.block(2), self.choices.new_name("u")
            answer = Expr("answer as text", f"{alias}.{items_of(block)[-1].name}::text", "text", (), True)
            return Select("branch", (Item(Expr("branch", f"{number}", "int4"), "branch"), Item(answer, "answer")), Derived(block, alias))
        return SetOperation(self.choices.one_of(["UNION ALL", "UNION ALL", "UNION"]), (branch(1), branch(2)))

    def sublinks(self) -> Select:
        """Scalar sublinks, without FROM."""
        def item(block: Select) -> Item:
            text = self.choices.one_of(["(#)", "(#)", "ARRAY(#)"])
            return Item(Expr("sublink", text, block.items[0].expr.type, (block,)), self.choices.new_name("o"))
        return Select("sublinks", tuple(item(self.blocks.scalar()) for _ in range(self.choices.random.randint(1, 2))))

    def correlated(self) -> Select:
        """A release for each row of a public table, or of a derived table with a value that may fail."""
        city = self.choices.new_name("c")
        table: Source = Table("city", city)
        share = self.choices.chance(0.4)
        if share:
            table = Text(f"(SELECT *, 7 / (id - {self.choices.one_of([3, 20])}) AS share FROM city) AS {city}")

        def of_this_city(rows: Rows) -> Tuple[Expr, ...]:
            conditions = [self.choices.inside.expr("bool", rows.columns + columns_of(CITY, city) * 5, 1)]
            numbers = rows.of_types(["int4"])
            if numbers:
                text = f"# {self.choices.one_of(['=', '<', '>='])} {city}.id"
                conditions.append(Expr("correlation", text, "bool", (self.choices.one_of(numbers).expr(),)))
            if share and numbers:
                needed = self.choices.inside.expr("bool", rows.columns, 1)
                conditions = [Expr("value of a derived table", f"CASE WHEN # THEN # >= {city}.share END", "bool",
                                   (needed, self.choices.one_of(numbers).expr()))]
            return tuple(conditions)
        block = self.blocks.scalar(of_this_city)
        few = Expr("few rows", f"{city}.id < 5", "bool")
        if self.choices.chance(0.4):
            alias = self.choices.new_name("d")
            item = Item(Expr("column", f"{alias}.{block.items[0].name}", block.items[0].expr.type, (), True), "o2")
            source = Join(table, "INNER", Derived(block, alias, "LATERAL "), (few,))
            return Select("lateral", (Item(Expr("column", f"{city}.name", "text"), "o1"), item), source)
        items = (Item(Expr("column", f"{city}.name", "text"), "o1"), Item(Expr("sublink", "(#)", block.items[0].expr.type, (block,)), "o2"))
        return Select("correlated", items, table, (few,))

    def probe(self) -> Select:
        """What tools send to learn the columns: no row is asked."""
        table = self.choices.table()
        items = tuple(Item(Expr("column", name, table.columns[name]), name) for name in self.choices.some_of(list(table.columns), 1, 3))
        source = Table(table.name, table.name)
        if self.choices.chance(0.5):
            return Select("probe", items, source, (Expr("never", self.choices.one_of(["1=0", "false"]), "bool"),))
        return Select("probe", items, source, self.blocks.sources.conditions(columns_of(table.columns, table.name), 1), limit="LIMIT 0")

    # ---- near misses

    def with_miss_outside(self) -> Query:
        table = self.choices.focus
        one = Item(Expr("column", "r.city_id" if "city_id" in table.columns else "r.town_id", "int4"), "one")
        rows = Select("rows", (one,), Table(table.name, "r"), self.blocks.sources.conditions(columns_of(table.columns, "r"), 1))
        block = self.blocks.without_keys(self.blocks.sources.rows(), 1)
        of_key = Expr("own function", "own.show(d.k::text)", "text")
        changes: Dict[str, Callable[[], Query]] = {
            "rows outside": lambda: replace(rows, limit=self.choices.one_of(["", "LIMIT 1", "LIMIT 1000"])),
            "row in sublink": lambda: Select("sublinks", (Item(Expr("sublink", "(#)", "int4", (replace(rows, limit="LIMIT 1"),)), "o"),)),
            "in block": lambda: Select("in block", (Item(Expr("column", "c.id", "int4"), "id"),), Table("city", "c"),
                                       (Expr("in", "c.id IN (#)", "bool", (rows,)),)),
            "own function outside": lambda: Select("own function", (Item(of_key, "o"),), Derived(self.block_with_key_k(), "d"),
                                                   (replace(of_key, text=of_key.text + " IS NOT NULL"),)),
            "two protected tables": lambda: replace(block, source=Join(
                block.source or Table("staff", "r"), "INNER", Table(self.choices.one_of(["staff", "visits"]), "q"),
                (Expr("few", "q.city_id = 3", "bool"),))),
            "join rows and answers": lambda: Select("join", (one,), Join(Table(table.name, "r"), "CROSS", Derived(block, "d"), ())),
            "union of rows": lambda: SetOperation("UNION ALL", (rows, replace(block, items=block.items[:1]))),
        }
        for name, change in changes.items():
            if self.choices.misses(name):
                return change()
        return block

    def block_with_key_k(self) -> Select:
        block = self.blocks.with_kept_keys(self.blocks.sources.rows(), 1)
        return replace(block, items=(replace(block.items[0], name="k"),) + block.items[1:])
