#pragma once

#include <cstddef>

#include "pg/server/postgres.hpp"

// The names of the grids in a state, numbered in order of arrival: a flat hash table without
// pointers, at the end of the state. Names are told apart by their bytes, whatever the collation.
namespace dpquantile {

// A grid's name, in the server's encoding and not zero-terminated.
struct GridName {
  const char* text;
  uint32 length;
};

// How many names, and bytes of all names together.
struct GridRoom {
  uint32 names;
  uint32 bytes;
};

//   | room | used | entries[room.names] | buckets[2 * room.names] | bytes[room.bytes] |
//
// Open addressing with linear probing; at most half of the buckets are taken.
class GridNames {
 public:
  static constexpr uint32 kNone = ~uint32{0};
  static constexpr GridRoom kFirstRoom{4, 32};

  // The bytes that such a table takes, a multiple of 8. Requires a power of two of names.
  static std::size_t size(GridRoom room);
  // An empty table in memory of that size, aligned to 8.
  static GridNames* make(void* memory, GridRoom room);

  uint32 count() const { return used_.names; }
  GridRoom room() const { return room_; }
  GridRoom used() const { return used_; }
  GridName name(uint32 i) const { return {bytes() + entries()[i].offset, entries()[i].length}; }

  // The number of the grid with this name, or kNone.
  uint32 find(GridName name) const;
  // Gives the name the next number. Requires that it is not there, and room for it.
  uint32 add(GridName name);
  // Adds all names of another table, in its order. Requires an empty table with room for them.
  void add_all(const GridNames* others);
  // Numbers the grids anew: the i-th is the one that was order[i].
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
  // By bucket: the number of its grid + 1, or 0.
  uint32* buckets() { return reinterpret_cast<uint32*>(entries() + room_.names); }
  const uint32* buckets() const { return reinterpret_cast<const uint32*>(entries() + room_.names); }
  char* bytes() { return reinterpret_cast<char*>(buckets() + bucket_count()); }
  const char* bytes() const { return reinterpret_cast<const char*>(buckets() + bucket_count()); }
  bool is(const Entry& entry, uint64 hash, GridName name) const;
  void fill_bucket(uint32 i);

  GridRoom room_;
  GridRoom used_;
};

}  // namespace dpquantile
