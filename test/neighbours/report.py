"""How many queries were asked, which productions were accepted, and what differed."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Iterable, List, Optional

from sql_tree import Expr, Query, Select, SetOperation, walk

LEAST_ACCEPTED = 0.4
# How the names of expressions begin that are shapes of queries
SHAPES = ("subquery", "window", "refused", "row_number", "join by", "plain", "key of readable")


@dataclass
class Report:
    asked: "Counter[str]" = field(default_factory=Counter)     # by production; "all" are all queries
    accepted: "Counter[str]" = field(default_factory=Counter)
    refusals: "Counter[str]" = field(default_factory=Counter)
    probes: int = 0
    compared: int = 0  # with the owner's exact answers
    groupings: int = 0  # queries of groupings.py
    failed: int = 0

    def count(self, query: Query, form: str, miss: Optional[str], refusal: str) -> None:
        productions = {"all", f"form: {form}", f"miss: {miss}"}
        productions |= {f"query: {part.kind}" for part in walk(query) if isinstance(part, Select)}
        productions |= {f"set operation: {part.operator}" for part in walk(query) if isinstance(part, SetOperation)}
        productions |= {f"expression: {part.rule}" for part in walk(query) if isinstance(part, Expr)}
        self.asked.update(productions)
        if refusal:
            self.refusals[refusal] += 1
        else:
            self.accepted.update(productions)

    @staticmethod
    def sum_of(reports: Iterable["Report"]) -> "Report":
        total = Report()
        for report in reports:
            total.asked += report.asked
            total.accepted += report.accepted
            total.refusals += report.refusals
            total.probes += report.probes
            total.compared += report.compared
            total.groupings += report.groupings
            total.failed += report.failed
        return total

    def lines(self, kind: str) -> List[str]:
        names = [name for name in self.asked if name.startswith(kind + ": ")]
        return [f"  {self.accepted[name]:6d} of {self.asked[name]:6d}  {name[len(kind) + 2:]}"
                for name in sorted(names, key=lambda name: -self.accepted[name])]

    def print_summary(self, seconds: float) -> None:
        for kind in ("query", "set operation", "form", "miss"):
            print(f"accepted by {kind}:", *self.lines(kind), sep="\n")
        rules = [name for name in self.asked if name.startswith("expression: ")]
        print("accepted by shape:", *(line for line in self.lines("expression") if line.split("  ")[-1].startswith(SHAPES)), sep="\n")
        print(f"{sum(self.accepted[name] > 0 for name in rules)} of {len(rules)} rules for expressions were in accepted queries")
        print("most frequent refusals:", *(f"  {number:6d}  {text}" for text, number in self.refusals.most_common(25)), sep="\n")
        share = self.accepted["all"] / max(self.asked["all"], 1)
        if share < LEAST_ACCEPTED:
            print(f"Fewer than {LEAST_ACCEPTED:.0%} of the queries were accepted.")
            self.failed += 1
        print(f"{self.asked['all']} queries, {self.accepted['all']} accepted ({share:.0%}), {self.compared} compared with exact answers, {self.probes} probes of statistics, "
              f"{self.asked['all'] / seconds:.0f} queries a second")
        print(f"{self.groupings} queries grouped in another way than by PostgreSQL")
        print(f"{max(self.asked['all'] + self.groupings - self.failed, 0)} passed, {self.failed} failed", flush=True)
