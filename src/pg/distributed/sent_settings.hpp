#pragma once

// SET statements that Citus sends to the workers. A caller can have it send a search_path
// (citus.propagate_set_commands), where the workers look up the names in the text of a query with
// the rights of the function's owner who wrote it. They stay on the workers until the transaction
// ends, whatever the settings on the coordinator are by then.
namespace dpquantile {

// Begins to watch for such statements. Call it once, when the library is loaded.
void watch_sent_settings();

// Requires that none has been sent in this transaction, and that it was watched from its beginning.
// ereports otherwise. It reads no data.
void require_no_sent_settings();

}  // namespace dpquantile
