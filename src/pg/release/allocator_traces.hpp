#pragma once

#include "pg/server/postgres.hpp"

// What the C library's allocator remembers of the memory that a read took. glibc raises the sizes
// from which it asks the kernel for a block, and gives memory back, with the largest block that was
// freed; it keeps pages of freed blocks; and a freed block in the middle of its heap serves for
// later ones. All this makes later statements of the session faster, and depends on the number of
// rows that were read. Other allocators than glibc's are left as they are.
namespace dpquantile {

// Fixes these sizes for the rest of the process. Call it before anything depends on rows.
void fix_allocator_sizes();

// From now on the kernel gives all but small blocks, and gets them back: they leave no gap in the
// heap.
void begin_read_memory();

// Gives the pages of freed blocks back to the kernel. Call it when a read has ended: what the
// session does beside the query finds none of the pages that the read no longer needs. A read that
// fails needs no call.
void end_read_memory();

// Has the pages of this memory returned, too, when the query that it belongs to has ended, in
// whatever way. Call it before the read, once for a node.
void return_pages_at_end(MemoryContext query);

// Has PostgreSQL tell when a query has ended. Call it once, in _PG_init.
void install_allocator_traces();

}  // namespace dpquantile
