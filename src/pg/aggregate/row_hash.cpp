#include "pg/aggregate/row_hash.hpp"

#include <span>

namespace dpquantile {

namespace {

void append_number(StringInfo bytes, uint64 number) {
  appendBinaryStringInfoNT(bytes, reinterpret_cast<const char*>(&number), sizeof number);
}

// A long value by its own hash: the buffer cannot hold several of the longest values.
void append_bytes(RowHash* hasher, const char* value, Size length) {
  constexpr Size kLong = 256;
  append_number(&hasher->bytes, length);
  if (length <= kLong) {
    appendBinaryStringInfoNT(&hasher->bytes, value, static_cast<int>(length));
    return;
  }
  const SipHash128 hash =
      sip_hash_128(hasher->key, {reinterpret_cast<const std::uint8_t*>(value), length});
  append_number(&hasher->bytes, hash.low);
  append_number(&hasher->bytes, hash.high);
}

void append_varlena(RowHash* hasher, Datum value) {
  struct varlena* plain = PG_DETOAST_DATUM_PACKED(value);
  append_bytes(hasher, VARDATA_ANY(plain), VARSIZE_ANY_EXHDR(plain));
}

// The unused bytes of a datum may hold anything.
uint64 used_bytes(Datum value, int16 length) {
  const int unused = 64 - 8 * length;
  return static_cast<uint64>(value) << unused >> unused;
}

void append_value(RowHash* hasher, FormData_pg_attribute* column, Datum value) {
  if (column->attbyval) {
    append_number(&hasher->bytes, used_bytes(value, column->attlen));
  } else if (column->attlen == -1) {
    append_varlena(hasher, value);
  } else if (column->attlen == -2) {
    append_bytes(hasher, DatumGetCString(value), strlen(DatumGetCString(value)));
  } else {
    append_bytes(hasher, DatumGetPointer(value), static_cast<Size>(column->attlen));
  }
}

}  // namespace

RowHash make_row_hash(const SipKey& key) {
  RowHash hasher{key, {}};
  initStringInfo(&hasher.bytes);
  return hasher;
}

SipHash128 hash_row(RowHash* hasher, TupleTableSlot* row) {
  slot_getallattrs(row);
  resetStringInfo(&hasher->bytes);
  const TupleDesc columns = row->tts_tupleDescriptor;
  for (int i = 0; i < columns->natts; ++i) {
    appendStringInfoCharMacro(&hasher->bytes, row->tts_isnull[i] ? 0 : 1);
    if (!row->tts_isnull[i]) append_value(hasher, TupleDescAttr(columns, i), row->tts_values[i]);
  }
  return sip_hash_128(hasher->key, {reinterpret_cast<const std::uint8_t*>(hasher->bytes.data),
                                    static_cast<std::size_t>(hasher->bytes.len)});
}

}  // namespace dpquantile
