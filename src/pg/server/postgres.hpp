#pragma once

// PostgreSQL's headers, for src/pg only. Include standard and core headers first: PostgreSQL
// replaces printf and friends by macros.

// Of what PostgreSQL looks up by name. Before PostgreSQL 16 it leaves PGDLLEXPORT empty, and would
// not find Pg_magic_func: what is not exported is hidden.
#ifndef PGDLLEXPORT
#define PGDLLEXPORT __attribute__((visibility("default")))
#endif

extern "C" {
#include "postgres.h"
// postgres.h comes first, always.
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/elog.h"
#include "utils/memutils.h"
#include "utils/palloc.h"
}

#include "pg/server/compat.hpp"

// Begins the definition of a C function that SQL calls: DPQ_FUNCTION(dpq_name) { ... }
#define DPQ_FUNCTION(name)                  \
  extern "C" {                              \
  PG_FUNCTION_INFO_V1(name);                \
  PGDLLEXPORT Datum name(PG_FUNCTION_ARGS); \
  }                                         \
  Datum name(PG_FUNCTION_ARGS)
