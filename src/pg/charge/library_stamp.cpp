#include "pg/charge/library_stamp.hpp"

namespace dpquantile {

namespace {

bool is_stamped(const LibraryStamp* stamp, Size length) {
  return length >= sizeof *stamp && stamp->magic == kStampMagic;
}

bool is_same_version(const LibraryStamp* stamp, Size bytes) {
  return stamp->bytes == bytes &&
         strncmp(stamp->session_version, kLibraryVersion, kVersionBytes) == 0;
}

}  // namespace

LibraryStamp make_stamp(Size bytes) {
  LibraryStamp stamp{kStampMagic, static_cast<uint32>(bytes), "", ""};
  strlcpy(stamp.session_version, kLibraryVersion, kVersionBytes);
  return stamp;
}

bool accept_stamp(LibraryStamp* stamp, Size length, Size bytes) {
  const bool stamped = is_stamped(stamp, length);
  if (stamped && is_same_version(stamp, bytes)) return true;
  if (stamped) strlcpy(stamp->worker_version, kLibraryVersion, kVersionBytes);
  ereport(
      LOG,
      (errmsg("%s: a session with the library of another version asked for a charge", kExtension),
       errdetail("Nothing was charged. The installed library has version %s.", kLibraryVersion),
       errhint("Sessions that were open during an upgrade must reconnect.")));
  return false;
}

}  // namespace dpquantile
