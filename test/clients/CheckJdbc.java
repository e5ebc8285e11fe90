import java.math.BigDecimal;
import java.sql.Array;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.Date;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.sql.Timestamp;
import java.time.LocalDate;
import java.util.Arrays;
import java.util.Objects;

/** CheckJdbc OPTIONS: pgjdbc, with options for its URL, such as prepareThreshold=-1&preferQueryMode=simple. */
class CheckJdbc {
  private static final String MEDIAN = "SELECT dp_median(age, ?, ?, ?) FROM people";
  private static final String MEAN = "SELECT dp_avg(salary / 1000, ?, ?, ?) FROM people";
  private static final String GROUPS = "SELECT age, dp_median(salary, ?, 0, 100000) FROM people GROUP BY age";

  private static String url;
  private static Connection observer;
  private static boolean failed = false;

  interface Action<T> {
    T run() throws SQLException;
  }

  static void check(boolean passed, String name) {
    failed |= !passed;
    System.out.println((passed ? "ok - " : "not ok - ") + name);
  }

  static void equal(Object got, Object expected, String name) {
    boolean same = Objects.equals(got, expected);
    check(same, same ? name : name + ": expected " + expected + ", got " + got);
  }

  static Connection connect(String role) throws SQLException {
    Connection connection = DriverManager.getConnection(url, role, System.getenv("PGPASSWORD"));
    connection.setAutoCommit(false);
    return connection;
  }

  static long charges() throws SQLException {
    try (Statement statement = observer.createStatement();
        ResultSet rows = statement.executeQuery("SELECT count(*) FROM dp_ledger")) {
      rows.next();
      return rows.getLong(1);
    } finally {
      observer.rollback();
    }
  }

  static <T> T charged(long number, String name, Action<T> action) throws SQLException {
    long before = charges();
    T result = action.run();
    equal(charges() - before, number, name + ": charged " + number + " times");
    return result;
  }

  static ResultSet query(PreparedStatement statement, Object... parameters) throws SQLException {
    for (int i = 0; i < parameters.length; i++) {
      statement.setObject(i + 1, parameters[i]);
    }
    return statement.executeQuery();
  }

  static Object value(Connection connection, String sql, Object... parameters) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(sql);
        ResultSet rows = query(statement, parameters)) {
      rows.next();
      return rows.getObject(1);
    }
  }

  static boolean isAge(Object answer) {
    return isAge(answer, Integer.class);
  }

  static boolean isAge(Object answer, Class<? extends Number> type) {
    return type.isInstance(answer) && ((Number) answer).doubleValue() >= 0 && ((Number) answer).doubleValue() <= 120;
  }

  static void fails(String sqlstate, long charges, String name, Connection connection, String sql, Object... parameters)
      throws SQLException {
    String state = charged(charges, name, () -> {
      try {
        value(connection, sql, parameters);
        return "no error";
      } catch (SQLException error) {
        return error.getSQLState();
      }
    });
    equal(state, sqlstate, name + ": SQLSTATE " + sqlstate);
    connection.rollback();
  }

  static String typeOf(Object value) {
    return value.getClass().getSimpleName();
  }

  static void checkParameters(Connection connection) throws SQLException {
    Object[][] parameters = {
      {1, 0, 120}, {1L, 0L, 120L}, {(short) 1, (short) 0, (short) 120}, {0.05, 0.0, 120.0}, {0.05f, 0f, 120f},
      {new BigDecimal("0.05"), BigDecimal.ZERO, new BigDecimal(120)}, {"0.05", "0", "120"}, {"0.05", 0, 120.0}
    };
    for (Object[] values : parameters) {
      String name = "parameters of type " + typeOf(values[0]) + ", " + typeOf(values[1]);
      Object median = charged(1, name, () -> value(connection, MEDIAN, values));
      check(isAge(median), name + ": a median of integers is an Integer");
      Object mean = charged(1, "a mean, " + name, () -> value(connection, MEAN, values));
      check(isAge(mean, BigDecimal.class), name + ": a mean of numeric values is a BigDecimal");
    }
    for (Object epsilon : new Object[] {1, 0.05, new BigDecimal("0.05")}) {
      String name = "an approved function with " + typeOf(epsilon);
      Object answer = charged(1, name, () -> value(connection, "SELECT approved_median(?)", epsilon));
      check(isAge(answer), name + ": an age");
      name = "a count with " + typeOf(epsilon);
      Object count = charged(1, name, () -> value(connection, "SELECT dp_count(?) FROM people", epsilon));
      check(count instanceof Long && (Long) count > 4000, name + ": a Long");
    }
    for (Object granularity : new Object[] {10, 10.0, new BigDecimal(10)}) {
      BigDecimal answer = (BigDecimal) value(connection,
          "SELECT dp_median(salary, ?, 0, 100000, dp_options(granularity => ?)) FROM people", 0.05, granularity);
      check(answer.remainder(BigDecimal.TEN).signum() == 0, "an option of type " + typeOf(granularity));
    }
    connection.commit();
    fails("22004", 0, "NULL as epsilon", connection, MEDIAN, null, 0, 120);
    fails("22P02", 0, "text that is no number", connection, MEDIAN, "much", 0, 120);
    fails("22023", 0, "a negative epsilon", connection, MEDIAN, -1, 0, 120);
    try (Connection poor = connect("poor")) {
      fails("53400", 0, "an exhausted budget", poor, MEDIAN, 0.05, 0, 120);
    }
  }

  static void checkTimes(Connection connection) throws SQLException {
    Object[][] bounds = {
      {"day", LocalDate.of(2024, 1, 1), LocalDate.of(2025, 1, 1)},
      {"day", Date.valueOf("2024-01-01"), Date.valueOf("2025-01-01")},
      {"at", LocalDate.of(2024, 1, 1).atStartOfDay(), LocalDate.of(2025, 1, 1).atStartOfDay()},
      {"at", Timestamp.valueOf("2024-01-01 00:00:00"), Timestamp.valueOf("2025-01-01 00:00:00")}
    };
    for (Object[] column : bounds) {
      String name = column[0] + " with bounds of type " + column[1].getClass().getName();
      Object answer = charged(1, name, () -> value(connection,
          "SELECT dp_median(" + column[0] + ", ?, ?, ?) FROM visits", 0.05, column[1], column[2]));
      check(("day".equals(column[0]) ? answer instanceof Date : answer instanceof Timestamp)
          && answer.toString().startsWith("2024-"), name + ": a day or time of the year");
    }
    connection.commit();
  }

  static void checkStatistics(Connection connection) throws SQLException {
    String sql = "SELECT (dp_stats(salary, ?, ?, ?)).* FROM people";
    charged(1, "dp_stats", () -> {
      try (PreparedStatement statement = connection.prepareStatement(sql);
          ResultSet rows = query(statement, 0.05, 0, 100000)) {
        rows.next();
        equal(rows.getMetaData().getColumnCount(), 10, "dp_stats: ten columns");
        check(rows.getObject("count") instanceof Long, "dp_stats: the count is a Long");
        check(rows.getObject("stddev_error") instanceof BigDecimal, "dp_stats: an error is a BigDecimal");
        return null;
      }
    });
    connection.commit();
  }

  static void checkArrays(Connection connection) throws SQLException {
    Object[] arrays = {
      new double[] {0.25, 0.5}, connection.createArrayOf("float8", new Double[] {0.25, 0.5}),
      connection.createArrayOf("numeric", new BigDecimal[] {new BigDecimal("0.25"), new BigDecimal("0.5")}),
      connection.createArrayOf("int4", new Integer[] {0, 1})
    };
    for (Object quantiles : arrays) {
      String name = "an array of " + (quantiles instanceof Array ? ((Array) quantiles).getBaseTypeName() : "double[]");
      Array answer = (Array) charged(1, name,
          () -> value(connection, "SELECT dp_quantiles(age, ?, ?, 0, 120) FROM people", quantiles, 0.05));
      Object[] values = (Object[]) answer.getArray();
      check(values.length == 2 && Arrays.stream(values).allMatch(CheckJdbc::isAge), name + ": an array of Integer");
      Array counts = (Array) charged(1, name + " as bounds of a histogram",
          () -> value(connection, "SELECT dp_histogram(age / 100.0, ?, ?) FROM people", 0.05, quantiles));
      check(((Long[]) counts.getArray())[0] > 2000, name + " as bounds of a histogram: an array of Long");
    }
    connection.commit();
  }

  static void checkExecutions(Connection connection) throws SQLException {
    charged(8, "eight executions of one statement", () -> {
      try (PreparedStatement statement = connection.prepareStatement(MEDIAN)) {
        boolean ages = true;
        for (int i = 0; i < 8; i++) {
          try (ResultSet rows = query(statement, 0.05, 0, 120)) {
            ages &= rows.next() && isAge(rows.getObject(1));
          }
        }
        check(ages, "eight executions of one statement: eight ages");
      }
      return null;
    });
    // In simple mode the driver runs the query to learn its columns.
    charged(url.contains("preferQueryMode=simple") ? 1 : 0, "the columns of a prepared statement", () -> {
      try (PreparedStatement statement = connection.prepareStatement(MEDIAN)) {
        for (int i = 1; i <= 3; i++) {
          statement.setDouble(i, i);
        }
        equal(statement.getMetaData().getColumnTypeName(1), "int4", "the columns of a prepared statement");
        return null;
      }
    });
    charged(1, "a rollback", () -> {
      value(connection, MEDIAN, 0.05, 0, 120);
      connection.rollback();
      return null;
    });
    int groups = charged(1, "50 groups in portions of 7", () -> {
      try (PreparedStatement statement = connection.prepareStatement(GROUPS)) {
        statement.setFetchSize(7);
        return rows(query(statement, 0.05));
      }
    });
    equal(groups, 50, "50 groups in portions of 7: they are complete");
    String state = charged(1, "a query that its timeout cancels", () -> {
      try (PreparedStatement statement =
          connection.prepareStatement("SELECT dp_median(age, 0.05, 0, 120) FROM people, pg_sleep(60)")) {
        statement.setQueryTimeout(1);
        statement.executeQuery();
        return "no error";
      } catch (SQLException error) {
        return error.getSQLState();
      }
    });
    equal(state, "57014", "a query that its timeout cancels: SQLSTATE 57014");
    connection.rollback();
    equal(value(connection, "SELECT dp_iqr(x, ?, ?) FROM few", 1, 1e-9), null, "an answer that is NULL");
    connection.commit();
  }

  static void checkDistribution(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute("CREATE TEMP TABLE curve ON COMMIT DROP AS"
          + " SELECT dp_cdf(age, 0.05, 0, 120, dp_options(bins => 12)) AS cdf FROM people");
    }
    charged(0, "questions to a dp_cdf", () -> {
      String text = (String) value(connection, "SELECT cdf::text FROM curve");
      equal(value(connection, "SELECT cdf FROM curve").toString(), text, "a dp_cdf is a PGobject with its text");
      equal(value(connection, "SELECT cdf::jsonb = ?::jsonb FROM curve", text), true, "a dp_cdf casts to jsonb");
      equal(value(connection, "SELECT dp_cdf_rows(?::dp_cdf) = dp_cdf_rows(cdf) FROM curve", text), true,
          "a dp_cdf as a parameter");
      equal(value(connection, "SELECT count(*) FROM curve, dp_cdf_points(cdf, ?)", 0.9), 13L, "the points of a dp_cdf");
      Object quantile = value(connection, "SELECT dp_cdf_quantile(cdf, ?) FROM curve", 0.05);
      check(isAge(quantile, Double.class), "a quantile of a dp_cdf");
      return null;
    });
    connection.commit();
  }

  static int rows(ResultSet answer) throws SQLException {
    int number = 0;
    while (answer.next()) {
      number++;
    }
    return number;
  }

  /** The role is restricted. getIndexInfo reads the number of rows and pages. */
  static void checkCatalog(Connection connection) throws SQLException {
    DatabaseMetaData catalog = connection.getMetaData();
    equal(rows(catalog.getTables(null, "public", "people", null)), 1, "the catalog: the table");
    equal(rows(catalog.getColumns(null, "public", "people", null)), 3, "the catalog: its columns");
    equal(rows(catalog.getPrimaryKeys(null, "public", "people")), 1, "the catalog: its key");
    check(rows(catalog.getFunctions(null, null, "dp_cdf_points")) > 0, "the catalog: functions");
    try {
      catalog.getIndexInfo(null, "public", "people", false, true);
      check(false, "the catalog: indexes are refused");
    } catch (SQLException error) {
      equal(error.getSQLState(), "42501", "the catalog: indexes are refused");
    }
    connection.rollback();
  }

  public static void main(String[] arguments) throws SQLException {
    url = String.format("jdbc:postgresql://%s:%s/%s?%s", System.getenv("PGHOST"), System.getenv("PGPORT"),
        System.getenv("PGDATABASE"), arguments.length > 0 ? arguments[0] : "");
    observer = connect("analyst");
    System.out.println("client pgjdbc " + observer.getMetaData().getDriverVersion());
    try (Connection connection = connect("analyst")) {
      checkParameters(connection);
      checkTimes(connection);
      checkStatistics(connection);
      checkArrays(connection);
      checkExecutions(connection);
      checkDistribution(connection);
      checkCatalog(connection);
    }
    observer.close();
    System.exit(failed ? 1 : 0);
  }
}
