#include "pg/limits/person_order_node.hpp"

#include <algorithm>

#include "core/base/radix_sort.hpp"
#include "pg/limits/kept_rows.hpp"
#include "pg/limits/row_partitions.hpp"
#include "pg/server/boundary.hpp"
#include "pg/server/custom_node.hpp"
#include "pg/server/nodes.hpp"
#include "pg/server/work_memory.hpp"

extern "C" {
#include "access/detoast.h"
#include "catalog/pg_collation_d.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "utils/sortsupport.h"
#include "utils/typcache.h"
}

namespace dpquantile {

namespace {

// Plain data: an error may be raised while rows are compared.
struct OrderedRow {
  uint64 person;  // the hash
  const Datum* values;
  const bool* nulls;
};

// Zero before it is set up.
struct PersonOrderNode {
  CustomScanState scan;
  PlanState* child;
  TupleDesc columns;
  AttrNumber hash_column;
  SortSupport keys;  // those after the hash
  int key_count;
  bool is_grouping;
  MemoryContext memory;  // of the rows; null before they are read
  RowPartitions rows;

  // The part whose rows are given, in memory that the largest one needs
  int part;
  MemoryContext part_memory;  // of what their values refer to
  OrderedRow* ordered;
  Datum* values;
  bool* nulls;
  Size count;
  Size next;
};

PersonOrderNode* order_node(CustomScanState* node) {
  return reinterpret_cast<PersonOrderNode*>(node);
}

void prepare_keys(PersonOrderNode* node, const PersonOrderPlan& told) {
  node->hash_column = static_cast<AttrNumber>(linitial_int(told.columns));
  node->key_count = list_length(told.columns) - 1;
  node->is_grouping = told.is_grouping;
  node->keys = static_cast<SortSupport>(
      palloc0((static_cast<Size>(node->key_count) + 1) * sizeof(SortSupportData)));
  for (int i = 0; i < node->key_count; ++i) {
    SortSupport key = &node->keys[i];
    key->ssup_cxt = CurrentMemoryContext;
    key->ssup_collation = list_nth_oid(told.collations, i + 1);
    key->ssup_nulls_first = list_nth_int(told.nulls_first, i + 1) != 0;
    key->ssup_attno = static_cast<AttrNumber>(list_nth_int(told.columns, i + 1));
    PrepareSortSupportFromOrderingOp(list_nth_oid(told.operators, i + 1), key);
  }
}

void begin(CustomScanState* scan, EState* state, int flags) {
  PersonOrderNode* node = order_node(scan);
  const auto* plan = as<CustomScan>(scan->ss.ps.plan);
  constexpr int kNotNeeded = EXEC_FLAG_REWIND | EXEC_FLAG_BACKWARD | EXEC_FLAG_MARK;
  node->child =
      ExecInitNode(static_cast<Plan*>(linitial(plan->custom_plans)), state, flags & ~kNotNeeded);
  scan->custom_ps = list_make1(node->child);
  node->columns = ExecGetResultType(node->child);
  prepare_keys(node, decode_mark<PersonOrderPlan>(plan->custom_private));
}

// ---- Reading -------------------------------------------------------------------------------

void read_rows(PersonOrderNode* node) {
  while (TupleTableSlot* row = next_row(node)) {
    bool has_none;
    const Datum hash = slot_getattr(row, node->hash_column, &has_none);
    const uint64 person = has_none ? 0 : static_cast<uint64>(DatumGetInt64(hash));
    write_row(&node->rows, part_of_number(&node->rows, person), row, person);
  }
  end_writing(&node->rows);
}

// ---- The rows of a part --------------------------------------------------------------------

// Puts the bytes of values into the place of what stands for them, and NULL for those beyond the
// limit.
void fetch_values(const PersonOrderNode* node, Datum* values, bool* nulls) {
  Size left = kMostFetched;
  for (int i = 0; i < node->columns->natts; ++i) {
    if (nulls[i] || TupleDescAttr(node->columns, i)->attlen != -1) continue;
    auto* value = reinterpret_cast<struct varlena*>(DatumGetPointer(values[i]));
    if (!VARATT_IS_EXTERNAL(value) && !VARATT_IS_COMPRESSED(value)) continue;
    const Size size = toast_raw_datum_size(values[i]) - VARHDRSZ;
    nulls[i] = size > left;
    if (nulls[i]) continue;
    left -= size;
    values[i] = PointerGetDatum(detoast_attr(value));
  }
}

void make_room(PersonOrderNode* node) {
  Size most = 0;
  for (int part = 0; part < node->rows.count; ++part) {
    most = Max(most, count_rows(&node->rows, part));
  }
  const auto columns = static_cast<Size>(node->columns->natts);
  node->ordered = array_of<OrderedRow>(most);
  node->values = array_of<Datum>(most * columns);
  node->nulls = array_of<bool>(most * columns);
}

// What values refer to lies in their block, and the cursor may use one for several.
const RowBlock* kept_block(const RowPartitions* rows, const RowBlock* block) {
  if (!rows->has_references) return block;
  auto* copy = static_cast<RowBlock*>(MemoryContextAllocHuge(CurrentMemoryContext, block->size));
  memcpy(copy, block, block->size);
  return copy;
}

void load_part(PersonOrderNode* node) {
  const auto columns = static_cast<Size>(node->columns->natts);
  Datum* values = node->values;
  bool* nulls = node->nulls;
  Size number = 0;
  RowCursor cursor = cursor_of_part(&node->rows, node->part);
  while (next_block(&node->rows, &cursor)) {
    CHECK_FOR_INTERRUPTS();
    const RowBlock* block = kept_block(&node->rows, cursor.block);
    for (Size i = 0; i < block->rows; ++i, ++number, values += columns, nulls += columns) {
      read_row(&node->rows, block, i, values, nulls);
      if (!node->is_grouping) fetch_values(node, values, nulls);
      node->ordered[number] = {user_of_row(&node->rows, block, i), values, nulls};
    }
  }
}

// ---- Order ---------------------------------------------------------------------------------

int sign_of(bool is_less, bool is_greater) {
  return static_cast<int>(is_greater) - static_cast<int>(is_less);
}

int compare_bytes(const void* one, Size size, const void* other, Size size_of_other) {
  const int compared = memcmp(one, other, Min(size, size_of_other));
  return compared != 0 ? compared : sign_of(size<size_of_other, size> size_of_other);
}

// Two values of a column, which are not NULL, by their bytes.
int compare_values(const FormData_pg_attribute* column, Datum one, Datum other) {
  if (column->attbyval) return sign_of(one<other, one> other);
  const auto* left = static_cast<const char*>(DatumGetPointer(one));
  const auto* right = static_cast<const char*>(DatumGetPointer(other));
  if (column->attlen == -1) {
    return compare_bytes(VARDATA_ANY(left), VARSIZE_ANY_EXHDR(left), VARDATA_ANY(right),
                         VARSIZE_ANY_EXHDR(right));
  }
  if (column->attlen == -2) return strcmp(left, right);
  return memcmp(left, right, static_cast<Size>(column->attlen));
}

// Zero for rows that are the same in all columns.
int compare_columns(const PersonOrderNode* node, const OrderedRow& one, const OrderedRow& other) {
  for (int i = 0; i < node->columns->natts; ++i) {
    int compared = sign_of(one.nulls[i], other.nulls[i]);
    if (compared == 0 && !one.nulls[i]) {
      compared = compare_values(TupleDescAttr(node->columns, i), one.values[i], other.values[i]);
    }
    if (compared != 0) return compared;
  }
  return 0;
}

int compare_keys(const PersonOrderNode* node, const OrderedRow& one, const OrderedRow& other) {
  for (int i = 0; i < node->key_count; ++i) {
    const SortSupport key = &node->keys[i];
    const int column = key->ssup_attno - 1;
    const int compared = ApplySortComparator(one.values[column], one.nulls[column],
                                             other.values[column], other.nulls[column], key);
    if (compared != 0) return compared;
  }
  return 0;
}

int compare_rows(const PersonOrderNode* node, const OrderedRow& one, const OrderedRow& other) {
  CHECK_FOR_INTERRUPTS();
  const int compared = compare_keys(node, one, other);
  return compared != 0 || node->is_grouping ? compared : compare_columns(node, one, other);
}

// Where the person is the only key, all rows of a person are, unless two persons have one hash.
bool is_one_group(const PersonOrderNode* node, const OrderedRow* begin, const OrderedRow* end) {
  return node->is_grouping && std::all_of(begin + 1, end, [&](const OrderedRow& row) {
           return compare_keys(node, *begin, row) == 0;
         });
}

// No sequence of rows takes quadratic time, as with PostgreSQL's qsort.
void order_rows_of_person(const PersonOrderNode* node, OrderedRow* begin, OrderedRow* end) {
  std::sort(begin, end, [node](const OrderedRow& one, const OrderedRow& other) {
    return compare_rows(node, one, other) < 0;
  });
}

void order_part(PersonOrderNode* node) {
  OrderedRow* end = node->ordered + node->count;
  with_scratch([&](ContextMemory& memory) {
    CancelPoll cancel(cancel_requested);
    StableRadixSort<OrderedRow> sort({node->ordered, node->count}, {cancel, &memory});
    sort.by([](const OrderedRow& row) { return row.person; }, 64);
    sort.finish();
  });
  for (OrderedRow* begin = node->ordered; begin != end;) {
    OrderedRow* next = begin + 1;
    while (next != end && next->person == begin->person) ++next;
    if (!is_one_group(node, begin, next)) order_rows_of_person(node, begin, next);
    begin = next;
  }
}

// ---- Giving --------------------------------------------------------------------------------

void begin_to_give(PersonOrderNode* node, int part) {
  node->part = part;
  node->count = count_rows(&node->rows, part);
  node->next = 0;
  MemoryContextReset(node->part_memory);
  if (node->count == 0) return;
  const MemoryContext previous = MemoryContextSwitchTo(node->part_memory);
  load_part(node);
  order_part(node);
  MemoryContextSwitchTo(previous);
  forget_part(&node->rows, part);
}

void read_all(PersonOrderNode* node) {
  node->memory = AllocSetContextCreate(node->scan.ss.ps.state->es_query_cxt,
                                       "dpquantile ordered rows", ALLOCSET_DEFAULT_SIZES);
  node->part_memory = AllocSetContextCreate(node->memory, "dpquantile ordered rows of a part",
                                            ALLOCSET_DEFAULT_SIZES);
  const MemoryContext previous = MemoryContextSwitchTo(node->memory);
  make_partitions(&node->rows, node->columns, nullptr,
                  storage_within(static_cast<Size>(drawn_work_memory()) * 1024), node->memory);
  read_rows(node);
  make_room(node);
  MemoryContextSwitchTo(previous);
  begin_to_give(node, 0);
}

// Fills the slot. Null after the last row.
TupleTableSlot* give_row(PersonOrderNode* node) {
  TupleTableSlot* slot = node->scan.ss.ss_ScanTupleSlot;
  ExecClearTuple(slot);
  while (node->next == node->count) {
    if (node->part + 1 >= node->rows.count) return nullptr;
    begin_to_give(node, node->part + 1);
  }
  const OrderedRow& row = node->ordered[node->next++];
  const auto columns = static_cast<Size>(node->columns->natts);
  memcpy(slot->tts_values, row.values, columns * sizeof(Datum));
  memcpy(slot->tts_isnull, row.nulls, columns * sizeof(bool));
  return ExecStoreVirtualTuple(slot);
}

TupleTableSlot* execute(CustomScanState* scan) {
  PersonOrderNode* node = order_node(scan);
  if (node->memory == nullptr) read_all(node);
  return projected(scan, give_row(node));
}

void rescan(CustomScanState* scan) {
  read_again(order_node(scan));
}

void end(CustomScanState* scan) {
  end_reading(order_node(scan));
}

const CustomExecMethods kExecMethods =
    custom_methods(kPersonOrderName, begin, execute, end, rescan);

Node* make_person_order_node(CustomScan*) {
  return make_custom_state<PersonOrderNode>(&kExecMethods);
}

const CustomScanMethods kScanMethods = {kPersonOrderName, make_person_order_node};

void add_key(PersonOrderPlan* told, AttrNumber column, Oid less, Oid collation, bool nulls_first) {
  told->columns = lappend_int(told->columns, column);
  told->operators = lappend_oid(told->operators, less);
  told->collations = lappend_oid(told->collations, collation);
  told->nulls_first = lappend_int(told->nulls_first, nulls_first ? 1 : 0);
}

// Texts of a group have the same bytes, whatever their collation is. False if there is no order.
bool add_key_of_group(PersonOrderPlan* told, const Agg* grouping, int number) {
  const AttrNumber column = grouping->grpColIdx[number];
  const auto* entry =
      static_cast<const TargetEntry*>(list_nth(grouping->plan.lefttree->targetlist, column - 1));
  const Oid less = lookup_type_cache(exprType(as<Node>(entry->expr)), TYPECACHE_LT_OPR)->lt_opr;
  const bool is_text = OidIsValid(grouping->grpCollations[number]);
  add_key(told, column, less, is_text ? static_cast<Oid>(C_COLLATION_OID) : InvalidOid, false);
  return OidIsValid(less);
}

// `replaced` gives the columns, and `rows` the rows.
Plan* order_of(const Plan* replaced, Plan* rows, const PersonOrderPlan& told) {
  CustomScan* made = makeNode(CustomScan);
  Plan* plan = &made->scan.plan;
  *plan = *replaced;
  plan->type = T_CustomScan;
  plan->lefttree = nullptr;
  plan->righttree = nullptr;
  plan->qual = NIL;
  plan->initPlan = NIL;
  plan->targetlist = NIL;
  for (const auto* column : each<const TargetEntry>(replaced->targetlist)) {
    const auto* value = as<Node>(column->expr);
    Var* of_scan = makeVar(INDEX_VAR, column->resno, exprType(value), exprTypmod(value),
                           exprCollation(value), 0);
    TargetEntry* entry = flatCopyTargetEntry(const_cast<TargetEntry*>(column));
    entry->expr = as<Expr>(of_scan);
    plan->targetlist = lappend(plan->targetlist, entry);
  }
  made->custom_scan_tlist = static_cast<List*>(copyObjectImpl(replaced->targetlist));
  made->custom_plans = list_make1(rows);
  made->custom_private = encode_mark(told);
  made->methods = &kScanMethods;
  return plan;
}

}  // namespace

void PersonOrderPlan::each_field(MarkFields* fields) {
  fields->list("columns", T_IntList, &columns);
  fields->list("operators", T_OidList, &operators, list_length(columns));
  fields->list("collations", T_OidList, &collations, list_length(columns));
  fields->list("nulls_first", T_IntList, &nulls_first, list_length(columns));
  fields->truth("is_grouping", &is_grouping);
}

Plan* sorted_by_persons(const Sort* sort) {
  PersonOrderPlan told{};
  for (int i = 0; i < sort->numCols; ++i) {
    add_key(&told, sort->sortColIdx[i], sort->sortOperators[i], sort->collations[i],
            sort->nullsFirst[i]);
  }
  return order_of(&sort->plan, sort->plan.lefttree, told);
}

Plan* grouped_by_persons(const Agg* grouping, int hash) {
  PersonOrderPlan told{};
  told.is_grouping = true;
  bool has_order = add_key_of_group(&told, grouping, hash);
  for (int i = 0; i < grouping->numCols; ++i) {
    if (i != hash) has_order &= add_key_of_group(&told, grouping, i);
  }
  if (!has_order) return nullptr;
  return order_of(grouping->plan.lefttree, grouping->plan.lefttree, told);
}

void install_person_order_node() {
  RegisterCustomScanMethods(&kScanMethods);
}

}  // namespace dpquantile
