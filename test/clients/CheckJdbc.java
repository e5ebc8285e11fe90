import java.math.BigDecimal;
import java.sql.Array;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.Date;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.Statement;
import java.sql.Timestamp;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.IntStream;
import org.postgresql.util.DriverInfo;
import org.postgresql.util.PSQLException;

/**
 * CheckJdbc OPTIONS: pgjdbc, with options for its URL, such as prepareThreshold=-1&preferQueryMode=simple. Role reader
 * has SELECT on the tables. Role analyst has none: it asks private queries of them as protected tables.
 */
class CheckJdbc {
  private static final String MEDIAN = "SELECT dp_median(age, ?, ?, ?) FROM people";
  private static final String MEAN = "SELECT dp_avg(salary / 1000, ?, ?, ?) FROM people";
  private static final String CASTS = "CAST(? AS float8), CAST(? AS int), CAST(? AS int)";  // of text
  private static final String GROUPS = "SELECT age, dp_median(salary, ?, 0, 100000) FROM people GROUP BY age";
  private static final String PUBLIC_GROUPS =
      "SELECT age, dp_median(salary, ?, 0, 100000) FROM ages LEFT JOIN people USING (age) GROUP BY age";
  private static final String[] PEOPLE = {"id", "age", "salary", "department", "born", "seen"};

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

  static boolean isSimple() {
    return url.contains("preferQueryMode=simple");
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
      {new BigDecimal("0.05"), BigDecimal.ZERO, new BigDecimal(120)}, {"0.05", "0", "120"}, {0.05, 0, 120}
    };
    for (Object[] values : parameters) {
      String name = "parameters of type " + typeOf(values[0]) + ", " + typeOf(values[1]);
      boolean isText = values[0] instanceof String;
      String median = isText ? MEDIAN.replace("?, ?, ?", CASTS) : MEDIAN;
      String mean = isText ? MEAN.replace("?, ?, ?", CASTS) : MEAN;
      Object age = charged(1, name, () -> value(connection, median, values));
      Class<? extends Number> type = values[1] instanceof Long ? Long.class
          : values[1] instanceof BigDecimal ? BigDecimal.class
          : values[1] instanceof Double ? Double.class
          : values[1] instanceof Float ? Float.class : Integer.class;
      check(isAge(age, type) && ((Number) age).doubleValue() % 1 == 0,
          name + ": a median of integers is a whole number of the type of the bounds");
      Object average = charged(1, "a mean, " + name, () -> value(connection, mean, values));
      check(isAge(average, BigDecimal.class), name + ": a mean of numeric values is a BigDecimal");
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
    fails("22P02", 0, "text that is no number", connection, MEDIAN.replace("?, ?, ?", CASTS), "much", "0", "120");
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
    charged(isSimple() ? 1 : 0, "the columns of a prepared statement", () -> {
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
    equal(value(connection, "SELECT dp_iqr(x, ?, ?) FROM few", 1, 1e-9), null, "an answer that is NULL");
    connection.commit();
  }

  static void checkPortions(Connection connection, String sql) throws SQLException {
    int groups = charged(1, "50 groups in portions of 7", () -> {
      try (PreparedStatement statement = connection.prepareStatement(sql)) {
        statement.setFetchSize(7);
        return rows(query(statement, 0.05));
      }
    });
    equal(groups, 50, "50 groups in portions of 7: they are complete");
    connection.commit();
  }

  static void checkCancelled(Connection connection) throws SQLException {
    String state = charged(1, "a query that its timeout cancels", () -> {
      try (PreparedStatement statement =
          connection.prepareStatement("SELECT dp_median(age, 0.05, 0, 120) FROM people, pg_sleep(60)")) {
        statement.setQueryTimeout(3);
        statement.executeQuery();
        return "no error";
      } catch (SQLException error) {
        return error.getSQLState();
      }
    });
    equal(state, "57014", "a query that its timeout cancels: SQLSTATE 57014");
    connection.rollback();
  }

  /** Counts the rows that a condition chooses. An error of 100 has a probability below 1e-20. */
  static void checkChosen(Connection connection, String condition, Object parameter, long expected) throws SQLException {
    String name = condition + " with " + parameter.getClass().getName();
    Object count = charged(1, name,
        () -> value(connection, "SELECT dp_count(?) FROM people WHERE " + condition, 0.5, parameter));
    check(Math.abs((Long) count - expected) < 100, name + ": about " + expected + " rows, not " + count);
  }

  static void checkFilters(Connection connection) throws SQLException {
    checkChosen(connection, "id <= ?", 1000, 1000);
    checkChosen(connection, "id <= ?", 1000L, 1000);
    checkChosen(connection, "id <= CAST(? AS float8)", 1000.5, 1000);
    checkChosen(connection, "salary <= ?", 33250.5, 950);
    checkChosen(connection, "salary <= ?", new BigDecimal("33250"), 950);
    checkChosen(connection, "salary / 1000 <= ?", new BigDecimal("33.25"), 950);
    checkChosen(connection, "department = ?", "Support", 1000);
    checkChosen(connection, "department LIKE ?", "Sup%", 1000);
    checkChosen(connection, "born <= ?", LocalDate.of(1960, 1, 1).plusDays(1000), 1000);
    checkChosen(connection, "born <= ?", Date.valueOf(LocalDate.of(1960, 1, 1).plusDays(1000)), 1000);
    checkChosen(connection, "seen <= ?", LocalDate.of(2024, 1, 1).atStartOfDay().plusHours(1000), 1000);
    checkChosen(connection, "seen <= ?", Timestamp.valueOf("2024-02-11 16:00:00"), 1000);
    Integer[] numbers = IntStream.rangeClosed(1, 500).boxed().toArray(Integer[]::new);
    checkChosen(connection, "id = ANY(?)", connection.createArrayOf("int4", numbers), 500);
    checkChosen(connection, "department = ANY(?)", connection.createArrayOf("text", new String[] {"Support", "Legal"}), 1000);
    connection.commit();
  }

  static void checkGenericPlans(Connection connection) throws SQLException {
    try (PreparedStatement statement =
        connection.prepareStatement("SELECT dp_count(?) FROM people WHERE id <= ?")) {
      for (int i = 0; i < 12; i++) {
        int expected = 300 * i;
        long count = charged(1, "a filter, executed twelve times", () -> {
          try (ResultSet rows = query(statement, 0.5, expected)) {
            rows.next();
            return rows.getLong(1);
          }
        });
        check(Math.abs(count - expected) < 100, "a filter, executed twelve times: each value chooses its rows");
      }
    }
    try (Statement statement = connection.createStatement()) {
      statement.execute("SET LOCAL plan_cache_mode = force_generic_plan");
    }
    checkFilters(connection);
  }

  static List<String> columns(ResultSetMetaData columns) throws SQLException {
    List<String> names = new ArrayList<>();
    for (int i = 1; i <= columns.getColumnCount(); i++) {
      names.add(columns.getColumnName(i));
    }
    return names;
  }

  /** What tools send to learn the columns of a table or query. */
  static void checkProbes(Connection connection) throws SQLException {
    String groups = "SELECT * FROM (" + PUBLIC_GROUPS.replace("?", "0.05") + ") AS t ";
    Map<String, List<String>> probes = Map.of(
        "SELECT * FROM people WHERE 1=0", Arrays.asList(PEOPLE), "SELECT * FROM people LIMIT 0", Arrays.asList(PEOPLE),
        groups + "WHERE 1=0", List.of("age", "dp_median"), groups + "LIMIT 0", List.of("age", "dp_median"));
    for (Map.Entry<String, List<String>> probe : probes.entrySet()) {
      charged(0, probe.getKey(), () -> {
        try (PreparedStatement statement = connection.prepareStatement(probe.getKey())) {
          equal(columns(statement.getMetaData()), probe.getValue(), probe.getKey() + ": the columns before");
          ResultSet answer = statement.executeQuery();
          equal(columns(answer.getMetaData()), probe.getValue(), probe.getKey() + ": the columns");
          equal(rows(answer), 0, probe.getKey() + ": no rows");
          return null;
        }
      });
    }
    equal(charged(1, "LIMIT 1000", () -> rows(connection.createStatement().executeQuery(groups + "LIMIT 1000"))), 50,
        "LIMIT 1000: 50 groups");
    if (!isSimple()) {
      equal(charged(0, "the columns of rows",
          () -> columns(connection.prepareStatement("SELECT * FROM people").getMetaData())), Arrays.asList(PEOPLE),
          "the columns of rows");
    }
    connection.commit();
  }

  static void checkRowsRefused(Connection connection) throws SQLException {
    fails("42501", 0, "rows", connection, "SELECT * FROM people");
    try {
      value(connection, "SELECT * FROM people");
    } catch (PSQLException error) {
      equal(error.getServerErrorMessage().getDetail(),
          "Only differentially private queries are allowed on it: the query shows rows.", "rows: why not");
    }
    connection.rollback();
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

  /** The role is restricted, and sees constants for the numbers of rows and pages that getIndexInfo reads. */
  static void checkCatalog(Connection connection) throws SQLException {
    DatabaseMetaData catalog = connection.getMetaData();
    equal(rows(catalog.getTables(null, "public", "people", null)), 1, "the catalog: the table");
    equal(rows(catalog.getColumns(null, "public", "people", null)), PEOPLE.length, "the catalog: its columns");
    equal(rows(catalog.getPrimaryKeys(null, "public", "people")), 1, "the catalog: its key");
    check(rows(catalog.getFunctions(null, null, "dp_cdf_points")) > 0, "the catalog: functions");
    try (ResultSet indexes = catalog.getIndexInfo(null, "public", "people", false, true)) {
      check(indexes.next(), "the catalog: an index");
      equal(indexes.getLong("CARDINALITY"), -1L, "the catalog: no number of rows");
      equal(indexes.getLong("PAGES"), 0L, "the catalog: no number of pages");
    }
    connection.rollback();
  }

  public static void main(String[] arguments) throws SQLException {
    url = String.format("jdbc:postgresql://%s:%s/%s?%s", System.getenv("PGHOST"), System.getenv("PGPORT"),
        System.getenv("PGDATABASE"), arguments.length > 0 ? arguments[0] : "");
    System.out.println("client pgjdbc " + DriverInfo.DRIVER_VERSION);
    for (String role : new String[] {"reader", "analyst"}) {
      System.out.println("role " + role);
      observer = connect(role);
      try (Connection connection = connect(role)) {
        checkParameters(connection);
        checkTimes(connection);
        checkStatistics(connection);
        checkArrays(connection);
        checkExecutions(connection);
        checkDistribution(connection);
        checkCatalog(connection);
        checkPortions(connection, PUBLIC_GROUPS);
        if (role.equals("reader")) {
          checkPortions(connection, GROUPS);
          checkCancelled(connection);
        } else {
          checkFilters(connection);
          checkGenericPlans(connection);
          checkProbes(connection);
          checkRowsRefused(connection);
        }
      }
      observer.close();
    }
    System.exit(failed ? 1 : 0);
  }
}
