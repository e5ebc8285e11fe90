// What keeps a protected view from being asked, found without a query of an analyst.
#include "pg/grants/protection_catalog.hpp"
#include "pg/grants/view_query.hpp"
#include "pg/plain/plain_query.hpp"
#include "pg/plain/private_function.hpp"
#include "pg/protect/protect_hooks.hpp"
#include "pg/server/nodes.hpp"
#include "pg/server/trees.hpp"
#include "pg/vocabulary/foreign_code.hpp"

extern "C" {
#include "access/table.h"
#include "access/xact.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type_d.h"
#include "fmgr.h"
#include "nodes/makefuncs.h"
#include "parser/parse_node.h"
#include "parser/parse_relation.h"
#include "parser/parsetree.h"
#include "rewrite/rewriteHandler.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/resowner.h"
}

namespace dpquantile {

namespace {

// Counts the persons of the view, or its rows.
Node* private_count(Oid view, AttrNumber user_column) {
  if (user_column <= 0) {
    return as<Node>(call_private_aggregate("dp_count", list_make1(float8_constant(1)), -1));
  }
  Oid type;
  int32 modifier;
  Oid collation;
  get_atttypetypmodcoll(view, user_column, &type, &modifier, &collation);
  Node* person = as<Node>(makeVar(1, user_column, type, modifier, collation, 0));
  return as<Node>(
      call_private_aggregate("dp_count_distinct", list_make2(person, float8_constant(1)), -1));
}

// SELECT FROM view, in which the view's query is in the place of the view.
Query* query_of_view(Oid view) {
  ParseState* parser = make_parsestate(nullptr);
  Relation relation = table_open(view, AccessShareLock);
  (void)addRangeTableEntryForRelation(parser, relation, AccessShareLock, nullptr, false, true);
  table_close(relation, NoLock);
  RangeTblRef* entry = makeNode(RangeTblRef);
  entry->rtindex = 1;
  Query* query = makeNode(Query);
  query->commandType = CMD_SELECT;
  query->canSetTag = true;
  query->rtable = parser->p_rtable;
  DPQ_TAKE_PERMISSIONS(query, parser);
  query->jointree = makeFromExpr(list_make1(entry), nullptr);
  return static_cast<Query*>(linitial(QueryRewrite(query)));
}

Query* body_of(const Query* query) {
  return static_cast<const RangeTblEntry*>(linitial(query->rtable))->subquery;
}

// No function of others is called, as for any query of the view.
void find_reasons_in_query(Query* query, Oid view, Oid reader, Reasons* reasons) {
  const bool before = begin_without_foreign_code();
  PG_TRY();
  {
    take_apart_view(query, view, reasons);
    if (reasons->errors == NIL) find_reasons_of_view(query, view, reader, reasons);
  }
  PG_FINALLY();
  end_without_foreign_code(before);
  PG_END_TRY();
}

// What sorts the rows of a view of one table, or chooses them by other rows, is refused whatever
// the table is.
void refuse_order(const Query* body, Oid view, Reasons* reasons) {
  const RefusedQuery refused = {.relation = get_rel_name(view), .reasons = reasons};
  for (const Query* level = body; level != nullptr;) {
    const bool has_limit = level->limitCount != nullptr || level->limitOffset != nullptr;
    if (has_limit || level->sortClause != NIL) {
      attempt(refused, [&] {
        refuse(refused, kNowhere,
               has_limit ? "LIMIT and OFFSET below a private aggregate are not supported: they "
                           "choose rows by other rows"
                         : "ORDER BY below a private aggregate is not supported: it has no effect",
               "Leave it out of the view, and choose rows with WHERE.");
      });
    }
    const auto* from = static_cast<const RangeTblRef*>(linitial(level->jointree->fromlist));
    level = rt_fetch(from->rtindex, level->rtable)->subquery;
  }
}

// A view of nothing but one table may be protected before its table is, or before both are
// protected alike.
void forget_protections(Reasons* reasons) {
  List* others = NIL;
  for (auto* reason : each<ErrorData>(reasons->errors)) {
    const bool may_end = reason->sqlerrcode == ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE;
    if (!may_end) others = lappend(others, reason);
  }
  reasons->errors = others;
}

bool has_subqueries(const Query* body) {
  const auto is_subquery = [](const Node* node) { return IsA(node, SubLink); };
  return any_node(body, is_subquery, kIntoQueries);
}

// `is_new`: the view is just being protected.
void find_reasons_in_view(Oid view, Oid reader, bool is_new, Reasons* reasons) {
  const ProtectedRelation* protection = find_protected_relation(view);
  if (protection == nullptr) return;
  const AttrNumber user_column = protection->user_column;
  Query* query = query_of_view(view);
  const bool has_one_table = shows_one_table(body_of(query));
  const bool reads_subqueries = has_subqueries(body_of(query));
  if (has_one_table) refuse_order(body_of(query), view, reasons);
  if (reasons->errors != NIL) return;
  // SELECT dp_count_distinct(person, 1) FROM view: answered if any query of the view is.
  Node* count = private_count(view, user_column);
  query->targetList = list_make1(makeTargetEntry(as<Expr>(count), 1, pstrdup("count"), false));
  query->hasAggs = true;
  find_reasons_in_query(query, view, reader, reasons);
  if (is_new && has_one_table && !reads_subqueries) forget_protections(reasons);
}

// What the rules have changed half is forgotten with the subtransaction.
void find_reasons_aside(Oid view, Oid reader, bool is_new, Reasons* reasons) {
  const MemoryContext context = CurrentMemoryContext;
  const ResourceOwner owner = CurrentResourceOwner;
  ErrorData* volatile error = nullptr;
  BeginInternalSubTransaction(nullptr);
  MemoryContextSwitchTo(context);
  PG_TRY();
  find_reasons_in_view(view, reader, is_new, reasons);
  PG_CATCH();
  {
    MemoryContextSwitchTo(context);
    error = CopyErrorData();
    FlushErrorState();
  }
  PG_END_TRY();
  RollbackAndReleaseCurrentSubTransaction();
  MemoryContextSwitchTo(context);
  CurrentResourceOwner = owner;
  if (error != nullptr) ReThrowError(error);
}

// The message of a right that is missing is in its detail.
const char* text_of(const ErrorData* reason) {
  const bool is_right = reason->sqlerrcode == ERRCODE_INSUFFICIENT_PRIVILEGE;
  return is_right && reason->detail != nullptr ? reason->detail : reason->message;
}

}  // namespace

}  // namespace dpquantile

using namespace dpquantile;

// (relation regclass, role oid) returns text[]: why queries of a view are refused, with a hint.
// role: who asks, 0 for anybody, NULL while the view is being protected.
DPQ_FUNCTION(dpq_problem_of_view) {
  if (PG_ARGISNULL(0) || get_rel_relkind(PG_GETARG_OID(0)) != RELKIND_VIEW) PG_RETURN_NULL();
  Reasons reasons{};
  const bool is_new = PG_ARGISNULL(1);
  find_reasons_aside(PG_GETARG_OID(0), is_new ? InvalidOid : PG_GETARG_OID(1), is_new, &reasons);
  if (reasons.errors == NIL) PG_RETURN_NULL();
  const auto* reason = static_cast<const ErrorData*>(linitial(reasons.errors));
  Datum texts[] = {CStringGetTextDatum(text_of(reason)),
                   CStringGetTextDatum(reason->hint == nullptr ? "" : reason->hint)};
  PG_RETURN_ARRAYTYPE_P(construct_array(texts, 2, TEXTOID, -1, false, TYPALIGN_INT));
}

// (relation regclass) returns oid[]: the tables and views of whose rows those of a view are made.
DPQ_FUNCTION(dpq_relations_in_view) {
  const Oid view = PG_GETARG_OID(0);
  if (get_rel_relkind(view) != RELKIND_VIEW) PG_RETURN_NULL();
  const List* relations = relations_in_view(body_of(query_of_view(view)));
  auto* oids = static_cast<Datum*>(palloc(sizeof(Datum) * (list_length(relations) + 1)));
  int count = 0;
  for (const Oid relation : each_oid(relations)) oids[count++] = ObjectIdGetDatum(relation);
  PG_RETURN_ARRAYTYPE_P(construct_array(oids, count, OIDOID, sizeof(Oid), true, TYPALIGN_INT));
}
