#pragma once

#include "pg/server/postgres.hpp"

extern "C" {
#include "lib/stringinfo.h"
#include "nodes/params.h"
}

namespace dpquantile {

// Names the answers of an execution: two executions with equal keys ask the same. Two that ask
// different things have equal keys with probability 2^-128. That would show a role another one of
// its own answers.
struct AnswerKey {
  uint64 words[2];
};

inline bool operator==(const AnswerKey& one, const AnswerKey& other) {
  return one.words[0] == other.words[0] && one.words[1] == other.words[1];
}

// Collects what a key depends on. Plain data.
struct KeyText {
  StringInfoData bytes;
};

// Begins with the database, the role that pays, the version of the library and the settings of the
// session that change what a query means, such as the time zone.
KeyText begin_key();

void add_number(KeyText* text, uint64 number);

void add_bytes(KeyText* text, const void* bytes, Size length);

// The value of a parameter, or NULL.
void add_value(KeyText* text, Oid type, Datum value, bool is_null);

AnswerKey end_key(KeyText* text);

}  // namespace dpquantile
