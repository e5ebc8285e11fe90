#include "pg/reuse/query_identity.hpp"

#include "pg/query/level.hpp"
#include "pg/reuse/answer_order.hpp"
#include "pg/reuse/catalog_version.hpp"
#include "pg/server/level_mark.hpp"
#include "pg/server/trees.hpp"

extern "C" {
#include "miscadmin.h"
#include "nodes/pathnodes.h"
#include "nodes/primnodes.h"
}

namespace dpquantile {

namespace {

// A level is printed with all levels below, so deep queries would take quadratic time.
constexpr int64 kMostBytes = 1 << 20;
constexpr char kLocation[] = ":location ";

// ---- What does not count -------------------------------------------------------------------

void forget_spelling_of_node(Node* node) {
  if (IsA(node, Query)) {
    auto* query = as<Query>(node);
    query->stmt_location = -1;
    query->stmt_len = 0;
    query->queryId = 0;
    query->canSetTag = true;  // not in WITH
  } else if (IsA(node, RangeTblEntry)) {
    auto* entry = as<RangeTblEntry>(node);
    entry->alias = nullptr;
    entry->eref = nullptr;
  } else if (IsA(node, TargetEntry)) {
    auto* column = as<TargetEntry>(node);
    column->resname = nullptr;
    column->resorigtbl = InvalidOid;
    column->resorigcol = 0;
  } else if (IsA(node, JoinExpr)) {
    as<JoinExpr>(node)->alias = nullptr;
    as<JoinExpr>(node)->join_using_alias = nullptr;
  }
}

// Changes the query.
void forget_spelling(Query* query) {
  visit_nodes(query, forget_spelling_of_node, kIntoQueries | QTW_EXAMINE_RTES_BEFORE);
}

// No name and no constant looks like a location: their spaces are escaped.
void forget_locations(char* text) {
  char* to = text;
  for (const char* from = text; *from != '\0';) {
    if (strncmp(from, kLocation, sizeof kLocation - 1) != 0) {
      *to++ = *from++;
      continue;
    }
    from += sizeof kLocation - 1;
    if (*from == '-') ++from;
    while (*from >= '0' && *from <= '9') ++from;
  }
  *to = '\0';
}

// ---- The text of a level -------------------------------------------------------------------

// All that the level and those below it say: the text without its spelling, which has the types,
// collations and so on of each expression, and the relations behind its OIDs. Null if the statement
// has too many bytes.
char* text_without_spelling(const Query* query, bool is_top, int64* bytes_left) {
  CHECK_FOR_INTERRUPTS();
  if (*bytes_left <= 0) return nullptr;
  auto* copy = static_cast<Query*>(copyObjectImpl(query));
  if (copy->hasAggs) forget_order(copy, is_top);
  forget_spelling(copy);
  char* text = nodeToString(copy);
  *bytes_left -= static_cast<int64>(strlen(text));
  forget_locations(text);
  return text;
}

// `around` counts if it is not null.
SecretHash hash_of_level(const char* kind, const Level* level, const char* text,
                         const SecretHash* around) {
  Fields fields = make_fields();
  add_text(&fields, kind);
  add_number(&fields, around == nullptr ? 0 : 1);
  if (around != nullptr) add_bytes(&fields, around->bytes, sizeof around->bytes);
  add_text(&fields, text);
  for (const Oid relation : each_oid(level->relations)) add_relation(&fields, relation);
  return secret_hash(&fields);
}

// ---- All levels ----------------------------------------------------------------------------

// What a level means depends on the CTEs of the levels around it if it reads one.
struct Stamp {
  SecretHash around;
  bool is_top;
  int64* bytes_left;  // of text for all levels; levels beyond have no identity
};

// A level that takes values from those around it has no identity, whatever the planner puts in
// their place.
void stamp_level(const Level* level, const Stamp& outer) {
  Query* query = level->query;
  Stamp below = {outer.around, false, outer.bytes_left};
  const bool counts = query->hasAggs || query->cteList != NIL;
  char* text = counts ? text_without_spelling(query, outer.is_top, outer.bytes_left) : nullptr;
  SecretHash identity;
  const bool has_identity = query->hasAggs && text != nullptr && level->outer_values == 0;
  if (has_identity) {
    identity = hash_of_level("level", level, text, level->outer_ctes > 0 ? &outer.around : nullptr);
  }
  if (query->cteList != NIL && text != nullptr) {
    below.around = hash_of_level("ctes", level, text, &outer.around);
  }
  if (text != nullptr) pfree(text);
  for (const auto* inner : each<const Level>(level->below)) stamp_level(inner, below);
  if (!has_identity) return;
  LevelMark mark{};
  mark.identity = text_of_hash(identity);
  put_mark(&query->rtable, mark);
}

}  // namespace

void stamp_identities(Query* query) {
  int64 bytes_left = kMostBytes;
  if (has_secret()) stamp_level(read_statement(query, NIL)->top, {{}, true, &bytes_left});
}

SecretHash identity_of_expression(const Node* expression) {
  if (!has_secret()) return {};
  char* text = nodeToString(expression);
  forget_locations(text);
  Fields fields = make_fields();
  add_text(&fields, "expression");
  add_text(&fields, text);
  return secret_hash(&fields);
}

// ---- Columns -------------------------------------------------------------------------------

namespace {

// The planner puts NULL in the place of a column that nobody uses.
void add_use_of_columns(const Query* query, Fields* fields) {
  for (const auto* column : each<const TargetEntry>(query->targetList)) {
    const bool is_unused = IsA(column->expr, Const) && as<Const>(column->expr)->constisnull;
    if (!column->resjunk) add_number(fields, is_unused ? 1 : 2);
  }
  add_number(fields, 0);
}

void add_keys_of(const GroupingFunc* function, const ReferenceNumbers& keys, Fields* fields) {
  add_number(fields, static_cast<uint64>(list_length(function->refs)));
  for (const int number : each_int(function->refs)) {
    add_number(fields, number_of(keys, static_cast<Index>(number)));
  }
}

// What a column is, with the identity of the level: the planner numbers the aggregates in the order
// of the query's text. Returns false if that does not say it.
bool add_column(const Node* expression, Index key, const ReferenceNumbers& keys, Fields* fields) {
  add_number(fields, static_cast<uint64>(nodeTag(expression)));
  add_number(fields, exprType(expression));
  add_number(fields, static_cast<uint64>(exprTypmod(expression)));
  add_number(fields, exprCollation(expression));
  add_number(fields, number_of(keys, key));
  if (IsA(expression, Aggref)) {
    const auto* call = as<Aggref>(expression);
    add_number(fields, call->aggfnoid);
    add_number(fields, static_cast<uint64>(call->aggno));
  } else if (IsA(expression, GroupingFunc)) {
    add_keys_of(as<GroupingFunc>(expression), keys, fields);
  } else if (IsA(expression, Var)) {
    const auto* column = as<Var>(expression);
    add_number(fields, static_cast<uint64>(column->varno));
    add_number(fields, static_cast<uint64>(column->varattno));
  } else if (IsA(expression, PlaceHolderVar)) {
    add_number(fields, as<PlaceHolderVar>(expression)->phid);
  } else {
    return number_of(keys, key) != 0;
  }
  return true;
}

}  // namespace

const char* identity_with_columns(const Query* query, const PathTarget* columns) {
  const LevelMark mark = mark_of_level(query);
  if (mark.identity == nullptr) return nullptr;
  const SecretHash level = hash_of_text(mark.identity);
  Fields fields = make_fields();
  add_text(&fields, "columns");
  add_bytes(&fields, level.bytes, sizeof level.bytes);
  add_use_of_columns(query, &fields);
  const ReferenceNumbers keys = number_references(query);
  add_number(&fields, static_cast<uint64>(list_length(columns->exprs)));
  const ListCell* cell;
  foreach (cell, columns->exprs) {
    const Index reference = get_pathtarget_sortgroupref(columns, foreach_current_index(cell));
    if (!add_column(static_cast<const Node*>(lfirst(cell)), reference, keys, &fields)) {
      return nullptr;
    }
  }
  return text_of_hash(secret_hash(&fields));
}

}  // namespace dpquantile
