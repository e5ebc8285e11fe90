"""Clients who ask all the time, and tell the accounts what they send and receive."""

import random
import threading
import time
from collections import Counter
from decimal import Decimal

import psycopg

from accounts import Question

# {e}: the epsilon of the statement; the charges that an execution makes: {multiple of the epsilon: number}
STATEMENTS = [
    ("SELECT dp_median(age, {e}, 0, 100) FROM person WHERE id < {n}", {1: 1}),
    ("SELECT dp_avg(age, {e}, 0, 100), dp_sum(age, {e}, 0, 100) FROM person", {1: 2}),
    ("SELECT dept, dp_avg(age, {e}, 0, 100) FROM person GROUP BY dept", {1: 1}),
    ("SELECT dp_avg(age, {e}, 0, 100) FROM secret", {1: 1}),
    ("SELECT dp_count({e}), dp_median(age, {e}, 0, 100) FROM secret WHERE dept < 5", {1: 2}),
    ("SELECT dept, dp_user_mean(owner_id, age, {e}, 0, 100) FROM person GROUP BY dept", {1: 1, 6: 1}),
]
ROLES = ["analyst", "analyst", "careful", "poor"]
# Some of the clients' questions are given up by themselves.
TIMEOUTS = ["0", "0", "0", "3ms", "20ms", "500ms"]


class Client(threading.Thread):
    def __init__(self, crowd, index, seed):
        super().__init__(daemon=True)
        self.crowd = crowd
        self.role = ROLES[index]
        self.rng = random.Random(f"{seed} {index}")
        self.connection = None
        self.pid = None
        self.idle = threading.Event()

    def run(self):
        while not self.crowd.ended:
            if not self.crowd.asking.is_set():
                self.idle.set()
                self.crowd.asking.wait(0.1)
                continue
            self.idle.clear()
            if self.crowd.asking.is_set():
                self.ask_once()

    def ask_once(self):
        try:
            if self.connection is None or self.connection.closed:
                self.connection = self.crowd.primary.connect(self.role)
                self.pid = self.connection.info.backend_pid
            self.ask(self.new_question())
        except psycopg.Error as error:
            self.crowd.note(error)
            self.recover()

    def recover(self):
        if self.connection is not None:
            try:
                if self.connection.info.transaction_status != psycopg.pq.TransactionStatus.IDLE:
                    self.execute("ROLLBACK")
                self.execute("DISCARD ALL")
                return
            except psycopg.Error:
                self.connection.close()
        self.pid = None
        self.connection = None
        time.sleep(0.02)

    def new_question(self):
        epsilon = self.crowd.next_epsilon()
        text, multiples = self.rng.choice(STATEMENTS)
        rows = {multiple * epsilon: number for multiple, number in multiples.items()}
        return Question(self.role, rows, text.format(e=epsilon, n=self.rng.randrange(100, 3000)), text)

    def execute(self, text):
        return self.connection.execute(text)

    def charged(self, question, text):
        self.crowd.accounts.asks(question)
        sent = time.monotonic()
        rows = self.execute(text).fetchall()
        if rows:
            self.crowd.accounts.receives(question, sent, time.monotonic())
            self.crowd.note_answer(question.statement)

    def ask(self, question):
        way = self.rng.randrange(6)
        self.execute(f"SET statement_timeout = '{self.rng.choice(TIMEOUTS)}'")
        if way == 0:
            self.execute("BEGIN")
            self.charged(question, question.text)
            self.execute("ROLLBACK")
        elif way == 1:
            self.execute(f"PREPARE q AS {question.text}")
            try:
                self.charged(question, "EXECUTE q")
                self.charged(question, "EXECUTE q")
            finally:
                if not self.connection.closed:
                    self.execute("DEALLOCATE q")
        elif way == 2:
            self.execute("BEGIN")
            self.execute(f"DECLARE c CURSOR FOR {question.text}")
            self.charged(question, "FETCH 1 FROM c")
            self.execute("FETCH ALL FROM c")
            self.execute("COMMIT")
        elif way == 3:
            self.execute(f"SET synchronous_commit = {self.rng.choice(['off', 'local', 'remote_write', 'on'])}")
            self.charged(question, question.text)
        else:
            self.charged(question, question.text)


class Crowd:
    def __init__(self, accounts, primary, seed, found):
        self.accounts = accounts
        self.primary = primary
        self.found = found
        self.asking = threading.Event()
        self.ended = False
        self.disk_fails = False
        self.lock = threading.Lock()
        self.number = 0
        self.errors = Counter()
        self.answers = Counter({text: 0 for text, _ in STATEMENTS})
        self.clients = [Client(self, index, seed) for index in range(len(ROLES))]
        for client in self.clients:
            client.start()

    def next_epsilon(self):
        with self.lock:
            self.number += 1
            return Decimal("0.01") + Decimal(self.number).scaleb(-11)

    def note_answer(self, statement):
        with self.lock:
            self.answers[statement] += 1

    def note(self, error):
        state = error.sqlstate or "lost"
        with self.lock:
            self.errors[state] += 1
        if state.startswith("XX") and not self.disk_fails:
            self.found(f"an internal error: {state} {error}")

    def pids(self):
        return [client.pid for client in self.clients if client.pid]

    def go(self):
        self.asking.set()

    def pause(self, seconds=40):
        """Waits until no client asks. Ends the sessions that wait for too long, as for a standby."""
        self.asking.clear()
        end = time.monotonic() + seconds
        while not all(client.idle.wait(0.05) for client in self.clients):
            if time.monotonic() > end:
                self.found("a client waits for ever")
                return

    def end(self):
        self.ended = True
        self.asking.set()
