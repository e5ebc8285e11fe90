#pragma once

#include "pg/plain/plain_level.hpp"

extern "C" {
#include "nodes/primnodes.h"
}

// The value that most rows have, of a key with a public list:
//
//   SELECT mode() WITHIN GROUP (ORDER BY city) FROM visits
//
// becomes
//
//   SELECT ('{Nice,Oslo,Paris}'::text[])[dp_modal_bin(CASE city WHEN 'Nice' THEN 1 WHEN 'Oslo' THEN
//   2
//            WHEN 'Paris' THEN 3 END, 0.1, '{1,2,3,4}')]
//     FROM visits
//
// Where a key of the list stands for all others, they count for it. As for mode() of PostgreSQL,
// NULL does not count.
namespace dpquantile {

// Whether a node is a call of mode() in its own level.
bool is_mode(const Node* node);

// The answer of such a call, of the type of the key. Refuses keys without a list, or with one of a
// single value or of more than kMaxElements.
Node* modal_key(const PlainLevel* level, const Aggref* call);

}  // namespace dpquantile
