#pragma once

// A function in the place of another, for calls from other source files: DPQ_WRAPPED(result, name,
// symbol, (parameters)) { ... }. original_name() is the function that it replaces. The linker does
// it, with --wrap=symbol (test/attackers.mk). A wrong symbol is one that the loaded library lacks.
#define DPQ_WRAPPED(result, name, symbol, parameters)          \
  result original_##name parameters __asm__("__real_" symbol); \
  result wrapped_##name parameters __asm__("__wrap_" symbol);  \
  result wrapped_##name parameters

// How symbols call std::uint64_t, and std::dynamic_extent
#if __SIZEOF_LONG__ == 8
#define DPQ_U64 "m"
#define DPQ_DYNAMIC "m18446744073709551615"
#else
#define DPQ_U64 "y"
#define DPQ_DYNAMIC "j4294967295"
#endif
