#pragma once

#include "pg/reuse/secret_hash.hpp"

namespace dpquantile {

// Names the answers of an execution: two executions with equal keys ask the same.
using AnswerKey = SecretHash;

// Begins with what every key depends on: the database, the role that pays and the one whose rights
// count, the version of the library, and the settings of the session that change what a query
// means, such as the time zone. The key is the secret hash of all fields. Requires a secret.
Fields begin_key();

}  // namespace dpquantile
