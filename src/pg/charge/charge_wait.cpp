#include "pg/charge/charge_wait.hpp"

extern "C" {
#include "storage/latch.h"
#include "utils/wait_event.h"
}

namespace dpquantile {

void sleep_until_woken(long milliseconds) {
  const int timeout = milliseconds < 0 ? 0 : WL_TIMEOUT;
  (void)WaitLatch(MyLatch, WL_LATCH_SET | WL_EXIT_ON_PM_DEATH | timeout, milliseconds,
                  PG_WAIT_EXTENSION);
  ResetLatch(MyLatch);
  CHECK_FOR_INTERRUPTS();
}

}  // namespace dpquantile
