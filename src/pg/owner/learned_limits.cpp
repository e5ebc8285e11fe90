// dp_learn_limits: the owner of a table that protects persons has max_rows found, and publishes it.
#include <algorithm>
#include <cmath>

#include "core/noisy_histogram/learned_limit.hpp"
#include "core/privacy/mechanism.hpp"
#include "pg/charge/published.hpp"
#include "pg/owner/learning.hpp"
#include "pg/owner/own_relation.hpp"
#include "pg/server/boundary.hpp"
#include "pg/server/decimal.hpp"
#include "pg/server/query_random.hpp"

extern "C" {
#include "catalog/pg_type_d.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
}

namespace dpquantile {

namespace {

constexpr int kMostRows = 1000;  // as dp_protect_table allows

void require_persons(const ProtectedRelation& protection) {
  if (protection.user_column != 0) return;
  const char* name = get_rel_name(protection.relation);
  ereport(ERROR,
          (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
           errmsg("%s has no max_rows: each of its rows is protected by itself", name),
           errhint("If a person may have several rows, end the protection and protect the table "
                   "with the column of the persons: SELECT dp_protect_table(%s, user_id => ...).",
                   quote_literal_cstr(name))));
}

// What a count will cost: as stated, or as granted. A smaller epsilon makes a smaller limit.
double epsilon_of_answers(FunctionCallInfo fcinfo, Oid relation) {
  if (!PG_ARGISNULL(2)) {
    const double stated = stated_amount(PG_GETARG_FLOAT8(2));
    if (stated >= kMinEpsilon && stated <= kMaxEpsilon) return stated;
    ereport(ERROR,
            (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
             errmsg("answer_epsilon must be between 1e-06 and 1000, got %s", decimal_text(stated)),
             errhint("It is what an answer will cost, for example 0.1.")));
  }
  InternalCall call("least_granted_epsilon");
  call.add(REGCLASSOID, {ObjectIdGetDatum(relation), false});
  const double granted = DatumGetFloat8(call.result());
  if (granted > 0) return granted;
  ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
                  errmsg("answer_epsilon must be stated: no role may ask standard aggregates of %s",
                         get_rel_name(relation)),
                  errhint("It is what an answer will cost, for example answer_epsilon => 0.1. With "
                          "a grant it is the epsilon of the grant.")));
}

// A row for each person, with the number of the own rows.
const char* query_of_persons(const PersonRows& rows) {
  return psprintf("SELECT pg_catalog.count(*) %s WHERE %s IS NOT NULL GROUP BY %s", rows.from,
                  rows.person, rows.person);
}

// That there is none is an answer of the mechanism.
void notice_nothing(Oid relation) {
  const char* name = quote_literal_cstr(get_rel_name(relation));
  ereport(
      NOTICE,
      (errmsg("no max_rows of %s was found", get_rel_name(relation)),
       errhint("There are too few persons for this epsilon. State a limit: SELECT "
               "dp_protect_table(%s, user_id => ..., max_rows => 20). Or learn it with a larger "
               "epsilon, which is published besides.",
               name)));
}

struct Found {
  bool any;
  LearnedLimit limit;
};

Found draw_limit(const uint64* persons, double epsilon, double noise_of_one) {
  RandomStream* random = make_query_random(CurrentMemoryContext);
  Found found{};
  with_scratch([&](ContextMemory& memory) {
    CancelPoll cancel(cancel_requested);
    const auto limit = learn_limit({persons, kRowCells}, pure(epsilon), noise_of_one, kMostRows,
                                   MechanismContext(*random, cancel, &memory));
    found = {limit.has_value(), limit.value_or(LearnedLimit{})};
  });
  return found;
}

int64 whole_rows(double rows) {
  return static_cast<int64>(std::llround(std::min(rows, 0x1p62)));
}

void set_limit(Oid relation, const LearnedLimit& found) {
  InternalCall call("set_learned_limit");
  call.add(REGCLASSOID, {ObjectIdGetDatum(relation), false});
  call.add(INT4OID, {Int32GetDatum(static_cast<int32>(found.limit)), false});
  call.add(INT8OID, {Int64GetDatum(whole_rows(found.left_out)), false});
  call.add(INT8OID, {Int64GetDatum(whole_rows(found.left_out_error)), false});
  (void)call.result();
}

Datum row_of_result(FunctionCallInfo fcinfo, const Found& found, double noise_of_one,
                    bool applied) {
  const LearnedLimit& limit = found.limit;
  Datum values[] = {Int32GetDatum(static_cast<int32>(limit.limit)),
                    Int64GetDatum(whole_rows(limit.rows)),
                    Int64GetDatum(whole_rows(limit.left_out)),
                    Int64GetDatum(whole_rows(limit.left_out_error)),
                    Float8GetDatum(noise_of_one * static_cast<double>(limit.limit)),
                    BoolGetDatum(applied)};
  bool nulls[] = {!found.any, !found.any, !found.any, !found.any, !found.any, false};
  return result_row(fcinfo, values, nulls);
}

}  // namespace

}  // namespace dpquantile

using namespace dpquantile;

// (relation regclass, epsilon float8, answer_epsilon float8, apply boolean) returns a row:
// max_rows, all_rows, rows_left_out, rows_left_out_error, noise_of_count, applied
DPQ_FUNCTION(dpq_learn_limits) {
  const Oid relation = lock_own_relation(fcinfo);
  const bool wished = !PG_ARGISNULL(3) && PG_GETARG_BOOL(3);
  const ProtectedRelation protection = require_protected(relation, wished);
  require_persons(protection);
  const double epsilon = epsilon_argument(fcinfo, 1);
  report(guarded([&] { check_epsilon(epsilon); }));
  const double noise_of_one = 1 / epsilon_of_answers(fcinfo, relation);
  const char* query = query_of_persons(rows_with_persons(protection));
  auto* persons = static_cast<uint64*>(palloc0(kRowCells * sizeof(uint64)));

  Portal portal = open_rows(relation, query);
  note_publication_by_worker({"dp_learn_limits", relation, "", epsilon, 0});
  read_rows(portal, [&](HeapTuple row, TupleDesc columns) {
    bool is_null;
    const int64 rows = DatumGetInt64(SPI_getbinval(row, columns, 1, &is_null));
    ++persons[cell_of_rows(static_cast<uint64>(rows))];
  });
  const Found found = draw_limit(persons, epsilon, noise_of_one);
  if (!found.any) notice_nothing(relation);
  const bool applies = found.any && wished;
  if (applies) set_limit(relation, found.limit);
  return row_of_result(fcinfo, found, noise_of_one, applies);
}
