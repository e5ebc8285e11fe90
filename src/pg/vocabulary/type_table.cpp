#include "pg/vocabulary/type_table.hpp"

extern "C" {
#include "catalog/pg_type_d.h"
}

namespace dpquantile {

namespace {

constexpr bool kYes = true;
constexpr bool kNo = false;

// clang-format off
constexpr TypeRule kTypes[] = {
    // type           ordinary value               any length
    {BOOLOID,        "t",                          kNo},
    {INT2OID,        "1",                          kNo},
    {INT4OID,        "1",                          kNo},
    {INT8OID,        "1",                          kNo},
    {OIDOID,         "1",                          kNo},
    {FLOAT4OID,      "1",                          kNo},
    {FLOAT8OID,      "1",                          kNo},
    {NUMERICOID,     "1",                          kYes},
    {DATEOID,        "2000-01-01",                 kNo},
    {TIMESTAMPOID,   "2000-01-01",                 kNo},
    {TIMESTAMPTZOID, "2000-01-01",                 kNo},
    {TIMEOID,        "00:00",                      kNo},
    {TIMETZOID,      "00:00",                      kNo},
    {INTERVALOID,    "1 day",                      kNo},
    {UUIDOID,        "00000000-0000-0000-0000-000000000001", kNo},
    {NAMEOID,        nullptr,                      kNo},
    {TEXTOID,        nullptr,                      kYes},
    {VARCHAROID,     nullptr,                      kYes},
    {BPCHAROID,      nullptr,                      kYes},
    {BYTEAOID,       nullptr,                      kYes},
    {CHAROID,        "1",                          kNo},
    {BITOID,         "1",                          kYes},
    {VARBITOID,      "1",                          kYes},
    {JSONBOID,       "1",                          kYes},
    {INETOID,        "127.0.0.1",                  kNo},
    {CIDROID,        "127.0.0.1",                  kNo},
    {MACADDROID,     "00:00:00:00:00:01",          kNo},
    {MACADDR8OID,    "00:00:00:00:00:00:00:01",    kNo},
};
// clang-format on

}  // namespace

const TypeRule* find_type(Oid type) {
  for (const TypeRule& rule : kTypes) {
    if (rule.type == type) return &rule;
  }
  return nullptr;
}

}  // namespace dpquantile
