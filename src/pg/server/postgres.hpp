#pragma once

// PostgreSQL's headers, for src/pg only. Include standard and core headers first: PostgreSQL
// replaces printf and friends by macros.

// Exports a symbol that PostgreSQL looks up by name. Before PostgreSQL 16 its own PGDLLEXPORT is
// empty. The build hides all other symbols (-fvisibility=hidden), so PostgreSQL would not even find
// Pg_magic_func.
#ifndef PGDLLEXPORT
#define PGDLLEXPORT __attribute__((visibility("default")))
#endif

extern "C" {
#include "postgres.h"
// postgres.h must come before all other PostgreSQL headers.
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/elog.h"
#include "utils/memutils.h"
#include "utils/palloc.h"
}

#include "pg/server/compat.hpp"

// Begins the definition of a C function that SQL calls: DPQ_FUNCTION(dpq_name) { ... }
// The three phases of its body are in boundary.hpp.
#define DPQ_FUNCTION(name)                  \
  extern "C" {                              \
  PG_FUNCTION_INFO_V1(name);                \
  PGDLLEXPORT Datum name(PG_FUNCTION_ARGS); \
  }                                         \
  Datum name(PG_FUNCTION_ARGS)
