#pragma once

#include "pg/reuse/fields.hpp"

// A hash with a secret of this server: HMAC-SHA-256. Nobody who does not know the secret can find
// two lists of fields with the same hash, however long he computes elsewhere. So equal hashes stand
// for equal fields. The secret is drawn when the shared memory is made, is nowhere else, and ends
// with it.
namespace dpquantile {

struct SecretHash {
  uint8 bytes[32];
};

inline bool operator==(const SecretHash& one, const SecretHash& other) {
  return memcmp(one.bytes, other.bytes, sizeof one.bytes) == 0;
}

inline bool operator<(const SecretHash& one, const SecretHash& other) {
  return memcmp(one.bytes, other.bytes, sizeof one.bytes) < 0;
}

// Call it in _PG_init while the library is being preloaded.
void install_secret_hash();

// Whether there is a secret: whether the library was preloaded.
bool has_secret();

// The hash of these fields, which it frees. Requires a secret.
SecretHash secret_hash(Fields* fields);

// The hash as a text, for marks of queries and plans, and back.
char* text_of_hash(const SecretHash& hash);
SecretHash hash_of_text(const char* text);

}  // namespace dpquantile
