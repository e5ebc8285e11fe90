"""Asks both neighbours the same, and says what differs."""

from __future__ import annotations

from enum import Enum
from typing import List, Optional, Sequence, Tuple

import recording
from comparison import difference_after_play, differences
from databases import Neighbours
from exact import PARTLY_READABLE, exact
from outcome import Outcome, Row, execute
from plain import ERROR
from sql_tree import Expr, Query, Table, walk
from statements import Form, Shows
from visibility import visibility_of

# A group near the threshold of dp_keep_group may be shown in one database only. No group is near all of these.
THRESHOLDS = (20, 27, 34)
# Near misses of rows of persons that are refused whatever is around them. What they would tell needs more luck to be seen in an answer.
NEVER_ACCEPTED = ("join by other columns than a reference", "join by a reference of readable rows", "subquery with a reference of readable rows",
                  "subquery with another column", "subquery with two columns", "subquery with range of persons",
                  "subquery with limited list", "subquery with groups of others", "subquery with computed reference", "subquery with person for a reference",
                  "subquery with a part of a reference", "refused frame", "refused window beside GROUP BY")
# Groups by a number of rows, which has a list up to what the owner states
IN_NO_GROUP = "may be in no group"


class Mode(Enum):
    """Whether both databases are only asked, or recorded, perhaps in sessions whose caches are empty."""

    ASKED = "asked"
    RECORDED = "recorded"
    RECORDED_AFRESH = "recorded in new sessions"


class Trial:
    """A query and the way it is sent."""

    def __init__(self, neighbours: Neighbours, query: Query, form: Form, without_noise: bool, mode: Mode = Mode.ASKED):
        self.neighbours = neighbours
        self.query = query
        self.form = form
        self.without_noise = without_noise
        self.mode = mode
        self.visible = visibility_of(query)
        self.refusal = ""  # the SQLSTATE and the reason of the first error
        self.is_compared = False  # with the owner's exact answers

    @property
    def apart(self) -> int:
        return self.neighbours.changed.distance if self.neighbours.changed else 1

    def of(self, query: Query) -> "Trial":
        """A trial of another query, sent alike."""
        return Trial(self.neighbours, query, self.form, self.without_noise, self.mode)

    def outcomes(self) -> Tuple[List[Outcome], List[Outcome]]:
        if self.mode == Mode.ASKED:
            return self.asked_outcomes()
        if self.mode == Mode.RECORDED_AFRESH:
            self.neighbours.renew_sessions()
        statements = [step.sql for step in self.form.steps(self.query)]
        first, second = self.neighbours.sides
        return first.record(statements, ""), second.record(statements, str(first.tape))

    def asked_outcomes(self) -> Tuple[List[Outcome], List[Outcome]]:
        runs: Tuple[List[Outcome], List[Outcome]] = ([], [])
        for step in self.form.steps(self.query):
            for run, outcome in zip(runs, self.neighbours.both(step.sql)):
                run.append(outcome)
        self.neighbours.end_transactions()
        return runs

    def difference(self) -> Optional[str]:
        first, second = self.outcomes()
        self.refusal = next((refusal_of(outcome) for outcome in first if outcome.error), "")
        if self.mode != Mode.ASKED:
            tapes = [recording.executions_of(side.tape.read_text("latin-1")) for side in self.neighbours.sides]
            found = difference_after_play(first, second) or recording.fault(*tapes, self.neighbours.are_alike, self.apart)
        else:
            found = differences(first, second, self.form.steps(self.query), self.visible, self.without_noise, self.apart)
        # The second of two that are recorded gets the answers of the first.
        return found or self.accepted_miss() or self.wrong_answer([first] if self.mode != Mode.ASKED else [first, second])

    def accepted_miss(self) -> Optional[str]:
        if self.refusal:
            return None
        text = self.query.sql()  # A join with USING does not show its conditions.
        parts = [part for part in walk(self.query) if isinstance(part, Expr)]
        if any(isinstance(part, Table) and part.name in PARTLY_READABLE for part in walk(self.query)):
            return None  # Rows of which nothing else is read are public.
        if "AND false" in text:
            return None  # Conditions are simplified before the rules look, and nothing may be left of what stands beside it.
        if not any(part.is_answer and part.rule not in ("column", "order") and not part.text.startswith(ERROR) for part in parts):
            return None  # what dp_error_of tells is computed without rows
        # Groups by one stated person are answers, whose windows are public.
        is_of_one = any(part.rule == "the changed row" for part in parts)
        rules = [part.rule for part in parts if part.rule.startswith(NEVER_ACCEPTED) and part.sql() in text and not (is_of_one and "beside GROUP BY" in part.rule)]
        return f"rules: {rules[0]} is accepted" if rules else None

    def wrong_answer(self, runs: Sequence[List[Outcome]]) -> Optional[str]:
        """Without noise, the answers are those of the owner's exact query."""
        queries = exact(self.query) if self.without_noise else None
        steps = self.form.steps(self.query)
        number = next((number for number, step in enumerate(steps) if step.shows == Shows.ALL_ROWS), None)
        if queries is None or number is None:
            return None
        for side, outcomes in zip(self.neighbours.sides, runs):
            if outcomes[number].error or any(IN_NO_GROUP in notice for outcome in outcomes for notice in outcome.notices):
                continue
            limited = execute(side.owner, self.form.with_values(queries.limited)) if queries.limited else Outcome()
            if limited.sqlstate.startswith("42"):
                return "the owner's query for persons, which is wrong"
            if limited.error or limited.rows:
                continue
            answers = execute(side.owner, self.form.with_values(queries.answers))
            self.is_compared = not answers.error
            if answers.sqlstate.startswith("42"):
                return "the owner's exact query, which is wrong"
            rows = [with_answers(shown, self.visible.is_public) if queries.shows_list else shown for shown in (answers.rows, outcomes[number].rows)]
            if not answers.error and numbers_of(rows[0]) != numbers_of(rows[1]):
                return f"answers from the exact ones of {side.name}"
        return None

    def differs(self, kind: str) -> bool:
        """Whether there is this kind of difference, whatever the threshold of dp_keep_group is."""
        return all(self.differs_at(threshold, kind) for threshold in THRESHOLDS)

    def differs_at(self, threshold: int, kind: str) -> bool:
        self.neighbours.set("fuzz.keep_at", str(threshold))
        found = self.difference()
        self.neighbours.set("fuzz.keep_at", str(THRESHOLDS[0]))
        return found is not None and found.endswith(kind)

    def charges_differ(self) -> bool:
        """Whether the ledgers get different charges."""
        self.neighbours.new_charges()
        self.outcomes()
        first, second = self.neighbours.new_charges()
        return first != second


def with_answers(rows: Tuple[Row, ...], is_public: Sequence[bool]) -> Tuple[Row, ...]:
    """Those of which an answer is not 0: a list also shows groups without rows."""
    return tuple(row for row in rows if any(value is not None and float(value) for value, public in zip(row, is_public) if not public))


def numbers_of(rows: Tuple[Row, ...]) -> List[List[float]]:
    """In an order of their own. Sums of fractions are rounded."""
    return sorted([float("-inf") if value is None else number_of(value) for value in row] for row in rows)


def number_of(value: str) -> float:
    return {"t": 1.0, "f": 0.0}[value] if value in ("t", "f") else round(float(value), 6)


def refusal_of(outcome: Outcome) -> str:
    """Why a query failed: of a missing right, "permission denied ...", the detail says it."""
    detail = outcome.diagnostic("message_detail") if outcome.sqlstate == "42501" else ""
    return f"{outcome.sqlstate} {(detail or outcome.diagnostic('message_primary'))[:130]}"
