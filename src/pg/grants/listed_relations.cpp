#include "pg/grants/listed_relations.hpp"

#include "pg/grants/protection_catalog.hpp"
#include "pg/restricted/restricted_session.hpp"
#include "pg/server/trees.hpp"

extern "C" {
#include "access/transam.h"
#include "catalog/pg_type_d.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/typcache.h"
}

namespace dpquantile {

namespace {

// has_table_privilege([user,] table, privilege), and with a column before the privilege
struct Inquiry {
  Oid function;
  bool names_user;
};
constexpr Inquiry kInquiries[] = {
    {F_HAS_TABLE_PRIVILEGE_TEXT_TEXT, false},
    {F_HAS_TABLE_PRIVILEGE_OID_TEXT, false},
    {F_HAS_TABLE_PRIVILEGE_NAME_TEXT_TEXT, true},
    {F_HAS_TABLE_PRIVILEGE_NAME_OID_TEXT, true},
    {F_HAS_ANY_COLUMN_PRIVILEGE_TEXT_TEXT, false},
    {F_HAS_ANY_COLUMN_PRIVILEGE_OID_TEXT, false},
    {F_HAS_ANY_COLUMN_PRIVILEGE_NAME_TEXT_TEXT, true},
    {F_HAS_ANY_COLUMN_PRIVILEGE_NAME_OID_TEXT, true},
    {F_HAS_COLUMN_PRIVILEGE_OID_TEXT_TEXT, false},
    {F_HAS_COLUMN_PRIVILEGE_OID_INT2_TEXT, false},
    {F_HAS_COLUMN_PRIVILEGE_NAME_OID_TEXT_TEXT, true},
    {F_HAS_COLUMN_PRIVILEGE_NAME_OID_INT2_TEXT, true},
};

const Inquiry* find_inquiry(const Node* node) {
  if (!IsA(node, FuncExpr)) return nullptr;
  for (const Inquiry& inquiry : kInquiries) {
    if (as<FuncExpr>(node)->funcid == inquiry.function) return &inquiry;
  }
  return nullptr;
}

bool is_current_user(const Node* node) {
  if (!IsA(node, SQLValueFunction)) return false;
  const SQLValueFunctionOp which = as<SQLValueFunction>(node)->op;
  return which == SVFOP_CURRENT_ROLE || which == SVFOP_CURRENT_USER || which == SVFOP_USER;
}

// A list of privileges asks for any of them. SELECT WITH GRANT OPTION is more than SELECT.
bool asks_for_select(const Node* node) {
  if (!IsA(node, Const)) return false;
  const auto* constant = as<Const>(node);
  if (constant->constisnull) return false;
  char* privileges = TextDatumGetCString(constant->constvalue);
  for (char *rest = nullptr, *privilege = strtok_r(privileges, ",", &rest); privilege != nullptr;
       privilege = strtok_r(nullptr, ",", &rest)) {
    const char* word = privilege + strspn(privilege, " ");
    const size_t length = strcspn(word, " ");
    const bool is_one_word = word[length + strspn(word + length, " ")] == '\0';
    if (is_one_word && length == 6 && pg_strncasecmp(word, "select", length) == 0) return true;
  }
  return false;
}

// The table as an oid, if the node asks whether the current user has SELECT on it; else null.
Expr* table_asked_about(Node* node) {
  const Inquiry* inquiry = find_inquiry(node);
  if (inquiry == nullptr) return nullptr;
  const List* arguments = as<FuncExpr>(node)->args;
  if (!asks_for_select(static_cast<Node*>(llast(arguments)))) return nullptr;
  if (inquiry->names_user && !is_current_user(static_cast<Node*>(linitial(arguments)))) {
    return nullptr;
  }
  auto* table = static_cast<Expr*>(list_nth(arguments, inquiry->names_user ? 1 : 0));
  if (exprType(as<Node>(table)) != TEXTOID) return table;
  FuncExpr* found = makeFuncExpr(F_TO_REGCLASS, REGCLASSOID, list_make1(table), InvalidOid,
                                 InvalidOid, COERCE_EXPLICIT_CALL);
  return as<Expr>(makeRelabelType(as<Expr>(found), OIDOID, -1, InvalidOid, COERCE_IMPLICIT_CAST));
}

bool asks(const Query* query) {
  return any_node(
      query, [](Node* node) { return table_asked_about(node) != nullptr; }, kIntoQueries);
}

// Whether a level of the query reads other relations than those of PostgreSQL, or writes.
bool reads_others(const Query* query) {
  const auto is_of_others = [](const Node* node) {
    if (!IsA(node, Query)) return false;
    const auto* level = as<Query>(node);
    if (level->commandType != CMD_SELECT) return true;
    for (const auto* table : each<const RangeTblEntry>(level->rtable)) {
      if (table->relid >= FirstNormalObjectId) return true;
    }
    return false;
  };
  return any_node(query, is_of_others, kIntoQueries);
}

Const* array_of(const List* relations) {
  auto* elements = static_cast<Datum*>(palloc(sizeof(Datum) * list_length(relations)));
  int count = 0;
  for (const Oid relation : each_oid(relations)) elements[count++] = ObjectIdGetDatum(relation);
  ArrayType* array = construct_array(elements, count, OIDOID, sizeof(Oid), true, TYPALIGN_INT);
  return makeConst(OIDARRAYOID, -1, InvalidOid, -1, PointerGetDatum(array), false, false);
}

// table = ANY ('{…}'::oid[])
Expr* is_one_of(Expr* table, const List* relations) {
  ScalarArrayOpExpr* comparison = makeNode(ScalarArrayOpExpr);
  comparison->opno = lookup_type_cache(OIDOID, TYPECACHE_EQ_OPR)->eq_opr;
  comparison->opfuncid = F_OIDEQ;
  comparison->useOr = true;
  comparison->args = list_make2(table, array_of(relations));
  comparison->location = -1;
  return as<Expr>(comparison);
}

// The inquiry, or whether it is about one of the relations. Null for other nodes.
Node* with_private_relations(Node* node, const List* relations) {
  Expr* table = table_asked_about(node);
  if (table == nullptr) return nullptr;
  Expr* is_private = is_one_of(static_cast<Expr*>(copyObjectImpl(table)), relations);
  return as<Node>(makeBoolExpr(OR_EXPR, list_make2(node, is_private), -1));
}

}  // namespace

bool list_private_relations(Query* query) {
  if (!session_is_restricted() || GetUserId() != GetOuterUserId()) return false;
  if (!asks(query) || reads_others(query)) return false;
  const List* relations = relations_with_private_access(GetUserId());
  if (relations == NIL) return false;
  (void)mapped(
      query, [&](Node* node) { return with_private_relations(node, relations); },
      kIntoQueries | QTW_DONT_COPY_QUERY);
  return true;
}

}  // namespace dpquantile
