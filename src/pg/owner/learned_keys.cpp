// dp_learn_keys: the owner of a protected table has the keys of a column found, and publishes them.
#include <optional>

#include "core/privacy/random.hpp"
#include "core/selection/group_selection.hpp"
#include "pg/charge/published.hpp"
#include "pg/grants/protection_catalog.hpp"
#include "pg/owner/column_domains.hpp"
#include "pg/owner/learning.hpp"
#include "pg/owner/own_relation.hpp"
#include "pg/plain/empty_answers.hpp"
#include "pg/server/boundary.hpp"
#include "pg/server/query_random.hpp"

extern "C" {
#include "access/htup_details.h"
#include "catalog/pg_type.h"
#include "common/hashfn.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/hsearch.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
}

namespace dpquantile {

namespace {

// A key as it is written. Keys are counted by their texts: values may be equal and look different,
// as the numerics 1.0 and 1.00, and which of them is shown would tell of a single row.
struct KeyText {
  const char* bytes;  // null: the key is NULL
  Size length;
};

struct KeyCount {
  KeyText key;
  uint64 count;  // of the rows, or persons, that count for it
};

uint32 hash_of_key(const void* key, Size /*size*/) {
  const auto* text = static_cast<const KeyText*>(key);
  if (text->bytes == nullptr) return 0;
  return hash_bytes(reinterpret_cast<const unsigned char*>(text->bytes),
                    static_cast<int>(text->length));
}

int compare_keys(const void* left, const void* right, Size /*size*/) {
  const auto* a = static_cast<const KeyText*>(left);
  const auto* b = static_cast<const KeyText*>(right);
  if (a->bytes == nullptr || b->bytes == nullptr) return a->bytes != b->bytes;
  return a->length != b->length || memcmp(a->bytes, b->bytes, a->length) != 0;
}

HTAB* make_key_counts() {
  HASHCTL control{};
  control.keysize = sizeof(KeyText);
  control.entrysize = sizeof(KeyCount);
  control.hash = hash_of_key;
  control.match = compare_keys;
  control.hcxt = CurrentMemoryContext;
  return hash_create("dpquantile keys", 1024, &control,
                     HASH_ELEM | HASH_FUNCTION | HASH_COMPARE | HASH_CONTEXT);
}

char* copy_of(const KeyText& key, MemoryContext context) {
  if (key.bytes == nullptr) return nullptr;
  auto* copy = static_cast<char*>(MemoryContextAlloc(context, key.length + 1));
  memcpy(copy, key.bytes, key.length);
  copy[key.length] = '\0';
  return copy;
}

// A value that is too long for queries to be compared with is no key.
void add_to_count(HTAB* counts, MemoryContext context, const KeyText& key, uint64 more) {
  if (key.length > kMaxValueBytes) return;
  bool found;
  auto* entry = static_cast<KeyCount*>(hash_search(counts, &key, HASH_ENTER, &found));
  if (!found) *entry = {{copy_of(key, context), key.length}, 0};
  entry->count += more;
}

KeyText key_of_row(HeapTuple row, TupleDesc columns) {
  bool is_null;
  const Datum value = SPI_getbinval(row, columns, 1, &is_null);
  if (is_null) return {nullptr, 0};
  const text* written = DatumGetTextPP(value);
  return {VARDATA_ANY(written), VARSIZE_ANY_EXHDR(written)};
}

int64 number_of_row(HeapTuple row, TupleDesc columns) {
  bool is_null;
  return DatumGetInt64(SPI_getbinval(row, columns, 2, &is_null));
}

// The value of the column as a text, by the output function of its type.
const char* text_of_value(const Column& column) {
  const Oid base = getBaseType(column.type);
  const ColumnText text = text_of_column(column);
  const char* value = text.value;
  HeapTuple row = SearchSysCache1(TYPEOID, ObjectIdGetDatum(base));
  const auto* type = reinterpret_cast<Form_pg_type>(GETSTRUCT(row));
  const char* output = quote_identifier(get_func_name(type->typoutput));
  ReleaseSysCache(row);
  if (base == NUMERICOID) value = psprintf("pg_catalog.trim_scale(%s)", value);
  if (base == FLOAT4OID || base == FLOAT8OID) {  // -0 becomes 0
    value = psprintf("%s OPERATOR(pg_catalog.+) CAST(0 AS %s)", value, text.type);
  }
  return psprintf("pg_catalog.textin(pg_catalog.%s(%s)) COLLATE pg_catalog.\"C\"", output, value);
}

// If rows are protected: each key, and the number of its rows. If persons are: each key of each
// person, and its number among the keys of this person, by which the person's rows follow each
// other.
const char* query_of_keys(const PersonRows& rows, const Column& column) {
  const char* key = text_of_value(column);
  if (rows.person == nullptr) {
    return psprintf("SELECT %s, pg_catalog.count(*) %s GROUP BY 1", key, rows.from);
  }
  return psprintf(
      "SELECT k.key, pg_catalog.row_number() OVER (PARTITION BY k.person ORDER BY k.key) "
      "FROM (SELECT %s AS key, %s AS person %s WHERE %s IS NOT NULL GROUP BY 1, 2) k "
      "ORDER BY k.person, 2",
      key, rows.person, rows.from, rows.person);
}

void count_rows(Portal portal, HTAB* counts, MemoryContext context) {
  read_rows(portal, [&](HeapTuple row, TupleDesc columns) {
    add_to_count(counts, context, key_of_row(row, columns),
                 static_cast<uint64>(number_of_row(row, columns)));
  });
}

uint64 draw_below(RandomStream* random, uint64 bound) {
  uint64 drawn = 0;
  report(guarded([&] { drawn = random->uniform_below(bound); }));
  return drawn;
}

// Each person counts for one of the own keys, each with the same probability (Theorem 24b,
// docs/privacy/selection.md): so one person more changes one count, by 1, and epsilon is not
// divided. Which keys others have makes no difference.
void count_persons(Portal portal, RandomStream* random, HTAB* counts, MemoryContext context) {
  KeyText chosen{};
  bool any = false;
  read_rows(portal, [&](HeapTuple row, TupleDesc columns) {
    const int64 number = number_of_row(row, columns);
    if (number == 1) {
      if (any) add_to_count(counts, context, chosen, 1);
    } else if (draw_below(random, static_cast<uint64>(number)) != 0) {
      return;
    }
    if (chosen.bytes != nullptr) pfree(const_cast<char*>(chosen.bytes));
    const KeyText key = key_of_row(row, columns);
    chosen = {copy_of(key, context), key.length};
    any = true;
  });
  if (any) add_to_count(counts, context, chosen, 1);
}

struct FoundTexts {
  char** texts;
  int count;
};

int compare_texts(const void* left, const void* right) {
  const char* a = *static_cast<char* const*>(left);
  const char* b = *static_cast<char* const*>(right);
  if (a == nullptr || b == nullptr) return (a == nullptr) - (b == nullptr);
  return strcmp(a, b);
}

// The texts of the keys that are found, in their own order: that of the table of counts depends on
// the rows. The decisions are independent.
FoundTexts draw_keys(HTAB* counts, const GroupSelection& selection, RandomStream* random) {
  FoundTexts found{};
  const auto keys = static_cast<Size>(hash_get_num_entries(counts));
  found.texts =
      static_cast<char**>(MemoryContextAllocHuge(CurrentMemoryContext, keys * sizeof(char*) + 1));
  HASH_SEQ_STATUS sequence;
  hash_seq_init(&sequence, counts);
  while (const auto* entry = static_cast<KeyCount*>(hash_seq_search(&sequence))) {
    CHECK_FOR_INTERRUPTS();
    bool is_kept = false;
    report(guarded([&] { is_kept = selection.draw_keep(entry->count, *random); }));
    if (is_kept) found.texts[found.count++] = const_cast<char*>(entry->key.bytes);
  }
  qsort(found.texts, static_cast<size_t>(found.count), sizeof(char*), compare_texts);
  return found;
}

// Delta alone would find some of such keys, which are ids of persons.
void refuse_keys_of_persons(Oid relation, const Column& column) {
  if (!has_one_person_each(relation, get_attnum(relation, NameStr(column.name)))) return;
  ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                  errmsg("the keys of column \"%s\" have one row or person each, and keys of many "
                         "are found",
                         NameStr(column.name)),
                  errhint("Learn the keys of a column with few different values.")));
}

void refuse_known_keys(const Column& column) {
  if (!has_known_keys(column)) return;
  ereport(ERROR,
          (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
           errmsg("the keys of column \"%s\" are known already: it is of type %s",
                  NameStr(column.name), format_type_be(column.type)),
           errhint("Queries may group by it as it is. For a group of NULL, or fewer groups, state "
                   "the list: dp_set_domain. Nothing was published.")));
}

std::optional<GroupSelection> make_selection(FunctionCallInfo fcinfo, double epsilon) {
  if (PG_ARGISNULL(3)) {
    ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("delta must not be NULL"),
                    errhint("It is about the probability that a key of a single row or person is "
                            "found, for example 1e-6.")));
  }
  std::optional<GroupSelection> selection;
  report(guarded([&] { selection.emplace(epsilon, stated_amount(PG_GETARG_FLOAT8(3))); }));
  return selection;
}

// Follows from the keys that are found.
bool can_be_list(const Column& column, const Keys& keys) {
  const bool none = keys.count == 0 || keys.nulls[0];
  const char* problem = none ? nullptr : problem_of_list(keys, column);
  if (!none && problem == nullptr) return true;
  const char* reason = keys.count == 0 ? "none was found"
                       : none          ? "only NULL was found"
                                       : psprintf("a list must be %s", problem);
  ereport(
      NOTICE,
      (errmsg("the keys do not become the list of column \"%s\": %s", NameStr(column.name), reason),
       none ? errhint("Only keys of many rows or persons are found. State keys that are "
                      "publicly known with dp_set_domain.")
            : errhint("Protect a view with a column of fewer values, and learn its keys.")));
  return false;
}

// As the view of protected tables has it, or only their number. `other`: the number of the key that
// stands for all others, from 1; 0 if none does.
const char* text_of_list(Datum texts, int other) {
  constexpr Size kMostBytes = 500;
  Oid output;
  bool is_varlena;
  getTypeOutputInfo(TEXTARRAYOID, &output, &is_varlena);
  const char* list = OidOutputFunctionCall(output, texts);
  const ArrayType* array = DatumGetArrayTypeP(texts);
  if (strlen(list) > kMostBytes) {
    list = psprintf("one of %d keys", ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array)));
  }
  return other == 0 ? list : psprintf("%s with a key for all others", list);
}

// The owner may have stated a list, and did not name it in this call.
void notice_replaced(Oid relation, const Column& column, const Keys& keys) {
  const ColumnDomain* domain = find_domain(relation, get_attnum(relation, NameStr(column.name)));
  if (domain == nullptr || domain->keys == nullptr) return;
  const char* now = text_of_list(texts_of(keys, column.type), 0);
  const char* before = text_of_list(PointerGetDatum(domain->keys), domain->other);
  if (strcmp(now, before) == 0) return;
  ereport(NOTICE,
          (errmsg("the list of column \"%s\" is %s now; until now %s", NameStr(column.name), now,
                  before),
           domain->other > 0
               ? errhint("dp_set_other_key has a key stand for all others, dp_set_domain states "
                         "another list.")
               : errhint("dp_set_domain states another list.")));
}

Datum row_of_result(FunctionCallInfo fcinfo, const Keys& keys, Oid type,
                    const GroupSelection& selection, bool applied) {
  Datum values[] = {texts_of(keys, type), Int32GetDatum(keys.count),
                    Int64GetDatum(static_cast<int64>(selection.rows_kept_half_the_time())),
                    Int64GetDatum(static_cast<int64>(selection.rows_always_kept())),
                    BoolGetDatum(applied)};
  bool nulls[lengthof(values)] = {};
  return result_row(fcinfo, values, nulls);
}

}  // namespace

}  // namespace dpquantile

using namespace dpquantile;

// (relation regclass, column_name name, epsilon float8, delta float8, apply boolean) returns a row:
// keys, number, seldom_below, always_from, applied
DPQ_FUNCTION(dpq_learn_keys) {
  const Oid relation = lock_own_relation(fcinfo);
  const bool wished = !PG_ARGISNULL(4) && PG_GETARG_BOOL(4);
  const ProtectedRelation protection = require_protected(relation, wished);
  Column column = find_column(fcinfo, relation);
  check_column_of_keys(column);
  refuse_known_keys(column);
  refuse_keys_of_persons(relation, column);
  const double epsilon = epsilon_argument(fcinfo, 2);
  const auto selection = make_selection(fcinfo, epsilon);
  const double delta = stated_amount(PG_GETARG_FLOAT8(3));
  const PersonRows rows = rows_with_persons(protection);
  HTAB* counts = make_key_counts();
  MemoryContext context = CurrentMemoryContext;
  RandomStream* random = make_query_random(context);

  Portal portal = open_rows(relation, query_of_keys(rows, column));
  note_publication_by_worker({"dp_learn_keys", relation, NameStr(column.name), epsilon, delta});
  const PortableTexts portable;
  if (rows.person == nullptr) {
    count_rows(portal, counts, context);
  } else {
    count_persons(portal, random, counts, context);
  }
  portable.end();
  const FoundTexts found = draw_keys(counts, *selection, random);
  const Keys keys = keys_of_texts(found.texts, found.count, column);
  const bool applies = wished && can_be_list(column, keys);
  if (applies) {
    notice_replaced(relation, column, keys);
    set_keys(relation, &column, keys);
  }
  return row_of_result(fcinfo, keys, column.type, *selection, applies);
}
