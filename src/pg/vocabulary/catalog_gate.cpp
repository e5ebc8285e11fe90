#include "pg/vocabulary/catalog_gate.hpp"

#include <initializer_list>

#include "pg/server/own_objects.hpp"
#include "pg/server/trees.hpp"
#include "pg/vocabulary/node_functions.hpp"

extern "C" {
#include "access/htup_details.h"
#include "access/table.h"
#include "access/transam.h"
#include "catalog/dependency.h"
#include "catalog/pg_class.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_index.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_operator.h"
#include "catalog/pg_opfamily.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_range.h"
#include "catalog/pg_type.h"
#include "rewrite/rewriteHandler.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/regproc.h"
#include "utils/rel.h"
#include "utils/relcache.h"
#include "utils/syscache.h"
#include "utils/typcache.h"
}

namespace dpquantile {

namespace {

constexpr char kObjectHint[] =
    "Use PostgreSQL's own functions and operators. If search_path has others before them, name the "
    "schema: OPERATOR(pg_catalog.=). Compute the rest from the answers, in a query of its own.";
constexpr char kCollationHint[] = "Add COLLATE \"C\" to the value or key.";
constexpr char kTableHint[] = "Ask a table without such an index or column.";

// What happens to an object that does not pass: the query is refused, or the first one is told.
struct Gate {
  const RefusedQuery* refused;  // null: only told
  const char* problem;          // null: all have passed so far
};

// What names objects: a part of a query, or of what the query leads to.
struct Named {
  Gate* gate;
  const Node* node;
  const ObjectAddress* through;  // the object that leads to what is named, or null
};

// ---- Refusals ------------------------------------------------------------------------------

const char* name_of_function(Oid function) {
  const char* kind = get_func_prokind(function) == PROKIND_AGGREGATE ? "aggregate" : "function";
  return psprintf("%s %s", kind, format_procedure_qualified(function));
}

const char* name_of_object(const ObjectAddress& object) {
  switch (object.classId) {
    case ProcedureRelationId:
      return name_of_function(object.objectId);
    case OperatorRelationId:
      return psprintf("operator %s", format_operator_qualified(object.objectId));
    default: {
      const char* description = getObjectDescription(&object, true);
      return description == nullptr ? "an object that was dropped" : description;
    }
  }
}

const char* hint_for(const Named& named, Oid catalog) {
  if (named.through != nullptr && named.through->classId == RelationRelationId) return kTableHint;
  return catalog == CollationRelationId ? kCollationHint : kObjectHint;
}

void check_object(const Named& named, Oid catalog, Oid object) {
  if (!OidIsValid(object) || passes_gate(catalog, object)) return;
  const char* name = name_of_object({catalog, object, 0});
  const char* problem = named.through == nullptr
                            ? psprintf("%s is not PostgreSQL's own", name)
                            : psprintf("%s leads to %s, which is not PostgreSQL's own",
                                       name_of_object(*named.through), name);
  if (named.gate->refused != nullptr) {
    const RefusedQuery& refused = *named.gate->refused;
    attempt(refused,
            [&] { refuse(refused, exprLocation(named.node), problem, hint_for(named, catalog)); });
  }
  if (named.gate->problem == nullptr) named.gate->problem = problem;
}

void check_function(const Named& named, Oid function) {
  check_object(named, ProcedureRelationId, function);
}

// PostgreSQL's own are deterministic.
void check_collation(const Named& named, Oid collation) {
  check_object(named, CollationRelationId, collation);
}

// ---- Links ---------------------------------------------------------------------------------

// The planner puts the negator or the commutator in the place of an operator, and calls its
// estimators.
void check_operator(const Named& named, Oid operation) {
  if (!OidIsValid(operation)) return;
  check_object(named, OperatorRelationId, operation);
  const HeapTuple row = SearchSysCache1(OPEROID, ObjectIdGetDatum(operation));
  if (!HeapTupleIsValid(row)) return;
  const FormData_pg_operator links = *reinterpret_cast<Form_pg_operator>(GETSTRUCT(row));
  ReleaseSysCache(row);
  const ObjectAddress through = {OperatorRelationId, operation, 0};
  const Named linked = {named.gate, named.node, &through};
  for (const Oid function : {links.oprcode, links.oprrest, links.oprjoin}) {
    check_function(linked, function);
  }
  for (const Oid other : {links.oprcom, links.oprnegate}) {
    check_object(linked, OperatorRelationId, other);
  }
}

Oid range_of(Oid type) {
  const Oid base = getBaseType(type);
  const Oid element = get_element_type(base);
  if (OidIsValid(element)) return range_of(element);
  return type_is_multirange(base) ? get_multirange_range(base) : base;
}

// The planner measures ranges by a function of their type when it estimates how many overlap.
void check_range(const Named& named, Oid type) {
  const Oid range = range_of(type);
  const HeapTuple row = SearchSysCache1(RANGETYPE, ObjectIdGetDatum(range));
  if (!HeapTupleIsValid(row)) return;
  const FormData_pg_range links = *reinterpret_cast<Form_pg_range>(GETSTRUCT(row));
  ReleaseSysCache(row);
  const ObjectAddress through = {TypeRelationId, range, 0};
  const Named linked = {named.gate, named.node, &through};
  check_function(linked, links.rngcanonical);
  check_function(linked, links.rngsubdiff);
}

// ---- Nodes ---------------------------------------------------------------------------------

// For check_functions_in_node(). `named` is a const Named*.
bool check_called(Oid function, void* named) {
  check_function(*static_cast<const Named*>(named), function);
  return false;
}

void check_key(const Named& named, const SortGroupClause* key) {
  check_operator(named, key->eqop);
  check_operator(named, key->sortop);
}

void check_keys(const Named& named, const List* keys) {
  for (const auto* key : each<const SortGroupClause>(keys)) check_key(named, key);
}

void check_collations(const Named& named, const List* collations) {
  for (const Oid collation : each_oid(collations)) check_collation(named, collation);
}

void check_rows(const Named& named, const RowCompareExpr* comparison) {
  for (const Oid oid : each_oid(comparison->opnos)) check_operator(named, oid);
  for (const Oid oid : each_oid(comparison->opfamilies)) {
    check_object(named, OperatorFamilyRelationId, oid);
  }
  check_collations(named, comparison->inputcollids);
}

void check_extreme(const Named& named, const MinMaxExpr* extreme) {
  // PostgreSQL refuses a type that has no comparison.
  check_function(named, lookup_type_cache(extreme->minmaxtype, TYPECACHE_CMP_PROC)->cmp_proc);
}

void check_window(const Named& named, const WindowClause* window) {
  check_function(named, window->startInRangeFunc);
  check_function(named, window->endInRangeFunc);
  check_collation(named, window->inRangeColl);
}

void check_set_operation(const Named& named, const SetOperationStmt* operation) {
  check_keys(named, operation->groupClauses);
  if (operation->groupClauses != NIL) check_collations(named, operation->colCollations);
}

void check_cycle(const Named& named, const CTECycleClause* cycle) {
  check_operator(named, cycle->cycle_mark_neop);
  check_collation(named, cycle->cycle_mark_collation);
}

// What the node itself names.
void check_node(const Named& named, Node* node) {
  switch (nodeTag(node)) {
    case T_OpExpr:
    case T_DistinctExpr:
    case T_NullIfExpr:
      return check_operator(named, as<OpExpr>(node)->opno);
    case T_ScalarArrayOpExpr:
      return check_operator(named, as<ScalarArrayOpExpr>(node)->opno);
    case T_RowCompareExpr:
      return check_rows(named, as<RowCompareExpr>(node));
    case T_MinMaxExpr:
      return check_extreme(named, as<MinMaxExpr>(node));
    case T_CollateExpr:
      return check_collation(named, as<CollateExpr>(node)->collOid);
    case T_SubscriptingRef:
      return check_function(named,
                            get_typsubscript(as<SubscriptingRef>(node)->refcontainertype, nullptr));
    case T_SortGroupClause:
      return check_key(named, as<SortGroupClause>(node));
    case T_WindowClause:
      return check_window(named, reinterpret_cast<WindowClause*>(node));
    case T_SetOperationStmt:
      return check_set_operation(named, as<SetOperationStmt>(node));
    case T_TableSampleClause:
      return check_function(named, reinterpret_cast<TableSampleClause*>(node)->tsmhandler);
    case T_CTECycleClause:
      return check_cycle(named, reinterpret_cast<CTECycleClause*>(node));
    default:
      return;
  }
}

// Whether it is a column that is sorted or grouped by.
bool is_key(const Node* node) {
  return IsA(node, TargetEntry) && as<TargetEntry>(node)->ressortgroupref > 0;
}

const Node* value_of(const Node* column) {
  return as<Node>(as<TargetEntry>(column)->expr);
}

void check_types_of(const Named& named, const List* arguments) {
  for (auto* node : each<Node>(arguments)) check_range(named, exprType(node));
}

void check_expression(const Named& named, Node* node) {
  check_node(named, node);
  (void)check_functions_in_node(node, check_called, const_cast<Named*>(&named));
  check_collation(named, exprInputCollation(node));
  check_types_of(named, arguments_of(node));
  if (is_key(node)) check_collation(named, exprCollation(value_of(node)));
}

// ---- Tables --------------------------------------------------------------------------------

void check_tree(Gate* gate, const ObjectAddress* through, Node* tree);

// The planner puts the expression of a virtual generated column where the column is.
void check_virtual_columns(Gate* gate, Relation table) {
  const TupleDesc columns = RelationGetDescr(table);
  for (int i = 0; i < columns->natts; ++i) {
    if (!DPQ_IS_VIRTUAL(TupleDescAttr(columns, i)->attgenerated)) continue;
    const ObjectAddress column = {RelationRelationId, RelationGetRelid(table), i + 1};
    check_tree(gate, &column, DPQ_GENERATION_EXPRESSION(table, i + 1));
  }
}

// A scan by a bitmap evaluates the predicate of its index for rows, also where the query implies
// it: WHERE a OR own_function(b) by a query with WHERE a.
void check_predicate(Gate* gate, Oid index) {
  const HeapTuple row = SearchSysCache1(INDEXRELID, ObjectIdGetDatum(index));
  if (!HeapTupleIsValid(row)) return;
  bool is_null;
  const Datum written = SysCacheGetAttr(INDEXRELID, row, Anum_pg_index_indpred, &is_null);
  auto* predicate =
      is_null ? nullptr : static_cast<Node*>(stringToNode(TextDatumGetCString(written)));
  ReleaseSysCache(row);
  const ObjectAddress through = {RelationRelationId, index, 0};
  check_tree(gate, &through, predicate);
}

void check_table(Gate* gate, Oid relation) {
  Relation table = table_open(relation, AccessShareLock);
  check_virtual_columns(gate, table);
  for (const Oid oid : each_oid(RelationGetIndexList(table))) check_predicate(gate, oid);
  table_close(table, NoLock);
}

void check_entry(const RangeTblEntry* entry, Gate* gate) {
  if (entry->rtekind != RTE_RELATION || entry->relid < FirstNormalObjectId) return;
  for (const Oid child : each_oid(find_all_inheritors(entry->relid, AccessShareLock, nullptr))) {
    check_table(gate, child);
  }
}

// ---- The query -----------------------------------------------------------------------------

// `through` is the index or column that has the tree as its expression, or null.
void check_tree(Gate* gate, const ObjectAddress* through, Node* tree) {
  visit_nodes(
      tree,
      [&](Node* node) {
        if (IsA(node, RangeTblEntry)) return check_entry(as<RangeTblEntry>(node), gate);
        if (!IsA(node, Query)) check_expression({gate, node, through}, node);
      },
      kIntoQueries | QTW_EXAMINE_SORTGROUP | QTW_EXAMINE_RTES_BEFORE);
}

// initdb makes them: those of the catalogs' source, which are pinned, collations of the system, and
// the information schema.
bool is_of_postgres(Oid object) {
  return object < FirstNormalObjectId;
}

}  // namespace

void check_catalog_objects(const RefusedQuery& refused, Query* query) {
  Gate gate = {&refused, nullptr};
  check_tree(&gate, nullptr, as<Node>(query));
}

const char* problem_of_predicate(Oid index) {
  Gate gate = {nullptr, nullptr};
  check_predicate(&gate, index);
  return gate.problem;
}

bool passes_gate(Oid catalog, Oid object) {
  return is_of_postgres(object) || is_own_object(catalog, object);
}

bool is_inside_type(Oid type) {
  const Oid base = getBaseType(type);
  const char kind = get_typtype(base);
  if (kind == TYPTYPE_ENUM) return true;
  const Oid element = get_element_type(base);
  if (OidIsValid(element)) return is_inside_type(element);
  return is_of_postgres(base) &&
         (kind == TYPTYPE_BASE || kind == TYPTYPE_RANGE || kind == TYPTYPE_MULTIRANGE);
}

bool is_inside_collation(Oid collation) {
  return OidIsValid(collation) && is_of_postgres(collation) &&
         get_collation_isdeterministic(collation);
}

}  // namespace dpquantile
