"""Finds out which rules for expressions are accepted inside a release block, so that most queries keep to them."""

from __future__ import annotations

from random import Random
from typing import Dict, List, Sequence, Tuple

from databases import Neighbours
from expressions import Expressions, columns_of
from outcome import Outcome
from rules import Rule


def outcomes_of_rule(neighbours: Neighbours, rule: Rule, grammar: Expressions) -> List[Outcome]:
    expr = grammar.over_columns(rule, columns_of(neighbours.columns["staff"], "s"))
    return neighbours.both(f"SELECT dp_count(0.1) FROM staff AS s WHERE {expr.sql()} IS NOT NULL")


def calibrated(neighbours: Neighbours, rules: List[Rule], random: Random) -> Tuple[List[Rule], List[Rule]]:
    """The accepted rules and the others. What fails while it runs is accepted all the same."""
    grammar = Expressions(random, [], [])
    accepted: List[Rule] = []
    refused: List[Rule] = []
    for rule in rules:
        outcome = outcomes_of_rule(neighbours, rule, grammar)[0]
        (refused if outcome.was_refused else accepted).append(rule)
    return accepted, refused


def accepted_of(neighbours: Neighbours, rules: Sequence[Rule], grammar: Expressions) -> List[Rule]:
    """Those that are accepted, and whose query does not fail. Many are asked of in one query."""
    columns = columns_of(neighbours.columns["staff"], "s")
    conditions = [f"{grammar.over_columns(rule, columns).sql()} IS NOT NULL" for rule in rules]
    outcomes = neighbours.both(f"SELECT dp_count(0.1) FROM staff AS s WHERE {' OR '.join(conditions)}")
    if not any(outcome.error for outcome in outcomes):
        return list(rules)
    middle = len(rules) // 2
    return accepted_of(neighbours, rules[:middle], grammar) + accepted_of(neighbours, rules[middle:], grammar) if middle else []


def calibrated_table(neighbours: Neighbours, table: Dict[str, List[Rule]], random: Random) -> Tuple[List[Rule], List[str]]:
    """The rule of each function that rows may call, and the functions of which no rule is accepted."""
    grammar = Expressions(random, [], [])
    found: Dict[str, Rule] = {}
    for attempt in range(max(map(len, table.values()))):
        left = {name: rules[attempt] for name, rules in table.items() if name not in found and attempt < len(rules)}
        if left:
            accepted = set(accepted_of(neighbours, list(left.values()), grammar))
            found.update({name: rule for name, rule in left.items() if rule in accepted})
    return list(found.values()), sorted(table.keys() - found.keys())
