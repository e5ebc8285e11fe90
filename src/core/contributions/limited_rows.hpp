#pragma once

#include <cstdint>
#include <span>

#include "core/base/sip_hash.hpp"
#include "core/base/workspace.hpp"

namespace dpquantile {

// A row of a query: the keyed hashes of its user and of all its values that the query uses.
struct HashedRow {
  std::uint64_t user;
  SipHash128 values;
};

// Leaves each user at most `most` rows: kept[i] becomes 1 if rows[i] is kept, and 0 if not. Of a
// user with more rows it keeps a random sample, in which each row is as likely as any other. Rows
// of a user with one hash are the same for the query; they are numbered, and those are kept whose
// hashes of values and number, under `key`, are the smallest. Which of the same rows has which
// number does not matter. O(n) time besides sorting the rows of each user, scratch memory for two
// numbers of 64 bits a row.
//
// Privacy: not private, an input of a mechanism. For every key that does not depend on the data,
// adding or removing all rows of one user adds or removes at most `most` kept rows, and changes
// nobody else's: which values of a user are kept, and how often, is a function of the keys and of
// this user's own rows alone, and not of their order. Replacing one row replaces at most one that
// is kept. (Users whose hashes collide count as one, and different rows whose hashes collide are
// the same; docs/privacy.md, "Rows of a person".) The key and that of the values must be secret and
// random, so that nobody can choose which rows are kept.
//
// Requires kept.size() == rows.size(). Throws Cancelled, std::bad_alloc.
void limit_rows(std::span<const HashedRow> rows, std::uint64_t most, const SipKey& key,
                std::span<std::uint8_t> kept, const Workspace& work);

}  // namespace dpquantile
