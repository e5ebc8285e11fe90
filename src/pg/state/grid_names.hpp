#pragma once

#include <cstddef>

#include "pg/server/postgres.hpp"

// The names of the grids of dp_user_grid_stats in a state, numbered from 0 in order of arrival: a
// flat hash table without pointers, at the end of the state. Two names are equal if their bytes are
// equal, independent of the collation.
namespace dpquantile {

// A grid's name, in the server's encoding and not zero-terminated.
struct GridName {
  const char* text;
  uint32 length;
};

// A number of names, and of the bytes of all these names together.
struct GridRoom {
  uint32 names;
  uint32 bytes;
};

//   | room | used | entries[room.names] | buckets[2 * room.names] | bytes[room.bytes] |
//
// Open addressing with linear probing; at most half of the buckets are in use. No function
// ereports, except for a cancel where noted.
class GridNames {
 public:
  static constexpr uint32 kNone = ~uint32{0};
  static constexpr GridRoom kFirstRoom{4, 32};
  // The most names of a group. A draw takes some 500 bytes for each, whatever work_mem is.
  static constexpr uint32 kMost = uint32{1} << 18;

  // The size in bytes of a table with this room, a multiple of 8. room.names must be a power of
  // two. A state may be too small for it, and so may a size_t of 32 bits.
  static uint64 size(GridRoom room);
  // Makes an empty table in memory of that size, which must be aligned to 8.
  static GridNames* make(void* memory, GridRoom room);

  uint32 count() const { return used_.names; }
  GridRoom room() const { return room_; }
  GridRoom used() const { return used_; }
  GridName name(uint32 i) const { return {bytes() + entries()[i].offset, entries()[i].length}; }

  // The number of the grid with this name, or kNone.
  uint32 find(GridName name) const;
  // Gives the name the next number and returns it. Requires that the name is new and that there is
  // room.
  uint32 add(GridName name);
  // Adds all names of another table, in its order. Requires an empty table with room for them.
  // ereports for a cancel.
  void add_all(const GridNames* others);
  // Renumbers the grids: grid i becomes the one that was order[i], a permutation. ereports for a
  // cancel; then the table is unusable.
  void reorder(const uint32* order);

 private:
  struct Entry {
    uint64 hash;
    uint32 offset;
    uint32 length;
  };

  uint32 bucket_count() const { return 2 * room_.names; }
  Entry* entries() { return reinterpret_cast<Entry*>(this + 1); }
  const Entry* entries() const { return reinterpret_cast<const Entry*>(this + 1); }
  // For each bucket the number of its grid + 1, or 0 if the bucket is empty.
  uint32* buckets() { return reinterpret_cast<uint32*>(entries() + room_.names); }
  const uint32* buckets() const { return reinterpret_cast<const uint32*>(entries() + room_.names); }
  char* bytes() { return reinterpret_cast<char*>(buckets() + bucket_count()); }
  const char* bytes() const { return reinterpret_cast<const char*>(buckets() + bucket_count()); }
  bool matches(const Entry& entry, uint64 hash, GridName name) const;
  void fill_bucket(uint32 i);

  GridRoom room_;
  GridRoom used_;
};

}  // namespace dpquantile
