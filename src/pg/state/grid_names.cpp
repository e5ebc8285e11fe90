#include "pg/state/grid_names.hpp"

extern "C" {
#include "common/hashfn.h"
}

namespace dpquantile {

namespace {

// The hash needs no key: grids are public, and colliding names only make the table slow.
uint64 hash_name(GridName name) {
  return hash_bytes_extended(reinterpret_cast<const unsigned char*>(name.text),
                             static_cast<int>(name.length), 0);
}

}  // namespace

uint64 GridNames::size(GridRoom room) {
  const uint64 names = room.names;
  return TYPEALIGN64(MAXIMUM_ALIGNOF, sizeof(GridNames) + names * sizeof(Entry) +
                                          2 * names * sizeof(uint32) + room.bytes);
}

GridNames* GridNames::make(void* memory, GridRoom room) {
  auto* names = static_cast<GridNames*>(memory);
  memset(memory, 0, static_cast<Size>(size(room)));
  names->room_ = room;
  return names;
}

bool GridNames::matches(const Entry& entry, uint64 hash, GridName name) const {
  return entry.hash == hash && entry.length == name.length &&
         memcmp(bytes() + entry.offset, name.text, name.length) == 0;
}

uint32 GridNames::find(GridName name) const {
  const uint64 hash = hash_name(name);
  const uint32 mask = bucket_count() - 1;
  for (uint32 bucket = static_cast<uint32>(hash) & mask; buckets()[bucket] != 0;
       bucket = (bucket + 1) & mask) {
    const uint32 i = buckets()[bucket] - 1;
    if (matches(entries()[i], hash, name)) return i;
  }
  return kNone;
}

void GridNames::fill_bucket(uint32 i) {
  const uint32 mask = bucket_count() - 1;
  uint32 bucket = static_cast<uint32>(entries()[i].hash) & mask;
  while (buckets()[bucket] != 0) bucket = (bucket + 1) & mask;
  buckets()[bucket] = i + 1;
}

uint32 GridNames::add(GridName name) {
  Assert(used_.names < room_.names && name.length <= room_.bytes - used_.bytes);
  const uint32 i = used_.names++;
  entries()[i] = {hash_name(name), used_.bytes, name.length};
  if (name.length > 0) memcpy(bytes() + used_.bytes, name.text, name.length);
  used_.bytes += name.length;
  fill_bucket(i);
  return i;
}

void GridNames::add_all(const GridNames* others) {
  for (uint32 i = 0; i < others->count(); ++i) {
    CHECK_FOR_INTERRUPTS();
    add(others->name(i));
  }
}

// The entries and buckets become as if the names had arrived in this order; the bytes stay in
// place.
void GridNames::reorder(const uint32* order) {
  // Without names there may be no order, and memcpy wants no null pointer.
  if (used_.names == 0) return;
  // The buckets are built anew at the end, so until then their memory holds the permutation. The
  // entries move cycle by cycle.
  uint32* from = buckets();
  memset(from, 0, bucket_count() * sizeof(uint32));
  memcpy(from, order, used_.names * sizeof(uint32));
  for (uint32 start = 0; start < used_.names; ++start) {
    if (from[start] == start) continue;
    const Entry first = entries()[start];
    uint32 i = start;
    while (from[i] != start) {
      const uint32 next = from[i];
      entries()[i] = entries()[next];
      from[i] = i;
      i = next;
    }
    entries()[i] = first;
    from[i] = i;
  }
  memset(from, 0, bucket_count() * sizeof(uint32));
  for (uint32 i = 0; i < used_.names; ++i) {
    CHECK_FOR_INTERRUPTS();
    fill_bucket(i);
  }
}

}  // namespace dpquantile
