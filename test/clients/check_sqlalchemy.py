"""SQLAlchemy and pandas, on psycopg 2: how often their habits execute a query, and which queries that SQLAlchemy writes role
analyst may ask of protected tables."""

import sys
from datetime import date, datetime, timedelta
from decimal import Decimal

import pandas
import sqlalchemy
from sqlalchemy import bindparam, case, cast, extract, func, select, text

import checks
from checks import check, equal

MEDIAN = text("SELECT dp_median(age, :epsilon, :lower, :upper) AS median FROM people")
GROUPS = {role: text(query.replace("?", ":epsilon")) for role, query in checks.GROUPS.items()}
STATISTICS = text("SELECT dp_count(:epsilon), (dp_stats(salary, :epsilon, 0, 100000)).* FROM people")
PARAMETERS = {"epsilon": 0.05, "lower": 0, "upper": 120}

engines = {role: sqlalchemy.create_engine(f"postgresql://{role}@", pool_pre_ping=True) for role in checks.PARTS}


class SqlAlchemy(checks.Driver):
    def charges(self):
        return scalar(text("SELECT count(*) FROM dp_ledger"))


driver = SqlAlchemy()
people, ages, visits = (sqlalchemy.Table(name, sqlalchemy.MetaData(), autoload_with=engines["analyst"])
                        for name in ("people", "ages", "visits"))


def connect():
    return engines[driver.role].connect()


def scalar(statement, parameters={}):
    with connect() as connection:
        return connection.execute(statement, parameters).scalar()


def sqlstate(statement, parameters={}):
    try:
        scalar(statement, parameters)
    except sqlalchemy.exc.DBAPIError as error:
        return error.orig.pgcode


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
    # PostgreSQL leaves out the median, which nobody sees. On a protected table it is computed all the same.
    charges = {"reader": 0, "analyst": 1}[driver.role]
    equal(driver.charged(charges, "the number of rows of an answer", scalar, number, {"epsilon": 0.05}), 1,
          "the number of rows of an answer")
    equal(sqlstate(MEDIAN, {**PARAMETERS, "epsilon": -1}), "22023", "a negative epsilon: SQLSTATE 22023")


def check_inspector():
    inspector = sqlalchemy.inspect(engines["analyst"])
    check({"people", "ages"} <= set(inspector.get_table_names()), "the inspector: the tables")
    equal([column["name"] for column in inspector.get_columns("people")], checks.PEOPLE, "the inspector: the columns")
    equal(inspector.get_pk_constraint("people")["constrained_columns"], ["id"], "the inspector: the key")
    for name in ("indexes", "foreign_keys", "unique_constraints", "check_constraints"):
        equal(getattr(inspector, f"get_{name}")("people"), [], f"the inspector: {name}")


def check_conditions():
    for name, condition, rows in (
        ("in_", people.c.id.in_(range(1, 1001)), 1000),
        ("between", people.c.salary.between(20000, Decimal("33250")), 950),
        ("is_ and or", people.c.salary.is_(None) | (people.c.id <= 1000), 1200),
        ("ilike", people.c.department.ilike("SUP%"), 1000),
        ("startswith", people.c.department.startswith("Sup", autoescape=True), 1000),
        ("cast", cast(people.c.salary, sqlalchemy.Float) / 1000 <= 33.25, 950),
        ("extract", extract("year", people.c.born) == 1961, 365),
        ("a difference of times", people.c.seen - timedelta(hours=1000) <= datetime(2024, 1, 1), 1000),
    ):
        count = driver.charged(1, name, scalar, select(func.dp_count(0.5)).where(condition))
        check(abs(count - rows) < 100, f"{name}: about {rows} rows, not {count}")


def check_shapes():
    def rows(statement):
        with connect() as connection:
            return connection.execute(statement).all()

    share = func.dp_avg(case((people.c.id <= 1000, 1), else_=0), 0.5, 0, 1)
    check(abs(driver.charged(1, "case", scalar, select(share)) - Decimal("0.2")) < Decimal("0.05"), "case: a share")
    outer = (select(ages.c.age, func.dp_count(people.c.id, 0.5)).join(people, people.c.age == ages.c.age, isouter=True)
             .group_by(ages.c.age).order_by(ages.c.age.desc()).limit(3))
    equal([row.age for row in driver.charged(1, "an outer join", rows, outer)], [67, 66, 65], "an outer join: the groups")
    month = func.date_trunc("month", people.c.seen).label("month")
    months = select(month, func.dp_count(0.5)).group_by(month).having(func.dp_keep_group(0.5, 1e-6))
    equal(len(driver.charged(2, "groups by date_trunc", rows, months)), 7, "groups by date_trunc: seven months")
    for name, statement in {"rows": select(people).limit(10), "count": select(func.count(people.c.id)),
                            "exists": select(select(people.c.id).exists())}.items():
        equal(driver.charged(0, name, sqlstate, statement), "42501", f"{name}: SQLSTATE 42501")


def check_pandas():
    def read(query=GROUPS[driver.role]):
        with connect() as connection:
            return pandas.read_sql(query, connection, params={"epsilon": 0.05})

    frame = driver.charged(1, "read_sql", read)
    equal((frame.shape, frame["dp_median"].dtype.name), ((50, 2), "float64"), "read_sql: a column of float64")
    driver.charged(2, "read_sql, called twice", lambda: (read(), read()))
    frame = driver.charged(2, "read_sql of statistics", read, STATISTICS)
    equal([column.name for column in frame.dtypes], ["int64"] * 3 + ["float64"] * 8,
          "read_sql of statistics: columns of numbers")

    def in_chunks():
        with connect().execution_options(stream_results=True) as connection:
            chunks = pandas.read_sql(GROUPS[driver.role], connection, params={"epsilon": 0.05}, chunksize=7)
            return sum(map(len, chunks))

    equal(driver.charged(1, "read_sql in chunks", in_chunks), 50, "read_sql in chunks: the rows are complete")
    with connect() as connection:
        curve = text("SELECT dp_cdf(age, :epsilon, 0, 120, dp_options(bins => 12))::text FROM people")
        text_of_curve = connection.execute(curve, {"epsilon": 0.05}).scalar()
        points = driver.charged(0, "the points of a stored dp_cdf", lambda: pandas.read_sql(
            text("SELECT * FROM dp_cdf_points(CAST(:curve AS dp_cdf))"), connection, params={"curve": text_of_curve}))
    equal(list(points.columns), ["x", "probability", "low", "high"], "the points of a stored dp_cdf: a data frame")
    check(points["probability"].is_monotonic_increasing, "the points of a stored dp_cdf: they ascend")


print(f"client SQLAlchemy {sqlalchemy.__version__} and pandas {pandas.__version__}")
for role in checks.PARTS:
    print("role", role)
    driver.role = role
    check_sqlalchemy()
    check_pandas()
check_inspector()
check_conditions()
check_shapes()
sys.exit(checks.failures > 0)
