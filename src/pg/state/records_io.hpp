#pragma once

#include "pg/state/expanded_records.hpp"

namespace dpquantile {

// The binary form of a state, which names its parameters. The same records give the same bytes.
bytea* bytes_of_state(StateRef state);

// The state with this binary form, palloc'd. Trusts no byte. ereports unless a state has this form.
RecordsState* state_of_bytes(const bytea* bytes);

}  // namespace dpquantile
