"""Checks of any Python driver with DB-API 2.0: the types that it sends and receives, and how often it is charged. Role reader
has SELECT on the tables. Role analyst has none: it asks private queries of them as protected tables."""

import json
from datetime import date, datetime, timedelta
from decimal import Decimal

failures = 0


def check(passed, name):
    global failures
    failures += not passed
    print(f"{'ok' if passed else 'not ok'} - {name}", flush=True)


def equal(got, expected, name):
    check(got == expected, name if got == expected else f"{name}: expected {expected!r:.200}, got {got!r:.200}")


def is_age(answer, kind=int):
    return isinstance(answer, kind) and 0 <= answer <= 120


class Driver:
    """A driver in one of its modes. Queries have ? for a parameter."""

    placeholder = "%s"
    role = "reader"  # who asks and is charged

    def connect(self, role):
        """A new connection, which begins a transaction with its first query."""
        raise NotImplementedError

    def sqlstate(self, error):
        raise NotImplementedError

    def execute(self, connection, query, *parameters):
        cursor = connection.cursor()
        cursor.execute(query.replace("?", self.placeholder), parameters)
        return cursor

    def value(self, connection, query, *parameters):
        return self.execute(connection, query, *parameters).fetchone()[0]

    def charges(self):
        connection = self.connect(self.role)
        number = self.value(connection, "SELECT count(*) FROM dp_ledger")
        connection.close()
        return number

    def charged(self, number, name, action, *arguments):
        """Checks how many charges the action makes, and returns its result."""
        before = self.charges()
        result = action(*arguments)
        equal(self.charges() - before, number, f"{name}: charged {number} times")
        return result

    def fails(self, sqlstate, charges, name, connection, query, *parameters):
        """Checks the error and how many charges it makes, and returns the error."""

        def failure():
            try:
                self.execute(connection, query, *parameters).fetchall()
            except Exception as error:
                return error

        error = self.charged(charges, name, failure)
        equal(error and self.sqlstate(error), sqlstate, f"{name}: SQLSTATE {sqlstate}")
        connection.rollback()
        return error


PEOPLE = ["id", "age", "salary", "department", "born", "seen"]
MEDIAN = "SELECT dp_median(age, ?, ?, ?) FROM people"
MEAN = "SELECT dp_avg(salary / 1000, ?, ?, ?) FROM people"
MEDIAN_OF_TEXT = "SELECT dp_median(age, CAST(? AS float8), CAST(? AS integer), CAST(? AS integer)) FROM people"
MEAN_OF_TEXT = "SELECT dp_avg(salary / 1000, CAST(? AS float8), CAST(? AS float8), CAST(? AS numeric)) FROM people"
GROUPS = {  # of 50 ages; analyst has SELECT on the table of ages
    "reader": "SELECT age, dp_median(salary, ?, 0, 100000) FROM people GROUP BY age",
    "analyst": "SELECT age, dp_median(salary, ?, 0, 100000) FROM ages LEFT JOIN people USING (age) GROUP BY age",
}
# Conditions for people, their parameters, and how many rows they choose
FILTERS = (
    ("id <= ?", 1000, 1000),
    ("id <= CAST(? AS float8)", 1000.5, 1000),
    ("salary <= ?", 33250, 950),
    ("salary <= ?", 33250.5, 950),
    ("salary / 1000 <= ?", Decimal("33.25"), 950),
    ("department = ?", "Support", 1000),
    ("department LIKE ?", "Sup%", 1000),
    ("born <= ?", date(1960, 1, 1) + timedelta(days=1000), 1000),
    ("seen <= ?", datetime(2024, 1, 1) + timedelta(hours=1000), 1000),
)


def check_parameters(driver, connection):
    parameters = {
        "int": (1, 0, 120),
        "float": (0.05, 0.0, 120.0),
        "Decimal": (Decimal("0.05"), Decimal(0), Decimal("1.2e2")),
        "str": ("0.05", "0", "120"),
        "Decimal and int": (Decimal("0.05"), 0, 120),
    }
    for name, values in parameters.items():
        median, mean = (MEDIAN_OF_TEXT, MEAN_OF_TEXT) if name == "str" else (MEDIAN, MEAN)
        answer = driver.charged(1, f"parameters of type {name}", driver.value, connection, median, *values)
        # A driver may write a float into the query as a literal, which is numeric.
        kinds = (float, Decimal) if isinstance(values[1], (float, Decimal)) else int
        check(is_age(answer, kinds) and answer == int(answer),
              f"parameters of type {name}: a median of integers is a whole number of the type of the bounds")
        answer = driver.charged(1, f"a mean, parameters of type {name}", driver.value, connection, mean, *values)
        check(is_age(answer, Decimal), f"parameters of type {name}: a mean of numeric values is a Decimal")
    for epsilon in (1, 0.05, Decimal("0.05")):
        name = f"an approved function with {type(epsilon).__name__}"
        answer = driver.charged(1, name, driver.value, connection, "SELECT approved_median(?)", epsilon)
        check(is_age(answer), f"{name}: an age")
        name = f"a count with {type(epsilon).__name__}"
        answer = driver.charged(1, name, driver.value, connection, "SELECT dp_count(?) FROM people", epsilon)
        check(isinstance(answer, int) and answer > 4000, f"{name}: an int")
        name = f"a count of values with {type(epsilon).__name__}"
        answer = driver.charged(1, name, driver.value, connection, "SELECT dp_count(salary, ?) FROM people", epsilon)
        check(isinstance(answer, int) and answer > 4000, f"{name}: an int")
    for granularity in (10, 10.0, Decimal(10)):
        answer = driver.value(connection, "SELECT dp_median(salary, ?, 0, ?, dp_options(granularity => ?)) FROM people",
                              0.05, 2**33, granularity)
        equal(answer % 10, 0, f"an option of type {type(granularity).__name__}")


def check_times(driver, connection):
    bounds = {"day": (date(2024, 1, 1), date(2025, 1, 1)), "at": (datetime(2024, 1, 1), datetime(2025, 1, 1))}
    for column, (lower, upper) in bounds.items():
        name = f"bounds of type {type(lower).__name__}"
        query = f"SELECT dp_median({column}, ?, ?, ?) FROM visits"
        answer = driver.charged(1, name, driver.value, connection, query, 0.05, lower, upper)
        check(type(answer) is type(lower) and lower <= answer <= upper, f"{name}: the answer has this type")


def check_statistics(driver, connection):
    def columns():
        cursor = driver.execute(connection, "SELECT (dp_stats(salary, ?, ?, ?)).* FROM people", 0.05, 0, 100000)
        return dict(zip([column[0] for column in cursor.description], map(type, cursor.fetchone())))

    numbers = [name + error for name in ("sum", "avg", "variance", "stddev") for error in ("", "_error")]
    equal(driver.charged(1, "dp_stats", columns), {"count": int, "count_error": int, **dict.fromkeys(numbers, Decimal)},
          "dp_stats: its columns")


def check_errors(driver, connection):
    driver.fails("22004", 0, "NULL as epsilon", connection, MEDIAN, None, 0, 120)
    driver.fails("22P02", 0, "text that is no number", connection, MEDIAN_OF_TEXT, "much", "0", "120")
    driver.fails("22023", 0, "a negative epsilon", connection, MEDIAN, -1, 0, 120)
    poor = driver.connect("poor")
    driver.fails("53400", 0, "an exhausted budget", poor, MEDIAN, 0.05, 0, 120)
    equal(driver.value(poor, "SELECT epsilon_spent FROM dp_budget"), 0, "an exhausted budget: nothing is spent")
    poor.close()
    driver.charged(1, "a rollback", lambda: (driver.value(connection, MEDIAN, 0.05, 0, 120), connection.rollback()))


def check_cancelled(driver, connection):
    driver.execute(connection, "SET LOCAL statement_timeout = '3s'")
    # The first row takes a minute.
    driver.fails("57014", 1, "a cancelled query", connection,
                 "SELECT dp_median(age, ?, 0, 120) FROM people, pg_sleep(60)", 0.05)


def check_executions(driver, connection):
    answers = driver.charged(8, "eight executions of one statement",
                             lambda: [driver.value(connection, MEDIAN, 0.05, 0, 120) for _ in range(8)])
    check(all(map(is_age, answers)), "eight executions of one statement: eight ages")

    def in_portions():
        cursor = driver.execute(connection, GROUPS[driver.role], 0.05)
        rows = []
        while portion := cursor.fetchmany(7):
            rows += portion
        return [row[0] for row in rows]

    equal(driver.charged(1, "50 groups fetched in portions", in_portions), list(range(18, 68)),
          "50 groups fetched in portions: they are complete")
    equal(driver.value(connection, "SELECT dp_iqr(x, ?, ?) FROM few", 1, 1e-9), None, "an answer that is NULL")


def check_distribution(driver, connection):
    driver.execute(connection, "CREATE TEMP TABLE curve ON COMMIT DROP AS"
                               " SELECT dp_cdf(age, 0.05, 0, 120, dp_options(bins => 12)) AS cdf FROM people")
    before = driver.charges()
    text = driver.value(connection, "SELECT cdf::text FROM curve")
    curve = json.loads(text)
    equal(len(curve["cumulative"]), 12, "the text of a dp_cdf is JSON")
    as_jsonb = driver.value(connection, "SELECT cdf::jsonb FROM curve")
    equal(as_jsonb if isinstance(as_jsonb, dict) else json.loads(as_jsonb), curve, "a dp_cdf casts to jsonb")
    points = driver.execute(connection, "SELECT point.* FROM curve, dp_cdf_points(cdf, ?) AS point", 0.9).fetchall()
    equal([point[0] for point in points], [10.0 * i for i in range(13)], "the points of a dp_cdf")
    equal(driver.value(connection, "SELECT dp_cdf_rows(CAST(? AS dp_cdf))", text), curve["rows"],
          "a dp_cdf as a parameter")
    quantile = driver.value(connection, "SELECT dp_cdf_quantile(cdf, ?) FROM curve", 0.5)
    check(is_age(quantile, float), "a quantile of a dp_cdf")
    connection.commit()
    equal(driver.charges() - before, 0, "questions to a dp_cdf: free")


def check_chosen(driver, connection, condition, parameter, rows):
    """Counts the rows that a condition with one parameter chooses. An error of 100 has a probability below 1e-20."""
    name = f"{condition} with {type(parameter).__name__}"
    count = driver.charged(1, name, driver.value, connection, f"SELECT dp_count(?) FROM people WHERE {condition}",
                           0.5, parameter)
    check(abs(count - rows) < 100, f"{name}: about {rows} rows, not {count}")


def check_filters(driver, connection):
    for condition, parameter, rows in FILTERS:
        check_chosen(driver, connection, condition, parameter, rows)


def check_generic_plans(driver, connection):
    counts = driver.charged(12, "a filter, executed twelve times", lambda: [
        driver.value(connection, "SELECT dp_count(?) FROM people WHERE id <= ?", 0.5, 300 * i) for i in range(12)])
    check(all(abs(count - 300 * i) < 100 for i, count in enumerate(counts)),
          "a filter, executed twelve times: each value chooses its rows")
    driver.execute(connection, "SET LOCAL plan_cache_mode = force_generic_plan")
    check_filters(driver, connection)


def check_probes(driver, connection):
    """What tools send to learn the columns of a table or query."""
    groups = GROUPS["analyst"].replace("?", "0.05")
    for query, columns in {
        "SELECT * FROM people WHERE 1=0": PEOPLE,
        "SELECT * FROM people LIMIT 0": PEOPLE,
        "SELECT * FROM (SELECT * FROM people) AS t WHERE 1=0": PEOPLE,
        f"SELECT * FROM ({groups}) AS t WHERE 1=0": ["age", "dp_median"],
        f"SELECT * FROM ({groups}) AS t LIMIT 0": ["age", "dp_median"],
    }.items():
        cursor = driver.charged(0, query, driver.execute, connection, query)
        equal([column[0] for column in cursor.description], columns, f"{query}: the columns")
        equal(cursor.fetchall(), [], f"{query}: no rows")
    query = f"SELECT * FROM ({groups}) AS t LIMIT 1000"
    equal(len(driver.charged(1, query, lambda: driver.execute(connection, query).fetchall())), 50, f"{query}: 50 groups")


def check_rows_refused(driver, connection):
    for query, reason in {"SELECT * FROM people": "the query shows rows",
                          "SELECT count(*) FROM people": "the aggregate count is not private"}.items():
        error = driver.fails("42501", 0, query, connection, query)
        check(f"Only differentially private queries are allowed on it: {reason}" in str(error), f"{query}: why not")


COMMON = (check_parameters, check_times, check_statistics, check_errors, check_executions, check_distribution)
PARTS = {"reader": (*COMMON, check_cancelled),
         "analyst": (*COMMON, check_filters, check_generic_plans, check_probes, check_rows_refused)}


def check_driver(driver):
    """Afterwards the driver asks as analyst."""
    for role, parts in PARTS.items():
        print("role", role)
        driver.role = role
        connection = driver.connect(role)
        for part in parts:
            part(driver, connection)
            connection.commit()
        connection.close()


def check_arrays(driver, lists):
    """lists: names and values of lists that the driver can send as an array."""
    connection = driver.connect(driver.role)
    for name, quantiles in lists.items():
        answers = driver.charged(1, f"an array of {name}", driver.value, connection,
                                 "SELECT dp_quantiles(age, ?, ?, 0, 120) FROM people", quantiles, 0.05)
        check(len(answers) == len(quantiles) and all(map(is_age, answers)), f"an array of {name}: a list of ages")
        counts = driver.charged(1, f"a histogram with bounds of {name}", driver.value, connection,
                                "SELECT dp_histogram(age / 100.0, ?, ?) FROM people", 0.05, quantiles)
        check(len(counts) == 1 and isinstance(counts[0], int) and counts[0] > 2000,
              f"a histogram with bounds of {name}: a list of int")
    connection.close()


def check_array_filters(driver):
    connection = driver.connect(driver.role)
    numbers = range(1, 501)
    for column, values, rows in (
        ("id", list(numbers), 500),
        ("salary", [20000 + i * Decimal("13.25") for i in numbers], 475),
        ("department", ["Support", "Legal"], 1000),
        ("born", [date(1960, 1, 1) + timedelta(days=i) for i in numbers], 500),
    ):
        check_chosen(driver, connection, f"{column} = ANY(?)", values, rows)
    connection.close()


def check_rewound(driver, cursor):
    """cursor: a named cursor that can go back."""

    def twice():
        cursor.execute(GROUPS[driver.role].replace("?", "0.05"))
        first = cursor.fetchmany(20)
        cursor.scroll(0, mode="absolute")
        return first, cursor.fetchmany(20)

    first, second = driver.charged(1, "a named cursor that goes back", twice)
    check(len(first) == 20 and first == second, "a named cursor that goes back: the same answers")
