#include "pg/grants/reference.hpp"

#include "pg/server/nodes.hpp"

extern "C" {
#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/indexing.h"
#include "catalog/pg_class.h"
#include "catalog/pg_constraint.h"
#include "catalog/pg_inherits.h"
#include "parser/parse_coerce.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"
}

namespace dpquantile {

namespace {

// Whether this is what a foreign key to a partitioned table has for one of its partitions: rows
// need not refer to this one. What a partition of the table that refers has of its table's key has
// another relation than that.
bool is_for_partition(const FormData_pg_constraint* constraint) {
  if (!OidIsValid(constraint->conparentid)) return false;
  HeapTuple row = SearchSysCache1(CONSTROID, ObjectIdGetDatum(constraint->conparentid));
  if (!HeapTupleIsValid(row)) return true;
  const auto* parent = reinterpret_cast<Form_pg_constraint>(GETSTRUCT(row));
  const bool is_of_same_rows = parent->conrelid == constraint->conrelid;
  ReleaseSysCache(row);
  return is_of_same_rows;
}

Reference* read_reference(HeapTuple row) {
  const auto* constraint = reinterpret_cast<Form_pg_constraint>(GETSTRUCT(row));
  auto* reference = static_cast<Reference*>(palloc0(sizeof(Reference)));
  reference->relation = constraint->conrelid;
  reference->referenced = constraint->confrelid;
  reference->is_checked = constraint->convalidated && !constraint->condeferrable &&
                          DPQ_IS_ENFORCED(constraint) && !DPQ_IS_OF_PERIODS(constraint);
  DeconstructFkConstraintRow(row, &reference->columns, reference->own, reference->key,
                             reference->equality, nullptr, nullptr, nullptr, nullptr);
  return reference;
}

bool has_pair(const Reference* reference, AttrNumber own, AttrNumber key) {
  for (int i = 0; i < reference->columns; ++i) {
    if (reference->own[i] == own && reference->key[i] == key) return true;
  }
  return false;
}

bool has_own_column(const Reference* reference, AttrNumber column) {
  for (int i = 0; i < reference->columns; ++i) {
    if (reference->own[i] == column) return true;
  }
  return false;
}

bool is_part_of(const Reference* one, const Reference* other) {
  for (int i = 0; i < one->columns; ++i) {
    if (!has_pair(other, one->own[i], one->key[i])) return false;
  }
  return true;
}

bool is_part_of_all(const Reference* one, const List* others) {
  for (const auto* other : each<const Reference>(others)) {
    if (!is_part_of(one, other)) return false;
  }
  return true;
}

// Whether the columns are compared as they are stored.
bool compares_columns(const Reference* reference) {
  for (int i = 0; i < reference->columns; ++i) {
    Oid key_type;
    Oid own_type;
    op_input_types(reference->equality[i], &key_type, &own_type);
    const Oid key = get_atttype(reference->referenced, reference->key[i]);
    const Oid own = get_atttype(reference->relation, reference->own[i]);
    const bool compares = IsBinaryCoercible(key, key_type) && IsBinaryCoercible(own, own_type);
    if (!compares || !op_hashjoinable(reference->equality[i], key_type)) return false;
  }
  return true;
}

const char* problem_of(const Reference* reference) {
  if (!reference->is_checked) {
    return "has a foreign key that is not valid, not enforced, or deferrable";
  }
  if (!compares_columns(reference)) return "has a foreign key whose columns differ in their types";
  if (has_children_besides_partitions(reference->referenced)) {
    return "refers to a table with children, whose rows may have the same keys";
  }
  return nullptr;
}

const char* name_of_table(Oid table) {
  const char* name = get_rel_name(table);
  return name == nullptr ? "?" : name;
}

}  // namespace

List* references_of(Oid relation) {
  List* references = NIL;
  ScanKeyData key;
  ScanKeyInit(&key, Anum_pg_constraint_conrelid, BTEqualStrategyNumber, F_OIDEQ,
              ObjectIdGetDatum(relation));
  Relation catalog = table_open(ConstraintRelationId, AccessShareLock);
  SysScanDesc scan =
      systable_beginscan(catalog, ConstraintRelidTypidNameIndexId, true, nullptr, 1, &key);
  while (HeapTuple row = systable_getnext(scan)) {
    const auto* constraint = reinterpret_cast<Form_pg_constraint>(GETSTRUCT(row));
    if (constraint->contype == CONSTRAINT_FOREIGN && !is_for_partition(constraint)) {
      references = lappend(references, read_reference(row));
    }
  }
  systable_endscan(scan);
  table_close(catalog, AccessShareLock);
  return references;
}

List* references_between(Oid relation, Oid referenced) {
  List* references = NIL;
  for (auto* reference : each<Reference>(references_of(relation))) {
    if (reference->referenced == referenced) references = lappend(references, reference);
  }
  return references;
}

const Reference* find_reference(Oid relation, AttrNumber column, Oid referenced,
                                const char** problem) {
  List* candidates = NIL;
  for (auto* reference : each<Reference>(references_between(relation, referenced))) {
    if (has_own_column(reference, column)) candidates = lappend(candidates, reference);
  }
  if (candidates == NIL) {
    *problem = psprintf("has no foreign key to \"%s\"", name_of_table(referenced));
    return nullptr;
  }
  for (const auto* reference : each<const Reference>(candidates)) {
    if (!is_part_of_all(reference, candidates)) continue;
    *problem = problem_of(reference);
    return *problem == nullptr ? reference : nullptr;
  }
  *problem = psprintf("has several foreign keys to \"%s\", which may refer to different rows",
                      name_of_table(referenced));
  return nullptr;
}

bool has_children_besides_partitions(Oid table) {
  return get_rel_relkind(table) == RELKIND_RELATION && has_subclass(table) &&
         find_inheritance_children(table, NoLock) != NIL;
}

}  // namespace dpquantile
