#pragma once

#include "pg/server/postgres.hpp"

extern "C" {
#include "executor/nodeAgg.h"
#include "executor/tuptable.h"
}

// A table of groups: finds the group of a row by the keys of the row, and has the states of its
// aggregates. PostgreSQL's own makes a tuple of the keys of each group and hands each row through
// two slots; here a row costs a hash of 64 bits, and one look at memory.
namespace dpquantile {

// A column of the rows by which they are grouped, or of which each group shows the value of its
// first row.
struct GroupColumn {
  int number;  // among those of the rows, from 0
  int16 length;
  bool by_value;
};

struct GroupKey {
  GroupColumn column;
  Oid collation;
  bool is_number;  // whether values are equal if and only if the bytes that the type has are
  FmgrInfo hash;
  FmgrInfo equal;
};

// The first state of a group, and so its address. A group has a state for each transition of the
// aggregates, as PostgreSQL's Agg has them, and then the values of its columns: those of the keys
// first.
using Group = AggStatePerGroupData;

struct GroupEntry;

// Zero before it is made.
struct GroupTable {
  GroupKey* keys;
  int key_count;
  int last_key;           // the number of the last of their columns, from 1
  bool has_only_numbers;  // whether all keys are numbers (GroupKey)
  GroupColumn* columns;   // of which groups show values: of the keys, then others
  int column_count;
  int state_count;
  uint64 seed;  // of the hashes: a secret that the caller draws before the first

  // The groups
  MemoryContext memory;  // whoever resets it calls begin_groups() before the next row
  GroupEntry* entries;
  Size size;  // of entries, a power of two
  char** blocks;
  Size block_room;
  Size count;
};

// Makes a table without groups, in the current memory context: of rows with these columns, which
// are grouped as the node says. `shown` has other columns, with numbers from 0, of which groups
// show values. ereports if a key cannot be hashed.
GroupTable make_group_table(const Agg* grouping, TupleDesc columns, const List* shown,
                            int state_count);

// Makes room for the first groups in this memory context, which has only the groups of the table.
void begin_groups(GroupTable* table, MemoryContext memory);

// The hash of the keys of a row. Few groups agree in some bits of it; equal keys have one hash. The
// key columns of the slot are ready. As find_group() it may leave memory allocated in the current
// memory context, and ereports as the functions of the keys' types do.
uint64 hash_of_keys(GroupTable* table, const TupleTableSlot* row);

// The group of a row with this hash, or null.
Group* find_group(GroupTable* table, uint64 hash, const TupleTableSlot* row);

// A new group for the row, whose values it copies. Its states are not set.
Group* add_group(GroupTable* table, uint64 hash, TupleTableSlot* row);

// A group. They have numbers from 0 in the order in which they came.
Group* group_of_number(const GroupTable* table, Size number);

// Puts the values of the columns that groups show into a virtual row. They refer to the group.
void show_values(const GroupTable* table, const Group* group, TupleTableSlot* row);

}  // namespace dpquantile
