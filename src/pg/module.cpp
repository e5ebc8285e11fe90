#include "pg/charge/charge_queue.hpp"
#include "pg/charge/role_names.hpp"
#include "pg/distributed/distributed_hooks.hpp"
#include "pg/limits/grouped_rows_node.hpp"
#include "pg/limits/limited_rows_node.hpp"
#include "pg/limits/person_order_node.hpp"
#include "pg/plain/plain_hooks.hpp"
#include "pg/protect/protect_hooks.hpp"
#include "pg/release/allocator_traces.hpp"
#include "pg/release/release_node.hpp"
#include "pg/release/release_path.hpp"
#include "pg/restricted/restricted_hooks.hpp"
#include "pg/reuse/kept_answers.hpp"
#include "pg/server/own_objects.hpp"
#include "pg/server/postgres.hpp"
#include "pg/staged/staged_node.hpp"

extern "C" {
#include "utils/guc.h"

DPQ_MODULE_MAGIC;
PGDLLEXPORT void _PG_init();
}

// The queue needs shared memory, which a library gets only if it is preloaded. When all settings
// are defined, a misspelt one is an error.
void _PG_init() {
  if (process_shared_preload_libraries_in_progress) dpquantile::install_charge_queue();
  dpquantile::install_kept_answers();
  dpquantile::install_role_names();
  dpquantile::install_release_node();
  dpquantile::install_allocator_traces();
  dpquantile::install_limited_rows_node();
  dpquantile::install_grouped_rows_node();
  dpquantile::install_person_order_node();
  dpquantile::install_release_paths();
  dpquantile::install_own_objects();
  dpquantile::install_restricted_hooks();
  dpquantile::install_protect_hooks();
  dpquantile::install_plain_hooks();
  dpquantile::install_staged_queries();
  dpquantile::install_distributed_hooks();
  MarkGUCPrefixReserved("dpquantile");
}
