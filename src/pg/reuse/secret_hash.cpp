#include "pg/reuse/secret_hash.hpp"

extern "C" {
#include "common/hmac.h"
#include "common/sha2.h"
#include "miscadmin.h"
#include "storage/ipc.h"
#include "storage/lwlock.h"
#include "storage/shmem.h"
#include "utils/builtins.h"
}

namespace dpquantile {

namespace {

static_assert(sizeof(SecretHash) == PG_SHA256_DIGEST_LENGTH);

constexpr const char* kName = "dpquantile secret";
constexpr Size kTextBytes = 2 * sizeof(SecretHash);

struct Secret {
  uint8 bytes[PG_SHA256_DIGEST_LENGTH];
};

Secret* secret = nullptr;

shmem_request_hook_type next_shmem_request_hook = nullptr;
shmem_startup_hook_type next_shmem_startup_hook = nullptr;

void request_shared_memory() {
  if (next_shmem_request_hook != nullptr) next_shmem_request_hook();
  RequestAddinShmemSpace(sizeof(Secret));
}

// Also runs when the server restarts after a crash. Then the secret is another.
void draw_secret() {
  if (next_shmem_startup_hook != nullptr) next_shmem_startup_hook();
  bool found;
  LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
  auto* shared = static_cast<Secret*>(ShmemInitStruct(kName, sizeof(Secret), &found));
  if (!found && !pg_strong_random(shared->bytes, sizeof shared->bytes)) {
    ereport(FATAL, (errcode(ERRCODE_INTERNAL_ERROR),
                    errmsg("the system gave no random bytes for the secret of kept answers"),
                    errhint("Start the server again.")));
  }
  secret = shared;
  LWLockRelease(AddinShmemInitLock);
}

bool compute(pg_hmac_ctx* context, const StringInfoData& bytes, SecretHash* hash) {
  return pg_hmac_init(context, secret->bytes, sizeof secret->bytes) == 0 &&
         pg_hmac_update(context, reinterpret_cast<const uint8*>(bytes.data),
                        static_cast<Size>(bytes.len)) == 0 &&
         pg_hmac_final(context, hash->bytes, sizeof hash->bytes) == 0;
}

}  // namespace

void install_secret_hash() {
  next_shmem_request_hook = shmem_request_hook;
  shmem_request_hook = request_shared_memory;
  next_shmem_startup_hook = shmem_startup_hook;
  shmem_startup_hook = draw_secret;
}

bool has_secret() {
  return secret != nullptr;
}

SecretHash secret_hash(Fields* fields) {
  SecretHash hash;
  pg_hmac_ctx* context = pg_hmac_create(PG_SHA256);
  const bool is_computed = context != nullptr && compute(context, fields->bytes, &hash);
  pg_hmac_free(context);
  if (!is_computed) {
    ereport(ERROR, (errcode(ERRCODE_INTERNAL_ERROR), errmsg("could not compute an HMAC-SHA-256"),
                    errhint("Look at the memory of the server, and at its OpenSSL.")));
  }
  pfree(fields->bytes.data);
  return hash;
}

char* text_of_hash(const SecretHash& hash) {
  auto* text = static_cast<char*>(palloc(kTextBytes + 1));
  hex_encode(reinterpret_cast<const char*>(hash.bytes), sizeof hash.bytes, text);
  text[kTextBytes] = '\0';
  return text;
}

SecretHash hash_of_text(const char* text) {
  if (strlen(text) != kTextBytes) {
    ereport(ERROR, (errcode(ERRCODE_INTERNAL_ERROR), errmsg("a text is no hash: %s", text)));
  }
  SecretHash hash;
  hex_decode(text, kTextBytes, reinterpret_cast<char*>(hash.bytes));
  return hash;
}

}  // namespace dpquantile
