#pragma once

// PostgreSQL's headers, for src/pg only. Include standard and core headers first: PostgreSQL
// replaces printf and friends by macros.
extern "C" {
#include "postgres.h"
// postgres.h comes first, always.
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/elog.h"
#include "utils/memutils.h"
#include "utils/palloc.h"
}

#include "pg/compat.hpp"
