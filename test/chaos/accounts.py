"""The oracle: what clients have asked and received, kept outside of the server, and compared with its budgets and ledger."""

import copy
import os
import threading
from collections import Counter
from dataclasses import dataclass, field
from decimal import Decimal

BUDGETS = """
SELECT b.role::text, b.epsilon_spent, b.charges, b.epsilon_limit, b.rho_spent, b.rho_limit, b.accountant,
       l.epsilon + a.epsilon, l.rho + a.rho, l.entries + a.entries
  FROM dpquantile.budget b,
       LATERAL (SELECT coalesce(sum(epsilon), 0) AS epsilon, coalesce(sum(rho), 0) AS rho, count(*) AS entries
                  FROM dpquantile.ledger WHERE budget_id = b.budget_id) l,
       LATERAL (SELECT coalesce(sum(epsilon), 0) AS epsilon, coalesce(sum(rho), 0) AS rho, coalesce(sum(charges), 0) AS entries
                  FROM dpquantile.budget_name WHERE budget_id = b.budget_id) a
 WHERE b.table_id IS NULL"""
TABLE_BUDGETS = """
SELECT t.role::text, t.epsilon_spent,
       (SELECT coalesce(sum(epsilon), 0) FROM dpquantile.ledger WHERE budget_id = b.budget_id AND tables IS NOT NULL)
       + (SELECT coalesce(sum(epsilon), 0) FROM dpquantile.archived_by_table WHERE budget_id = b.budget_id)
  FROM dpquantile.budget t JOIN dpquantile.budget b ON b.role = t.role AND b.table_id IS NULL WHERE t.table_id IS NOT NULL"""
LEDGER = """
SELECT b.role::text, l.number, l.epsilon, l.function::text FROM dpquantile.ledger l JOIN dpquantile.budget b USING (budget_id)
 WHERE l.number > (%s::jsonb ->> b.role::text)::bigint"""
# A worker may still make the charge of a session that has given up.
CHECKS_KEPT = 4


@dataclass(eq=False)
class Question:
    """A statement, whose epsilon is its own. rows: the charges that one execution makes, {epsilon: number}; statement: the text without its
    parameters."""
    role: str
    rows: dict
    text: str
    statement: str
    asked: int = 0
    answered: int = 0
    seen: Counter = field(default_factory=Counter)
    age: int = 0

    def cost(self):
        return sum(epsilon * number for epsilon, number in self.rows.items())


@dataclass
class Account:
    """What is known of a role's budget."""
    asked: Decimal = Decimal(0)
    answered: Decimal = Decimal(0)
    added: Decimal = Decimal(0)     # by the owner, after a failover that lost charges
    spent: Decimal = Decimal(0)     # as of the last check, as the following
    rho: Decimal = Decimal(0)
    charges: int = 0
    table: Decimal = Decimal(0)
    may_exceed: Decimal = Decimal(0)  # added charges may exceed the limit


class Accounts:
    def __init__(self, roles, log):
        self.accounts = {role: Account() for role in roles}
        self.lock = threading.Lock()
        self.questions = []
        self.by_row = {}     # (role, epsilon): question
        self.archived = {}   # (role, number): epsilon of charges that an archiving returned
        self.times = []      # (sent, received, role) of the answers since the last check
        self.log = open(log, "ab", buffering=0)
        self.answers = 0
        self.checked = 0     # answers whose charges were found

    # What clients tell

    def asks(self, question):
        """Call it before an execution is sent."""
        with self.lock:
            if question.asked == 0:
                self.questions.append(question)
                self.by_row.update({(question.role, epsilon): question for epsilon in question.rows})
            question.asked += 1
            self.accounts[question.role].asked += question.cost()

    def receives(self, question, sent, received):
        """Durable before the client asks again."""
        line = f"{received:.6f} {question.role} {question.cost()} {question.text}\n"
        with self.lock:
            self.log.write(line.encode())
            os.fdatasync(self.log.fileno())
            question.answered += 1
            self.accounts[question.role].answered += question.cost()
            self.times.append((sent, received, question.role))
            self.answers += 1

    def answers_between(self, start, end):
        """The answers to questions that were asked after start and answered before end"""
        with self.lock:
            return sum(1 for sent, received, _ in self.times if sent > start and received < end)

    # What the owner tells

    def keep_archived(self, rows):
        for role, number, epsilon in rows:
            self.archived[role, number] = epsilon

    # A check that may be forgotten, while no client asks

    def state(self):
        return copy.deepcopy((self.accounts, self.questions, self.by_row, self.archived, self.checked))

    def go_back_to(self, state):
        self.accounts, self.questions, self.by_row, self.archived, self.checked = state

    # What the server must have

    def check(self, connection, charges_may_be_lost=False):
        """Compares while no client asks. Returns what is wrong. charges_may_be_lost: after a failover to an asynchronous standby the
        latest charges may be missing; what there is must be right, and missing answers are forgotten here: repair() adds them."""
        with connection.transaction():
            connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            budgets = connection.execute(BUDGETS).fetchall()
            tables = connection.execute(TABLE_BUDGETS).fetchall()
            if charges_may_be_lost:
                for role, _, charges, *_ in budgets:
                    self.accounts[role].charges = min(self.accounts[role].charges, charges)
            known = "{" + ", ".join(f'"{role}": {account.charges}' for role, account in self.accounts.items()) + "}"
            ledger = connection.execute(LEDGER, (known,)).fetchall()
        findings = [f"there is no budget of {role}" for role in self.accounts.keys() - {budget[0] for budget in budgets}]
        findings += self.compare_ledger(ledger, {budget[0]: budget[2] for budget in budgets})
        for budget in budgets:
            findings += self.compare_budget(*budget, charges_may_be_lost)
        for role, spent, entered in tables:
            account = self.accounts[role]
            if spent != entered:
                findings.append(f"{role} has spent {spent} on the table, and the ledger says {entered}")
            if spent < account.table and not charges_may_be_lost:
                findings.append(f"{role} had spent {account.table} on the table, and has spent {spent}")
            account.table = max(account.table, spent)
        findings += self.compare_answers(charges_may_be_lost)
        self.times = []
        return findings

    def compare_ledger(self, ledger, charges):
        """Every number since the last check has one charge, in the ledger or in the archive, that somebody has asked for."""
        findings = []
        rows = {}
        for role, number, epsilon, function in ledger:
            rows[role, number] = epsilon
            if function != "dp_add_charge" and (role, epsilon) not in self.by_row:
                findings.append(f"charge {number} of {role} with epsilon {epsilon} was not asked for")
        for role, account in self.accounts.items():
            for number in range(account.charges + 1, charges.get(role, 0) + 1):
                epsilon = rows.get((role, number), self.archived.get((role, number)))
                if epsilon is None:
                    findings.append(f"charge {number} of {role} is neither in the ledger nor in the archive")
                elif (role, epsilon) in self.by_row:
                    self.by_row[role, epsilon].seen[epsilon] += 1
        self.archived = {}
        return findings

    def compare_budget(self, role, spent, charges, limit, rho, rho_limit, accountant, entered, entered_rho, entries, charges_may_be_lost):
        account = self.accounts[role]
        wrong = []
        if spent != entered or rho != entered_rho or charges != entries:
            wrong.append(f"has spent {spent} (rho {rho}) in {charges} charges, and the ledger says {entered} (rho {entered_rho}) in {entries}")
        if accountant == "zcdp" and rho > rho_limit or accountant == "pure" and spent > max(limit, account.may_exceed):
            wrong.append(f"has spent {spent} (rho {rho}) of {limit} (rho {rho_limit})")
        if spent > account.asked + account.added:
            wrong.append(f"has spent {spent} and asked for {account.asked} only")
        if not charges_may_be_lost:
            if spent < account.answered:
                wrong.append(f"has spent {spent} and received answers for {account.answered}")
            if spent < account.spent or rho < account.rho or charges < account.charges:
                wrong.append(f"had spent {account.spent} (rho {account.rho}) in {account.charges} charges, and has {spent} (rho {rho}) in {charges}")
            account.spent, account.rho = spent, rho
        account.charges = charges
        return [f"{role} {what}" for what in wrong]

    def compare_answers(self, charges_may_be_lost):
        findings = []
        for question in self.questions:
            question.age += 1
            for epsilon, number in question.rows.items():
                least, most = question.answered * number, question.asked * number
                if question.seen[epsilon] < least and charges_may_be_lost:
                    question.seen[epsilon] = least
                if not least <= question.seen[epsilon] <= most:
                    findings.append(f"{question.role} has received {question.answered} and asked for {question.asked} answers with {number} charges "
                                    f"of epsilon {epsilon}, and is charged {question.seen[epsilon]} times: {question.text}")
            if question.age == 1:
                self.checked += question.answered
        old = [question for question in self.questions if question.age >= CHECKS_KEPT]
        for question in old:
            for epsilon in question.rows:
                del self.by_row[question.role, epsilon]
        self.questions = [question for question in self.questions if question.age < CHECKS_KEPT]
        return findings

    def repair(self, connection):
        """After a failover that lost charges: adds what is missing, as docs/operations.md says, by the spending recorded here."""
        for role, account in self.accounts.items():
            for table, target in (("secret", account.table), (None, max(account.spent, account.answered))):
                spent = connection.execute("SELECT epsilon_spent FROM dpquantile.budget WHERE role = %s::regrole AND table_id IS NULL", (role,)).fetchone()[0]
                on_table = connection.execute("SELECT epsilon_spent FROM dpquantile.budget WHERE role = %s::regrole AND table_id IS NOT NULL", (role,)).fetchone()
                missing = target - (spent if table is None else on_table[0] if on_table else target)
                if missing > 0:
                    connection.execute("SELECT dp_add_charge(%s::regrole, %s, note => 'lost in the failover', on_table => %s::regclass)",
                                       (role, missing, table))
                    account.added += missing
                    account.may_exceed = spent + missing
