"""The message attacker: makes faults happen for one row, and compares all that the analyst sees with what is promised.

messages.py EFFORT; run.sh has a server for it."""

from __future__ import annotations

import os
import re
import sys
from itertools import cycle
from pathlib import Path
from typing import Dict, Iterable, List, Optional, Sequence, Tuple

from asked import Asked, allocations, conversions, functions, keys, transitions
from forms import COUNT, FORMS, SORT, TRIGGER, VALUES, Form
from promise import Fault, caught, promised
from session import Row, Session, Shown

# Errors that only a row can raise, and those that may come from outside, in turns
CODES = ("22012", "57014", "22P02", "53200", "XX000", "55P03", "42501", "40001", "XX001", "57P01", "P0001", "08006", "58030", "53100",
         "42P01", "25P02", "40P01", "53400", "57P03", "0A000", "54001")
REFUSED = ("42501", "0A000", "42883", "42725", "54000", "54001", "22023", "42804", "42601")
LOCK = 4242
MOST_SHOWN = 10
MOST_ALLOCATIONS = {1: 8, 2: 2000}
NOTED = """
WITH noted AS (DELETE FROM dpquantile.failed_read RETURNING relation::regclass::text, sqlstate, closes)
SELECT epsilon_spent, noted.* FROM dpquantile.budget LEFT JOIN noted ON true WHERE role = 'analyst'::regrole"""
LOGGED = (rb"a private query failed while it read rows: secret of a row\n[^\n]*DETAIL:  secret detail\n[^\n]*HINT:  secret hint\n"
          rb"[^\n]*CONTEXT:  secret context\n")
# The fault has not happened: the query was refused, or nothing was called
NOT_ASKED = "not asked"
NOT_FIRED = "not fired"


class Attacker:
    def __init__(self, effort: int):
        self.effort = effort
        self.log = Path(os.environ["SERVER_LOG"])
        self.superuser = Session("postgres")
        self.new_sessions()
        self.codes = cycle(CODES)
        self.passed = 0
        self.failed = 0
        self.errors = 0
        self.spent = self.noted()[0]

    def new_sessions(self) -> None:
        """Of the analyst: one sees the tables with the marked row, one those without."""
        self.marked, self.others = (Session("analyst", schema) for schema in ("marked", "others"))

    def report(self, name: str, found: Optional[str]) -> None:
        if found is None:
            self.passed += 1
            return
        self.failed += 1
        print(f"not ok: {name}: {found}", flush=True)
        if self.failed == MOST_SHOWN:
            self.end()

    def noted(self) -> Tuple[str, List[Row]]:
        """What the analyst has spent, and which failures are noted. Private access is open again."""
        rows = self.superuser.rows(NOTED)
        return rows[0][0] or "", [row[1:] for row in rows if row[1] is not None]

    def logged(self) -> int:
        """How often the server's log has the true text of an error with all that belongs to it."""
        return len(re.findall(LOGGED, self.log.read_bytes()))

    def arm(self, session: Session, asked: Asked, fault: Fault) -> None:
        action = "lock" if fault.action == "timeout" else fault.action
        rule = "|".join((str(asked.trigger), asked.target, action, fault.code, asked.values))
        session.rows("SELECT set_config('faults.rule', '{}', false)".format(rule.replace("'", "''")))

    def fired(self, session: Session) -> int:
        return 1000000 if session.is_closed else int(session.rows("SELECT current_setting('faults.fired')")[0][0] or 0)

    def ask(self, asked: Asked, fault: Fault) -> Tuple[Shown, int]:
        """What the analyst sees of the tables with the row, and how often the fault has happened."""
        before = self.fired(self.marked)
        self.arm(self.marked, asked, fault)
        shown = self.marked.show(asked.sql)
        if shown.status in ("E", "T"):
            self.marked.rows("ROLLBACK")
        fired = self.fired(self.marked) - before
        if self.marked.is_closed:
            self.marked = Session("analyst", "marked")
        return shown, fired

    def difference(self, asked: Asked, fault: Fault) -> Optional[str]:
        """What is not as promised, or None."""
        shown, fired = self.ask(asked, fault)
        before, (self.spent, noted) = self.spent, self.noted()
        if fired == 0:
            return NOT_ASKED if shown.field("sqlstate") in REFUSED else NOT_FIRED if not shown.error else str(shown)
        if self.spent == before:
            return "it is not charged"
        self.errors += fault.action == "error" and asked.target == "same"
        return promised(shown, fault, noted)

    def of_others(self, asked: Asked, fault: Fault) -> Optional[str]:
        """What is not as usual where the row is missing, or None."""
        before = self.fired(self.others)
        self.arm(self.others, asked, fault)
        shown = self.others.show(asked.sql)
        self.spent, noted = self.noted()
        if shown.status in ("E", "T"):
            self.others.rows("ROLLBACK")
        if shown.error or shown.notices or noted or self.fired(self.others) > before:
            return f"without the row: {shown}, notes {noted}"
        return None

    def attack(self, choices: Iterable[Asked], action: str = "error", code: str = "") -> str:
        """Attacks the first of these queries that is accepted."""
        found: Optional[str] = NOT_ASKED
        for asked in choices:
            fault = Fault(action, code or next(self.codes))
            found = self.difference(asked, fault)
            if found in (NOT_ASKED, NOT_FIRED):
                continue
            self.report(f"{fault} in {asked.name}: {asked.sql}", found)
            # A value of a list is seen, too.
            if "VALUES" not in asked.sql and (self.effort > 1 or self.passed % 10 == 0):
                self.report(f"{fault} in {asked.name}: {asked.sql}", self.of_others(asked, fault))
            return ""
        return str(found)

    def must_attack(self, choices: List[Asked], code: str = "") -> None:
        found = self.attack(choices, code=code)
        if found:
            self.report(choices[0].name, f"{found}: {choices[0].sql}")

    # ---- what is attacked

    def in_functions(self) -> None:
        ask = self.superuser.rows
        for choices in functions(ask):
            self.must_attack(choices)
        for choices in transitions(ask):
            self.must_attack(choices)

    def in_types(self) -> None:
        """Some of these functions are never called."""
        before = self.passed
        for asked in (*conversions(self.superuser.rows), *keys(self.superuser.rows)):
            self.attack([asked])
        self.report("functions of types", None if self.passed > before + 100 else f"only {self.passed - before} are called")

    def in_memory(self) -> None:
        for number in range(1, MOST_ALLOCATIONS[self.effort] + 1):
            if all([self.attack([asked], code="53200") for asked in allocations(number)]):
                return

    def on_disk(self) -> None:
        sql, trigger, values = SORT
        self.marked.rows("SET work_mem = '64kB'")
        self.must_attack([Asked("a file that does not grow", sql, trigger, values, "file")], code="XX000")
        self.marked.rows("RESET work_mem")

    def at_a_lock(self) -> None:
        asked = Asked("a lock", COUNT, TRIGGER, VALUES)
        self.report("a lock that nobody holds", self.difference(asked, Fault("lock", "55P03")))
        self.superuser.rows(f"SELECT pg_advisory_lock({LOCK})")
        self.marked.rows("SET lock_timeout = '10ms'")
        found = self.difference(asked, Fault("timeout", "55P03"))
        self.report("a lock that another session holds", found)
        self.marked.rows("RESET lock_timeout")
        self.superuser.rows(f"SELECT pg_advisory_unlock({LOCK})")

    def in_form(self, form: Form, fault: Fault) -> Tuple[Optional[str], Optional[Shown]]:
        self.new_sessions()
        for session in (self.marked, self.others):
            for statement in form.statements[:-1]:
                session.show(statement)
        asked = Asked(form.name, form.statements[-1], TRIGGER, VALUES)
        shown, fired = self.ask(asked, fault)
        before, (self.spent, noted) = self.spent, self.noted()
        if fired == 0:
            return f"{NOT_FIRED}: {shown}", None
        if self.spent == before:
            return "it is not charged", None
        self.errors += fault.action == "error"
        found = (caught if form.catches else promised)(shown, fault, noted)
        return found or self.of_others(asked, Fault("messages", fault.code)), shown

    def in_forms(self) -> None:
        """Two faults that are alike in what is promised must show the same."""
        for form in FORMS:
            shown: Dict[str, Optional[Shown]] = {}
            for action, code in (("messages", "01000"), ("error", "22012"), ("error", "XX000"), ("error", "53200"), ("fatal", "XX000"), ("fatal", "57P01")):
                found, shown[f"{action} {code}"] = self.in_form(form, Fault(action, code))
                self.report(f"{action} {code} in {form.name}", found)
            for left, right in (("error 22012", "error XX000"), ("fatal XX000", "fatal 57P01")):
                self.report(f"{left} and {right} in {form.name}",
                            None if shown[left] == shown[right] else f"differ: {shown[left]} {shown[right]}")
        self.new_sessions()

    def above_rows(self) -> None:
        """What is computed of answers does not fail, and nothing is noted of it."""
        shown = self.marked.show("SELECT 1 / (answer * 0) FROM (SELECT dp_count(1) AS answer FROM person) s")
        self.spent, noted = self.noted()
        self.report("an error above the release", None if shown.rows == ((None,),) and not shown.error and not noted else f"{shown} {noted}")

    def end(self) -> None:
        print(f"{self.passed} passed, {self.failed} failed")
        sys.exit(self.failed > 0)

    def run(self) -> None:
        before = self.logged()
        self.in_forms()
        self.at_a_lock()
        self.on_disk()
        self.above_rows()
        self.in_memory()
        self.in_types()
        self.in_functions()
        self.report("the server's log", None if self.logged() >= before + self.errors else "lacks true texts")
        self.end()


if __name__ == "__main__":
    Attacker(int(sys.argv[1])).run()
