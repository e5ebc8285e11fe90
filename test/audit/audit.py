"""Tries to refute the epsilon, delta and rho that are charged, through SQL, from answers alone. ../attack/run.sh starts it.

usage: audit.py SECONDS SEED   (it has no use for a seed: the noise is the server's)

Each case of catalogue.py is asked very often of two tables that are neighbours. Its claim is what one execution is charged, as the ledger
shows it. The first half of the answers chooses the event, and for rho the function of the answers, by which the tables are told apart best. The
second half bounds its probabilities, or means. All bounds of a run are wrong together with a probability below 1e-6: so a claim that is
refuted is false, except for that probability.
"""

import math
import os
import re
import sys
import time
from collections import Counter
from dataclasses import dataclass, field

import psycopg

from bounds import refuted_epsilon, refuted_rho
from catalogue import CASES
from coverage import missing

# Each case has two bounds for epsilon and two for rho.
TAIL = 1e-6 / (4 * len(CASES))
# Of a case of share 1, in a round, of each table.
DRAWS = 10000
# By the neighbours and the accountant of the budget.
ROLES = {("add or remove", "pure"): "adding", ("add or remove", "zcdp"): "adding_rho",
         ("replace", "pure"): "replacing", ("replace", "zcdp"): "replacing_rho"}
# The share of its claim that a case refutes whose data are not chosen for the mechanism.
LEAST_SHOWN = 0.3
# The answers of each table that choose the intervals of answers, and how many intervals, by the number of statistics.
FIRST_DRAWS = 2000
MOST_INTERVALS = {1: 60, 2: 16, 3: 8, 4: 5}


@dataclass
class Audited:
    case: object
    number: int
    epsilon: float | None = None
    delta: float = 0
    rho: float | None = None
    cuts: tuple = ()
    # By half and table.
    frequencies: list = field(default_factory=lambda: [[Counter(), Counter()], [Counter(), Counter()]])

    @property
    def draws(self):
        return int(DRAWS * self.case.share)

    def sample(self, draws, table):
        return self.case.sample(draws, f"{self.number}_{table}" if self.case.protected else table)


class Audit:
    def __init__(self, wanted):
        self.owner = psycopg.connect(autocommit=True)
        self.run("CREATE EXTENSION dpquantile")
        for (neighbours, accountant), role in ROLES.items():
            self.run(f"CREATE ROLE {role} LOGIN; SELECT dp_restrict_role('{role}')")
            self.run(f"""SELECT dp_grant_budget('{role}', 1e12, 0.999999, accountant => '{accountant}', neighbours => '{neighbours}',
                                                smallest_charge => 0.000001)""")
        self.run(f"CREATE TABLE keys AS SELECT g FROM generate_series(1, {DRAWS}) AS g")
        self.run("CREATE UNIQUE INDEX ON keys (g); GRANT SELECT ON keys TO adding")
        self.sessions = {role: psycopg.connect(user=role, autocommit=True) for role in ROLES.values()}
        self.cases = [Audited(case, number) for number, case in enumerate(CASES) if re.search(wanted, case.name)]

    def run(self, statement):
        self.owner.execute(statement, prepare=False)

    def ask(self, audited, query):
        return self.sessions[ROLES[audited.case.neighbours, audited.case.accountant]].execute(query, prepare=False).fetchall()

    def prepare(self, audited):
        if audited.case.protected:
            self.protect(audited)
        self.read_claim(audited)
        audited.cuts = audited.case.cuts or self.chosen_cuts(audited)

    def protect(self, audited):
        case = audited.case
        user = ", g * 1000 + t.u AS u" if "u" in case.columns else ""
        protection = "".join(f", {name} => '{value}'" for name, value in case.protected.items() if name != "epsilon")
        for table in (0, 1):
            name = f"visits{audited.number}_{table}"
            self.run(f"""CREATE TABLE {name} AS SELECT g, t.v{user} FROM generate_series(1, {audited.draws}) AS g,
                (VALUES {case.tables[table]}) AS t ({case.columns}); ANALYZE {name}""")
            self.run(f"""SELECT dp_protect_table('{name}'{protection}), dp_set_domain('{name}', 'v', 0.0, 10.0),
                dp_grant_private_access('{name}', 'adding', epsilon => {case.protected['epsilon']})""")

    def read_claim(self, audited):
        """What one execution is charged. The ledger has no epsilon of what is stated in rho. A rho beside a delta bounds no divergence."""
        (before,), = self.ask(audited, "SELECT coalesce(max(number), 0) FROM dp_ledger")
        self.ask(audited, audited.case.one_execution(f"{audited.number}_0"))
        (epsilon, delta, rho), = self.ask(audited, f"""SELECT CASE WHEN count(epsilon) = count(*) THEN sum(epsilon) END, sum(delta),
            CASE WHEN sum(delta) = 0 THEN sum(rho) END FROM dp_ledger WHERE number > {before}""")
        audited.epsilon, audited.delta, audited.rho = (None if number is None else float(number) for number in (epsilon, delta, rho))

    def chosen_cuts(self, audited):
        rows = [row for table in (0, 1) for row in self.ask(audited, audited.sample(FIRST_DRAWS, table))]
        most = MOST_INTERVALS[len(audited.case.statistics)]
        return tuple(spread_cuts([float(row[i]) for row in rows if row[i] is not None], most) for i in range(len(audited.case.statistics)))

    def draw(self, audited, half):
        intervals = ", ".join(f"coalesce(width_bucket(x{i}, '{{{','.join(repr(float(cut)) for cut in cuts)}}}'::float8[])::text, 'NULL')"
                              for i, cuts in enumerate(audited.cuts))
        columns = ", ".join(f"x{i}" for i in range(len(audited.cuts)))
        for table in (0, 1):
            query = f"SELECT concat_ws(' ', {intervals}), count(*) FROM ({audited.sample(audited.draws, table)}) AS x ({columns}) GROUP BY 1"
            frequencies = dict(self.ask(audited, query))
            # Groups that are not shown are an answer, too.
            frequencies["hidden"] = audited.draws - sum(frequencies.values())
            audited.frequencies[half][table].update(frequencies)


def spread_cuts(values, most):
    """Cuts between which the values are spread evenly, about `most` at most. A value that is frequent gets an interval of its own."""
    values = sorted(values)
    if len(set(values)) <= most:
        return sorted(set(values))
    chosen = Counter(values[::len(values) // most])
    return sorted(chosen.keys() | {math.nextafter(value, math.inf) for value, times in chosen.items() if times > 1})


def number(value):
    return "" if value is None else f"{value:.6g}"


def report(audited):
    """Prints the line of a case. True if a claim of it is refuted, or if its data are not chosen for the mechanism and show little of a claim."""
    chosen, seen = audited.frequencies
    epsilon = None if audited.epsilon is None else refuted_epsilon(chosen, seen, audited.delta, TAIL)
    rho = None if audited.rho is None else refuted_rho(chosen, seen, TAIL)
    refuted = epsilon is not None and epsilon > audited.epsilon or rho is not None and rho > audited.rho
    shown = epsilon / audited.epsilon if epsilon is not None else math.sqrt(max(rho, 0) / audited.rho)
    shows_little = not audited.case.calibrated and shown < LEAST_SHOWN
    figures = (number(audited.epsilon), number(audited.delta or None), number(epsilon and round(epsilon, 3)), number(audited.rho),
               number(rho and round(rho, 4)), sum(counter.total() for half in audited.frequencies for counter in half))
    print(f"{audited.case.function:20} | {audited.case.method:31} | {figures[0]:>7} | {figures[1]:>5} | {figures[2]:>7} | {figures[3]:>8} | "
          f"{figures[4]:>7} | {figures[5]:>8}{'  REFUTED' if refuted else '  SHOWS LITTLE: write a case of its own' if shows_little else ''}", flush=True)
    return refuted or shows_little


def main():
    end = time.monotonic() + float(sys.argv[1])
    wanted = os.environ.get("CASES", "")
    audit = Audit(wanted)
    gaps = [] if wanted else missing(audit.owner, CASES)
    for audited in list(audit.cases):
        try:
            audit.prepare(audited)
        except psycopg.Error as error:
            if audited.case.calibrated:
                raise
            audit.cases.remove(audited)
            gaps.append(f"{audited.case.name}: {error}")
    for gap in gaps:
        print(f"not in the catalogue: {gap}")
    rounds = 0
    # Each half gets as many rounds as the other.
    while rounds % 2 or rounds == 0 or time.monotonic() < end:
        for audited in audit.cases:
            audit.draw(audited, rounds % 2)
        rounds += 1
    print(f"{'function':20} | {'method':31} | epsilon | delta | refuted |      rho | refuted |  answers")
    refuted = sum(report(audited) for audited in audit.cases)
    print(f"A false alarm has a probability below 1e-6. {rounds} rounds.")
    print(f"{len(audit.cases) - refuted} passed, {refuted + len(gaps)} failed")
    return 1 if refuted or gaps else 0


if __name__ == "__main__":
    sys.exit(main())
