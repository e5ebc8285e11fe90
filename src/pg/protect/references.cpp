#include "pg/protect/references.hpp"

#include "pg/grants/protection_catalog.hpp"
#include "pg/grants/reference.hpp"
#include "pg/protect/joined_persons.hpp"
#include "pg/protect/key_comparison.hpp"
#include "pg/server/trees.hpp"

extern "C" {
#include "access/sysattr.h"
#include "access/table.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type_d.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "parser/parse_node.h"
#include "parser/parse_relation.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
}

namespace dpquantile {

namespace {

// An entry of FROM whose rows refer to those of another table.
struct Referring {
  RangeTblEntry* entry;
  RelationPermissions* permissions;
  const Reference* reference;
};

// A column that nobody can name by chance.
constexpr char kPersonName[] = "dpquantile person";

Node* column_of(Oid table, int number, AttrNumber column) {
  Oid type;
  int32 modifier;
  Oid collation;
  get_atttypetypmodcoll(table, column, &type, &modifier, &collation);
  return as<Node>(makeVar(number, column, type, modifier, collation, 0));
}

RangeTblRef* entry_in_from(int number) {
  RangeTblRef* entry = makeNode(RangeTblRef);
  entry->rtindex = number;
  return entry;
}

void add_target(Query* query, Node* value, const char* name) {
  const auto number = static_cast<AttrNumber>(list_length(query->targetList) + 1);
  query->targetList =
      lappend(query->targetList, makeTargetEntry(as<Expr>(value), number, pstrdup(name), false));
}

// All columns of a table. A dropped one keeps its number.
void add_columns_of(Query* query, Oid table, int number) {
  Relation relation = table_open(table, NoLock);
  const TupleDesc columns = RelationGetDescr(relation);
  for (int i = 0; i < columns->natts; ++i) {
    const FormData_pg_attribute* column = TupleDescAttr(columns, i);
    Node* value = column->attisdropped
                      ? as<Node>(makeNullConst(INT4OID, -1, InvalidOid))
                      : as<Node>(makeVar(number, column->attnum, column->atttypid,
                                         column->atttypmod, column->attcollation, 0));
    add_target(query, value, NameStr(column->attname));
  }
  table_close(relation, NoLock);
}

void read_column(RelationPermissions* permissions, AttrNumber column) {
  permissions->selectedCols =
      bms_add_member(permissions->selectedCols, column - FirstLowInvalidHeapAttributeNumber);
}

// A query whose only entry is the table that the reference leads to.
Query* query_of_referenced(const Reference* reference, RelationPermissions** permissions) {
  ParseState* parser = make_parsestate(nullptr);
  Relation table = table_open(reference->referenced, AccessShareLock);
  // Partitions share its keys, other children have keys of their own.
  const bool has_partitions = table->rd_rel->relkind == RELKIND_PARTITIONED_TABLE;
  const ParseNamespaceItem* item =
      addRangeTableEntryForRelation(parser, table, AccessShareLock, nullptr, has_partitions, true);
  table_close(table, NoLock);
  *permissions = DPQ_PERMISSIONS_OF_ITEM(item);
  for (int i = 0; i < reference->columns; ++i) read_column(*permissions, reference->key[i]);
  Query* query = makeNode(Query);
  query->commandType = CMD_SELECT;
  query->canSetTag = true;
  query->rtable = parser->p_rtable;
  DPQ_TAKE_PERMISSIONS(query, parser);
  return query;
}

void lower_entry(JudgedStatement* statement, Query* query, int number,
                 RelationPermissions* permissions, const Reference* reference);
const Reference* reference_of(const JudgedStatement* statement, Oid table);

// The person of the rows of the first entry, the table that the reference leads to.
Node* person_of_referenced(JudgedStatement* statement, Query* query,
                           RelationPermissions* permissions) {
  BorrowedRelation* persons = borrow_referenced(permissions);
  if (persons == nullptr) {
    refuse_right(statement->refused, kNowhere, "The table that says whose its rows are is gone.",
                 "Ask its owner to protect it again: dp_protect_table.");
  }
  statement->borrowed = lappend(statement->borrowed, persons);
  if (!OidIsValid(persons->through)) {
    read_column(permissions, persons->user_column);
    return column_of(permissions->relid, 1, persons->user_column);
  }
  lower_entry(statement, query, 1, permissions, reference_of(statement, permissions->relid));
  const auto* entry = static_cast<const RangeTblEntry*>(linitial(query->rtable));
  const auto* person = static_cast<const TargetEntry*>(llast(entry->subquery->targetList));
  const auto* value = as<Node>(person->expr);
  return as<Node>(
      makeVar(1, person->resno, exprType(value), exprTypmod(value), exprCollation(value), 0));
}

// SELECT lines.*, orders.person FROM orders, lines WHERE orders.key = lines.own
Query* rows_with_persons(JudgedStatement* statement, const Referring& rows) {
  const Reference* reference = rows.reference;
  RelationPermissions* permissions = nullptr;
  Query* query = query_of_referenced(reference, &permissions);
  query->rtable = lappend(query->rtable, rows.entry);
  DPQ_MOVE_ENTRY(query, rows.entry, rows.permissions);
  Node* person = person_of_referenced(statement, query, permissions);
  List* terms = NIL;
  for (int i = 0; i < reference->columns; ++i) {
    terms = lappend(terms, equality_of(reference->equality[i],
                                       column_of(reference->referenced, 1, reference->key[i]),
                                       column_of(reference->relation, 2, reference->own[i])));
    read_column(rows.permissions, reference->own[i]);
  }
  query->jointree = makeFromExpr(list_make2(entry_in_from(1), entry_in_from(2)),
                                 as<Node>(make_ands_explicit(terms)));
  add_columns_of(query, reference->relation, 2);
  add_target(query, person, kPersonName);
  return query;
}

const Reference* reference_of(const JudgedStatement* statement, Oid table) {
  const ProtectedRelation* protection = find_protected_relation(table);
  const char* problem = "is not protected through a table";
  const Reference* reference =
      protection == nullptr
          ? nullptr
          : find_reference(table, protection->reference_column, protection->through, &problem);
  if (reference != nullptr) return reference;
  refuse_right(
      statement->refused, kNowhere,
      psprintf("The column by which \"%s\" reaches its persons %s.", get_rel_name(table), problem),
      "Ask its owner to protect it again: dp_protect_table.");
}

// The names of the columns of a derived table. An entry of a view lacks those that its table got
// after the view was created.
List* names_of_columns(const Query* query, const Alias* known) {
  List* names = static_cast<List*>(copyObjectImpl(known->colnames));
  for (int i = list_length(names); i < list_length(query->targetList); ++i) {
    const auto* column = static_cast<const TargetEntry*>(list_nth(query->targetList, i));
    names = lappend(names, makeString(pstrdup(column->resname)));
  }
  return names;
}

void lower_entry(JudgedStatement* statement, Query* query, int number,
                 RelationPermissions* permissions, const Reference* reference) {
  check_stack_depth();
  ListCell* cell = list_nth_cell(query->rtable, number - 1);
  auto* rows = static_cast<RangeTblEntry*>(lfirst(cell));
  RangeTblEntry* derived = makeNode(RangeTblEntry);
  derived->rtekind = RTE_SUBQUERY;
  derived->alias = static_cast<Alias*>(copyObjectImpl(rows->alias));
  derived->inFromCl = rows->inFromCl;
  derived->subquery = rows_with_persons(statement, {rows, permissions, reference});
  derived->eref = makeAlias(rows->eref->aliasname, names_of_columns(derived->subquery, rows->eref));
  lfirst(cell) = derived;
}

// The reference of an entry that has no persons; null if it has some.
const Reference* reference_to_join(const JudgedStatement* statement, const Level* level,
                                   int number) {
  const BorrowedRelation* relation = entry_of(level, number).borrowed;
  const bool refers = relation != nullptr && OidIsValid(relation->through) &&
                      rt_fetch(number, level->query->rtable)->rtekind == RTE_RELATION;
  if (!refers) return nullptr;
  const Reference* reference = reference_of(statement, relation->permissions->relid);
  return has_joined_persons(level, number, *reference) ? nullptr : reference;
}

bool is_added_column(const Query* query, const Node* node) {
  if (!IsA(node, Var) || as<Var>(node)->varlevelsup > 0) return false;
  const auto* table = rt_fetch(as<Var>(node)->varno, query->rtable);
  return table->rtekind == RTE_RELATION && as<Var>(node)->varattno == added_person_of(table->relid);
}

}  // namespace

bool names_added_persons(const Query* query) {
  const auto is_added = [=](const Node* node) { return is_added_column(query, node); };
  return any_node(query->targetList, is_added) || any_node(query->havingQual, is_added);
}

void lower_references(JudgedStatement* statement, const Level* level) {
  for (int number = 1; number <= list_length(level->query->rtable); ++number) {
    const Reference* reference = reference_to_join(statement, level, number);
    if (reference == nullptr) continue;
    lower_entry(statement, level->query, number, entry_of(level, number).borrowed->permissions,
                reference);
  }
  for (const auto* below : each<const Level>(level->below)) lower_references(statement, below);
}

}  // namespace dpquantile
