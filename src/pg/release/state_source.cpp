#include "pg/release/state_source.hpp"

namespace dpquantile {

namespace {

const StateSource* installed = nullptr;

}  // namespace

void install_state_source(const StateSource* source) {
  installed = source;
}

const StateSource* state_source() {
  return installed;
}

}  // namespace dpquantile
