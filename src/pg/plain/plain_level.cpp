#include "pg/plain/plain_level.hpp"

namespace dpquantile {

int most_rows_of_user(const PlainLevel* level) {
  return most_rows_of_person(level->select);
}

int most_groups_of_user(const PlainLevel* level) {
  return most_groups_of_person(level->select);
}

}  // namespace dpquantile
