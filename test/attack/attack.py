"""Random queries of an analyst against the accounting. run.sh starts it on a cluster of its own.

usage: attack.py SECONDS SEED CALLS

CALLS: how often one session asks, to see whether it grows.

Each statement has an epsilon of its own, by which its charges are found in the ledger. The oracle: no call shows more different
answers than it was charged for; the spending of each budget is the sum of its ledger and within its limit; no error is an
internal one; a session does not grow.
"""

import random
import re
import sys
import threading
import time
from collections import defaultdict
from decimal import Decimal
from pathlib import Path

import psycopg

from private_aggregates import AGGREGATES

HERE = Path(__file__).parent
# Each query gives rows of a key and an answer. A second call would need an epsilon of its own. Groups of different keys
# have different rows and one charge, but the group with the key -1 is of all rows.
VALUES = ["age", "age", "age + 1", "own.same(age)", "own.failing(age)", "age OPERATOR(own.+~) 1", "age::own.ages", "(ROW(age)::own.years).n",
          "nullif(age, 3)", "dept"]
SHAPES = [
    "SELECT 0, {c} FROM {t}",
    "SELECT 0, {c} FROM {t} WHERE age > {n}",
    "SELECT dept, {c} FROM {t} GROUP BY dept",
    "SELECT dept, {c} FROM {t} GROUP BY dept ORDER BY 2 LIMIT 3",
    "SELECT CASE grouping(dept) WHEN 1 THEN -1 ELSE dept END, {c} FROM {t} GROUP BY GROUPING SETS ((dept), ())",
    "SELECT 0, a FROM generate_series(1, 3) AS g, LATERAL (SELECT {c} AS a FROM {t} WHERE age > g) AS s",
    "SELECT 0, a FROM generate_series(1, 3) AS g LEFT JOIN LATERAL (SELECT {c} AS a FROM {t}) AS s ON g > 1",
    "SELECT 0, (SELECT {c} FROM {t} WHERE age > g) FROM generate_series(1, 3) AS g",
    "SELECT 0, (SELECT {c} FROM {t}) FROM generate_series(1, 3) AS g",
    "WITH s AS MATERIALIZED (SELECT {c} AS a FROM {t}) SELECT 0, a FROM s UNION ALL SELECT 0, a FROM s",
    "WITH s AS NOT MATERIALIZED (SELECT {c} AS a FROM {t}) SELECT 0, a FROM s UNION ALL SELECT 0, a FROM s",
    "SELECT d.dept, s.a FROM depts AS d JOIN (SELECT dept, {c} AS a FROM {t} GROUP BY dept) AS s ON s.dept = d.dept",
    "SELECT d.dept, s.a FROM depts AS d, depts AS f, (SELECT dept, {c} AS a FROM {t} GROUP BY dept) AS s WHERE s.dept = d.dept",
    "SELECT 0, own.caught($q$SELECT {c} FROM {t}$q$)",
    "SELECT 0, a FROM own.twice($q$SELECT {c} FROM {t}$q$) AS a",
    "SELECT dept, {c} FROM {t} GROUP BY dept HAVING {h}",
    "SELECT DISTINCT 0, {c} FROM {t}",
    "SELECT 0, a FROM (SELECT {c} AS a FROM {t} OFFSET 0) AS s, generate_series(1, 2)",
    "SELECT 0, {c} FROM (SELECT * FROM {t} TABLESAMPLE BERNOULLI (50)) AS s",
    "SELECT 0, {c} FROM {t} JOIN depts USING (dept)",
    "EXPLAIN ANALYZE SELECT 0, {c} FROM {t}",
    "SELECT dept, {c} OVER (PARTITION BY dept) FROM {t}",
    "SELECT 0, own.total({c}::text::float8) FROM {t}",
    "SELECT 0, NULL FROM generate_series(1, 3) AS g, LATERAL (SELECT {c} AS a FROM {t} WHERE age > g) AS s WHERE own.told(a::text)",
]
# Another session updates the rows of own.line all the time. A statement that has waited for a lock checks the new row again
# (EvalPlanQual). The third column is whether it did so: its snapshot has an older row.
CHECKED_AGAIN = "n > (SELECT m.n + 1 FROM own.line AS m WHERE m.id = line.id)"
LOCKING_SHAPES = [
    "UPDATE own.line SET n = n + 1 FROM (SELECT {c} AS a FROM {t}) AS s WHERE id = 1 RETURNING 0, a, {again}",
    "UPDATE own.line SET n = n + 1 FROM (SELECT {c} AS a FROM {t} OFFSET 0) AS s WHERE id < 3 AND n >= 0 RETURNING id, a, {again}",
    "UPDATE own.line SET n = n + 1, answer = (SELECT {c} FROM {t} WHERE age > id)::text WHERE id = 2 RETURNING 0, answer, {again}",
    "UPDATE own.line SET n = n + 1, answer = (SELECT {c} FROM {t} WHERE age > n % 5)::text WHERE id = 2 RETURNING 0, answer, {again}",
    "WITH s AS MATERIALIZED (SELECT {c} AS a FROM {t}) UPDATE own.line SET n = n + 1 FROM s WHERE id = 3 AND a IS NOT NULL RETURNING 0, a, {again}",
    "UPDATE own.line SET n = n + 1 FROM (SELECT dept, {c} AS a FROM {t} GROUP BY dept) AS s WHERE id = dept RETURNING id, a, {again}",
    "MERGE INTO own.line USING (SELECT {c} AS a FROM {t}) AS s ON id = 1 WHEN MATCHED AND n >= 0 THEN UPDATE SET n = n + 1, answer = a::text",
    "SELECT 0, a FROM own.line, (SELECT {c} AS a FROM {t}) AS s WHERE id = 1 AND n >= 0 FOR UPDATE OF line",
    "SELECT id, (SELECT {c} FROM {t} WHERE age > n % 5) FROM own.line ORDER BY id FOR UPDATE",
    "SELECT id, a FROM own.line LEFT JOIN LATERAL (SELECT {c} AS a FROM {t} WHERE age > n % 5) AS s ON true ORDER BY id FOR NO KEY UPDATE OF line",
    "SELECT 0, NULL FROM own.line WHERE id = 1 AND own.told((SELECT {c} FROM {t} WHERE age > n % 5)::text) FOR UPDATE",
    "UPDATE own.line SET n = n + 1 WHERE id = 2 AND own.told((SELECT {c} FROM {t} WHERE age > n % 5)::text)",
]
PLAIN = ["SELECT count(*) FROM secret", "SELECT dept, count(*), avg(age) FROM secret GROUP BY dept", "SELECT sum(age) FROM secret WHERE active",
         "SELECT * FROM secret", "SELECT count(*) FILTER (WHERE age > 50) FROM secret", "TABLE dp_ledger LIMIT 1", "TABLE dp_budget"]
SETTINGS = ["enable_hashagg", "enable_sort", "enable_material", "enable_memoize", "enable_nestloop", "enable_hashjoin", "enable_mergejoin",
            "enable_seqscan", "enable_partitionwise_aggregate", "enable_parallel_append", "enable_gathermerge"]


class Attack:
    def __init__(self, seconds, seed):
        self.end = time.monotonic() + seconds
        self.seed = seed
        self.lock = threading.Lock()
        self.number = 0
        self.statements = 0
        self.answers = 0
        self.checked_again = 0
        self.errors = defaultdict(int)
        self.findings = []
        self.seen = {}  # epsilon: (statement, key: answers)
        self.pids = {}

    def found(self, what):
        with self.lock:
            if len(self.findings) < 20:
                print("FOUND:", what, flush=True)
            self.findings.append(what)

    def next_epsilon(self):
        with self.lock:
            self.number += 1
            return f"0.0{100000000 + self.number}"

    def statement(self, rng):
        if rng.random() < 0.12:
            return None, rng.choice(PLAIN)
        epsilon = self.next_epsilon()
        table = rng.choice(["person", "person", "part", "away", "filed", "secret", "secret"])
        aggregate = rng.choice(AGGREGATES)
        options = f"dp_options(method => '{rng.choice(aggregate.methods)}')" if aggregate.methods and rng.random() < 0.3 else ""
        value, user = ("age", "id") if table == "secret" else (rng.choice(VALUES), "owner_id")
        call = aggregate.call(value, epsilon, options, user=user)
        shapes = LOCKING_SHAPES if rng.random() < 0.2 else SHAPES
        text = rng.choice(shapes).format(c=call, t=table, n=rng.randrange(90), h="dp_keep_group(0.3, 1e-9)" if rng.random() < 0.5 else "true",
                                         again=CHECKED_AGAIN)
        return epsilon, text

    def ways(self, rng, text):
        """The statements by which a query is asked. Each result with two columns has keys and answers."""
        name = f"s{rng.randrange(10**9)}"
        way = rng.randrange(8)
        if "own.line" in text and not text.startswith("SELECT"):
            way = rng.choice([2, 3, 5, 6])  # the others are for queries
        if way == 0:
            return ["BEGIN", f"DECLARE {name} SCROLL CURSOR FOR {text}", f"FETCH 2 FROM {name}", f"MOVE BACKWARD ALL FROM {name}",
                    f"FETCH ALL FROM {name}", rng.choice(["COMMIT", "ROLLBACK"])]
        if way == 1:
            return [f"DECLARE {name} CURSOR WITH HOLD FOR {text}", f"FETCH ALL FROM {name}", f"CLOSE {name}"]
        if way == 2:
            return [f"PREPARE {name} AS {text}", f"EXECUTE {name}", f"EXECUTE {name}", f"EXECUTE {name}", f"DEALLOCATE {name}"]
        if way == 3:
            return ["BEGIN", "SAVEPOINT a", text, "ROLLBACK TO a", text, "ROLLBACK"]
        if way == 4:
            return [f"CREATE TEMP TABLE {name} AS {text}", f"SELECT * FROM {name}", f"DROP TABLE IF EXISTS {name}"]
        if way == 5:
            return [f"SET LOCAL statement_timeout = {rng.randrange(1, 30)}", f"SET statement_timeout = {rng.randrange(1, 30)}", text, "RESET statement_timeout"]
        return [text]

    def forced(self, rng):
        for setting in rng.sample(SETTINGS, 3):
            yield f"SET {setting} = {rng.choice(['on', 'off'])}"
        yield f"SET work_mem = '{rng.choice(['64kB', '4MB'])}'"
        yield f"SET plan_cache_mode = {rng.choice(['auto', 'force_generic_plan', 'force_custom_plan'])}"
        yield rng.choice(["SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0", "RESET parallel_setup_cost"])

    def run(self, connection, epsilon, text):
        """Asks, and notes the answers: those in the rows, or those that own.told has told in notices."""
        told = []

        def listen(notice):
            if notice.message_primary.startswith("answer "):
                told.append(notice.message_primary)

        connection.add_notice_handler(listen)
        try:
            return self.ask(connection, epsilon, text)
        finally:
            connection.remove_notice_handler(listen)
            if epsilon and told:
                self.note(epsilon, text, [(0, answer) for answer in told])

    def note(self, epsilon, text, rows):
        with self.lock:
            keys = self.seen.setdefault(epsilon, (text, defaultdict(set)))[1]
            for key, answer, *again in rows:
                self.checked_again += again == [True]
                if answer is not None:
                    keys[key].add(str(answer))
                    self.answers += 1

    def ask(self, connection, epsilon, text):
        cursor = connection.cursor()
        try:
            cursor.execute(text, prepare=False)
            if cursor.description is None:
                return True
            rows = cursor.fetchall()
        except psycopg.errors.QueryCanceled:
            self.errors["57014"] += 1
            return False
        except psycopg.Error as error:
            state = error.sqlstate or "lost"
            self.errors[state] += 1
            if state.startswith("XX"):
                self.found(f"{state} {error} of {text}")
            return False
        if epsilon and len(cursor.description) >= 2 and not text.startswith("EXPLAIN"):
            self.note(epsilon, text, rows)
        return True

    def worker(self, index):
        rng = random.Random(self.seed * 1000 + index)
        role = "poor" if index == 0 else "analyst"
        connection = None
        while time.monotonic() < self.end:
            try:
                if connection is None or connection.closed:
                    connection = psycopg.connect(user=role, autocommit=True)
                    self.pids[index] = connection.info.backend_pid
                if rng.random() < 0.1:
                    for setting in self.forced(rng):
                        self.run(connection, None, setting)
                epsilon, text = self.statement(rng)
                if role == "poor":
                    text = text.replace("0.01", "0.05") if epsilon else text
                    epsilon = epsilon.replace("0.01", "0.05") if epsilon else None
                for step in self.ways(rng, text):
                    self.run(connection, epsilon, step)
                self.statements += 1
                if connection.info.transaction_status != psycopg.pq.TransactionStatus.IDLE:
                    connection.rollback()
                if epsilon:
                    self.check(epsilon, role)
            except psycopg.OperationalError:
                connection = None

    def check(self, epsilon, role):
        text, keys = self.seen.pop(epsilon, (None, {}))
        most = len(keys.pop(-1, ())) + max((len(answers) for answers in keys.values()), default=0)
        if most == 0:
            return
        with psycopg.connect(autocommit=True) as owner:
            charges = owner.execute("SELECT coalesce(sum(greatest(grouping_sets, 1)), 0) FROM dpquantile.ledger WHERE mod(epsilon, %s) = 0 AND epsilon > 0"
                                    " AND epsilon / %s <= 64", (Decimal(epsilon), Decimal(epsilon))).fetchone()[0]
        if most > charges:
            self.found(f"{most} different answers for {charges} charges as {role}: {text}")

    def disturb(self):
        rng = random.Random(self.seed)
        with psycopg.connect(autocommit=True) as owner:
            while time.monotonic() < self.end:
                time.sleep(rng.random() * 0.7)
                if not self.pids:
                    continue
                index = rng.choice(list(self.pids))
                function = rng.choice(["pg_cancel_backend"] * 3 + ["pg_terminate_backend"])
                owner.execute(f"SELECT {function}(pid) FROM pg_stat_activity WHERE pid = %s AND state <> 'idle'", (self.pids[index],))
                if rng.random() < 0.1:
                    owner.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type LIKE 'dpquantile%%'")

    def change_rows(self):
        """Updates the rows that others want to lock, so that they wait and meet a new row."""
        rng = random.Random(self.seed)
        with psycopg.connect(user="analyst") as connection:
            while time.monotonic() < self.end:
                try:
                    connection.execute("UPDATE own.line SET n = n + 1")
                    time.sleep(rng.random() * 0.02)
                    connection.commit()
                except psycopg.errors.DeadlockDetected:
                    connection.rollback()

    def check_budgets(self):
        with psycopg.connect(autocommit=True) as owner:
            for name, spent, entered, charges, numbers, limit in owner.execute(
                    "SELECT b.role::text, b.epsilon_spent, coalesce(sum(l.epsilon), 0), b.charges, count(l.*), b.epsilon_limit"
                    " FROM dpquantile.budget AS b LEFT JOIN dpquantile.ledger AS l USING (budget_id) WHERE b.table_id IS NULL GROUP BY b.budget_id, b.role, b.epsilon_spent, b.charges, b.epsilon_limit"):
                print(f"{name}: {charges} charges, epsilon {spent} of {limit}")
                if spent != entered or charges != numbers:
                    self.found(f"{name} has spent {spent} in {charges} charges, and the ledger says {entered} in {numbers}")
                if spent > limit:
                    self.found(f"{name} has spent {spent} of {limit}")
                if name == "postgres" and spent > 0:
                    self.found("the user of the foreign server has paid")

    def check_memory(self, calls):
        """A session's memory after many calls, against that after a tenth of them: of the process, and in PostgreSQL's contexts."""
        queries = ["SELECT dp_avg(age, 0.01, 0, 100) FROM person", "SELECT dp_median(age, 0.01, 0, 100) FROM person",
                   "SELECT count(*) FROM secret WHERE age < 3", "SELECT dp_cdf_quantile(dp_cdf(age, 0.01, 0, 100, dp_options(bins => 20)), 0.5) FROM person",
                   "SELECT dp_quantiles_expected_error(100, ARRAY[0.5], 0.1, 0, 100)", "SELECT dp_options(method => 'nonsense')"]
        with psycopg.connect(user="analyst", autocommit=True) as connection, psycopg.connect(autocommit=True) as owner:
            def memory():
                pid = connection.info.backend_pid
                owner.execute("SELECT pg_log_backend_memory_contexts(%s)", (pid,))
                connection.execute("SELECT 1")
                log = owner.execute("SELECT pg_read_file(current_setting('data_directory') || '/../log')").fetchone()[0]
                pages = Path(f"/proc/{pid}/statm").read_text().split()
                return (int(pages[1]) - int(pages[2])) * 4, int(re.findall(r"Grand total: .* (\d+) used", log)[-1])
            early = (0, 0)
            answered = 0
            for call in range(calls):
                answered += self.run(connection, None, queries[call % len(queries)])
                if call == calls // 10:
                    early = memory()
            late = memory()
            growth, used = late[0] - early[0], late[1] - early[1]
            print(f"memory of a session: {early[0]} kB after {calls // 10} calls, {growth} kB more after {calls}; in contexts {early[1]} bytes, {used} more")
            if answered < calls // 2:
                self.found(f"only {answered} of {calls} calls were answered: the memory of answers is not tested")
            if growth > 512 + calls // 100:
                self.found(f"a session grows by {growth} kB in {calls * 9 // 10} calls")
            if used > 16384 + calls:
                self.found(f"the memory contexts of a session grow by {used} bytes in {calls * 9 // 10} calls")


def prepare():
    with psycopg.connect(autocommit=True) as owner:
        owner.execute((HERE / "schema.sql").read_text().replace(":budget", "1000000"), prepare=False)
        owner.execute("CREATE ROLE poor LOGIN; SELECT dp_grant_budget('poor', 2, 0.001, smallest_charge => 0.001); GRANT SELECT ON person, part, depts, away, filed TO poor;"
                      "SELECT dp_grant_private_access('secret', 'poor', epsilon => 0.02)", prepare=False)
    with psycopg.connect(user="analyst", autocommit=True) as analyst:
        analyst.execute((HERE / "own.sql").read_text(), prepare=False)


def main():
    seconds, seed, calls = (int(argument) for argument in sys.argv[1:4])
    prepare()
    attack = Attack(seconds, seed)
    threads = [threading.Thread(target=attack.worker, args=(index,)) for index in range(4)] + [
        threading.Thread(target=attack.disturb), threading.Thread(target=attack.change_rows)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    attack.check_budgets()
    attack.check_memory(calls)
    attack.check_budgets()
    states = ", ".join(f"{state} {count}" for state, count in sorted(attack.errors.items(), key=lambda pair: -pair[1])[:14])
    print(f"{attack.statements} statements, {attack.answers} answers, {attack.checked_again} rows checked again; errors: {states}")
    if attack.checked_again == 0 and attack.statements > 500:
        attack.found("no row was checked again: the attack does not test EvalPlanQual")
    if attack.answers < attack.statements / 4:
        attack.found("too few answers: the attack tests little")
    print(f"{attack.statements} passed, {len(attack.findings)} failed")
    return 1 if attack.findings else 0


if __name__ == "__main__":
    sys.exit(main())
