#include "pg/plain/public_rows.hpp"

#include "pg/borrowed/borrowed_plan.hpp"
#include "pg/borrowed/early_values.hpp"
#include "pg/facts/unique_key.hpp"
#include "pg/grants/protection_catalog.hpp"
#include "pg/server/mark.hpp"
#include "pg/server/nodes.hpp"

extern "C" {
#include "access/detoast.h"
#include "access/genam.h"
#include "access/parallel.h"
#include "access/skey.h"
#include "access/stratnum.h"
#include "access/table.h"
#include "catalog/catalog.h"
#include "catalog/pg_am_d.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type_d.h"
#include "common/hashfn.h"
#include "executor/tuptable.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "parser/parsetree.h"
#include "storage/bufmgr.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/rls.h"
#include "utils/typcache.h"
}

namespace dpquantile {

bool is_readable_table(const Level* level, int number) {
  const Entry& entry = entry_of(level, number);
  const RangeTblEntry* table = entry.table;
  if (table->rtekind != RTE_RELATION || entry.borrowed != nullptr) return false;
  if (table->relkind != RELKIND_RELATION || table->tablesample != nullptr ||
      table->securityQuals != NIL || IsCatalogRelationOid(table->relid) ||
      find_protected_relation(table->relid) != nullptr) {
    return false;
  }
  return check_enable_rls(table->relid, InvalidOid, true) == RLS_NONE;
}

namespace {

// ---- Reading -------------------------------------------------------------------------------

bool may_read(Oid relation, const List* columns) {
  if (pg_class_aclcheck(relation, GetUserId(), ACL_SELECT) == ACLCHECK_OK) return true;
  const ListCell* cell;
  foreach (cell, columns) {
    const auto column = static_cast<AttrNumber>(lfirst_int(cell));
    if (pg_attribute_aclcheck(relation, column, GetUserId(), ACL_SELECT) != ACLCHECK_OK)
      return false;
  }
  return true;
}

// PostgreSQL 18 computes some columns where they are read.
bool has_stored_columns(Relation table, const List* columns) {
  constexpr char kVirtual = 'v';
  const ListCell* cell;
  foreach (cell, columns) {
    const int column = lfirst_int(cell);
    if (column < 1 || column > RelationGetNumberOfAttributes(table)) return false;
    const auto* attribute = TupleDescAttr(RelationGetDescr(table), column - 1);
    if (attribute->attisdropped || attribute->attgenerated == kVirtual) return false;
  }
  return true;
}

bool is_heap(Relation table) {
  return table->rd_rel->relkind == RELKIND_RELATION && table->rd_rel->relam == HEAP_TABLE_AM_OID &&
         !IsCatalogRelation(table) && !RELATION_IS_OTHER_TEMP(table) &&
         !table->rd_rel->relhassubclass;
}

uint64 hash_of_bytes(const void* bytes, Size length, uint64 seed) {
  return hash_bytes_extended(static_cast<const unsigned char*>(bytes), static_cast<int>(length),
                             seed);
}

// Adds a value to the hash of its row. False if it is too long, or out of line, where it counts as
// NULL beside protected rows.
bool add_value(PublicScan* scan, NullableDatum value, const FormData_pg_attribute* attribute,
               uint64* hash) {
  if (value.isnull) {
    *hash = hash_of_bytes("", 0, ~*hash);
    return true;
  }
  const void* bytes = &value.value;
  Size length = sizeof(Datum);
  if (attribute->attlen == -1) {
    if (VARATT_IS_EXTERNAL(DatumGetPointer(value.value))) return false;
    if (toast_raw_datum_size(value.value) > kMaxValueBytes) return false;
    const auto* text = PG_DETOAST_DATUM_PACKED(value.value);
    bytes = VARDATA_ANY(text);
    length = VARSIZE_ANY_EXHDR(text);
  } else if (!attribute->attbyval) {
    bytes = DatumGetPointer(value.value);
    length = attribute->attlen == -2 ? strlen(DatumGetCString(value.value))
                                     : static_cast<Size>(attribute->attlen);
  }
  *hash = hash_of_bytes(bytes, length, *hash);
  scan->bytes += length;
  return scan->bytes <= kMostListedBytes;
}

// Finds the row that has this value. False if there is none.
bool find_row(const PublicScan& scan, const Const* value) {
  ScanKeyData key;
  const Oid equality = lookup_type_cache(value->consttype, TYPECACHE_EQ_OPR)->eq_opr;
  ScanKeyEntryInitialize(&key, 0, scan.choice.column, BTEqualStrategyNumber, InvalidOid,
                         value->constcollid, get_opcode(equality), value->constvalue);
  SysScanDesc rows = systable_beginscan(scan.table, scan.index, true, scan.snapshot, 1, &key);
  HeapTuple row = systable_getnext(rows);
  const bool is_found = HeapTupleIsValid(row);
  if (is_found) ExecForceStoreHeapTuple(row, scan.slot, false);
  systable_endscan(rows);
  return is_found;
}

bool find_next_row(PublicScan* scan) {
  if (scan->scan != nullptr) {
    return table_scan_getnextslot(scan->scan, ForwardScanDirection, scan->slot);
  }
  while (scan->next < list_length(scan->choice.values)) {
    CHECK_FOR_INTERRUPTS();
    const auto* value = static_cast<const Const*>(list_nth(scan->choice.values, scan->next++));
    if (find_row(*scan, value)) return true;
  }
  return false;
}

}  // namespace

List* sorted_numbers(const List* columns) {
  List* numbers = NIL;
  for (const auto* column : each<const Var>(columns)) {
    numbers = list_append_unique_int(numbers, column->varattno);
  }
  list_sort(numbers, list_int_cmp);
  return numbers;
}

Oid index_of_column(Oid relation, AttrNumber column, Snapshot snapshot) {
  Oid type;
  int32 modifier;
  Oid collation;
  get_atttypetypmodcoll(relation, column, &type, &modifier, &collation);
  const Oid equality = lookup_type_cache(type, TYPECACHE_EQ_OPR)->eq_opr;
  if (!OidIsValid(equality)) return InvalidOid;
  Var* own = makeVar(1, column, type, modifier, collation, 0);
  Const* none = makeNullConst(type, modifier, collation);
  auto* condition = as<Node>(make_opclause(equality, BOOLOID, false, as<Expr>(own), as<Expr>(none),
                                           InvalidOid, collation));
  const Oid index = index_that_fixes_row(list_make1(condition), relation, 1, nullptr);
  return OidIsValid(index) && is_as_old(index, snapshot) ? index : InvalidOid;
}

bool begin_scan(PublicScan* scan, Oid relation, List* columns, const PublicChoice& choice,
                Snapshot snapshot) {
  *scan = {};
  const bool is_chosen = choice.column != 0;
  if (!may_read(relation, columns)) return false;
  Relation table = try_table_open(relation, AccessShareLock);
  if (table == nullptr) return false;
  const bool is_readable = is_heap(table) && has_stored_columns(table, columns);
  if (is_readable && is_chosen) scan->index = index_of_column(relation, choice.column, snapshot);
  if (!is_readable ||
      (is_chosen ? !OidIsValid(scan->index) : RelationGetNumberOfBlocks(table) > kMaxElements)) {
    table_close(table, NoLock);
    return false;
  }
  scan->table = table;
  scan->columns = columns;
  scan->choice = choice;
  scan->snapshot = snapshot;
  scan->slot = table_slot_create(table, nullptr);
  if (!is_chosen) scan->scan = DPQ_SCAN_TABLE(table, snapshot);
  return true;
}

bool next_row(PublicScan* scan) {
  CHECK_FOR_INTERRUPTS();
  if (scan->is_too_large || !find_next_row(scan)) return false;
  uint64 hash = 0;
  const ListCell* cell;
  foreach (cell, scan->columns) {
    const int column = lfirst_int(cell);
    NullableDatum value;
    value.value = slot_getattr(scan->slot, column, &value.isnull);
    const auto* attribute = TupleDescAttr(RelationGetDescr(scan->table), column - 1);
    if (!add_value(scan, value, attribute, &hash)) scan->is_too_large = true;
  }
  scan->digest += hash_of_bytes(&hash, sizeof(hash), 1);
  return !scan->is_too_large;
}

void end_scan(PublicScan* scan) {
  if (scan->scan != nullptr) table_endscan(scan->scan);
  ExecDropSingleTupleTableSlot(scan->slot);
  table_close(scan->table, NoLock);
}

// ---- Plans ---------------------------------------------------------------------------------

namespace {

// What a plan has read: of each table its OID, the number of its columns, and these; which rows it
// has chosen; the digests as texts.
struct PlannedRows {
  List* tables;   // of OIDs
  List* counts;   // of int
  List* columns;  // of int
  List* chosen;   // of int: PublicChoice::column
  List* values;   // of List: PublicChoice::values
  List* digests;  // of String

  static constexpr MarkKind kKind = {"dpquantile rows", 2};
  void each_field(MarkFields* fields) {
    fields->list("tables", T_OidList, &tables);
    fields->list("counts", T_IntList, &counts, list_length(tables));
    fields->list("columns", T_IntList, &columns);
    fields->list("chosen", T_IntList, &chosen, list_length(tables));
    fields->list("values", T_List, &values, list_length(tables));
    fields->texts("digests", &digests, list_length(tables));
  }
};

const char* text_of_digest(uint64 digest) {
  return psprintf("%016llx", static_cast<unsigned long long>(digest));
}

// Null if the rows cannot be read any more.
const char* digest_of_rows(Oid relation, List* columns, const PublicChoice& choice,
                           Snapshot snapshot) {
  PublicScan scan;
  if (!begin_scan(&scan, relation, columns, choice, snapshot)) return nullptr;
  while (next_row(&scan)) {
  }
  end_scan(&scan);
  return scan.is_too_large ? nullptr : text_of_digest(scan.digest);
}

[[noreturn]] void refuse_other_rows(Oid relation) {
  const char* name = get_rel_name(relation);
  ereport(ERROR,
          (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
           errmsg("the rows of \"%s\" have changed since the query was planned",
                  name == nullptr ? "a dropped table" : name),
           errdetail("The groups and bounds of the planned query are those of the rows that this "
                     "public table had then."),
           errhint("%sAsk again: the query will be planned anew.", charge_of_refused_call())));
}

}  // namespace

void note_rows(Statement* statement, const PublicScan& scan) {
  for (auto* known : each<PublicRead>(statement->public_reads)) {
    if (known->relation == RelationGetRelid(scan.table) && equal(known->columns, scan.columns) &&
        known->choice.column == scan.choice.column &&
        equal(known->choice.values, scan.choice.values)) {
      return;
    }
  }
  auto* read = static_cast<PublicRead*>(palloc(sizeof(PublicRead)));
  *read = {RelationGetRelid(scan.table), scan.columns, scan.choice, scan.digest};
  statement->public_reads = lappend(statement->public_reads, read);
}

void mark_rows(PlannedStmt* plan, const Statement* statement) {
  if (statement->public_reads == NIL) return;
  PlannedRows rows{};
  for (const auto* read : each<const PublicRead>(statement->public_reads)) {
    rows.tables = lappend_oid(rows.tables, read->relation);
    rows.counts = lappend_int(rows.counts, list_length(read->columns));
    rows.columns = list_concat(rows.columns, read->columns);
    rows.chosen = lappend_int(rows.chosen, read->choice.column);
    rows.values = lappend(rows.values, read->choice.values);
    rows.digests =
        lappend(rows.digests, makeString(const_cast<char*>(text_of_digest(read->digest))));
    plan->relationOids = list_append_unique_oid(plan->relationOids, read->relation);
  }
  put_mark(&plan->rtable, rows);
}

void require_short_texts(const PlannedStmt* plan, const Statement* statement) {
  const ReadText& longest = statement->longest_text;
  BorrowedPlan mark{};
  if (longest.bytes == 0 || !find_mark(plan->rtable, &mark) || mark.longest_value == 0) return;
  if (longest.bytes <= static_cast<Size>(mark.longest_value)) return;
  ereport(ERROR,
          (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
           errmsg("a text of table \"%s\" is too long for a key that is computed of it",
                  get_rel_name(longest.relation)),
           errdetail("It has %zu bytes; together with the functions of this query, %d are allowed "
                     "beside protected rows. Longer ones count as NULL there.",
                     longest.bytes, mark.longest_value),
           errhint("This call was not charged. Group by the column itself, have fewer functions of "
                   "texts, or leave such texts out: WHERE octet_length(column) <= %d.",
                   mark.longest_value)));
}

void require_rows(const PlannedStmt* plan, Snapshot snapshot) {
  PlannedRows rows;
  if (IsParallelWorker() || !find_mark(plan->rtable, &rows)) return;
  int next = 0;
  const ListCell* cell;
  foreach (cell, rows.tables) {
    const int number = foreach_current_index(cell);
    List* columns = NIL;
    for (int i = 0; i < list_nth_int(rows.counts, number); ++i) {
      columns = lappend_int(columns, list_nth_int(rows.columns, next++));
    }
    const PublicChoice choice = {static_cast<AttrNumber>(list_nth_int(rows.chosen, number)),
                                 static_cast<List*>(list_nth(rows.values, number))};
    const char* digest = digest_of_rows(lfirst_oid(cell), columns, choice, snapshot);
    const char* planned = strVal(list_nth(rows.digests, number));
    if (digest == nullptr || strcmp(digest, planned) != 0) refuse_other_rows(lfirst_oid(cell));
  }
}

}  // namespace dpquantile
