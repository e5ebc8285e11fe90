"""What is audited: each private aggregate with each of its methods, in epsilon and in rho, and plain SQL over protected tables.

Each case has two tables that are neighbours, and answers from which they can be told apart as well as the mechanism allows. Their comments say why.
"""

import math
from dataclasses import dataclass, field

from private_aggregates import AGGREGATES, VALUE_TYPES


@dataclass(frozen=True)
class Case:
    function: str
    method: str
    # The expression that is audited, over the columns of the tables.
    answer: str
    # The rows of the two tables, as SQL.
    tables: tuple
    columns: str = "v"
    # Numbers that are computed from the answer a. Where the cuts are not given, they are found in the first answers.
    statistics: tuple = ("a",)
    cuts: tuple | None = None
    # Of the budget: "add or remove" or "replace".
    neighbours: str = "add or remove"
    # More keys of a group, whose answers are one draw together.
    keys: str = ""
    # In a draw that has several groups: aggregates of a, in the place of it.
    over_groups: str = ""
    # The share of the draws of other cases, for functions that take long.
    share: float = 1
    # Whether its data are chosen for the mechanism.
    calibrated: bool = True
    # Of a case over a protected table: how it is protected and granted. Its rows are those of each draw.
    protected: dict = field(default_factory=dict)

    @property
    def accountant(self):
        return "zcdp" if "rho =>" in self.answer else "pure"

    @property
    def name(self):
        return f"{self.function}, {self.method}"

    def sample(self, draws, table):
        """A query with a row for each draw: its statistics. All draws are groups of one execution, each with noise of its own."""
        statistics = ", ".join(self.statistics)
        if self.protected:
            # The analyst's query, over a table that has the rows for each draw.
            return f"SELECT {statistics} FROM ({self.answer.format(t=table)}) AS s"
        query = f"SELECT {{}} FROM generate_series(1, {draws}) AS g, (VALUES {self.tables[table]}) AS t ({self.columns}) GROUP BY g{self.keys}"
        query = query.format(f"g, {self.answer} AS a")
        if self.over_groups:
            query = f"SELECT {self.over_groups} AS a FROM ({query}) AS s GROUP BY g"
        return f"SELECT {statistics} FROM ({query}) AS s"

    def one_execution(self, table=""):
        """A query with one execution."""
        if self.protected:
            return self.answer.format(t=table)
        return f"SELECT {self.answer} FROM (SELECT 1 AS g, t.* FROM (VALUES {self.tables[0]}) AS t ({self.columns})) AS t"


def numbers(*values):
    return ", ".join(f"({value}::float8)" for value in values)


def users(*pairs):
    """Rows of a user and a value."""
    return ", ".join(f"({user}, {value}::float8)" for user, value in pairs)


def added(values, *more):
    """A table and its neighbour with more rows."""
    return numbers(*values), numbers(*values, *more)


CASES = []


def case(function, method, answer, tables, **more):
    CASES.append(Case(function, method, answer, tables, **more))


# Counts and sums: the likeliest side of the true number shows all of epsilon.
case("dp_count", "count", "dp_count(1)", added([0], 0))
case("dp_count", "count, rho", "dp_count(NULL, dp_options(rho => 0.5))", added([0], 0))
case("dp_count", "of values", "dp_count(v, 1)", added([0], 0))
case("dp_count", "of values, rho", "dp_count(v, NULL, dp_options(rho => 0.5))", added([0], 0))
case("dp_count", "of values, real", "dp_count(v, 1)", ("(0::real)", "(0::real), (0::real)"))
case("dp_count", "of values, replaced", "dp_count(v, 1)", (numbers(0, "NULL"), numbers(0, 0)), neighbours="replace")
case("dp_count_distinct", "count", "dp_count_distinct(v, 1)", added([0], 1))
case("dp_count_distinct", "count, rho", "dp_count_distinct(v, NULL, dp_options(rho => 0.5))", added([0], 1))
case("dp_sum", "sum", "dp_sum(v, 1, 0, 10)", added([0], 10))
case("dp_sum", "sum, rho", "dp_sum(v, NULL, 0, 10, dp_options(rho => 0.5))", added([0], 10))
case("dp_sum", "sum, replaced", "dp_sum(v, 1, -10, 10)", (numbers(-10), numbers(10)), neighbours="replace")

# Means and variances: beside many rows at the lower bound the last Bernstein sum can be read off the answer.
ZEROS = [0] * 12
for name in ("dp_avg", "dp_var_pop", "dp_var_samp", "dp_variance", "dp_stddev_pop", "dp_stddev_samp", "dp_stddev"):
    case(name, "bernstein", f"{name}(v, 1, 0, 10)", added(ZEROS, 10))
    case(name, "bernstein, rho", f"{name}(v, NULL, 0, 10, dp_options(rho => 0.5))", added(ZEROS, 10))
# The products of two values, in the same way. The variance of x is 0 without the noise, so that slopes and correlations tell less. They are NULL without a noisy variance.
for name in ("dp_covar_pop", "dp_covar_samp"):
    case(name, "bernstein", f"{name}(v, v, 1, 0, 10, 0, 10)", added(ZEROS, 10))
    case(name, "bernstein, rho", f"{name}(v, v, NULL, 0, 10, 0, 10, dp_options(rho => 0.5))", added(ZEROS, 10))
for name in ("dp_corr", "dp_regr_slope", "dp_regr_intercept", "dp_regr_r2"):
    for guarantee, options in (("1", ""), ("NULL", ", dp_options(rho => 0.5)")):
        case(name, "bernstein, rho" if options else "bernstein", f"{name}(v, v, {guarantee}, 0, 10, 0, 10{options})", added(ZEROS, 10),
             statistics=("coalesce(a, -2)",), calibrated=False)
# Each type of values becomes numbers in a way of its own.
for kind in VALUE_TYPES.values():
    if kind.kind != "other" and not kind.name.startswith("float"):
        lower, upper = (f"({kind.name} '{bound}')" for bound in (kind.lower, kind.upper))
        number = "a" if kind.kind == "numbers" else "extract(epoch FROM a)"
        rows = [lower] * len(ZEROS) + [upper]
        case("dp_avg", f"bernstein, {kind.name}", f"dp_avg(v, 1, {lower}, {upper})", (", ".join(rows[:-1]), ", ".join(rows)),
             statistics=(number,), share=0.5)
        case("dp_histogram", f"counts, {kind.name}", f"dp_histogram(v, 1, ARRAY[{lower}, {upper}])", (upper, f"{upper}, {upper}"),
             statistics=("a[1]",), share=0.5)
case("dp_avg", "bernstein, replaced", "dp_avg(v, 1, 0, 10)", (numbers(0), numbers(10)), neighbours="replace")
STATS = ("(a).variance", "(a).count")
case("dp_stats", "bernstein", "dp_stats(v, 1, 0, 10)", added(ZEROS, 10), statistics=STATS)
case("dp_stats", "bernstein, rho", "dp_stats(v, NULL, 0, 10, dp_options(rho => 0.5))", added(ZEROS, 10), statistics=STATS)

case("dp_histogram", "counts", "dp_histogram(v, 1, '{0, 5, 10}')", added([1], 7), statistics=("a[2]",))
case("dp_histogram", "counts, rho", "dp_histogram(v, NULL, '{0, 5, 10}', dp_options(rho => 0.5))", added([1], 7), statistics=("a[2]",))
case("dp_histogram", "counts, replaced", "dp_histogram(v, 1, '{0, 5, 10}')", (numbers(1), numbers(7)), statistics=("a[1]", "a[2]"),
     neighbours="replace")
# Two bins with equally many rows, and one row more: a factor of e.
case("dp_modal_bin", "permute-and-flip", "dp_modal_bin(v, 1, '{0, 5, 10}')", added([1, 7], 7), statistics=("a",))
case("dp_modal_bin", "permute-and-flip, replaced", "dp_modal_bin(v, 1, '{0, 5, 10}')", (numbers(1), numbers(7)), statistics=("a",),
     neighbours="replace")

# With 29 rows of one value there are bounds if the noise is above 0, with 30 if it is not below 0. With rho = 1/2 it takes more than 7.7.
FIVES = [5] * 29
case("dp_learn_bounds", "counts", "dp_learn_bounds(v, 1)", added(FIVES, 5), statistics=("(a IS NOT NULL)::int",))
case("dp_learn_bounds", "counts, rho", "dp_learn_bounds(v, NULL, dp_options(rho => 0.5))", added(FIVES[:7], 5), statistics=("(a IS NOT NULL)::int",))

# One quantile: the row makes the wide gap a better answer and the ends worse ones. The ends are rare, so nearly all of the difference is in
# their probability, and hardly any in the constant that makes the probabilities sum to 1. For rho both are as likely.
MEDIAN = added([930], 70)
LOW = added([700] * 3, 0)
case("dp_median", "no options", "dp_median(v, 1, 0, 1000)", MEDIAN, cuts=((70, 930),), share=2)
case("dp_quantile", "no options", "dp_quantile(v, 0.25, 1, 0, 1000)", LOW, cuts=((1, 700),), share=2)
case("dp_median", "no options, real", "dp_median(v, 1, 0, 1000)", ("(930::real)", "(930::real), (70::real)"), cuts=((70, 930),), share=0.5)
for method in ("default", "blocks", "approximate", "joint", "independent", "auto"):
    case("dp_median", method, f"dp_median(v, 1, 0, 1000, dp_options(method => '{method}'))", MEDIAN, cuts=((70, 930),))
    case("dp_quantile", method, f"dp_quantile(v, 0.25, 1, 0, 1000, dp_options(method => '{method}'))", LOW, cuts=((1, 700),))
case("dp_median", "rho", "dp_median(v, NULL, 0, 1000, dp_options(rho => 0.125))", added([700], 300), cuts=((300, 700),))
case("dp_quantile", "rho", "dp_quantile(v, 0.25, NULL, 0, 1000, dp_options(rho => 0.125))", added([200] * 3, 0), cuts=((1, 200),))
case("dp_median", "replaced", "dp_median(v, 1, 0, 1000)", (numbers(0, 40, 40), numbers(1000, 40, 40)), cuts=((40, 999),), neighbours="replace")

# Two quantiles at once: the row makes answers better that divide the rows into equal parts, and worse those that leave a part empty.
TWO = added([10] * 3 + [500] * 2 + [990] * 3, 500)
PARTS = ((10, 500, 990),) * 2
PAIR = ("a[1]", "a[2]")
TRIPLE = (*PAIR, "a[3]")
# Drawn one after the other, or alone, all answers must be at the ends.
SEVERAL = added([875], 125)
ENDS = (125, 875)
for function, leading in (("dp_quantiles", "ARRAY[1.0/3, 2.0/3]"), ("dp_synthesize", "2")):
    case(function, "no options", f"{function}(v, {leading}, 1, 0, 1000)", TWO, statistics=PAIR, cuts=PARTS)
    for method in ("blocks", "joint", "auto"):
        case(function, method, f"{function}(v, {leading}, 1, 0, 1000, dp_options(method => '{method}'))", TWO, statistics=PAIR, cuts=PARTS)
case("dp_quantiles", "default", "dp_quantiles(v, ARRAY[1.0/3, 2.0/3], 1, 0, 1000, dp_options(method => 'default'))", TWO, statistics=PAIR, cuts=PARTS)
case("dp_quantiles", "joint, rho", "dp_quantiles(v, ARRAY[1.0/3, 2.0/3], NULL, 0, 1000, dp_options(rho => 0.125, method => 'joint'))",
     added([10, 990], 500), statistics=PAIR, cuts=PARTS)
case("dp_quantiles", "joint, replaced", "dp_quantiles(v, ARRAY[1.0/3, 2.0/3], 1, 0, 1000, dp_options(method => 'joint'))",
     (numbers(*[10] * 4, *[500] * 2, *[990] * 3), numbers(*[10] * 3, *[500] * 3, *[990] * 3)), statistics=PAIR, cuts=PARTS, neighbours="replace")
for function, two, three in (("dp_quantiles", "'{0.49, 0.51}'", "'{0.25, 0.5, 0.75}'"), ("dp_synthesize", "2", "3")):
    case(function, "independent", f"{function}(v, {two}, 1, 0, 1000, dp_options(method => 'independent'))", SEVERAL, statistics=PAIR,
         cuts=(ENDS,) * 2)
    case(function, "approximate", f"{function}(v, {three}, 1, 0, 1000, dp_options(method => 'approximate'))", SEVERAL, statistics=TRIPLE,
         cuts=(ENDS,) * 3)
# The only answer is the length of the interquartile range. Answers that reach beyond all rows become worse.
case("dp_iqr", "quantiles", "dp_iqr(v, 1, 0, dp_options(method => 'quantiles', lower => 0, upper => 1000))", added([80, 500, 920], 500))
# Without bounds: the row moves the upper quartile from 1 to 1.2, and the distance to instability from 15 to 16.
case("dp_iqr", "propose-test-release", "dp_iqr(v, 1, 0.001, dp_options(method => 'propose-test-release'))",
     added([0] * 31 + [1] * 15 + [1.2] * 15, 1.2))

# Read off a tree of two leaves: the highest quantile is in the second if its noisy count is at least 1.
TREE = added([0] * 10, 1)
for function, leading, shown in (("dp_quantiles", "'{0.5, 1}'", "a[2]"), ("dp_synthesize", "30", "a[30]")):
    case(function, "tree", f"{function}(v, {leading}, 1, 0, 1, dp_options(granularity => 1, method => 'tree'))", TREE, statistics=(shown,))
case("dp_quantile", "tree", "dp_quantile(v, 1, 1, 0, 1, dp_options(granularity => 1, method => 'tree'))", TREE)
case("dp_median", "tree", "dp_median(v, 1, 0, 1, dp_options(granularity => 1, method => 'tree'))", added([0] * 12 + [1] * 9, 1))

# A curve of two bins has one level. In a curve of 64 the row counts on several, which are read together. The rows of the bins after those that
# are read keep the curve from falling, so that it need not be mended.
LAST = ("dp_cdf_count(a, 5, 10)",)
SEVERAL_LEVELS = added([0.2] * 8 + [1.3] * 8 + [5.1] * 8, 0)
for method in ("tree", "binary", "histogram"):
    case("dp_cdf", f"{method}, 2 bins", f"dp_cdf(v, 1, 0, 10, dp_options(bins => 2, method => '{method}'))", added(ZEROS, 10), statistics=LAST)
    case("dp_cdf", f"{method}, 64 bins", f"dp_cdf(v, 1, 0, 10, dp_options(bins => 64, method => '{method}'))", SEVERAL_LEVELS,
         statistics=("dp_cdf_count(a, 0, 0.15625)", "dp_cdf_count(a, 0, 1.25)", "dp_cdf_count(a, 0, 5)"))
    case("dp_cdf", f"{method}, 2 bins, rho", f"dp_cdf(v, NULL, 0, 10, dp_options(bins => 2, rho => 0.5, method => '{method}'))", added(ZEROS, 10),
         statistics=LAST)
# A row in the last of n bins counts in the last measurement only, with the weights that Theorem 27 names for the bins before.
BINS = 8
SQUARES = [(math.comb(2 * i, i) / 4**i) ** 2 for i in range(BINS)]
WEIGHTS = [math.sqrt(SQUARES[BINS - 1 - j] / sum(SQUARES[:BINS - j])) for j in range(BINS)]
MEASURED = " + ".join(f"{weight} * dp_cdf_count(a, {j}, {j + 1})" for j, weight in enumerate(WEIGHTS))
case("dp_cdf", "factorization", f"dp_cdf(v, NULL, 0, {BINS}, dp_options(bins => {BINS}, rho => 0.5, method => 'factorization'))",
     added([j + 0.5 for j in range(BINS) for _ in range(8)], BINS - 0.5), statistics=(MEASURED,), share=0.5)
case("dp_cdf", "histogram, replaced", "dp_cdf(v, 1, 0, 10, dp_options(bins => 2, method => 'histogram'))", (numbers(1), numbers(10)),
     statistics=("dp_cdf_count(a, 0, 5)", "dp_cdf_count(a, 5, 10)"), neighbours="replace")

# Which groups are shown: the optimal decision has p' = exp(epsilon) p + delta for one row more, as long as p is small. delta is small, because each
# execution spends it, and all together less than 1: a run has 10000 rounds at most, and with dp_iqr 500.
case("dp_keep_group", "of rows", "dp_keep_group(1, 0.00001)", added([0] * 10, 0), statistics=("a::int",))
# A user who is in two groups. Both are shown more often. With few users that is most of what there is to see if a group has too large a share.
for method, others in (("of users", 21), ("of few users", 11)):
    rows = ", ".join(f"({30 * s + i}, {s})" for s in (1, 2) for i in range(others))
    case("dp_keep_group", method, "dp_keep_group(g * 100 + u, 1, 0.00001, 2)", (rows, rows + ", (0, 1), (0, 2)"), columns="u, s", keys=", s",
         over_groups="sum(a::int)")

# One user replaces all values. The answer of a single user is clamped at the bounds, which hides nothing.
ONE = (users((1, 0), (1, 0)), users((1, 10), (1, 10)))
for method in ("auto", "array", "baseline", "levy", "quantile", "quantile-adaptive"):
    case("dp_user_mean", method, f"dp_user_mean(u, v, 1, 0, 10, dp_options(method => '{method}'))", ONE, columns="u, v")
# Many users, so that the mean is clipped to a private interval. One leaves the crowd for the other end.
CROWD = [(i, 1) for i in range(2, 41)]
for method in ("levy", "quantile", "quantile-adaptive"):
    case("dp_user_mean", f"{method}, 40 users", f"dp_user_mean(u, v, 1, 0, 10, dp_options(method => '{method}'))",
         (users((1, 1), *CROWD), users((1, 10), *CROWD)), columns="u, v", share=0.2)
for method in ("array", "baseline"):
    case("dp_user_variance", method, f"dp_user_variance(u, v, 1, 0, 10, dp_options(method => '{method}'))",
         (users((1, 0), (2, 0)), users((1, 10), (2, 0))), columns="u, v")
case("dp_user_mean", "no options", "dp_user_mean(u, v, 1, 0, 10)", ONE, columns="u, v")
case("dp_user_mean", "array, rho", "dp_user_mean(u, v, NULL, 0, 10, dp_options(method => 'array', rho => 0.5))", ONE, columns="u, v")
case("dp_user_variance", "no options", "dp_user_variance(u, v, 1, 0, 10)", (users((1, 0), (2, 0)), users((1, 10), (2, 0))), columns="u, v")
case("dp_user_variance", "array, rho", "dp_user_variance(u, v, NULL, 0, 10, dp_options(method => 'array', rho => 0.5))",
     (users((1, 0), (2, 0)), users((1, 10), (2, 0))), columns="u, v")
# A user with five rows, of which two count, comes beside users at the lower bound.
CALM = [(i, 0) for i in range(2, 14) for _ in (0, 1)]
for name in ("dp_user_mean", "dp_user_variance"):
    for guarantee, options in (("1", ""), ("NULL", ", rho => 0.5")):
        case(name, "bounded" + options[:5], f"{name}(u, v, {guarantee}, 0, 10, dp_options(method => 'bounded', max_contributions => '2'{options}))",
             (users(*CALM), users(*CALM, *[(1, 10)] * 5)), columns="u, v", share=0.5)
# A grid of two users, in which the mean and the variance move as far as they can.
GRIDS = ("(1, 'a', 0::float8), (2, 'a', 0)", "(1, 'a', 10::float8), (2, 'a', 0)")
case("dp_user_grid_stats", "grids", "dp_user_grid_stats(u, s, v, 1, 0, 10)", GRIDS, columns="u, s, v", statistics=("a[1].mean", "a[1].variance"))
case("dp_user_grid_stats", "grids, rho", "dp_user_grid_stats(u, s, v, NULL, 0, 10, dp_options(rho => 0.5))", GRIDS, columns="u, s, v",
     statistics=("a[1].mean", "a[1].variance"))
case("dp_user_grid_stats", "two grids", "dp_user_grid_stats(u, s, v, 1, 0, 10, dp_options(method => 'grids'))",
     ("(1, 'a', 0::float8), (2, 'a', 0), (1, 'b', 0), (2, 'b', 0)", "(1, 'a', 10::float8), (2, 'a', 0), (1, 'b', 10), (2, 'b', 0)"),
     columns="u, s, v", statistics=("a[1].mean", "a[1].variance", "a[2].mean", "a[2].variance"))

case("dp_user_grid_stats", "nothing suppressed", "dp_user_grid_stats(u, s, v, 1, 0, 10, dp_options(suppress => false))", GRIDS, columns="u, s, v",
     statistics=("a[1].mean", "a[1].variance"), share=0.5)

# What of ../support/aggregates.tsv has no case of its own yet: an ordinary call. Beside many rows at the lower bound comes one at the upper bound.
for aggregate in AGGREGATES:
    own = [case.answer for case in CASES if case.function == aggregate.name]
    calls = [] if own else ["", *(["rho => 0.5"] if "rho" in aggregate.options else [])]
    calls += [f"method => '{method}'" for method in aggregate.methods if not any(f"'{method}'" in answer for answer in own)]
    for options in calls:
        epsilon = "NULL" if "rho" in options else "1"
        case(aggregate.name, options or "ordinary", aggregate.call("v", epsilon, options and f"dp_options({options})"),
             (users(*CALM), users(*CALM, (1, 100))) if aggregate.of_users else added(ZEROS, 100), columns="u, v" if aggregate.of_users else "v",
             statistics=(aggregate.number,), calibrated=False)

# Plain SQL over protected tables. {t}: the number of the table.
KEYS = "keys AS k LEFT JOIN visits{t} AS v ON v.g = k.g"
for aggregate, tables in (("count(v.v)", added([0], 0)), ("sum(v.v)", added([0], 10)), ("avg(v.v)", added(ZEROS, 10)),
                          ("stddev(v.v)", added(ZEROS, 10)), ("variance(v.v)", added(ZEROS, 10)), ("count(DISTINCT v.v)", added([0], 10))):
    case(aggregate.replace("v.v", "v"), "plain SQL", f"SELECT k.g, {aggregate} AS a FROM {KEYS} GROUP BY k.g", tables, protected={"epsilon": 1})
case("percentile_cont", "plain SQL", f"SELECT k.g, percentile_cont(0.5) WITHIN GROUP (ORDER BY v.v) AS a FROM {KEYS} GROUP BY k.g",
     added([9.3], 0.7), cuts=((0.7, 9.3),), protected={"epsilon": 1})
# Keys that are rows themselves: a group that is hidden is an answer, too.
case("count(*)", "plain SQL, hidden groups", "SELECT g, dp_count(0.5) AS a FROM visits{t} GROUP BY g HAVING dp_keep_group(0.5, 0.00001)",
     added([0] * 20, 0), protected={"epsilon": 1})
# All rows of a person beside those of others. Two of them are seen.
VISITS = [(i, 0) for i in range(2, 14)]
for aggregate, column in (("count(*)", "count(v.g)"), ("sum(v)", "sum(v.v)"), ("avg(v)", "avg(v.v)")):
    case(aggregate, "plain SQL, two rows of a person", f"SELECT k.g, {column} AS a FROM {KEYS} GROUP BY k.g",
         (users(*VISITS), users(*VISITS, *[(1, 10)] * 5)), columns="u, v", protected={"epsilon": 1, "user_id": "u", "max_rows": 2})
case("count(DISTINCT u)", "plain SQL, groups of persons", f"SELECT k.g, count(DISTINCT v.u) AS a FROM {KEYS} GROUP BY k.g",
     (users((2, 0)), users((2, 0), *[(1, 10)] * 5)), columns="u, v", protected={"epsilon": 1, "user_id": "u", "max_rows": 2})
