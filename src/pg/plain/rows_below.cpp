#include "pg/plain/rows_below.hpp"

#include "pg/parameters/private_call.hpp"
#include "pg/plain/evaluated_key.hpp"
#include "pg/plain/private_function.hpp"
#include "pg/plain/standard_aggregate.hpp"
#include "pg/server/trees.hpp"
#include "pg/vocabulary/written_values.hpp"

extern "C" {
#include "access/htup_details.h"
#include "catalog/pg_aggregate.h"
#include "catalog/pg_collation.h"
#include "nodes/makefuncs.h"
#include "optimizer/optimizer.h"
#include "parser/analyze.h"
#include "parser/parser.h"
#include "rewrite/rewriteManip.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
}

namespace dpquantile {

namespace {

// More aggregates cannot be charged, and each has an argument and a filter at most.
constexpr int kMostColumns = 200;

bool is_key(const RowsBelow& rows, const Node* node) {
  return list_member(rows.keys, node);
}

// Arguments and filter of a call are computed of the rows, so below the join. Implicit casts stay
// above it, where the release finds and leaves them out, as in a query without a list. The cast of
// a percentile to float8 stays above: what it is one of tells its grid.
void add_columns(RowsBelow* rows, const Aggref* call) {
  for (auto* entry : each<TargetEntry>(call->args)) {
    const bool is_of_percentile = AGGKIND_IS_ORDERED_SET(call->aggkind);
    add_column(rows, is_of_percentile && entry == linitial(call->args)
                         ? value_of_percentile(call)
                         : without_implicit_cast(as<Node>(entry->expr)));
  }
  add_column(rows, as<Node>(call->aggfilter));
}

// The derived table shows texts in the place of the rows that are counted.
void put_texts_for_rows(const Node* tree) {
  visit_nodes(tree, [](Node* node) {
    auto* call = as<Aggref>(node);
    if (!IsA(node, Aggref) || call->agglevelsup > 0) return;
    const FamilyRow* family = private_family(call);
    const bool is_private = family != nullptr && family->family == Family::kDistinct;
    if (is_private || (call->aggfnoid == F_COUNT_ANY && call->aggdistinct != NIL)) {
      (void)put_text_for_row(call);
    }
  });
}

// The new columns count the query levels from the same level as the old ones.
Node* moved_call(const RowsBelow& rows, Node* call) {
  return mapped(call, [&](Node* node) {
    Node* column = counterpart(rows.columns, rows.new_columns, node);
    if (column != nullptr) as<Var>(column)->location = exprLocation(node);
    return column;
  });
}

template <class Tree>
Tree* moved(const RowsBelow& rows, Tree* tree) {
  return mapped(tree, [&](Node* node) {
    Node* key = counterpart(rows.keys, rows.new_keys, node);
    return key == nullptr && IsA(node, Aggref) ? moved_call(rows, node) : key;
  });
}

}  // namespace

void add_column(RowsBelow* rows, Node* expression) {
  if (expression == nullptr || !contain_vars_of_level(expression, 0)) return;
  if (list_member(rows->columns, expression)) return;
  CHECK_FOR_INTERRUPTS();
  rows->columns = lappend(rows->columns, expression);
}

bool find_columns(Node* expression, RowsBelow* rows) {
  put_texts_for_rows(expression);
  return search(expression, [&](Node* node) {
    if (is_key(*rows, node)) return Look::kPast;
    const bool is_column = IsA(node, Var) && as<Var>(node)->varlevelsup == 0;
    if (is_column || IsA(node, SubLink)) return Look::kFound;
    if (!IsA(node, Aggref)) return Look::kBelow;
    // The WITH queries move below the join, and subqueries of parameters stay.
    if (rows->moves_ctes && checkExprHasSubLink(node)) return Look::kFound;
    add_columns(rows, as<Aggref>(node));
    return Look::kPast;
  });
}

void check_columns(const PlainLevel* level, const RowsBelow& rows) {
  if (list_length(rows.columns) <= kMostColumns) return;
  refuse_with_code(level->refused, ERRCODE_PROGRAM_LIMIT_EXCEEDED, kNowhere,
                   psprintf("the aggregates have more than %d arguments and filters", kMostColumns),
                   "Split the query into several.");
}

char* type_and_collation(const Node* expression) {
  char* type = format_type_extended(exprType(expression), exprTypmod(expression),
                                    FORMAT_TYPE_TYPEMOD_GIVEN | FORMAT_TYPE_FORCE_QUALIFY);
  const Oid collation = exprCollation(expression);
  if (!OidIsValid(collation) || collation == DEFAULT_COLLATION_OID) return type;
  HeapTuple row = SearchSysCache1(COLLOID, ObjectIdGetDatum(collation));
  if (!HeapTupleIsValid(row)) return type;
  const auto* form = reinterpret_cast<Form_pg_collation>(GETSTRUCT(row));
  type = psprintf(
      "%s COLLATE %s", type,
      quote_qualified_identifier(get_namespace_name(form->collnamespace), NameStr(form->collname)));
  ReleaseSysCache(row);
  return type;
}

void append_nulls(StringInfo text, const char* prefix, const List* expressions) {
  const ListCell* cell;
  foreach (cell, expressions) {
    appendStringInfo(text, "NULL::%s AS %s%d, ",
                     type_and_collation(static_cast<const Node*>(lfirst(cell))), prefix,
                     foreach_current_index(cell));
  }
}

Query* parse_template(const char* text) {
  const int level = NewGUCNestLevel();
  (void)set_config_option("search_path", "pg_catalog, pg_temp", PGC_USERSET, PGC_S_SESSION,
                          GUC_ACTION_SAVE, true, 0, false);
  auto* raw = static_cast<RawStmt*>(linitial(raw_parser(text, RAW_PARSE_DEFAULT)));
  Query* query = parse_analyze_fixedparams(raw, text, nullptr, 0, nullptr);
  AtEOXact_GUC(true, level);
  return query;
}

Query* make_source(const Query* query) {
  Query* source = makeNode(Query);
  source->commandType = CMD_SELECT;
  source->canSetTag = true;
  source->rtable = query->rtable;
  DPQ_MOVE_PERMISSIONS(source, query);
  source->jointree = query->jointree;
  source->cteList = query->cteList;
  source->hasRecursive = query->hasRecursive;
  source->hasModifyingCTE = query->hasModifyingCTE;
  source->hasSubLinks = query->hasSubLinks;
  for (auto* table : each<RangeTblEntry>(source->rtable)) DPQ_FORGET_GROUP_ENTRY(table);
  return source;
}

void add_source_column(Query* source, Node* expression, const char* name) {
  const auto number = static_cast<AttrNumber>(list_length(source->targetList) + 1);
  source->targetList = lappend(source->targetList,
                               makeTargetEntry(as<Expr>(expression), number, pstrdup(name), false));
}

void add_source_columns(Query* source, const List* expressions, const char* prefix) {
  const ListCell* cell;
  foreach (cell, expressions) {
    add_source_column(source, static_cast<Node*>(copyObjectImpl(lfirst(cell))),
                      psprintf("%s%d", prefix, foreach_current_index(cell)));
  }
}

void put_below(Query* source) {
  IncrementVarSublevelsUp(as<Node>(source), 1, 1);
}

Node* over_rows_below(const RowsBelow& rows, Node* expression) {
  return moved(rows, expression);
}

void select_from_made(Query* query, Query* made, const RowsBelow& rows) {
  query->targetList = moved(rows, query->targetList);
  query->havingQual = moved(rows, query->havingQual);
  query->rtable = made->rtable;
  DPQ_MOVE_PERMISSIONS(query, made);
  DPQ_FORGET_GROUP_KEYS(query);
  query->jointree = made->jointree;
  query->cteList = NIL;
  query->hasRecursive = false;
  query->hasModifyingCTE = false;
  query->hasSubLinks =
      checkExprHasSubLink(as<Node>(query->targetList)) || checkExprHasSubLink(query->havingQual) ||
      checkExprHasSubLink(query->limitCount) || checkExprHasSubLink(query->limitOffset);
}

}  // namespace dpquantile
