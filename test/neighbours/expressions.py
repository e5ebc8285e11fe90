"""Random expressions of a type over given columns."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from random import Random
from typing import Dict, Iterable, List, Optional, Sequence, Tuple

from rows import ODD_VALUES, TAME_VALUES
from rules import Rule
from sql_tree import Expr

COLUMN_SHARE = 0.75       # of the leaves; the others are constants
REFUSED_RULE_SHARE = 0.02  # of the expressions
TABLE_SHARE = 0.3          # of the expressions: functions of the table
PARAMETER_SHARE = 0.3     # of the constants, where there are parameters


@dataclass(frozen=True)
class Column:
    """A column that an expression may use, as it is written there."""

    sql: str
    type: str
    is_answer: bool = False
    bound: Optional[float] = None

    @property
    def name(self) -> str:
        return self.sql.split(".")[-1]

    def expr(self) -> Expr:
        return Expr("column", self.sql, self.type, (), self.is_answer, self.bound)


def quoted(value: Optional[str]) -> str:
    return "NULL" if value is None else "'" + value.replace("'", "''") + "'"


@dataclass
class Parameters:
    """The parameters of a prepared statement: types and values."""

    types: List[str] = field(default_factory=list)
    values: List[str] = field(default_factory=list)

    def add(self, kind: str, value: Optional[str]) -> str:
        self.types.append(kind)
        self.values.append(quoted(value))
        return f"${len(self.types)}"


class Expressions:
    """The grammar of expressions. What calibration has seen accepted is used often, everything else rarely."""

    def __init__(self, random: Random, accepted: Iterable[Rule], refused: Iterable[Rule], table: Iterable[Rule] = ()):
        self.random = random
        self.table = by_type(table)
        self.accepted = by_type(accepted)
        self.refused = by_type(refused)
        self.values: Dict[str, List[Optional[str]]] = {}  # of the row in which the neighbours differ
        self.parameters: Optional[Parameters] = None

    def constant_value(self, kind: str) -> Optional[str]:
        values = self.values.get(kind)
        if values and self.random.random() < 0.4:
            return self.random.choice(values)
        if self.random.random() < 0.3:
            return self.random.choice(ODD_VALUES[kind])
        return TAME_VALUES[kind](self.random)

    def constant(self, kind: str) -> Expr:
        value = self.constant_value(kind)
        if self.parameters is not None and self.random.random() < PARAMETER_SHARE:
            return Expr("parameter", self.parameters.add(kind, value), kind)
        if kind == "int4" and value is not None and value.isdigit():
            return Expr("constant", value, kind)
        return Expr("constant", f"{quoted(value)}::{kind}", kind)

    def leaf(self, kind: str, columns: Sequence[Column]) -> Expr:
        fitting = [column for column in columns if column.type == kind]
        if fitting and self.random.random() < COLUMN_SHARE:
            return self.random.choice(fitting).expr()
        return self.constant(kind)

    def choose_rule(self, kind: str, columns: Sequence[Column]) -> Optional[Rule]:
        share = self.random.random()
        rules = self.refused if share < REFUSED_RULE_SHARE else self.table if share < REFUSED_RULE_SHARE + TABLE_SHARE else self.accepted
        types = {column.type for column in columns}
        # A rule whose arguments no column has would be a constant.
        fitting = [rule for rule in rules[kind] if types.intersection(rule.arguments)]
        return self.random.choice(fitting) if fitting else None

    def expr(self, kind: str, columns: Sequence[Column], depth: int = 2) -> Expr:
        rule = self.choose_rule(kind, columns) if depth > 0 else None
        if rule is None or (kind != "bool" and self.random.random() < 0.3):
            return self.leaf(kind, columns)
        return self.apply(rule, columns, depth - 1)

    def apply(self, rule: Rule, columns: Sequence[Column], depth: int) -> Expr:
        children = tuple(self.expr(kind, columns, depth if self.random.random() < 0.5 else 0) for kind in rule.arguments)
        return Expr(rule.name, rule.text, rule.result, children)

    def over_columns(self, rule: Rule, columns: Sequence[Column]) -> Expr:
        """The rule with a column for each argument, as far as there are."""
        def argument(kind: str) -> Expr:
            fitting = [column for column in columns if column.type == kind]
            return fitting[0].expr() if fitting else self.constant(kind)
        return Expr(rule.name, rule.text, rule.result, tuple(argument(kind) for kind in rule.arguments))


def by_type(rules: Iterable[Rule]) -> Dict[str, List[Rule]]:
    sorted_rules: Dict[str, List[Rule]] = defaultdict(list)
    for rule in rules:
        sorted_rules[rule.result].append(rule)
    return sorted_rules


def columns_of(names: Dict[str, str], alias: str) -> Tuple[Column, ...]:
    return tuple(Column(f"{alias}.{name}", kind) for name, kind in names.items())
