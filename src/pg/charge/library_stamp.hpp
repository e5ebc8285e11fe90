#pragma once

#include "pg/server/version.hpp"

// A session loads the library once. Its worker is a new process and loads what is installed now,
// which may be another version, with another layout of the memory that both share. So each names
// its version before either reads anything else.
namespace dpquantile {

// The first bytes of that memory. NEVER change this layout, nor how a worker gets the memory: the
// C function of a session worker (kSessionWorker) takes the handle of the segment as its argument,
// and the database's OID is in bgw_extra. A library of any later version must understand them.
//
// Version 0.1.0 has no stamp. Its session worker takes these bytes for a state that nothing is to
// be done for, and writes a pointer into session_version. Its session has a state there, which is
// not kStampMagic.
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

// Whether this worker's library is that of the session that made the stamp, with memory of `bytes`.
// If it is not, tells the session, and the server log. `length` is the size of the segment.
bool accept_stamp(LibraryStamp* stamp, Size length, Size bytes);

}  // namespace dpquantile
