#pragma once

#include "pg/aggregate/row_hash.hpp"
#include "pg/server/postgres.hpp"

extern "C" {
#include "executor/tuptable.h"
#include "storage/buffile.h"
}

// Rows that a plan node keeps, each with the number of its user, in parts: all rows of a user are
// in one part, so that few rows are looked at together. The parts share some memory, and one file
// for what it has no room for. A tuplestore would form and deform a tuple for each row. (Rows that
// are only read again, one after the other, come without a number.)
namespace dpquantile {

// The place of a block in the file. None has the size 0.
struct StoredBlock {
  off_t offset;
  int file;
  uint32 size;
};

// As many rows as fit into some kilobytes, or one longer row. At its begin are the rows, all of one
// size: the number of the user, if they have any, values, flags of NULLs. What values refer to is
// at its end, and its place in the block stands for it.
struct RowBlock {
  RowBlock* next;      // in memory
  StoredBlock before;  // on disk: the block of the part that was written before
  Size size;           // with this
  Size rows;           // when it gets no more
};

struct RowPart;
struct RowColumn;

// The most parts that there are.
inline constexpr int kMostParts = 256;

// How rows are kept.
struct RowStorage {
  int parts;         // of users, a power of two
  Size bytes;        // of memory; blocks that are full take half of it
  Size block;        // the size of most blocks, a power of two
  bool has_numbers;  // whether rows have the numbers of their users
};

// Parts that go well with so many bytes of memory: the blocks that get rows take at most an eighth.
RowStorage storage_within(Size bytes);

// Zero before it is made.
struct RowPartitions {
  TupleDesc columns;
  int kept;           // columns of which values are kept
  int kept_columns;   // the number of the last of them, from 1
  RowColumn* layout;  // of these
  bool has_references;
  bool has_numbers;  // as in RowStorage
  Size row_size;
  Size flags_offset;  // of NULLs, in a row
  uint64* numbers;    // for hashes
  Size number_count;
  MemoryContext context;
  Size large_block;  // as in RowStorage
  Size memory_left;  // for blocks that are full
  Size most_read;    // of a part, for more than a block at a time
  int count;         // of the parts of users, a power of two; one for rows without a user follows
  RowPart* parts;
  BufFile* file;   // or null
  RowBlock* read;  // the block that was read last, or null
  Size read_room;
};

// The rows of a part, block by block.
struct RowCursor {
  const RowPart* part;
  const RowBlock* block;  // the present one; null before the first
  StoredBlock stored;     // the next one on disk
  bool is_past_memory;    // whether the blocks in memory have been read
};

// Makes parts without rows, for rows with these columns. Of the columns in `left_out`, which have
// numbers from 0, no values are kept. The memory is of the context.
void make_partitions(RowPartitions* rows, TupleDesc columns, const Bitmapset* left_out,
                     const RowStorage& storage, MemoryContext context);

// Makes the kept columns of a slot ready to be read.
inline void get_kept_columns(const RowPartitions* rows, TupleTableSlot* slot) {
  slot_getsomeattrs(slot, rows->kept_columns);
}

// Adds a row to a part. The number is forgotten where rows have none. Copies what values refer to.
// The slot may be null if no values are kept. ereports if the row cannot be stored.
void write_row(RowPartitions* rows, int part, TupleTableSlot* slot, uint64 user);

// Ends the writing of all parts.
void end_writing(RowPartitions* rows);

// How many rows a part has.
Size count_rows(const RowPartitions* rows, int part);

// Makes ready to read a part several times. ereports if it cannot be read.
void begin_part(RowPartitions* rows, int part);

// Gives back the memory of a part.
void forget_part(RowPartitions* rows, int part);

// A cursor before the first block of a part.
RowCursor cursor_of_part(const RowPartitions* rows, int part);

// Goes to the next block, which stays until the next call for any cursor. False after the last.
// ereports if it cannot be read.
bool next_block(RowPartitions* rows, RowCursor* cursor);

// The user of a row of a block. Rows have numbers from 0.
uint64 user_of_row(const RowPartitions* rows, const RowBlock* block, Size number);

// Finds the hash of the user and the values of a row, for vectors of rows->number_count numbers.
// Rows of a user with the same values have the same hash. It may leave memory allocated in the
// current memory context. ereports if a value that is out of line cannot be read. (A hash that is
// returned would go through the stack, in halves that the processor waits for when it reads the
// whole.)
void hash_row(const RowPartitions* rows, const RowHash* hash, const RowBlock* block, Size number,
              VectorHash* found);

// Copies the values of a row, which refer to the block. Leaves those of columns that were left out
// as they are.
void read_row(const RowPartitions* rows, const RowBlock* block, Size number, Datum* values,
              bool* nulls);

// Gives back the file. The memory goes with its context.
void close_partitions(RowPartitions* rows);

}  // namespace dpquantile
