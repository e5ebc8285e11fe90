"""The private aggregates that the fuzzer asks, and how far their exact answers differ between neighbours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import List, Optional, Tuple

import private_aggregates


@dataclass(frozen=True)
class Aggregate:
    """A call. # stands for the value, of one of the types; result T is the type of the value."""

    text: str
    result: str
    types: str = ""
    bound: Optional[float] = None
    draws_evenly: bool = True  # it takes as many random numbers whatever the data are


ANY = "int4 text date bool numeric float8 timestamptz uuid mood interval varchar int8"
NUMBERS = "int2 int4 int8 numeric float8 float4"

OF_ROWS: List[Aggregate] = [
    Aggregate("dp_count(0.1)", "int8", bound=1),
    Aggregate("dp_count(0.1, dp_options(rho => NULL))", "int8", bound=1),
    Aggregate("dp_count(#, 0.1)", "int8", ANY, 1),
    Aggregate("dp_count_distinct(#, 0.5)", "int8", ANY, 1),
    Aggregate("dp_sum(#, 0.5, 0, 100)", "int8", "int2 int4", 100),
    Aggregate("dp_sum(#, 0.5, -10, 100)", "numeric", "int8 numeric", 100),
    Aggregate("dp_sum(#, 0.5, 0, 1)", "float8", "float4 float8", 1),
    Aggregate("dp_avg(#, 0.5, 0, 100)", "numeric", "int2 int4 int8 numeric"),
    Aggregate("dp_avg(#::int, 0.5, 0, 1)", "numeric", "bool"),
    Aggregate("dp_avg(#, 0.5, '2024-01-01', '2024-12-31')", "date", "date"),
    Aggregate("dp_stddev(#, 0.5, 0, 100)", "float8", "float4 float8"),
    Aggregate("dp_variance(#, 0.5, 0, 100)", "numeric", "int4 numeric"),
    Aggregate("(dp_stats(#, 0.5, 0, 100)).count", "float8", "float4 float8"),
    Aggregate("dp_stats(#, 0.5, 0, 100)::text", "text", NUMBERS),
    Aggregate("dp_histogram(#, 0.1, '{0, 10, 20, 50, 100}')::text", "text", "int4 numeric float8"),
    Aggregate("dp_modal_bin(#, 0.1, '{0, 10, 20, 50, 100}')", "int4", "int4 numeric float8"),
    Aggregate("dp_median(#, 0.5, 0, 100)", "int4", "int2 int4", draws_evenly=False),
    Aggregate("dp_median(#, 0.5, '2024-01-01', '2024-12-31')", "date", "date", draws_evenly=False),
    Aggregate("dp_quantile(#, 0.25, 0.5, 0, 100)", "int4", "int2 int4", draws_evenly=False),
    Aggregate("dp_quantiles(#, '{0.1, 0.5, 0.9}', 0.5, 0, 90000)::text", "text", "numeric float8", draws_evenly=False),
    Aggregate("dp_quantiles(#, '{0.1, 0.5, 0.9}', 0.5, 0, 90000, dp_options(method => 'joint'))::text", "text", "numeric float8", draws_evenly=False),
    Aggregate("dp_quantiles(#, '{0.1, 0.9}', 0.5, 0, 90000, dp_options(method => 'independent'))::text", "text", "float8", draws_evenly=False),
    Aggregate("dp_quantiles(#, '{0.1, 0.9}', 0.5, 0, 90000, dp_options(method => 'tree'))::text", "text", "int4"),
    Aggregate("dp_iqr(#, 1, 1e-9)", "float8", "int4 float8", draws_evenly=False),
    Aggregate("dp_cdf_quantile(dp_cdf(#, 0.5, 0, 100, dp_options(bins => 16)), 0.5)", "float8", "int4 float8"),
    Aggregate("dp_synthesize(#, 3, 1, 0, 100)::text", "text", "int4 float8", draws_evenly=False),
]

# What of ../support/aggregates.tsv is not above: an ordinary call for numbers
OF_ROWS += [Aggregate(f"{aggregate.call('#', '0.5')}::text", "text", NUMBERS) for aggregate in private_aggregates.AGGREGATES
            if not aggregate.of_users and "float8" in aggregate.types and not any(aggregate.name in own.text for own in OF_ROWS)]

# Without a delta, as tables that limit the rows of a user take them, and budgets in rho
OF_LIMITED_ROWS = [aggregate for aggregate in OF_ROWS if "dp_iqr" not in aggregate.text]
# Of budgets in rho
IN_RHO: List[Aggregate] = [
    Aggregate("dp_count(NULL, dp_options(rho => 0.1))", "int8", bound=1),
    Aggregate("dp_count_distinct(#, NULL, dp_options(rho => 0.1))", "int8", ANY, 1),
    Aggregate("dp_sum(#, NULL, -10, 100, dp_options(rho => 0.1))", "float8", "float4 float8", 100),
    Aggregate("dp_avg(#, NULL, 0, 100, dp_options(rho => 0.1))", "numeric", "int2 int4 int8 numeric"),
    Aggregate("dp_stats(#, NULL, 0, 100, dp_options(rho => 0.1))::text", "text", NUMBERS),
    Aggregate("dp_histogram(#, NULL, '{0, 10, 20, 50, 100}', dp_options(rho => 0.1))::text", "text", "int4 numeric float8"),
    Aggregate("dp_quantiles(#, '{0.1, 0.5, 0.9}', NULL, 0, 90000, dp_options(rho => 0.1))::text", "text", "numeric float8", draws_evenly=False),
    Aggregate("dp_cdf_quantile(dp_cdf(#, NULL, 0, 100, dp_options(bins => 16, rho => 0.1)), 0.5)", "float8", "int4 float8"),
    Aggregate("dp_cdf_quantile(dp_cdf(#, NULL, 0, 100, dp_options(bins => 16, rho => 0.1, method => 'tree')), 0.5)", "float8", "int4 float8"),
]

# With the exact aggregate, where {} is for FILTER
EXACT: List[Tuple[Aggregate, str]] = [
    (Aggregate("dp_count(0.1)", "int8", bound=1), "count(*){}"),
    (Aggregate("dp_count(#, 0.1)", "int8", "int4", 1), "count(#){}"),
    (Aggregate("dp_sum(#, 0.5, 0, 3)", "int8", "int4", 3), "coalesce(sum(least(greatest(#, 0), 3)){}, 0)"),
    (Aggregate("dp_count_distinct(#, 0.5)", "int8", "int4", 1), "count(DISTINCT #){}"),
]
EXACT_IN_RHO: List[Tuple[Aggregate, str]] = [
    (Aggregate("dp_count(NULL, dp_options(rho => 0.1))", "int8", bound=1), "count(*){}"),
    (Aggregate("dp_count(#, NULL, dp_options(rho => 0.1))", "int8", "int4", 1), "count(#){}"),
    (Aggregate("dp_sum(#, NULL, 0, 3, dp_options(rho => 0.1))", "int8", "int4", 3), "coalesce(sum(least(greatest(#, 0), 3)){}, 0)"),
]

# USER stands for the column of the user.
OF_USERS: List[Aggregate] = [
    Aggregate("dp_user_mean(USER, #, 0.5, 0, 100, dp_options(method => 'bounded', max_contributions => 3))", "float8",
              "int4 float8", draws_evenly=False),
    Aggregate("dp_user_mean(USER, #, 0.5, 0, 100, dp_options(method => 'bounded', max_contributions => 1))", "float8", "int4 float8",
              draws_evenly=False),
]
KEEP_GROUP = "dp_keep_group(1, 1e-9)"
KEEP_GROUP_OF_USERS = "dp_keep_group(USER, 1, 1e-9, 2)"

# Near misses: not private, or with parameters that are refused.
REFUSED: List[Aggregate] = [
    Aggregate("count(*)", "int8"),
    Aggregate("count(#)", "int8", ANY),
    Aggregate("max(#)", "text", "text"),
    Aggregate("sum(#)", "int8", "int4"),
    Aggregate("array_agg(#)::text", "text", ANY),
    Aggregate("percentile_cont(0.5) WITHIN GROUP (ORDER BY #)", "float8", "float8"),
    Aggregate("dp_count(0.001)", "int8"),
    Aggregate("dp_count(DISTINCT #, 0.1)", "int8", "int4 text"),
    Aggregate("dp_sum(#, 0.5, 0, 100 ORDER BY 1)", "int8", "int4"),
    Aggregate("dp_median(DISTINCT #, 0.5, 0, 100)", "int4", "int4"),
    Aggregate("dp_count(#, 0.1) OVER ()", "int8", "int4"),
    Aggregate("dp_user_mean(USER, #, 0.5, 0, 100)", "float8", "int4 float8", draws_evenly=False),
    Aggregate("dp_user_variance(USER, #, 0.5, 0, 100)", "float8", "int4 float8", draws_evenly=False),
]
# A public row without protected rows would count. The first protected row would take its place.
OF_ABSENT_ROWS: List[Aggregate] = [
    Aggregate("dp_sum(coalesce(#, -100), 0.5, -100, 100)", "int8", "int4", 100),
    Aggregate("dp_sum(CASE WHEN # IS NULL THEN -100 ELSE 100 END, 0.5, -100, 100)", "int8", "int4 text date", 100),
]
# With a column in place of a parameter
COLUMN_AS_PARAMETER: List[Aggregate] = [
    Aggregate("dp_sum(#, 0.5, 0, #)", "int8", "int4"),
    Aggregate("dp_quantile(#, 0.5, 0.1, 0, #)", "int4", "int4"),
    Aggregate("dp_count(abs(#) + 0.1)", "int8", "float8"),
]
