"""check_psycopg3.py text|binary|client: psycopg 3 with answers as text or in binary, or with parameters that the client
binds. The module cdf_loader is the example of docs/languages.md. POOLED: the server is pgbouncer."""

import os
import sys
from decimal import Decimal

import psycopg

import checks
from cdf_loader import register_cdf
from checks import check, equal

mode = sys.argv[1]
FORMAT = {} if mode == "client" else {"binary": mode == "binary"}
ARRAYS = {"float": [0.25, 0.5], "int": [0, 1], "Decimal": [Decimal("0.25"), Decimal("0.5")]}


class Psycopg3(checks.Driver):
    def connect(self, role):
        factory = psycopg.ClientCursor if mode == "client" else psycopg.Cursor
        connection = psycopg.connect(user=role, cursor_factory=factory)
        if "POOLED" in os.environ:
            connection.prepare_threshold = None
        return connection

    def sqlstate(self, error):
        return error.sqlstate

    def execute(self, connection, query, *parameters):
        return connection.execute(query.replace("?", self.placeholder), parameters, **FORMAT)


def check_many(connection):
    with connection.cursor() as cursor:
        driver.charged(3, "executemany with three epsilons", cursor.executemany,
                       "SELECT dp_median(age, %s, 0, 120) FROM people", [(0.05,), (0.06,), (0.07,)])


def check_pipeline(connection):
    def pipeline():
        with connection.pipeline():
            cursors = [driver.execute(connection, checks.MEDIAN, 0.05, 0, 120) for _ in range(3)]
        return [cursor.fetchone()[0] for cursor in cursors]

    answers = driver.charged(3, "three executions in a pipeline", pipeline)
    check(all(map(checks.is_age, answers)), "three executions in a pipeline: three ages")


def check_described(connection):
    """Parse and Describe without Execute, as tools do to learn the columns of a query."""

    def columns(query):
        with connection.transaction():
            connection.pgconn.prepare(b"", query.encode())
            result = connection.pgconn.describe_prepared(b"")
        return [result.fname(i).decode() for i in range(result.nfields)]

    for query, expected in {"SELECT dp_count($1) FROM people WHERE id <= $2": ["dp_count"],
                            "SELECT id, age FROM people": ["id", "age"]}.items():
        equal(driver.charged(0, f"described: {query}", columns, query), expected, f"described: {query}")


def check_format(connection):
    """All parameters in the format of the answers. psycopg chooses the format of a %s by the type of its value."""
    driver.placeholder = "%b" if mode == "binary" else "%t"
    for part in (checks.check_parameters, checks.check_times, checks.check_statistics, checks.check_filters,
                 checks.check_generic_plans):
        part(driver, connection)
        connection.commit()
    checks.check_arrays(driver, ARRAYS)
    checks.check_array_filters(driver)
    driver.placeholder = checks.Driver.placeholder


def check_loader(role, amount, options):
    """Compares what the loader of the page reads with the text and the points of the value."""
    with driver.connect(role) as connection:
        register_cdf(connection)
        connection.execute("CREATE TEMP TABLE curve ON COMMIT DROP AS"
                           f" SELECT dp_cdf(salary, {amount}, -20.5, 99979.5, dp_options({options})) AS cdf FROM people")
        loaded = connection.execute("SELECT cdf FROM curve", binary=True).fetchone()[0]
        text = connection.execute("SELECT cdf::jsonb FROM curve").fetchone()[0]
        equal(loaded, {field: text[field] for field in loaded}, f"the loader of the page, {options}: the text")
        points = connection.execute("SELECT x, probability FROM curve, dp_cdf_points(cdf)").fetchall()
        first = len(points) - loaded["bins"]
        equal([count / loaded["cumulative"][-1] for count in loaded["cumulative"]],
              [probability for x, probability in points[first:]], f"the loader of the page, {options}: the points")


class BytesOfCdf(bytes):
    """Sent as a dp_cdf in binary."""


def check_received_bytes():
    """Binary parameters of type dp_cdf: those that the server sends come back, others are refused."""
    with driver.connect(driver.role) as connection:
        number = psycopg.types.TypeInfo.fetch(connection, "dp_cdf").oid

        class Dumper(psycopg.adapt.Dumper):
            oid = number
            format = psycopg.pq.Format.BINARY

            def dump(self, value):
                return bytes(value)

        connection.adapters.register_dumper(BytesOfCdf, Dumper)
        query = "SELECT dp_cdf(age, 0.05, 0, 120, dp_options(bins => 12)) FROM people"
        sent = connection.execute(query, binary=True).fetchone()[0]
        again = connection.execute("SELECT %b::dp_cdf", (BytesOfCdf(sent),), binary=True).fetchone()[0]
        equal(again, sent, "bytes of a dp_cdf, sent back")
        connection.commit()
        for name, changed in {"nothing": b"", "cut short": sent[:-1], "too long": sent + b"\0",
                              "of another version": b"\3" + sent[1:], "bounds that are NaN": sent[:1] + b"\xff" * 16
                              + sent[17:], "no bins": sent[:25] + bytes(4) + sent[29:]}.items():
            driver.fails("22P03", 0, f"bytes of a dp_cdf, {name}", connection, "SELECT dp_cdf_rows(%b)",
                         BytesOfCdf(changed))


print(f"client psycopg {psycopg.__version__}, {mode}")
driver = Psycopg3()
checks.check_driver(driver)
for role in checks.PARTS:
    driver.role = role
    checks.check_arrays(driver, ARRAYS)
    with driver.connect(role) as connection:
        checks.check_rewound(driver, connection.cursor("ages", scrollable=True))
        if mode != "client":
            check_many(connection)
            check_pipeline(connection)
with driver.connect(driver.role) as connection:
    checks.check_array_filters(driver)
    if mode != "client":
        check_described(connection)
        check_format(connection)
if mode == "binary":
    for options in ("bins => 12", "granularity => 1", "'binary', bins => 1000", "'histogram', bins => 3"):
        check_loader(driver.role, 0.05, options)
    check_loader("careful", "NULL", "bins => 300, rho => 0.001")
    check_received_bytes()
sys.exit(checks.failures > 0)
