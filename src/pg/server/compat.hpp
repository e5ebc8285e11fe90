#pragma once

// The differences between PostgreSQL 15 and 18 that matter to this extension, except PGDLLEXPORT
// (postgres.hpp).

#if PG_VERSION_NUM < 150000 || PG_VERSION_NUM >= 190000
#error "dpquantile supports PostgreSQL 15 to 18"
#endif

// PostgreSQL 16 moved the macros of variable-length values out of postgres.h.
#if PG_VERSION_NUM >= 160000
extern "C" {
#include "varatt.h"
}
#endif

// PostgreSQL 17 added the setting transaction_timeout.
#define DPQ_HAS_TRANSACTION_TIMEOUT (PG_VERSION_NUM >= 170000)

// PostgreSQL 16 renamed this function. The index i starts at 1.
#if PG_VERSION_NUM >= 160000
#define DPQ_LOCAL_BACKEND_STATUS(i) pgstat_get_local_beentry_by_index(i)
#else
#define DPQ_LOCAL_BACKEND_STATUS(i) pgstat_fetch_stat_local_beentry(i)
#endif

// PostgreSQL 18 lets a module state its name and version.
#ifdef PG_MODULE_MAGIC_EXT
#define DPQ_MODULE_MAGIC PG_MODULE_MAGIC_EXT(.name = "dpquantile", .version = "0.1.0")
#else
#define DPQ_MODULE_MAGIC PG_MODULE_MAGIC
#endif
