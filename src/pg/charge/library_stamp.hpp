#pragma once

#include "pg/server/version.hpp"

// A session loads the library once. Its worker is a new process and loads what is installed now,
// which may be another version, with another layout of the memory that both share. So each names
// its version before either reads anything else.
namespace dpquantile {

// The first bytes of that memory. NEVER change this layout, because libraries of all versions read
// it. Never change how a worker gets the memory either: the argument of the C function
// kSessionWorker is the handle of the segment, and bgw_extra begins with the OID of the database.
struct LibraryStamp {
  uint32 magic;                         // kStampMagic
  uint32 bytes;                         // of the memory that both share
  char session_version[kVersionBytes];  // kLibraryVersion of the session
  char worker_version[kVersionBytes];   // of a worker that does not accept the stamp, else empty
};
static_assert(sizeof(LibraryStamp) == 56 && offsetof(LibraryStamp, bytes) == 4 &&
              offsetof(LibraryStamp, session_version) == 8 &&
              offsetof(LibraryStamp, worker_version) == 32);

inline constexpr uint32 kStampMagic = 0x51504431;  // "1DPQ"

// The session's stamp on memory of this size.
LibraryStamp make_stamp(Size bytes);

// Whether this worker's library has the version of the session that made the stamp, and both share
// memory of `bytes`. Does not tell two builds of one version apart. If the libraries differ, tells
// the session, and the server log. `length` is the size of the segment.
bool accept_stamp(LibraryStamp* stamp, Size length, Size bytes);

}  // namespace dpquantile
