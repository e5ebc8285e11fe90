#include "pg/postgres.hpp"

extern "C" {
DPQ_MODULE_MAGIC;
}
