#include "pg/aggregate/row_hash.hpp"

#include <span>

namespace dpquantile {

namespace {

void hash_bytes(const RowHash* hash, const void* value, Size length, uint64 numbers[2]) {
  const SipHash128 found =
      sip_hash_128(hash->key, {static_cast<const std::uint8_t*>(value), length});
  numbers[0] = found.low;
  numbers[1] = found.high;
}

}  // namespace

Size count_secrets_of_row_hash(Size numbers) {
  return (sizeof(SipKey) + (numbers + 1) * sizeof(VectorHashFactors)) / sizeof(uint64);
}

RowHash make_row_hash(const uint64* secrets) {
  static_assert(sizeof(SipKey) == 2 * sizeof(uint64));
  RowHash hash{{}, reinterpret_cast<const VectorHashFactors*>(secrets + 2)};
  memcpy(hash.key.data(), secrets, sizeof hash.key);
  return hash;
}

void numbers_of_value(const RowHash* hash, Datum value, int16 length, uint64 numbers[2]) {
  constexpr Size kTwoNumbers = 2 * sizeof(uint64);
  if (length == kTwoNumbers) {
    memcpy(numbers, DatumGetPointer(value), kTwoNumbers);
  } else if (length == -1) {
    struct varlena* plain = PG_DETOAST_DATUM_PACKED(value);
    hash_bytes(hash, VARDATA_ANY(plain), VARSIZE_ANY_EXHDR(plain), numbers);
  } else if (length == -2) {
    hash_bytes(hash, DatumGetCString(value), strlen(DatumGetCString(value)), numbers);
  } else {
    hash_bytes(hash, DatumGetPointer(value), static_cast<Size>(length), numbers);
  }
}

}  // namespace dpquantile
