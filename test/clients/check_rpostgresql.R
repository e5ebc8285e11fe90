# RPostgreSQL, which sends and receives text. Role reader has SELECT on the tables. Role analyst has none: it asks private
# queries of them as protected tables.
suppressPackageStartupMessages(library(RPostgreSQL))

failed <- FALSE

check <- function(passed, name) {
  failed <<- failed || !isTRUE(passed)
  cat(if (isTRUE(passed)) "ok" else "not ok", " - ", name, "\n", sep = "")
}

connect <- function(role) {
  dbConnect(PostgreSQL(), user = role, host = Sys.getenv("PGHOST"), port = Sys.getenv("PGPORT"),
            dbname = Sys.getenv("PGDATABASE"), password = Sys.getenv("PGPASSWORD"))
}

observer <- connect("reader")
charges <- function() dbGetQuery(observer, "SELECT count(*) FROM dp_ledger")[[1]]

# R evaluates the argument `action` where it is used: between the two counts.
charged <- function(number, name, action) {
  before <- charges()
  result <- force(action)
  check(charges() - before == number, paste0(name, ": charged ", number, " times"))
  result
}

ask <- function(connection, query, ...) dbGetQuery(connection, query, params = list(...))[[1]]
is_age <- function(answer) is.numeric(answer) && all(answer >= 0 & answer <= 120)

# An error is a warning and the answer NULL. There is no SQLSTATE.
fails <- function(message, number, name, connection, query, ...) {
  answer <- charged(number, name, suppressWarnings(dbGetQuery(connection, query, params = list(...))))
  error <- dbGetException(connection)$errorMsg
  check(is.null(answer) && grepl(message, error, fixed = TRUE), paste0(name, ": ", message))
}

median_query <- "SELECT dp_median(age, $1, $2, $3) FROM people"
reader <- connect("reader")

check_parameters <- function() {
  for (epsilon in list(1L, 0.05, "0.05")) {
    name <- paste("parameters of type", class(epsilon))
    check(is_age(charged(1, name, ask(reader, median_query, epsilon, 0, 120))), paste0(name, ": an age"))
  }
  answer <- charged(1, "an approved function", ask(reader, "SELECT approved_median($1)", 0.05))
  check(is_age(answer), "an approved function: an age")
  answer <- ask(reader, "SELECT dp_median(salary, $1, 0, 100000, dp_options(granularity => $2)) FROM people", 0.05, 10)
  check(answer %% 10 == 0, "an option")
  answers <- charged(1, "an array", ask(reader, "SELECT unnest(dp_quantiles(age, $1, $2, 0, 120)) FROM people",
                                        "{0.25,0.5}", 0.05))
  check(length(answers) == 2 && is_age(answers), "an array: ages")
}

check_statistics <- function() {
  count <- charged(1, "a count", ask(reader, "SELECT dp_count($1) FROM people", 0.05))
  check(is.numeric(count) && count > 4000, "a count: a number")
  values <- charged(1, "a count of values", ask(reader, "SELECT dp_count(salary, $1) FROM people", 0.05))
  check(is.numeric(values) && values > 4000, "a count of values: a number")
  mean <- charged(1, "a mean of numeric values",
                  ask(reader, "SELECT dp_avg(salary, $1, $2, $3) FROM people", 0.05, 0L, 1e5))
  check(is.numeric(mean) && mean > 40000, "a mean of numeric values: a number")
  # The driver sends a Date as its number of days.
  year <- format(as.Date(c("2024-01-01", "2025-01-01")))
  day <- charged(1, "dates", ask(reader, "SELECT dp_median(day, $1, $2, $3) FROM visits", 0.05, year[1], year[2]))
  check(inherits(day, "Date") && format(day, "%Y") == "2024", "dates: a Date")
  counts <- charged(1, "a histogram",
                    ask(reader, "SELECT unnest(dp_histogram(age, $1, $2)) FROM people", 0.05, "{0,50,100.5}"))
  check(length(counts) == 2 && is.numeric(counts), "a histogram: numbers")
  row <- charged(1, "dp_stats", dbGetQuery(reader, "SELECT (dp_stats(salary, $1, $2, $3)).* FROM people",
                                           params = list(0.05, 0, 1e5)))
  check(length(row) == 10 && all(sapply(row, is.numeric)), "dp_stats: ten columns of numbers")
}

check_errors <- function() {
  fails("got -1", 0, "a negative epsilon", reader, median_query, -1, 0, 120)
  fails("invalid input syntax", 0, "text that is no number", reader, median_query, "much", 0, 120)
  poor <- connect("poor")
  fails("privacy budget exhausted", 0, "an exhausted budget", poor, median_query, 0.05, 0, 120)
  dbDisconnect(poor)
  dbGetQuery(reader, "SET statement_timeout = '3s'")
  # The first row takes a minute.
  fails("canceling statement", 1, "a cancelled query", reader,
        "SELECT dp_median(age, $1, 0, 120) FROM people, pg_sleep(60)", 0.05)
  dbGetQuery(reader, "RESET statement_timeout")
}

check_executions <- function() {
  answers <- charged(8, "eight executions", replicate(8, ask(reader, median_query, 0.05, 0, 120)))
  check(length(answers) == 8 && is_age(answers), "eight executions: eight ages")
  charged(1, "a rollback", {
    dbBegin(reader)
    ask(reader, median_query, 0.05, 0, 120)
    dbRollback(reader)
  })
  ages <- charged(1, "50 groups fetched in portions", {
    result <- dbSendQuery(reader, "SELECT age, dp_median(salary, 0.05, 0, 100000) FROM people GROUP BY age")
    rows <- fetch(result, n = 7)
    while (!dbHasCompleted(result)) rows <- rbind(rows, fetch(result, n = 7))
    dbClearResult(result)
    rows$age
  })
  check(identical(as.numeric(ages), as.numeric(18:67)), "50 groups fetched in portions: they are complete")
  check(is.na(ask(reader, "SELECT dp_iqr(x, $1, $2) FROM few", 1, 1e-9)), "an answer that is NULL")
}

check_distribution <- function() {
  dbGetQuery(reader,
             "CREATE TEMP TABLE curve AS SELECT dp_cdf(age, 0.05, 0, 120, dp_options(bins => 12)) AS cdf FROM people")
  charged(0, "questions to a dp_cdf", {
    text <- ask(reader, "SELECT cdf::text FROM curve WHERE $1", TRUE)
    check(isTRUE(ask(reader, "SELECT cdf::jsonb = $1::jsonb FROM curve", text)), "a dp_cdf casts to jsonb")
    points <- dbGetQuery(reader, "SELECT * FROM dp_cdf_points($1, $2)", params = list(text, 0.9))
    check(identical(points$x, 10 * (0:12)), "the points of a dp_cdf, which is a parameter")
  })
}

check_protected <- function() {
  analyst <- connect("analyst")
  observer <<- connect("analyst")
  # Each chooses 1000 rows, or 950 with a salary. An error of 100 has a probability below 1e-20.
  filters <- list("id <= $2" = 1000, "salary / 1000 <= $2" = 33.25, "department = $2" = "Support",
                  "id = ANY($2)" = paste0("{", toString(1:1000), "}"), "born <= $2" = format(as.Date("1960-01-01") + 1000))
  for (condition in names(filters)) {
    query <- paste("SELECT dp_count($1) FROM people WHERE", condition)
    count <- charged(1, condition, ask(analyst, query, 0.5, filters[[condition]]))
    check(count > 850 && count < 1100, paste0(condition, ": about 1000 rows"))
  }
  probe <- charged(0, "a probe", dbGetQuery(analyst, "SELECT * FROM people WHERE 1=0"))
  check(nrow(probe) == 0 && ncol(probe) == 6, "a probe: six columns, no rows")
  check(identical(dbListFields(analyst, "people")[1:2], c("id", "age")), "dbListFields")
  fails("permission denied for table people", 0, "rows", analyst, "SELECT * FROM people")
}

cat("client RPostgreSQL", as.character(packageVersion("RPostgreSQL")), "\n")
check_parameters()
check_statistics()
check_errors()
check_executions()
check_distribution()
check_protected()
quit(status = if (failed) 1 else 0)
