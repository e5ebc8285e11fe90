"""SQLAlchemy and pandas, on psycopg 2: how often their habits execute a query."""

import sys
from datetime import date
from decimal import Decimal

import pandas
import sqlalchemy
from sqlalchemy import bindparam, func, select, text

import checks
from checks import check, equal

MEDIAN = text("SELECT dp_median(age, :epsilon, :lower, :upper) AS median FROM people")
GROUPS = text("SELECT age, dp_median(salary, :epsilon, 0, 100000) AS median FROM people GROUP BY age")
STATISTICS = text("SELECT dp_count(:epsilon), (dp_stats(salary, :epsilon, 0, 100000)).* FROM people")
PARAMETERS = {"epsilon": 0.05, "lower": 0, "upper": 120}

engine = sqlalchemy.create_engine("postgresql://analyst@", pool_pre_ping=True)


class SqlAlchemy(checks.Driver):
    def charges(self):
        with engine.connect() as connection:
            return connection.execute(text("SELECT count(*) FROM dp_ledger")).scalar()


driver = SqlAlchemy()
people = sqlalchemy.Table("people", sqlalchemy.MetaData(), autoload_with=engine)
visits = sqlalchemy.Table("visits", sqlalchemy.MetaData(), autoload_with=engine)


def scalar(statement, parameters):
    with engine.connect() as connection:
        return connection.execute(statement, parameters).scalar()


def check_sqlalchemy():
    answer = driver.charged(1, "text() with parameters", scalar, MEDIAN, PARAMETERS)
    check(checks.is_age(answer), "text() with parameters: an age")
    median = select(func.dp_median(people.c.salary, bindparam("epsilon"), 0, 100000))
    answer = driver.charged(1, "func.dp_median", scalar, median, {"epsilon": 0.05})
    check(isinstance(answer, Decimal), "func.dp_median of numeric values: a Decimal")
    days = select(func.dp_median(visits.c.day, 0.05, bindparam("first"), bindparam("last")))
    year = {"first": date(2024, 1, 1), "last": date(2025, 1, 1)}
    answer = driver.charged(1, "func.dp_median of dates", scalar, days, year)
    check(isinstance(answer, date), "func.dp_median of dates: a date")
    histogram = select(func.dp_histogram(people.c.age, 0.05, bindparam("bounds")))
    answer = driver.charged(1, "func.dp_histogram", scalar, histogram, {"bounds": [0, 50, 100.5]})
    check(len(answer) == 2 and all(isinstance(count, int) for count in answer), "func.dp_histogram: a list of int")
    quantiles = select(func.dp_quantiles(people.c.age, bindparam("quantiles"), 0.05, 0, 120))
    answer = driver.charged(1, "func.dp_quantiles", scalar, quantiles, {"quantiles": [0.25, 0.75]})
    check(len(answer) == 2 and all(map(checks.is_age, answer)), "func.dp_quantiles: a list of ages")
    number = select(func.count()).select_from(median.subquery())
    equal(driver.charged(0, "the number of rows of an answer", scalar, number, {"epsilon": 0.05}), 1,
          "the number of rows of an answer")
    try:
        scalar(MEDIAN, {**PARAMETERS, "epsilon": -1})
        state = None
    except sqlalchemy.exc.DBAPIError as error:
        state = error.orig.pgcode
    equal(state, "22023", "a negative epsilon: SQLSTATE 22023")


def check_pandas():
    def read(query=GROUPS):
        with engine.connect() as connection:
            return pandas.read_sql(query, connection, params={"epsilon": 0.05})

    frame = driver.charged(1, "read_sql", read)
    equal((frame.shape, frame["median"].dtype.name), ((50, 2), "float64"), "read_sql: a column of float64")
    driver.charged(2, "read_sql, called twice", lambda: (read(), read()))
    frame = driver.charged(2, "read_sql of statistics", read, STATISTICS)
    equal([column.name for column in frame.dtypes], ["int64"] * 3 + ["float64"] * 8,
          "read_sql of statistics: columns of numbers")

    def in_chunks():
        with engine.connect().execution_options(stream_results=True) as connection:
            chunks = pandas.read_sql(GROUPS, connection, params={"epsilon": 0.05}, chunksize=7)
            return sum(map(len, chunks))

    equal(driver.charged(1, "read_sql in chunks", in_chunks), 50, "read_sql in chunks: the rows are complete")
    with engine.connect() as connection:
        curve = text("SELECT dp_cdf(age, :epsilon, 0, 120, dp_options(bins => 12))::text FROM people")
        text_of_curve = connection.execute(curve, {"epsilon": 0.05}).scalar()
        points = driver.charged(0, "the points of a stored dp_cdf", lambda: pandas.read_sql(
            text("SELECT * FROM dp_cdf_points(CAST(:curve AS dp_cdf))"), connection, params={"curve": text_of_curve}))
    equal(list(points.columns), ["x", "probability", "low", "high"], "the points of a stored dp_cdf: a data frame")
    check(points["probability"].is_monotonic_increasing, "the points of a stored dp_cdf: they ascend")


print(f"client SQLAlchemy {sqlalchemy.__version__} and pandas {pandas.__version__}")
check_sqlalchemy()
check_pandas()
sys.exit(checks.failures > 0)
