// Preloaded after ASan, and initialised before all other libraries: it makes ASan start. Otherwise
// the first allocation in a constructor does, and libgpg-error's is inside a call of gettext, whose
// lock ASan's start then waits for.
#include <cstdlib>

namespace {

struct Start {
  Start() { std::free(allocated = std::malloc(1)); }
  void* volatile allocated;
} start;

}  // namespace
