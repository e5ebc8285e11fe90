#pragma once

#include "pg/server/postgres.hpp"

extern "C" {
#include "nodes/pg_list.h"
}

// PostgreSQL's nodes and lists in the words of C++. Nothing here allocates or fails.
namespace dpquantile {

// A node as one of its kind, which its tag must say: IsA(node, Var) comes before as<Var>(node). A
// node that begins with another one may be taken as that: as<Node>(call), as<Expr>(call). What is
// const stays const.
template <class Kind, class From>
Kind* as(From* node) {
  return reinterpret_cast<Kind*>(node);
}
template <class Kind, class From>
const Kind* as(const From* node) {
  return reinterpret_cast<const Kind*>(node);
}

// The elements of a list, for a loop that does not change it:
//
//   for (auto* entry : each<TargetEntry>(query->targetList)) ...
//   for (const Oid relation : each_oid(relations)) ...
template <class Element, Element (*read)(const ListCell* cell)>
class Elements {
 public:
  class Iterator {
   public:
    explicit Iterator(const ListCell* cell) : cell_(cell) {}
    Element operator*() const { return read(cell_); }
    Iterator& operator++() {
      ++cell_;
      return *this;
    }
    bool operator==(const Iterator&) const = default;

   private:
    const ListCell* cell_;
  };

  explicit Elements(const List* list) : list_(list) {}
  Iterator begin() const { return Iterator(list_ == NIL ? nullptr : list_->elements); }
  Iterator end() const {
    return Iterator(list_ == NIL ? nullptr : list_->elements + list_->length);
  }

 private:
  const List* list_;
};

template <class Element>
Element* read_pointer(const ListCell* cell) {
  return static_cast<Element*>(lfirst(cell));
}
inline Oid read_oid(const ListCell* cell) {
  return lfirst_oid(cell);
}
inline int read_int(const ListCell* cell) {
  return lfirst_int(cell);
}

template <class Element>
Elements<Element*, read_pointer<Element>> each(const List* list) {
  return Elements<Element*, read_pointer<Element>>(list);
}
inline Elements<Oid, read_oid> each_oid(const List* list) {
  return Elements<Oid, read_oid>(list);
}
inline Elements<int, read_int> each_int(const List* list) {
  return Elements<int, read_int>(list);
}

}  // namespace dpquantile
