"""check_odbc.py [OPTION…]: pyodbc with psqlodbc. The options go into the connection string."""

import os
import sys

import pyodbc

import checks


class Odbc(checks.Driver):
    placeholder = "?"

    def connect(self, role):
        server = "Server={PGHOST};Port={PGPORT};Database={PGDATABASE};Password={PGPASSWORD}".format(**os.environ)
        return pyodbc.connect(f"Driver={{PostgreSQL Unicode}};{server};Uid={role};" + ";".join(sys.argv[1:]))

    def sqlstate(self, error):
        return error.args[0]


driver = Odbc()
connection = driver.connect("analyst")
print("client psqlodbc", connection.getinfo(pyodbc.SQL_DRIVER_VER), "with pyodbc", pyodbc.version)
checks.check_driver(driver)
# ODBC has no arrays.
checks.check_chosen(driver, connection, "id = ANY(CAST(? AS int[]))", "{%s}" % ",".join(map(str, range(1, 501))), 500)
answer = driver.charged(1, "an array as text", driver.value, connection,
                        "SELECT dp_quantiles(age, CAST(? AS float8[]), ?, 0, 120)::text FROM people", "{0.25,0.5}", 0.05)
ages = list(map(int, answer.strip("{}").split(",")))
checks.check(len(ages) == 2 and all(map(checks.is_age, ages)), "an array as text: an array of ages")
counts = driver.charged(1, "a histogram", driver.value, connection,
                        "SELECT dp_histogram(age, ?, CAST(? AS float8[]))::text FROM people", 0.05, "{0,50,100}")
checks.check(all(count.isdigit() for count in counts.strip("{}").split(",")), "a histogram: an array of whole numbers")
day = driver.value(connection, "SELECT dp_median(day, ?, CAST(? AS date), CAST(? AS date)) FROM visits",
                   0.05, "2024-01-01", "2025-01-01")
checks.check(day.year == 2024, "dates as text: a date")
catalog = connection.cursor()
checks.equal([table.table_name for table in catalog.tables(table="people")], ["people"], "the catalog: the table")
checks.equal([column.column_name for column in catalog.columns(table="people")], checks.PEOPLE, "the catalog: its columns")
checks.equal([key.column_name for key in catalog.primaryKeys(table="people")], ["id"], "the catalog: its key")
sys.exit(checks.failures > 0)
