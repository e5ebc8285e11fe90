#pragma once

namespace dpquantile {

// Everybody may choose the number of a distributed transaction (assign_distributed_transaction_id),
// and Citus names files after it and after the role. Two sessions with one number have one file for
// the rows that Citus fetches to the coordinator, and each of them counts the rows of both. One of
// them may have got its number from Citus.

// Begins to watch for such a choice. From then on until the transaction ends, a query of a function
// of another role for which Citus fetches rows on the coordinator ereports, private or not. Call it
// once, when the library is loaded.
void watch_chosen_transactions();

// Requires that the number of this transaction was not chosen. ereports otherwise. Without
// preloading a transaction may begin before it is watched: `also_unwatched` refuses that, too. It
// reads no data.
void require_no_chosen_transaction(bool also_unwatched);

}  // namespace dpquantile
