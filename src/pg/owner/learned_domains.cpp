// dp_learn_domain: the owner of a protected table has bounds of a column found, and publishes them.
#include <cmath>
#include <optional>

#include "core/noisy_histogram/learned_bounds.hpp"
#include "core/privacy/mechanism.hpp"
#include "pg/charge/published.hpp"
#include "pg/grants/protection_catalog.hpp"
#include "pg/grants/reference.hpp"
#include "pg/owner/column_domains.hpp"
#include "pg/owner/own_relation.hpp"
#include "pg/parameters/aggregate_parameters.hpp"
#include "pg/server/decimal.hpp"
#include "pg/server/query_random.hpp"

extern "C" {
#include "access/htup_details.h"
#include "executor/spi.h"
#include "funcapi.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
}

namespace dpquantile {

namespace {

constexpr int kRowsAtOnce = 1000;
// So far from 0 noise may carry a bound of zeros: the cells beside 0 end at 2^-126
// (ordinal_grid_of), and no end moves over kWidestBlock cells, which are eight octaves of numbers,
// by noise alone.
constexpr double kEndOfZeros = 0x1p-118;
// The least and the largest value of a person count.
constexpr int kValuesOfPerson = 2;

double epsilon_argument(FunctionCallInfo fcinfo) {
  if (PG_ARGISNULL(2)) {
    ereport(ERROR,
            (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("epsilon must not be NULL"),
             errhint("It is what the bounds cost whoever is in the table, for example 0.5.")));
  }
  return stated_amount(PG_GETARG_FLOAT8(2));
}

// The guarantee for each value that counts. ereports if a part of epsilon is too small for noise.
PrivacyParameter privacy_of_value(double epsilon, int values) {
  report(guarded([&] { check_epsilon(epsilon); }));
  if (epsilon >= values * kMinEpsilon) return pure(epsilon / values);
  ereport(ERROR,
          (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
           errmsg("epsilon must be at least %s where the table protects persons, got %s",
                  decimal_text(values * kMinEpsilon), decimal_text(epsilon)),
           errhint("Half of it is for the least value of each person, half for the largest.")));
}

ProtectedRelation require_protected(Oid relation) {
  const ProtectedRelation* found = find_protected_relation(relation);
  if (found != nullptr) return *found;
  ereport(ERROR,
          (errcode(ERRCODE_UNDEFINED_OBJECT), errmsg("%s is not protected", get_rel_name(relation)),
           errhint("Protect it first: SELECT dp_protect_table(%s). Of a table that is not "
                   "protected dp_learn_bounds finds bounds.",
                   quote_literal_cstr(get_rel_name(relation)))));
}

const char* quoted_name(Oid relation) {
  return quote_qualified_identifier(get_namespace_name(get_rel_namespace(relation)),
                                    get_rel_name(relation));
}

// What is known before anything is noted. The owner may have lost the right to read.
void require_select(Oid relation) {
  if (pg_class_aclcheck(relation, GetUserId(), ACL_SELECT) == ACLCHECK_OK) return;
  ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
                  errmsg("permission denied to read %s", get_rel_name(relation)),
                  errhint("The rows are read with the rights of the role that calls the function: "
                          "GRANT SELECT ON %s TO %s.",
                          quoted_name(relation),
                          quote_identifier(GetUserNameFromId(GetUserId(), false)))));
}

const char* quoted_column(Oid relation, AttrNumber column) {
  return quote_identifier(get_attname(relation, column, false));
}

[[noreturn]] void refuse_reference(Oid relation, const char* problem) {
  ereport(ERROR,
          (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
           errmsg("the rows of %s do not lead to persons: its %s", get_rel_name(relation), problem),
           errhint("The view dp_protected_tables shows what the table is protected by.")));
}

// Adds the table to whose rows those of table t<number - 1> refer.
void append_reference(StringInfo from, const ProtectedRelation& table, int number) {
  const char* problem = problem_of_reference(table);
  if (problem != nullptr) refuse_reference(table.relation, problem);
  const Reference* reference =
      find_reference(table.relation, table.reference_column, table.through, &problem);
  if (reference == nullptr) refuse_reference(table.relation, problem);
  require_select(table.through);
  appendStringInfo(from, " JOIN %s t%d ON ", quoted_name(table.through), number);
  for (int i = 0; i < reference->columns; ++i) {
    appendStringInfo(from, "%st%d.%s OPERATOR(pg_catalog.=) t%d.%s", i == 0 ? "" : " AND ", number,
                     quoted_column(reference->referenced, reference->key[i]), number - 1,
                     quoted_column(reference->relation, reference->own[i]));
  }
}

// A row for each value that counts. NaN is larger than all numbers, and would be the largest value
// of a person. Only functions of PostgreSQL's own are named.
const char* query_of_values(Oid relation, const ProtectedRelation& protection, const Column& column,
                            ValueType type) {
  const char* value = quote_identifier(NameStr(column.name));
  StringInfoData from;
  initStringInfo(&from);
  appendStringInfo(&from, "FROM %s t0", quoted_name(relation));
  if (protection.user_column == 0) return psprintf("SELECT t0.%s %s", value, from.data);
  ProtectedRelation last = protection;
  int number = 0;
  while (last.user_column == kUsersOfReference) {
    append_reference(&from, last, ++number);
    last = require_protected(last.through);
  }
  const char* person = psprintf("t%d.%s", number, quoted_column(last.relation, last.user_column));
  const char* counts =
      is_whole(type) ? "" : psprintf(" AND t0.%s OPERATOR(pg_catalog.<>) 'NaN'", value);
  return psprintf(
      "SELECT pg_catalog.min(t0.%s), pg_catalog.max(t0.%s) %s WHERE %s IS NOT NULL%s "
      "GROUP BY %s",
      value, value, from.data, person, counts, person);
}

void count_row(const OrdinalGrid& grid, HeapTuple row, TupleDesc columns, ValueType type,
               uint64* counts) {
  for (int column = 1; column <= columns->natts; ++column) {
    bool is_null;
    const Datum value = SPI_getbinval(row, columns, column, &is_null);
    if (is_null) continue;
    const double number = number_of_value(type, value);
    if (!std::isnan(number)) ++counts[grid.cell_of(number)];
  }
}

// Counts the values of the query in the cells of the grid.
void count_values(const char* query, const OrdinalGrid& grid, uint64* counts) {
  if (SPI_connect() != SPI_OK_CONNECT) {
    ereport(ERROR, (errcode(ERRCODE_INTERNAL_ERROR), errmsg("SPI cannot be connected")));
  }
  Portal portal = SPI_cursor_open_with_args(nullptr, query, 0, nullptr, nullptr, nullptr, true, 0);
  const auto type = find_value_type(getBaseType(SPI_gettypeid(portal->tupDesc, 1)));
  for (;;) {
    SPI_cursor_fetch(portal, true, kRowsAtOnce);
    if (SPI_processed == 0) break;
    for (uint64 i = 0; i < SPI_processed; ++i) {
      count_row(grid, SPI_tuptable->vals[i], SPI_tuptable->tupdesc, *type, counts);
    }
    SPI_freetuptable(SPI_tuptable);
    CHECK_FOR_INTERRUPTS();
  }
  SPI_cursor_close(portal);
  SPI_finish();
}

struct Found {
  bool any;
  LearnedBounds bounds;
};

Found draw_bounds(const OrdinalGrid& grid, const uint64* counts, const PrivacyParameter& privacy) {
  RandomStream* random = make_query_random(CurrentMemoryContext);
  Found found{};
  with_scratch([&](ContextMemory& memory) {
    CancelPoll cancel(cancel_requested);
    const auto bounds = learn_bounds(grid, {counts, grid.cells()}, privacy,
                                     MechanismContext(*random, cancel, &memory));
    found = {bounds.has_value(), bounds.value_or(LearnedBounds{})};
  });
  return found;
}

// As the domain they would make 0 of all other values.
bool tells_zeros_alone(ValueType type, const NumberRange& range) {
  const double end = is_whole(type) ? 1 : kEndOfZeros;
  return !is_temporal(type) && range.lower >= -end && range.upper <= end;
}

// Follows from the bounds alone.
void notice_zeros(const Column& column) {
  ereport(NOTICE, (errmsg("the bounds do not become the domain of column \"%s\": they have no "
                          "values but 0 in them",
                          NameStr(column.name)),
                   errhint("State bounds that are publicly known with dp_set_domain, or protect "
                           "a view of the rows with other values, and learn its bounds.")));
}

Datum row_of_result(FunctionCallInfo fcinfo, const char* lower, const char* upper,
                    double most_outside, bool applied) {
  TupleDesc columns;
  if (get_call_result_type(fcinfo, nullptr, &columns) != TYPEFUNC_COMPOSITE) {
    ereport(ERROR, (errcode(ERRCODE_INTERNAL_ERROR), errmsg("the result is no row")));
  }
  Datum values[] = {lower == nullptr ? Datum{0} : CStringGetTextDatum(lower),
                    upper == nullptr ? Datum{0} : CStringGetTextDatum(upper),
                    Int64GetDatum(static_cast<int64>(most_outside)), BoolGetDatum(applied)};
  bool nulls[] = {lower == nullptr, upper == nullptr, false, false};
  return HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(columns), values, nulls));
}

}  // namespace

}  // namespace dpquantile

using namespace dpquantile;

// (relation regclass, column_name name, epsilon float8, apply boolean) returns a row: lower, upper,
// most_outside, applied
DPQ_FUNCTION(dpq_learn_domain) {
  const Oid relation = lock_own_relation(fcinfo);
  const ProtectedRelation protection = require_protected(relation);
  Column column = find_column(fcinfo, relation);
  const ValueType type = value_type_of(column);
  const double epsilon = epsilon_argument(fcinfo);
  const PrivacyParameter of_value =
      privacy_of_value(epsilon, protection.user_column != 0 ? kValuesOfPerson : 1);
  require_select(relation);
  const char* query = query_of_values(relation, protection, column, type);
  const OrdinalGrid grid = ordinal_grid_of(type);
  auto* counts = static_cast<uint64*>(palloc0(grid.cells() * sizeof(uint64)));

  note_publication_by_worker({"dp_learn_domain", relation, NameStr(column.name), epsilon});
  count_values(query, grid, counts);
  const Found found = draw_bounds(grid, counts, of_value);
  pfree(counts);

  const double most_outside = std::ceil(
      noise_in_block(kWidestBlock, kFarLevel, {PrivacyMeasure::kPure, 1 / of_value.value}));
  if (!found.any) return row_of_result(fcinfo, nullptr, nullptr, most_outside, false);
  const NumberRange range = range_of_values(type, found.bounds.lower, found.bounds.upper);
  const char* lower = bound_text(type, range.lower);
  const char* upper = bound_text(type, range.upper);
  const bool wished = !PG_ARGISNULL(3) && PG_GETARG_BOOL(3);
  const bool applies = wished && !tells_zeros_alone(type, range);
  if (wished && !applies) notice_zeros(column);
  if (applies) set_bounds(relation, &column, lower, upper, nullptr);
  return row_of_result(fcinfo, lower, upper, most_outside, applies);
}
