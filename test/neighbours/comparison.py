"""Whether two outcomes of a query on neighbours differ in anything but noise."""

from __future__ import annotations

from typing import List, Optional, Sequence, Tuple

from outcome import Outcome, Row
from statements import Shows, Step
from visibility import Visibility

# Answers may be rounded.
TOLERANCE = 1.001
NULL_ANSWER = ": the answer is NULL\n"


def difference(first: Outcome, second: Outcome, visible: Optional[Visibility] = None, without_noise: bool = False,
               shows: Shows = Shows.OTHER, apart: int = 1) -> Optional[str]:
    """What differs, in a few words, or None. `visible` says it of the query that the statement belongs to, `apart` how far the neighbours are."""
    if apart == 0:
        return None if first == second else "what is seen of the same rows in another order"
    if first.error or second.error:
        return difference_of_errors(first, second, visible)
    if notices_of(first, visible) != notices_of(second, visible):
        return "notices"
    if first.columns != second.columns:
        return "columns"
    if visible is not None and visible.answers_choose_rows:
        return None
    if len(first.rows) != len(second.rows) or first.tag != second.tag:
        return "number of rows"
    if visible is None or shows == Shows.OTHER:
        return "rows" if first.rows != second.rows else None
    if shows == Shows.SOME_ROWS and visible.answers_choose_order:
        return None
    return difference_of_rows(first.rows, second.rows, visible, without_noise, apart)


def difference_of_errors(first: Outcome, second: Outcome, visible: Optional[Visibility]) -> Optional[str]:
    """Answers may choose which value an outer expression fails for, or whether it gets one."""
    of_values = first.failed_for_value or second.failed_for_value
    if visible is not None and visible.answers_choose_rows and of_values:
        return None
    if not (first.error and second.error):
        return "one of them fails"
    if visible is not None and visible.answers_choose_order and of_values and first.sqlstate[:2] == second.sqlstate[:2]:
        return None
    if notices_of(first, visible) != notices_of(second, visible):
        return "notices before an error"
    return "errors" if first.error != second.error else None


def notices_of(outcome: Outcome, visible: Optional[Visibility]) -> List[str]:
    """A function that has no value says so for the first one that it gets: where answers choose the order, for any, and where they choose rows, perhaps for none."""
    if visible is None or not (visible.answers_choose_rows or visible.answers_choose_order):
        return list(outcome.notices)
    of_values = [notice.split(NULL_ANSWER)[1] for notice in outcome.notices if NULL_ANSWER in notice]
    return [notice for notice in outcome.notices if NULL_ANSWER not in notice] + ([] if visible.answers_choose_rows else sorted(of_values))


def public_part(row: Row, visible: Visibility) -> Row:
    return tuple(value for value, is_public in zip(row, visible.is_public) if is_public)


def difference_of_rows(first: Tuple[Row, ...], second: Tuple[Row, ...], visible: Visibility, without_noise: bool, apart: int) -> Optional[str]:
    public = [[public_part(row, visible) for row in rows] for rows in (first, second)]
    if visible.answers_choose_order:
        key = lambda row: tuple((value is None, value or "") for value in row)
        return "public columns" if sorted(public[0], key=key) != sorted(public[1], key=key) else None
    if public[0] != public[1]:
        return "order of rows" if sorted(map(str, public[0])) == sorted(map(str, public[1])) else "public columns"
    if without_noise or visible.draws_evenly:
        return difference_of_answers(first, second, visible, apart)
    return None


def difference_of_answers(first: Tuple[Row, ...], second: Tuple[Row, ...], visible: Visibility, apart: int) -> Optional[str]:
    """Exact answers differ by their sensitivity at most; those of all groups of a release together, too."""
    for column, bound in enumerate(visible.bounds):
        if bound is None:
            continue
        distances = [distance(one[column], other[column]) for one, other in zip(first, second)]
        total = sum(distances) if visible.is_block else max(distances, default=0)
        if total > bound * apart * TOLERANCE:
            return "answers differ by more than their sensitivity"
    return None


def distance(first: Optional[str], second: Optional[str]) -> float:
    if first is None or second is None:
        return 0 if first == second else float("inf")
    return abs(float(first) - float(second))


def differences(first: List[Outcome], second: List[Outcome], steps: Sequence[Step], visible: Visibility,
                without_noise: bool, apart: int) -> Optional[str]:
    """The first difference of two runs of several statements."""
    for number, (one, other, step) in enumerate(zip(first, second, steps)):
        found = difference(one, other, visible, without_noise, step.shows, apart)
        if found is not None:
            return f"statement {number + 1}: {found}"
    return None


def difference_after_play(first: List[Outcome], second: List[Outcome]) -> Optional[str]:
    """The second run has got the answers of the first, so that all must be equal."""
    for number, (one, other) in enumerate(zip(first, second)):
        if one != other:
            return f"statement {number + 1}: {difference(one, other) or 'status'} with the same answers"
    return None
