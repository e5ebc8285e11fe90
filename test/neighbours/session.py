"""A worker of the fuzzer: asks queries of its pair of databases and reports what differs."""

from __future__ import annotations

import os
from multiprocessing.synchronize import Event
from random import Random
from typing import List

from calibration import calibrated, calibrated_table
from choices import Choices
from comparison import difference
from databases import STORED_IN, Neighbours, must
from expressions import Expressions
from finding import show_charges, show_difference, show_probe, show_refused, show_unexplained_charges
from outcome import use_texts
from queries import Queries
from report import Report
from rules import all_rules, forbidden_rules, rules_of_table
from sql_tree import Expr, walk
from statements import random_form
from statistics_probes import FUNCTIONS_QUERY, PROTECTED_TABLES, STATE, calls_of_functions
from trial import THRESHOLDS, Mode, Trial

QUERIES_OF_DATA = 120  # with the same rows, except for the change
QUERIES_OF_CHANGE = 60
CHANGES_OF_PROTECTED_TABLES = 16
QUERIES_OF_PROGRESS = 5000
PROBE_SHARE = 0.02
NO_NOISE_SHARE = 0.6
SHARE_IN_RHO = 0.2
RECORDED_SHARE = 0.5
RECORDED_SHARE_OF_TREES = 0.85
AFRESH_SHARE = 0.2  # of those that are recorded while the tables are alike
CHANGED_ROW_SHARE = 0.25  # of the conditions
CHANGED_ROW_SHARE_AFRESH = 0.8
SETTINGS = ["enable_hashagg = off", "enable_sort = off", "enable_hashjoin = off", "enable_nestloop = off", "enable_mergejoin = off",
            "enable_seqscan = off", "work_mem = '64kB'", "DateStyle = 'German'", "IntervalStyle = 'iso_8601'",
            "TimeZone = 'America/New_York'", "extra_float_digits = 0", "enable_material = off", "from_collapse_limit = 1",
            "enable_memoize = off", "random_page_cost = 0.1", "bytea_output = 'escape'", "enable_incremental_sort = off",
            "cursor_tuple_fraction = 1", "join_collapse_limit = 1", "enable_partitionwise_aggregate = on", "geqo_threshold = 2", "dpquantile.epsilon = 0.05"]
# Plans of parallel workers also for tables of some rows
PARALLEL_SHARE = 0.12
PARALLEL_SETTINGS = ["parallel_setup_cost = 0", "parallel_tuple_cost = 0", "min_parallel_table_scan_size = 0", "max_parallel_workers_per_gather = 3",
                     "parallel_leader_participation = off"]  # so that all rows come from workers, in any order
SHOWN = os.environ.get("SHOW", "")  # queries that are refused with this text, or "accepted " and a shape, are printed
# What a query may leave behind in the session
TRACES = ("set_config", "own.counter", "advisory", "pg_notify")


class Session:
    def __init__(self, number: int, seed: int, stop: Event):
        use_texts()
        self.number = number
        self.stop = stop  # also for the other workers
        self.random = Random(seed)
        self.neighbours = Neighbours(number, self.random)
        self.report = Report()
        self.without_noise = False
        self.is_recorded = False
        self.asked: List[Trial] = []  # since the last change
        self.refused: List[str] = []  # functions of the table that it cannot ask
        self.choices = self.make_choices()
        self.queries = Queries(self.choices)

    def make_choices(self) -> Choices:
        rules, forbidden = all_rules(), forbidden_rules()
        accepted, refused = calibrated(self.neighbours, rules + forbidden, self.random)
        owner = self.neighbours.sides[0].owner
        table, self.refused = calibrated_table(self.neighbours, rules_of_table(lambda query: must(owner, query)), self.random)
        inside = Expressions(self.random, accepted, refused, table)
        # Outside, PostgreSQL's own functions are allowed. Most of the others would only fail.
        outside = Expressions(self.random, accepted + self.random.sample(rules, len(rules) // 6), forbidden, table)
        return Choices(self.random, inside, outside, self.neighbours.protected, self.neighbours.small)

    def run(self, queries: int, most_differences: int) -> None:
        if self.refused:
            self.report.failed += 1
            show_refused(self.refused)
            if self.report.failed >= most_differences:
                self.stop.set()
        for number in range(queries):
            if number == int(queries * (1 - SHARE_IN_RHO)) // QUERIES_OF_DATA * QUERIES_OF_DATA > 0:
                self.compare_charges()
                self.go_on_in_rho()
            if number % QUERIES_OF_DATA == 0:
                self.neighbours.load(alike=number // QUERIES_OF_DATA % 2 == 0)
            if number > 0 and number % QUERIES_OF_PROGRESS == 0:
                print(f"{number} queries, {self.report.accepted['all']} accepted", flush=True)
            if number % QUERIES_OF_CHANGE == 0:
                self.compare_charges()
                self.begin_change()
            self.ask()
            if self.report.failed >= most_differences:
                self.stop.set()
            if self.stop.is_set():
                return
        self.compare_charges()
        self.probe(calls_of_functions(must(self.neighbours.sides[0].owner, FUNCTIONS_QUERY)))
        self.neighbours.change_settings("RESET ALL")
        self.probe([PROTECTED_TABLES])

    def go_on_in_rho(self) -> None:
        """In other databases, because a budget cannot change to rho that has paid for a delta."""
        self.neighbours.close()
        self.neighbours = Neighbours(self.number, self.random, in_rho=True)
        self.choices.in_rho = True

    def begin_change(self) -> None:
        """Another difference between the neighbours, another kind of noise, other settings."""
        change = self.neighbours.change()
        name = next((view for view, stored in STORED_IN.items() if stored == change.table), change.table)
        self.choices.focus = next(table for table in self.neighbours.protected + self.neighbours.small if table.name == name)
        self.choices.inside.values = self.choices.outside.values = self.neighbours.values_of_change()
        self.choices.changed = self.neighbours.changed_values()
        self.without_noise = self.random.random() < NO_NOISE_SHARE
        self.is_recorded = self.random.random() < (RECORDED_SHARE if self.choices.focus not in self.choices.small else RECORDED_SHARE_OF_TREES)
        self.neighbours.change_settings("RESET ALL")
        if self.neighbours.changes % CHANGES_OF_PROTECTED_TABLES == 0:
            self.probe([PROTECTED_TABLES])
        self.neighbours.set("statement_timeout", "20s")
        self.neighbours.set("fuzz.noise", "none" if self.without_noise else "fixed")
        self.neighbours.set("fuzz.keep_at", str(THRESHOLDS[0]))
        for setting in self.random.sample(SETTINGS, self.random.choice([0, 0, 1, 3])):
            self.neighbours.change_settings(f"SET {setting}")
        for setting in PARALLEL_SETTINGS if self.random.random() < PARALLEL_SHARE else ():
            self.neighbours.change_settings(f"SET {setting}")

    def ask(self) -> None:
        mode = self.random_mode()
        # What is looked up for the first row of a session shows if one of them finds no row.
        self.choices.changed_row_share = CHANGED_ROW_SHARE_AFRESH if mode == Mode.RECORDED_AFRESH else CHANGED_ROW_SHARE
        self.choices.may_have_stages = mode != Mode.ASKED
        form = random_form(self.random)
        self.choices.inside.parameters = form.parameters
        trial = Trial(self.neighbours, self.queries.query(), form, self.without_noise, mode)
        self.asked.append(trial)
        found = trial.difference()
        self.choices.end_query(not trial.refusal)
        miss = self.choices.miss if self.choices.has_missed else None
        self.report.count(trial.query, form.name, miss, trial.refusal)
        self.report.compared += trial.is_compared
        self.show_if_wanted(trial)
        if found is not None and trial.differs(found.split(": ")[-1]):
            self.report.failed += 1
            show_difference(trial, found)
        text = trial.query.sql()
        if self.random.random() < PROBE_SHARE or any(trace in text for trace in TRACES):
            self.probe(STATE)

    def show_if_wanted(self, trial: Trial) -> None:
        told = [trial.refusal] if trial.refusal else [f"accepted {part.rule}" for part in walk(trial.query) if isinstance(part, Expr)]
        found = next((text for text in told if SHOWN and SHOWN in text), None)
        if found is not None:
            print(f"{found}: {trial.query.sql()}", flush=True)

    def random_mode(self) -> Mode:
        if not self.is_recorded:
            return Mode.ASKED
        is_afresh = self.neighbours.are_alike and self.random.random() < AFRESH_SHARE
        return Mode.RECORDED_AFRESH if is_afresh else Mode.RECORDED

    def compare_charges(self) -> None:
        """The ledgers must be equal. If they are not, asks the queries since the last change again, one by one."""
        first, second = self.neighbours.new_charges()
        asked, self.asked = self.asked, []
        if first == second:
            return
        differing = [trial for trial in asked if trial.charges_differ()]
        unexpected = [trial for trial in differing if not trial.visible.answers_choose_rows]
        if unexpected:
            self.report.failed += 1
            show_charges(unexpected[0])
        elif not differing:
            self.report.failed += 1
            show_unexplained_charges()

    def probe(self, statements: List[str]) -> None:
        """Asks the server what it tells of the tables and the session."""
        for statement in statements:
            self.report.probes += 1
            first, second = self.neighbours.both(statement)
            found = difference(first, second)
            if found is not None:
                self.report.failed += 1
                show_probe(statement, found, first, second)
