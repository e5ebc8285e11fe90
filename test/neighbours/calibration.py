"""Finds out which rules for expressions are accepted inside a release block, so that most queries keep to them."""

from __future__ import annotations

from random import Random
from typing import List, Tuple

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
