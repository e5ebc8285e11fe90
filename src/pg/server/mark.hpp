#pragma once

#include "pg/server/postgres.hpp"

extern "C" {
#include "nodes/parsenodes.h"
}

// A mark is what one stage of a query tells a later one, such as the planner the executor. It is a
// plain struct with a kind, and names its fields:
//
//   struct Price {
//     int epsilons;
//     List* tables;  // of OIDs
//
//     static constexpr MarkKind kKind = {"dpquantile price", 1};
//     void each_field(MarkFields* fields) {
//       fields->integer("epsilons", &epsilons);
//       fields->list("tables", T_OidList, &tables);
//     }
//   };
//
// Encoded it is a list that PostgreSQL copies, writes and reads as it does any node, for the plan
// cache and for parallel workers. A node of the extension has it as custom_private, a query level
// or a plan in its range table.
namespace dpquantile {

struct MarkKind {
  const char* name;
  int layout;  // to be raised when a field comes to mean something else
};

// Writes the fields of a mark, or reads them, in one order. ereports an internal error if a field
// is read that was not written so: its name, its kind or the length of its list is another.
class MarkFields {
 public:
  static constexpr int kAnyLength = -1;

  explicit MarkFields(const MarkKind& kind);              // writes
  MarkFields(const MarkKind& kind, const List* encoded);  // reads

  void truth(const char* name, bool* value);
  void integer(const char* name, int* value);
  void oid(const char* name, Oid* value);
  void text(const char* name, const char** value);    // or null
  void query(const char* name, const Query** value);  // or null
  // A list of this kind (T_IntList, T_OidList or T_List), of so many elements
  void list(const char* name, NodeTag kind, List** value, int length = kAnyLength);
  // A list of String
  void texts(const char* name, List** value, int length);

  // What else holds of the fields before
  void require(bool holds) const;

  // What was written. If it was read, it has been read to its end.
  List* end();

 private:
  // The node of a field, or null: writes `value`, or reads one of this kind.
  Node* pass(const char* name, NodeTag kind, Node* value);

  const char* mark_;
  List* encoded_;
  bool reads_;
  int next_;  // to be read
};

template <class Mark>
List* encode_mark(Mark mark) {
  MarkFields fields(Mark::kKind);
  mark.each_field(&fields);
  return fields.end();
}

template <class Mark>
Mark decode_mark(const List* encoded) {
  Mark mark{};
  MarkFields fields(Mark::kKind, encoded);
  mark.each_field(&fields);
  (void)fields.end();
  return mark;
}

// The mark of this kind in a range table, or NIL. No name decides: a query of a user has none.
List* find_encoded(const List* range_table, const MarkKind& kind);

// Puts the mark into a range table, as an entry that FROM does not name, in the place of another of
// its kind. The planner leaves it in a query level, and takes it from the plan.
void put_encoded(List** range_table, const MarkKind& kind, List* encoded);

// The same with the struct. False, and leaves it as it is, if there is none.
template <class Mark>
bool find_mark(const List* range_table, Mark* mark) {
  const List* encoded = find_encoded(range_table, Mark::kKind);
  if (encoded != NIL) *mark = decode_mark<Mark>(encoded);
  return encoded != NIL;
}

template <class Mark>
void put_mark(List** range_table, const Mark& mark) {
  put_encoded(range_table, Mark::kKind, encode_mark(mark));
}

}  // namespace dpquantile
