"""A difference, made small and printed."""

from __future__ import annotations

from difflib import unified_diff
from typing import List

from exact import exact
from shrink import shrink
from sql_tree import Query
from trial import Mode, Trial

LINE = "-" * 60
MOST_LINES = 40  # of two tapes


def show_difference(trial: Trial, found: str) -> None:
    """Prints the query, a smaller one that differs alike, and what both databases show for it."""
    kind = found.split(": ")[-1]
    small = trial.of(shrink(trial.query, lambda query: trial.of(query).differs(kind)))
    print_trial(found, trial, small)
    for step, first, second in zip(small.form.steps(small.query), *small.outcomes()):
        print(f"=> {step.sql[:2000]}\n{first}" + ("" if first == second else f"\n   but in the other database\n{second}"))
    owners = exact(small.query) if "exact" in found or "owner" in found else None
    if owners is not None:
        print(f"the owner's query: {owners.answers}\nwhere none are more: {owners.limited}", small.neighbours.sides[0].execute(small.form.with_values(owners.answers)), sep="\n")
    if small.mode != Mode.ASKED:
        tapes = [side.tape.read_text("latin-1").splitlines() for side in small.neighbours.sides]
        print("the tapes:", *(line[:200] for line in list(unified_diff(*tapes, n=0, lineterm=""))[2:MOST_LINES]), sep="\n")
    print(LINE, flush=True)


def show_charges(trial: Trial) -> None:
    def differs(query: Query) -> bool:
        candidate = trial.of(query)
        return candidate.charges_differ() and not candidate.visible.answers_choose_rows
    print_trial("charges", trial, trial.of(shrink(trial.query, differs)))
    print(LINE, flush=True)


def show_unexplained_charges() -> None:
    print(LINE, "DIFFERENCE of charges, and not again when the queries were repeated", LINE, sep="\n", flush=True)


def print_trial(found: str, trial: Trial, small: Trial) -> None:
    neighbours, change = trial.neighbours, trial.neighbours.changed
    print(LINE, f"DIFFERENCE of {found}, sent as: {trial.form.name}, {trial.mode.value}, {'without noise' if trial.without_noise else 'with fixed noise'}",
          f"query: {trial.query.sql()}", f"smaller: {small.query.sql()}", sep="\n")
    if change is not None:
        for side, parts in ((change.side, change.parts()), (1 - change.side, change.instead)):
            for table, rows in parts:
                print(f"only {neighbours.sides[side].name} has in {table}: {rows}")


def show_probe(statement: str, found: str, first: object, second: object) -> None:
    print(LINE, f"DIFFERENCE of {found}: {statement}", first, "   but in the other database", second, LINE, sep="\n", flush=True)


def show_refused(functions: List[str]) -> None:
    print(LINE, f"Rows may call these functions, but no call of theirs is accepted: {', '.join(functions)}", LINE, sep="\n", flush=True)
