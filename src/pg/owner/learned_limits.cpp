// dp_learn_limits, dp_learn_groups: the owner of a table that protects persons has max_rows or
// max_groups found, and publishes it.
#include <algorithm>
#include <cmath>
#include <span>

#include "core/noisy_histogram/learned_limit.hpp"
#include "core/privacy/mechanism.hpp"
#include "pg/charge/published.hpp"
#include "pg/owner/column_domains.hpp"
#include "pg/owner/learning.hpp"
#include "pg/owner/own_relation.hpp"
#include "pg/plain/group_keys.hpp"
#include "pg/server/boundary.hpp"
#include "pg/server/decimal.hpp"
#include "pg/server/query_random.hpp"
#include "pg/server/trees.hpp"

extern "C" {
#include "catalog/pg_type_d.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
}

namespace dpquantile {

namespace {

constexpr int kMostOfPerson = 1000;  // rows or groups, as dp_protect_table allows

void require_persons(const ProtectedRelation& protection, const char* limit) {
  if (protection.user_column != 0) return;
  const char* name = get_rel_name(protection.relation);
  ereport(ERROR,
          (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
           errmsg("%s has no %s: each of its rows is protected by itself", name, limit),
           errhint("If a person may have several rows, end the protection and protect the table "
                   "with the column of the persons: SELECT dp_protect_table(%s, user_id => ...).",
                   quote_literal_cstr(name))));
}

// What a count will cost: as stated, or as granted. A smaller epsilon makes a smaller limit.
double epsilon_of_answers(FunctionCallInfo fcinfo, int argument, Oid relation) {
  if (!PG_ARGISNULL(argument)) {
    const double stated = stated_amount(PG_GETARG_FLOAT8(argument));
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

// ereports if there is no public list of the keys of the column. Without one it is not known how
// many groups an answer has, and the noise is in each of them.
[[noreturn]] void refuse_without_list(Oid relation, const Column& column) {
  const char* name = NameStr(column.name);
  const char* table = quote_literal_cstr(get_rel_name(relation));
  ereport(
      ERROR,
      (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
       errmsg("column \"%s\" of %s has no list of keys", name, get_rel_name(relation)),
       errhint("Each group has the noise, so their number must be known. State the keys: SELECT "
               "dp_set_domain(%s, %s, '{...}'), or have them found by dp_learn_keys. The keys of "
               "a boolean, of an enum, and of at most %d whole numbers or dates between bounds "
               "are known without.",
               table, quote_literal_cstr(name), kMaxElements)));
}

// The keys by which groups are told apart: of the list without the one that stands for all others.
struct ListedKeys {
  const char* texts;  // '{...}'
  int number;         // of all keys of the list
  bool has_null;
  bool others;  // whether other values are in a group, too
};

// `other`: the number of that one, from 1; 0 if there is none.
ListedKeys listed_keys(ArrayType* texts, int other) {
  Datum* keys;
  bool* nulls;
  int number;
  deconstruct_array(texts, TEXTOID, -1, false, TYPALIGN_INT, &keys, &nulls, &number);
  ListedKeys listed{nullptr, number, false, other > 0};
  int kept = 0;
  for (int i = 0; i < number; ++i) {
    if (i == other - 1) continue;
    listed.has_null = listed.has_null || nulls[i];
    if (!nulls[i]) keys[kept++] = keys[i];
  }
  ArrayType* array = construct_array(keys, kept, TEXTOID, -1, false, TYPALIGN_INT);
  Oid output;
  bool is_varlena;
  getTypeOutputInfo(TEXTARRAYOID, &output, &is_varlena);
  listed.texts = OidOutputFunctionCall(output, PointerGetDatum(array));
  return listed;
}

// As the texts of the keys that queries list by themselves.
ArrayType* texts_of_known_keys(List* values, Oid type) {
  const int count = list_length(values);
  Keys keys{static_cast<Datum*>(palloc0(static_cast<Size>(count) * sizeof(Datum))),
            static_cast<bool*>(palloc0(static_cast<Size>(count))), 0};
  for (const auto* value : each<Const>(values)) {
    keys.values[keys.count] = value->constvalue;
    keys.nulls[keys.count++] = value->constisnull;
  }
  return DatumGetArrayTypeP(texts_of(keys, type));
}

// The keys that the owner has stated, or else those that a query of the column lists: truth values,
// labels of an enum, whole numbers or dates between bounds.
ListedKeys keys_of_column(Oid relation, const Column& column) {
  const char* name = NameStr(column.name);
  const ColumnDomain* domain = find_domain(relation, get_attnum(relation, name));
  if (domain != nullptr && domain->keys != nullptr) return listed_keys(domain->keys, domain->other);
  List* known = public_values_of_column(relation, name);
  if (known == NIL) refuse_without_list(relation, column);
  return listed_keys(texts_of_known_keys(known, column.type), 0);
}

// A row for each person, with the number of the own groups: of the keys that are listed, and of all
// other values together if one key stands for them. Equal values are one key.
const char* query_of_groups(const PersonRows& rows, const Column& column,
                            const ListedKeys& listed) {
  const auto [value, type] = text_of_column(column);
  const char* is_listed = psprintf("%s OPERATOR(pg_catalog.=) ANY (CAST(%s AS %s[]))", value,
                                   quote_literal_cstr(listed.texts), type);
  const char* null_key = listed.has_null ? psprintf(", %s IS NULL", value) : "";
  const char* or_null = listed.has_null ? psprintf(" OR %s IS NULL", value) : "";
  const char* in_a_group = listed.others ? "" : psprintf(" AND (%s%s)", is_listed, or_null);
  return psprintf(
      "SELECT pg_catalog.count(*) FROM (SELECT DISTINCT %s AS person, CASE WHEN %s THEN %s END%s "
      "%s WHERE %s IS NOT NULL%s) g GROUP BY g.person",
      rows.person, is_listed, value, null_key, rows.from, rows.person, in_a_group);
}

// That there is none is an answer of the mechanism.
void notice_nothing(Oid relation, const char* limit) {
  const char* name = quote_literal_cstr(get_rel_name(relation));
  ereport(NOTICE,
          (errmsg("no %s of %s was found", limit, get_rel_name(relation)),
           errhint("There are too few persons for this epsilon. State a limit: SELECT "
                   "dp_protect_table(%s, user_id => ..., %s => 20). Or learn it with a larger "
                   "epsilon, which is published besides.",
                   name, limit)));
}

// A limit that is the number of keys leaves out no group of this column, where their number is the
// limit without it (Lemma 34m), but groups by other keys of which persons have more.
void notice_all_keys(Oid relation, const Column& column, int keys) {
  ereport(NOTICE,
          (errmsg("max_groups of %s stays as it was: %d is the number of keys of column \"%s\"",
                  get_rel_name(relation), keys, NameStr(column.name)),
           errdetail("In groups by this column a person counts in so many without it. In groups by "
                     "other keys, such as months, a person would count in no more than %d, and no "
                     "error that is told includes that.",
                     keys)));
}

void notice_other_keys(Oid relation, uint64 limit) {
  ereport(NOTICE,
          (errmsg("max_groups %d is for groups by all keys of %s", static_cast<int>(limit),
                  get_rel_name(relation)),
           errdetail("A person who is in more groups of an answer, such as months, counts in %d of "
                     "them, and no error that is told includes that.",
                     static_cast<int>(limit)),
           errhint("If that is too few for other groups, take max_groups away: SELECT "
                   "dp_protect_table(%s, user_id => ..., max_groups => 0).",
                   quote_literal_cstr(get_rel_name(relation)))));
}

struct Found {
  bool any;
  LearnedLimit limit;
};

// A person is in one cell, however many rows or groups the person has.
void count_persons(Portal portal, uint64* persons) {
  read_rows(portal, [&](HeapTuple row, TupleDesc columns) {
    bool is_null;
    const int64 rows = DatumGetInt64(SPI_getbinval(row, columns, 1, &is_null));
    ++persons[cell_of_rows(static_cast<uint64>(rows))];
  });
}

Found draw_limit(std::span<const uint64> persons, double epsilon, double noise_of_one,
                 uint64 most) {
  RandomStream* random = make_query_random(CurrentMemoryContext);
  Found found{};
  with_scratch([&](ContextMemory& memory) {
    CancelPoll cancel(cancel_requested);
    const auto limit = learn_limit(persons, pure(epsilon), noise_of_one, most,
                                   MechanismContext(*random, cancel, &memory));
    found = {limit.has_value(), limit.value_or(LearnedLimit{})};
  });
  return found;
}

int64 whole_rows(double rows) {
  return static_cast<int64>(std::llround(std::min(rows, 0x1p62)));
}

// `setter`: the function that makes it the limit of the table.
void set_limit(Oid relation, const char* setter, const LearnedLimit& found) {
  InternalCall call(setter);
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
  require_persons(protection, "max_rows");
  const double epsilon = epsilon_argument(fcinfo, 1);
  report(guarded([&] { check_epsilon(epsilon); }));
  const double noise_of_one = 1 / epsilon_of_answers(fcinfo, 2, relation);
  const char* query = query_of_persons(rows_with_persons(protection));
  auto* persons = static_cast<uint64*>(palloc0(kRowCells * sizeof(uint64)));

  Portal portal = open_rows(relation, query);
  note_publication_by_worker({"dp_learn_limits", relation, "", epsilon, 0});
  count_persons(portal, persons);
  const Found found = draw_limit({persons, kRowCells}, epsilon, noise_of_one, kMostOfPerson);
  if (!found.any) notice_nothing(relation, "max_rows");
  const bool applies = found.any && wished;
  if (applies) set_limit(relation, "set_learned_limit", found.limit);
  return row_of_result(fcinfo, found, noise_of_one, applies);
}

// (relation regclass, column_name name, epsilon float8, answer_epsilon float8, apply boolean)
// returns a row: max_groups, all_groups, groups_left_out, groups_left_out_error, noise_of_count,
// applied
DPQ_FUNCTION(dpq_learn_groups) {
  const Oid relation = lock_own_relation(fcinfo);
  const bool wished = !PG_ARGISNULL(4) && PG_GETARG_BOOL(4);
  const ProtectedRelation protection = require_protected(relation, wished);
  require_persons(protection, "max_groups");
  const Column column = find_column(fcinfo, relation);
  const double epsilon = epsilon_argument(fcinfo, 2);
  report(guarded([&] { check_epsilon(epsilon); }));
  const double noise_of_one = 1 / epsilon_of_answers(fcinfo, 3, relation);
  const ListedKeys listed = keys_of_column(relation, column);
  const char* query = query_of_groups(rows_with_persons(protection), column, listed);
  auto* persons = static_cast<uint64*>(palloc0(kRowCells * sizeof(uint64)));

  Portal portal = open_rows(relation, query);
  note_publication_by_worker({"dp_learn_groups", relation, NameStr(column.name), epsilon, 0});
  count_persons(portal, persons);
  // Nobody is in more groups than there are keys.
  const std::span<const uint64> counted{persons, cell_of_rows(listed.number) + 1};
  const int most = std::min(listed.number, kMostOfPerson);
  Found found = draw_limit(counted, epsilon, noise_of_one * listed.number, most);
  if (!found.any) notice_nothing(relation, "max_groups");
  const bool has_all = found.any && found.limit.limit == static_cast<uint64>(listed.number);
  if (has_all) found.limit.left_out = found.limit.left_out_error = 0;
  if (has_all && wished) notice_all_keys(relation, column, listed.number);
  const bool applies = found.any && !has_all && wished;
  if (applies) {
    set_limit(relation, "set_learned_groups", found.limit);
    notice_other_keys(relation, found.limit.limit);
  }
  return row_of_result(fcinfo, found, noise_of_one, applies);
}
