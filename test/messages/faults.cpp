// The library of the message attacker: what is installed, and faults that one row makes happen. The
// Makefile links this with the objects of the library, and `make install` does not know it.
//
// The setting faults.rule says what happens, as words between bars:
//   TRIGGER|TARGET|ACTION|SQLSTATE|POSITION:TYPE:VALUE|...
// TRIGGER is the OID of a function; of a variant (total_functions.hpp), that of the original. It
// sees the row when it is called while the rows of a release are read, with one of these values in
// the place of this argument (from 0). TARGET is where the fault happens:
//   same      in this call
//   sort      in the comparisons of the sort that the function TRIGGER prepares
//   OID       in the next call of that function
//   memory N  in the Nth allocation after that
//   file      no file grows any more until the read ends
// ACTION is lock (waits for the advisory lock 4242), messages (of all levels below error), or error
// or fatal, which come after the messages.
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <charconv>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <unordered_map>
#include <vector>

#include "../neighbours/wrapped.hpp"
#include "pg/server/postgres.hpp"
#include "pg/vocabulary/total_functions.hpp"

extern "C" {
#include "catalog/pg_proc.h"
#include "miscadmin.h"
#include "nodes/memnodes.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/fmgrprotos.h"
#include "utils/fmgrtab.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/sortsupport.h"
#include "utils/syscache.h"
}

namespace dpquantile {

namespace {

constexpr int64 kLock = 4242;

// ---- the rule

enum class Target { kNone, kSame, kSort, kFunction, kMemory, kFile };

struct Marker {
  int position;
  Oid type;
  std::string text;
  bool is_made = false;
  Datum value = 0;
  int16 length = 0;
  bool by_value = false;
};

struct Rule {
  Oid trigger = InvalidOid;
  Target target = Target::kNone;
  Oid function = InvalidOid;
  long countdown = 0;
  bool locks = false;
  int level = 0;
  int sqlstate = 0;
  std::vector<Marker> markers;
};

char* rule_text = nullptr;
int fired_setting = 0;
Rule rule;
bool has_seen_row = false;
bool is_busy = false;  // in what the rule itself needs
int fired = 0;
int reads = 0;

std::vector<std::string> split(const std::string& text, char separator, std::size_t most) {
  std::vector<std::string> parts(1);
  for (const char letter : text) {
    if (letter == separator && parts.size() < most) {
      parts.emplace_back();
    } else {
      parts.back() += letter;
    }
  }
  return parts;
}

long number_of(const std::string& text) {
  long number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

void read_target(const std::string& text, Rule* read) {
  const std::vector<std::string> words = split(text, ' ', 2);
  if (words[0] == "same") {
    read->target = Target::kSame;
  } else if (words[0] == "sort") {
    read->target = Target::kSort;
  } else if (words[0] == "memory") {
    read->target = Target::kMemory;
    read->countdown = number_of(words.at(1));
  } else if (words[0] == "file") {
    read->target = Target::kFile;
  } else {
    read->target = Target::kFunction;
    read->function = static_cast<Oid>(number_of(text));
  }
}

int level_of(const std::string& action) {
  return action == "error" ? ERROR : action == "fatal" ? FATAL : WARNING;
}

Rule rule_of(const std::string& text) {
  const std::vector<std::string> parts = split(text, '|', 1000);
  Rule read;
  if (parts.size() < 5 || parts[3].size() != 5) return read;
  read.trigger = static_cast<Oid>(number_of(parts[0]));
  read_target(parts[1], &read);
  read.locks = parts[2] == "lock";
  read.level = level_of(parts[2]);
  const char* code = parts[3].data();
  read.sqlstate = MAKE_SQLSTATE(code[0], code[1], code[2], code[3], code[4]);
  for (std::size_t i = 4; i < parts.size(); ++i) {
    const std::vector<std::string> words = split(parts[i], ':', 3);
    Marker marker;
    marker.position = static_cast<int>(number_of(words.at(0)));
    marker.type = static_cast<Oid>(number_of(words.at(1)));
    marker.text = words.at(2);
    read.markers.push_back(marker);
  }
  return read;
}

void assign_rule(const char* text, void*) {
  rule = text == nullptr ? Rule{} : rule_of(text);
  has_seen_row = false;
}

const char* show_fired() {
  static char text[16];
  snprintf(text, sizeof text, "%d", fired);
  return text;
}

// ---- the fault

void set_file_limit(rlim_t most) {
  struct rlimit limit;
  getrlimit(RLIMIT_FSIZE, &limit);
  limit.rlim_cur = Min(most, limit.rlim_max);
  setrlimit(RLIMIT_FSIZE, &limit);
}

void tell_context(void*) {
  errcontext("secret context");
}

void send(int level) {
  ereport(level, (errcode(rule.sqlstate), errmsg("secret of a row"), errdetail("secret detail"),
                  errhint("secret hint"), errposition(7), internalerrquery("secret query"),
                  internalerrposition(3), err_generic_string(PG_DIAG_TABLE_NAME, "secret table"),
                  err_generic_string(PG_DIAG_COLUMN_NAME, "secret column")));
}

void fire() {
  ++fired;
  if (rule.target == Target::kFile) return set_file_limit(0);
  const bool locks = rule.locks;
  const int level = rule.level;
  if (level >= ERROR) rule.target = Target::kNone;
  if (locks) {
    DirectFunctionCall1(pg_advisory_xact_lock_int8, Int64GetDatum(kLock));
    return;
  }
  ErrorContextCallback context = {error_context_stack, tell_context, nullptr};
  error_context_stack = &context;
  for (const int lower : {DEBUG5, DEBUG1, LOG, INFO, NOTICE, WARNING}) send(lower);
  if (level >= ERROR) send(level);
  error_context_stack = context.previous;
}

// ---- the row

void make(Marker* marker) {
  Oid input;
  Oid parameter;
  getTypeInputInfo(marker->type, &input, &parameter);
  get_typlenbyval(marker->type, &marker->length, &marker->by_value);
  const MemoryContext previous = MemoryContextSwitchTo(TopMemoryContext);
  marker->value = OidInputFunctionCall(input, marker->text.data(), parameter, -1);
  MemoryContextSwitchTo(previous);
  marker->is_made = true;
}

bool is_equal(const Marker& marker, Datum value) {
  if (marker.by_value || marker.length != -1) {
    return datumIsEqual(value, marker.value, marker.by_value, marker.length);
  }
  const auto* left = PG_DETOAST_DATUM_PACKED(value);
  const auto* right = PG_DETOAST_DATUM_PACKED(marker.value);
  return VARSIZE_ANY_EXHDR(left) == VARSIZE_ANY_EXHDR(right) &&
         memcmp(VARDATA_ANY(left), VARDATA_ANY(right), VARSIZE_ANY_EXHDR(left)) == 0;
}

void see_value(Marker* marker, Datum value) {
  is_busy = true;
  if (!marker->is_made) make(marker);
  has_seen_row = has_seen_row || is_equal(*marker, value);
  is_busy = false;
}

void see_call(FunctionCallInfo fcinfo, int first) {
  for (Marker& marker : rule.markers) {
    const int place = first + marker.position;
    if (place >= fcinfo->nargs || fcinfo->args[place].isnull) continue;
    see_value(&marker, fcinfo->args[place].value);
  }
}

// `first` is the place of the function's first argument.
void before_call(Oid function, FunctionCallInfo fcinfo, int first = 0) {
  if (likely(rule.target == Target::kNone) || is_busy || reads == 0) return;
  if (rule.target == Target::kFunction && has_seen_row && function == rule.function) {
    has_seen_row = false;
    fire();
  }
  if (function != rule.trigger || rule.target == Target::kSort || has_seen_row) return;
  see_call(fcinfo, first);
  if (!has_seen_row) return;
  if (rule.target == Target::kSame || rule.target == Target::kFile) fire();
  if (rule.target == Target::kSame) has_seen_row = false;
}

// ---- comparisons of sorts

struct Sort {
  SortSupport support;
  int (*original)(Datum, Datum, SortSupport);
};
Sort sorts[64];
int next_sort = 0;

int compare(Datum left, Datum right, SortSupport support) {
  int (*original)(Datum, Datum, SortSupport) = nullptr;
  for (const Sort& sort : sorts) {
    if (sort.support == support) original = sort.original;
  }
  if (rule.target == Target::kSort && !is_busy && reads > 0) {
    see_value(rule.markers.data(), left);
    see_value(rule.markers.data(), right);
    if (has_seen_row) fire();
    has_seen_row = false;
  }
  return original(left, right, support);
}

void prepare_sort(FunctionCallInfo fcinfo) {
  auto* support = reinterpret_cast<SortSupport>(PG_GETARG_POINTER(0));
  if (support->comparator == nullptr || support->comparator == compare) return;
  // Bytes in the place of values would be compared first.
  support->abbrev_converter = nullptr;
  if (support->abbrev_full_comparator != nullptr) {
    support->comparator = support->abbrev_full_comparator;
    support->abbrev_full_comparator = nullptr;
  }
  for (Sort& sort : sorts) {
    if (sort.support == support) sort.support = nullptr;
  }
  sorts[next_sort++ % std::size(sorts)] = {support, support->comparator};
  support->comparator = compare;
}

// ---- calls of PostgreSQL's functions

std::vector<PGFunction> originals;

Datum call_builtin(FunctionCallInfo fcinfo) {
  const Oid function = fcinfo->flinfo->fn_oid;
  const int number = function <= fmgr_last_builtin_oid ? fmgr_builtin_oid_index[function] : -1;
  if (number < 0 || number >= fmgr_nbuiltins) elog(ERROR, "function %u is not built in", function);
  before_call(function, fcinfo);
  const Datum answer = originals[number](fcinfo);
  if (rule.target == Target::kSort && function == rule.trigger) prepare_sort(fcinfo);
  return answer;
}

void make_writable(const void* begin, std::size_t size) {
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const std::uintptr_t first = reinterpret_cast<std::uintptr_t>(begin) / page * page;
  const std::uintptr_t end = reinterpret_cast<std::uintptr_t>(begin) + size;
  if (mprotect(reinterpret_cast<void*>(first), end - first, PROT_READ | PROT_WRITE) != 0) {
    elog(FATAL, "cannot change a table of PostgreSQL: %m");
  }
}

// The session inherits the table from the postmaster, which preloads the library.
void take_builtins() {
  make_writable(fmgr_builtins, fmgr_nbuiltins * sizeof(FmgrBuiltin));
  auto* builtins = const_cast<FmgrBuiltin*>(fmgr_builtins);
  for (int i = 0; i < fmgr_nbuiltins; ++i) {
    originals.push_back(builtins[i].func);
    builtins[i].func = call_builtin;
  }
}

// ---- allocations

MemoryContextMethods original_methods;

void before_allocation(MemoryContext context, Size size) {
  if (rule.target != Target::kMemory || is_busy || !has_seen_row || reads == 0) return;
  if (context == ErrorContext || CritSectionCount > 0 || --rule.countdown > 0) return;
  rule.target = Target::kNone;
  ++fired;
  ereport(ERROR, (errcode(ERRCODE_OUT_OF_MEMORY), errmsg("out of memory"),
                  errdetail("Failed on request of size %zu in memory context \"%s\": secret.", size,
                            context->name)));
}

#if PG_VERSION_NUM >= 170000
void* allocate(MemoryContext context, Size size, int flags) {
  before_allocation(context, size);
  return original_methods.alloc(context, size, flags);
}
#else
void* allocate(MemoryContext context, Size size) {
  before_allocation(context, size);
  return original_methods.alloc(context, size);
}
#endif

// Those of AllocSet, in which most memory is.
void take_allocations() {
  auto* methods = const_cast<MemoryContextMethods*>(TopMemoryContext->methods);
  original_methods = *methods;
  make_writable(methods, sizeof *methods);
  methods->alloc = allocate;
}

__attribute__((constructor)) void install() {
  DefineCustomStringVariable("faults.rule", "What happens for a row.", nullptr, &rule_text, "",
                             PGC_USERSET, 0, nullptr, assign_rule, nullptr);
  DefineCustomIntVariable("faults.fired", "How often it has happened.", nullptr, &fired_setting, 0,
                          0, PG_INT32_MAX, PGC_USERSET, 0, nullptr, nullptr, show_fired);
  take_builtins();
  take_allocations();
}

}  // namespace

DPQ_WRAPPED(void, begin_released_read, "_ZN10dpquantile19begin_released_readEv", ()) {
  original_begin_released_read();
  ++reads;
}

DPQ_WRAPPED(void, end_released_read, "_ZN10dpquantile17end_released_readEv", ()) {
  original_end_released_read();
  --reads;
  set_file_limit(RLIM_INFINITY);
}

}  // namespace dpquantile

extern "C" Datum dpq_total(PG_FUNCTION_ARGS);
extern "C" Datum dpq_total_stable(PG_FUNCTION_ARGS);

using namespace dpquantile;

namespace {

// Those of this library, by their OIDs
std::unordered_map<Oid, PGFunction> own_functions;

PGFunction find_own(Oid function) {
  const auto found = own_functions.find(function);
  if (found != own_functions.end()) return found->second;
  const HeapTuple row = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
  bool is_null = false;
  const Datum symbol = SysCacheGetAttr(PROCOID, row, Anum_pg_proc_prosrc, &is_null);
  auto* own = reinterpret_cast<PGFunction>(
      load_external_function("$libdir/dpquantile", TextDatumGetCString(symbol), true, nullptr));
  ReleaseSysCache(row);
  own_functions[function] = own;
  return own;
}

}  // namespace

// The handler of the language to which the test gives functions of the library: their calls come
// here, and go on to the symbols that they have in C.
DPQ_FUNCTION(faults_call) {
  const PGFunction own = find_own(fcinfo->flinfo->fn_oid);
  const bool is_variant = own == dpq_total || own == dpq_total_stable;
  if (is_variant) {
    before_call(PG_GETARG_OID(1), fcinfo, kBeforeArguments);
  } else {
    before_call(fcinfo->flinfo->fn_oid, fcinfo);
  }
  return own(fcinfo);
}
