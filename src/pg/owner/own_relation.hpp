#pragma once

#include "pg/server/postgres.hpp"

extern "C" {
#include "fmgr.h"
}

// What the functions for owners of tables have in common: they check that the caller owns the
// relation, and let an internal function change the catalog.
namespace dpquantile {

// Locks the relation that is the first argument, until the end of the transaction: nobody drops or
// renames it meanwhile, or changes its columns. ereports unless it is a relation that the current
// user owns. The role that is charged does not count: code of others may run for a table's owner,
// for example as a function of an index.
Oid lock_own_relation(FunctionCallInfo fcinfo);

// A call of an internal function of schema dpquantile. It runs with the rights of the extension's
// owner, and no other role may call it.
class InternalCall {
 public:
  explicit InternalCall(const char* function) : function_(function) {}

  // The next argument and its declared type.
  void add(Oid type, NullableDatum value);
  void add_text(const char* value);  // null for NULL

  // Calls the function. ereports if the extension has none with these types.
  Datum result() const;

 private:
  static constexpr int kMost = 9;
  const char* function_;
  Oid types_[kMost];
  NullableDatum values_[kMost];
  int count_ = 0;
};

}  // namespace dpquantile
