"""psycopg 2, which binds parameters itself and reads answers as text."""

import sys
from decimal import Decimal

import psycopg2

import checks


class Psycopg2(checks.Driver):
    def connect(self, role):
        return psycopg2.connect(user=role)

    def sqlstate(self, error):
        return error.pgcode


print(f"client psycopg {psycopg2.__version__.split()[0]}")
driver = Psycopg2()
checks.check_driver(driver)
checks.check_array_filters(driver)
for role in checks.PARTS:
    driver.role = role
    checks.check_arrays(driver, {
        "float": [0.25, 0.5], "int": [0, 1], "Decimal": [Decimal("0.25"), Decimal("0.5")], "int and float": [0, 0.5]})
    checks.check_rewound(driver, driver.connect(role).cursor("ages", scrollable=True))
sys.exit(checks.failures > 0)
