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
    // type           ordinary value               written  any length
    {BOOLOID,        "t",                          kYes,    kNo},
    {INT2OID,        "1",                          kYes,    kNo},
    {INT4OID,        "1",                          kYes,    kNo},
    {INT8OID,        "1",                          kYes,    kNo},
    {OIDOID,         "1",                          kYes,    kNo},
    {FLOAT4OID,      "1",                          kYes,    kNo},
    {FLOAT8OID,      "1",                          kYes,    kNo},
    {NUMERICOID,     "1",                          kYes,    kYes},
    {DATEOID,        "2000-01-01",                 kYes,    kNo},
    {TIMESTAMPOID,   "2000-01-01",                 kYes,    kNo},
    {TIMESTAMPTZOID, "2000-01-01",                 kYes,    kNo},
    {TIMEOID,        "00:00",                      kYes,    kNo},
    {TIMETZOID,      "00:00",                      kYes,    kNo},
    {INTERVALOID,    "1 day",                      kYes,    kNo},
    {UUIDOID,        "00000000-0000-0000-0000-000000000001", kYes, kNo},
    {NAMEOID,        nullptr,                      kYes,    kNo},
    {TEXTOID,        nullptr,                      kNo,     kYes},
    {VARCHAROID,     nullptr,                      kNo,     kYes},
    {BPCHAROID,      nullptr,                      kNo,     kYes},
    {BYTEAOID,       nullptr,                      kNo,     kYes},
    {CHAROID,        "1",                          kNo,     kNo},
    {BITOID,         "1",                          kNo,     kYes},
    {VARBITOID,      "1",                          kNo,     kYes},
    {JSONBOID,       "1",                          kNo,     kYes},
    {INETOID,        "127.0.0.1",                  kNo,     kNo},
    {CIDROID,        "127.0.0.1",                  kNo,     kNo},
    {MACADDROID,     "00:00:00:00:00:01",          kNo,     kNo},
    {MACADDR8OID,    "00:00:00:00:00:00:00:01",    kNo,     kNo},
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
