#include "pg/server/mark.hpp"

#include "pg/server/nodes.hpp"

extern "C" {
#include "nodes/makefuncs.h"
#include "nodes/value.h"
}

namespace dpquantile {

// The first field has the name of the kind.
MarkFields::MarkFields(const MarkKind& kind)
    : mark_(kind.name), encoded_(NIL), reads_(false), next_(0) {
  int layout = kind.layout;
  integer(mark_, &layout);
}

MarkFields::MarkFields(const MarkKind& kind, const List* encoded)
    : mark_(kind.name), encoded_(const_cast<List*>(encoded)), reads_(true), next_(0) {
  int layout;
  integer(mark_, &layout);
  require(layout == kind.layout);
}

void MarkFields::require(bool holds) const {
  if (holds) return;
  ereport(ERROR, (errcode(ERRCODE_INTERNAL_ERROR),
                  errmsg("the mark \"%s\" of a query cannot be read", mark_),
                  errhint("Report this to the maintainers of dpquantile.")));
}

Node* MarkFields::pass(const char* name, NodeTag kind, Node* value) {
  if (!reads_) {
    encoded_ = lappend(encoded_, makeDefElem(const_cast<char*>(name), value, -1));
    return value;
  }
  require(next_ < list_length(encoded_));
  const auto* field = static_cast<const DefElem*>(list_nth(encoded_, next_++));
  require(IsA(field, DefElem) && strcmp(field->defname, name) == 0);
  require(field->arg == nullptr || nodeTag(field->arg) == kind);
  return field->arg;
}

void MarkFields::truth(const char* name, bool* value) {
  Node* node = pass(name, T_Boolean, reads_ ? nullptr : as<Node>(makeBoolean(*value)));
  require(node != nullptr);
  *value = boolVal(node);
}

void MarkFields::integer(const char* name, int* value) {
  Node* node = pass(name, T_Integer, reads_ ? nullptr : as<Node>(makeInteger(*value)));
  require(node != nullptr);
  *value = intVal(node);
}

void MarkFields::oid(const char* name, Oid* value) {
  auto number = static_cast<int>(*value);
  integer(name, &number);
  *value = static_cast<Oid>(number);
}

void MarkFields::text(const char* name, const char** value) {
  const bool is_null = reads_ || *value == nullptr;
  Node* node = pass(name, T_String, is_null ? nullptr : as<Node>(makeString(pstrdup(*value))));
  *value = node == nullptr ? nullptr : strVal(node);
}

void MarkFields::query(const char* name, const Query** value) {
  *value = as<Query>(pass(name, T_Query, as<Node>(const_cast<Query*>(*value))));
}

void MarkFields::list(const char* name, NodeTag kind, List** value, int length) {
  *value = as<List>(pass(name, kind, as<Node>(*value)));
  require(length == kAnyLength || list_length(*value) == length);
}

void MarkFields::texts(const char* name, List** value, int length) {
  list(name, T_List, value, length);
  for (const auto* text : each<const Node>(*value)) require(IsA(text, String));
}

List* MarkFields::end() {
  require(!reads_ || next_ == list_length(encoded_));
  return encoded_;
}

namespace {

// The types of the columns of a VALUES list are OIDs, so a list of nodes is no query's. PostgreSQL
// reads a type only when it reads a column of the list, and a mark has no columns. Only the planner
// takes the types away.
RangeTblEntry* find_entry(const List* range_table, const MarkKind& kind) {
  for (auto* entry : each<RangeTblEntry>(range_table)) {
    const List* types = entry->rtekind == RTE_VALUES ? entry->coltypes : NIL;
    if (types == NIL || !IsA(types, List)) continue;
    const auto* first = static_cast<const DefElem*>(linitial(types));
    if (IsA(first, DefElem) && strcmp(first->defname, kind.name) == 0) return entry;
  }
  return nullptr;
}

}  // namespace

List* find_encoded(const List* range_table, const MarkKind& kind) {
  const RangeTblEntry* entry = find_entry(range_table, kind);
  return entry == nullptr ? NIL : entry->coltypes;
}

void put_encoded(List** range_table, const MarkKind& kind, List* encoded) {
  RangeTblEntry* entry = find_entry(*range_table, kind);
  if (entry == nullptr) {
    entry = makeNode(RangeTblEntry);
    entry->rtekind = RTE_VALUES;
    entry->eref = makeAlias(kind.name, NIL);
    *range_table = lappend(*range_table, entry);
  }
  entry->coltypes = encoded;
}

}  // namespace dpquantile
