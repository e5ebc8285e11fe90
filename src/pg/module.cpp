#include "pg/charge/charge_queue.hpp"

extern "C" {
DPQ_MODULE_MAGIC;
PGDLLEXPORT void _PG_init();
}

void _PG_init() {
  if (process_shared_preload_libraries_in_progress) dpquantile::install_charge_queue();
}
