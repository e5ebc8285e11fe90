// The tape of a session as far as PostgreSQL is concerned: its settings, executions of the release
// node, charges, messages, and what a read of protected rows has left behind when it ends. The
// functions of src/pg that it replaces are between its source files (wrapped.hpp).
//
// fuzz.tape names the file that the tape is written to, fuzz.play the tape that is played.
#include <algorithm>
#include <map>

#include "core/base/int128.hpp"
#include "pg/charge/charge.hpp"
#include "pg/protect/rewritten_keys.hpp"
#include "pg/release/release_execution.hpp"
#include "pg/release/trip_wire.hpp"
#include "tape.hpp"
#include "wrapped.hpp"

extern "C" {
#include "access/genam.h"
#include "access/htup_details.h"
#include "access/parallel.h"
#include "access/table.h"
#include "catalog/pg_class.h"
#include "executor/instrument.h"
#include "miscadmin.h"
#include "nodes/memnodes.h"
#include "pgstat.h"
#include "storage/lock.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#if PG_VERSION_NUM < 170000
#include "utils/resowner_private.h"
#endif
}

namespace dpquantile {

namespace {

std::string hex(const char* bytes, std::size_t size) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (std::size_t i = 0; i < size; ++i) {
    const auto byte = static_cast<unsigned char>(bytes[i]);
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

std::string field(const char* text) {
  std::string clean = text == nullptr ? "" : text;
  for (char& letter : clean) {
    if (letter == '\t' || letter == '\n') letter = ' ';
  }
  return clean;
}

// ---- values

// Bytes that tell values apart and make them again. Nothing is looked up.
std::string bytes_of(Datum value, const FormData_pg_attribute* column) {
  if (column->attbyval) {
    const auto word = static_cast<std::uint64_t>(value);
    return hex(reinterpret_cast<const char*>(&word), sizeof word);
  }
  if (column->attlen > 0) {
    return hex(static_cast<const char*>(DatumGetPointer(value)), column->attlen);
  }
  const auto* packed = PG_DETOAST_DATUM_PACKED(value);
  return hex(VARDATA_ANY(packed), VARSIZE_ANY_EXHDR(packed));
}

char byte_of(const std::string& text, std::size_t i) {
  return static_cast<char>(std::stoi(text.substr(2 * i, 2), nullptr, 16));
}

// In the current memory context.
Datum value_of(const std::string& text, const FormData_pg_attribute* column, Datum own) {
  const std::size_t size = text.size() / 2;
  if (column->attbyval) {
    std::uint64_t word = 0;
    for (std::size_t i = 0; i < size; ++i) reinterpret_cast<char*>(&word)[i] = byte_of(text, i);
    return static_cast<Datum>(word);
  }
  const std::size_t header = column->attlen > 0 ? 0 : VARHDRSZ;
  auto* value = static_cast<char*>(palloc(size + header));
  for (std::size_t i = 0; i < size; ++i) value[header + i] = byte_of(text, i);
  if (header > 0) SET_VARSIZE(value, size + header);
  // The number of an anonymous row type belongs to the session.
  if (column->atttypid == RECORDOID) {
    HeapTupleHeaderSetTypMod(reinterpret_cast<HeapTupleHeader>(value),
                             HeapTupleHeaderGetTypMod(DatumGetHeapTupleHeader(own)));
  }
  return PointerGetDatum(value);
}

// ---- what a read leaves behind

using Amounts = std::map<std::string, long>;

// Scans of catalogs and of their indexes: each look-up that no cache answers, and each relation
// that is opened for the first time.
std::vector<Oid>& catalogs() {
  static std::vector<Oid> oids;
  return oids;
}

void list_catalogs() {
  if (!catalogs().empty()) return;
  Relation relations = table_open(RelationRelationId, AccessShareLock);
  SysScanDesc scan = systable_beginscan(relations, InvalidOid, false, nullptr, 0, nullptr);
  while (HeapTuple tuple = systable_getnext(scan)) {
    const auto* relation = reinterpret_cast<Form_pg_class>(GETSTRUCT(tuple));
    if (relation->oid < FirstNormalObjectId) catalogs().push_back(relation->oid);
  }
  systable_endscan(scan);
  table_close(relations, AccessShareLock);
}

Amounts scans_of_catalogs() {
  Amounts scans;
  for (const Oid oid : catalogs()) {
    const PgStat_TableStatus* entry = find_tabstat_entry(oid);
    if (entry == nullptr) continue;
#if PG_VERSION_NUM >= 160000
    scans[std::to_string(oid)] = static_cast<long>(entry->counts.numscans);
#else
    scans[std::to_string(oid)] = static_cast<long>(entry->t_counts.t_numscans);
#endif
  }
  return scans;
}

long used_by(MemoryContext context) {
  MemoryContextCounters counters{};
  context->methods->stats(context, nullptr, nullptr, &counters, false);
  return static_cast<long>(counters.totalspace - counters.freespace);
}

void add_contexts(MemoryContext context, Amounts* amounts) {
  // These end with the message, the portal or the transaction.
  for (const char* name : {"MessageContext", "TopPortalContext", "TopTransactionContext"}) {
    if (strcmp(context->name, name) == 0) return;
  }
  (*amounts)[field(context->name) +
             (context->ident ? std::string("/") + field(context->ident) : "")] += used_by(context);
  for (MemoryContext child = context->firstchild; child != nullptr; child = child->nextchild) {
    add_contexts(child, amounts);
  }
}

Amounts lasting_memory() {
  Amounts amounts;
  add_contexts(TopMemoryContext, &amounts);
  return amounts;
}

long memory_below(MemoryContext context) {
  long used = used_by(context);
  for (MemoryContext child = context->firstchild; child != nullptr; child = child->nextchild) {
    used += memory_below(child);
  }
  return used;
}

Amounts buffers() {
  const BufferUsage& used = pgBufferUsage;
  return {{"shared", used.shared_blks_hit + used.shared_blks_read},
          {"dirtied", used.shared_blks_dirtied},
          {"written", used.shared_blks_written},
          {"local", used.local_blks_hit + used.local_blks_read + used.local_blks_written},
          {"temporary", used.temp_blks_read + used.temp_blks_written}};
}

// Those of this session, without its own transaction.
Amounts locks() {
  Amounts held;
  const MemoryContext scratch =
      AllocSetContextCreate(CurrentMemoryContext, "fuzz scratch", ALLOCSET_DEFAULT_SIZES);
  const MemoryContext previous = MemoryContextSwitchTo(scratch);
  const LockData* all = GetLockStatusData();
  for (int i = 0; i < all->nelements; ++i) {
    const LockInstanceData& lock = all->locks[i];
    const int kind = lock.locktag.locktag_type;
    if (lock.pid != MyProcPid || kind == LOCKTAG_VIRTUALTRANSACTION) continue;
    const bool is_relation = kind == LOCKTAG_RELATION;
    const std::string of = is_relation ? std::to_string(lock.locktag.locktag_field2) : "";
    ++held[std::to_string(kind) + "/" + of + "/" + std::to_string(lock.holdMask)];
  }
  MemoryContextSwitchTo(previous);
  MemoryContextDelete(scratch);
  return held;
}

// Makes the arrays of what the executor holds, which are in lasting memory until it ends. The first
// row would make some of them: it finds types in the caches of catalogs.
void make_arrays_of_owner() {
#if PG_VERSION_NUM < 170000
  ResourceOwnerEnlargeBuffers(CurrentResourceOwner);
  ResourceOwnerEnlargeCatCacheRefs(CurrentResourceOwner);
  ResourceOwnerEnlargeCatCacheListRefs(CurrentResourceOwner);
  ResourceOwnerEnlargeRelationRefs(CurrentResourceOwner);
  ResourceOwnerEnlargeTupleDescs(CurrentResourceOwner);
  ResourceOwnerEnlargeSnapshots(CurrentResourceOwner);
  ResourceOwnerEnlargeFiles(CurrentResourceOwner);
  ResourceOwnerEnlargeCryptoHash(CurrentResourceOwner);
#endif
}

struct Snapshot {
  Amounts catalogs;
  Amounts memory;
  Amounts buffers;
  Amounts locks;
};

Snapshot snapshot() {
  return {scans_of_catalogs(), lasting_memory(), buffers(), locks()};
}

std::string changes(const Amounts& before, const Amounts& after) {
  std::string text;
  for (const auto& [name, amount] : after) {
    const auto found = before.find(name);
    const long change = amount - (found == before.end() ? 0 : found->second);
    if (change != 0) text += (text.empty() ? "" : ",") + name + "=" + std::to_string(change);
  }
  return text;
}

// ---- executions

struct Execution {
  ReleaseNode* node;
  bool reads;
  Snapshot before;
  int previous_level;
};

std::vector<Execution>& executions() {
  static std::vector<Execution> all;
  return all;
}

void end_window(Execution* execution) {
  if (!execution->reads) return;
  execution->reads = false;
  DPQ_LOG_MIN_MESSAGES = execution->previous_level;
  const Snapshot after = snapshot();
  const Snapshot& before = execution->before;
  const long memory = memory_below(execution->node->scan.ss.ps.state->es_query_cxt);
  tape::write("W\tcatalogs\t" + changes(before.catalogs, after.catalogs));
  tape::write("W\tmemory\t" + changes(before.memory, after.memory));
  tape::write("W\tlocks\t" + changes(before.locks, after.locks));
  tape::write("W\tbuffers\t" + changes(before.buffers, after.buffers));
  tape::write("W\tquery\tmemory=" + std::to_string(memory));
}

void end_last_execution() {
  if (executions().empty()) return;
  if (executions().back().reads) DPQ_LOG_MIN_MESSAGES = executions().back().previous_level;
  executions().pop_back();
  tape::end_execution();
}

Execution* innermost() {
  return executions().empty() ? nullptr : &executions().back();
}

const TupleTableSlot* answers_of(const ReleaseNode* node) {
  return node->drawn;
}

bool is_answer(const ReleaseNode* node, int column) {
  for (int i = 0; i < node->call_count; ++i) {
    if (node->calls[i].column == column) return true;
  }
  return false;
}

// The keys of the group that the node answers. Behind its columns are errors of answers.
std::string group_of(const ReleaseNode* node, const TupleTableSlot* slot) {
  std::string key = "k";
  TupleDesc columns = node->scan.ss.ss_ScanTupleSlot->tts_tupleDescriptor;
  for (int column = 1; column <= columns->natts; ++column) {
    if (is_answer(node, column)) continue;
    key += slot->tts_isnull[column - 1]
               ? "/null"
               : "/" + bytes_of(slot->tts_values[column - 1], TupleDescAttr(columns, column - 1));
  }
  return key;
}

std::string amount(const std::optional<double>& value) {
  char text[32];
  snprintf(text, sizeof text, "%.17g", value.value_or(-1));
  return text;
}

// The column of the call that a charge is for: charges come in the order of the calls.
int column_of(const ReleaseNode* node, const Charge& charge, int* next) {
  while (*next < node->call_count) {
    const ReleaseCall& call = node->calls[(*next)++];
    if (call.name == charge.function) return call.column;
  }
  return 0;
}

void write_charges(std::span<const Charge> charges, const List* tables, bool after_first_group) {
  const Execution* execution = innermost();
  int next = 0;
  for (const Charge& charge : charges) {
    const int column = execution == nullptr ? 0 : column_of(execution->node, charge, &next);
    const PrivacyCost& cost = charge.costs.own;
    tape::write("C\t" + std::to_string(column) + "\t" + field(charge.function) + "\t" +
                field(charge.mechanism) + "\t" + field(charge.neighbours) + "\t" +
                amount(cost.epsilon) + "\t" + amount(cost.delta) + "\t" + amount(cost.rho) + "\t" +
                std::to_string(charge.times) + "\t" + std::to_string(charge.grouping_sets) + "\t" +
                std::to_string(charge.groups) + "\t" + std::to_string(list_length(tables)) + "\t" +
                std::to_string(after_first_group));
  }
}

// ---- messages and settings

emit_log_hook_type next_hook = nullptr;

// In a read the server's log gets all messages, so that this sees them, and none below LOG.
void note_message(ErrorData* message) {
  const Execution* execution = innermost();
  if (execution != nullptr && execution->reads && message->elevel != LOG_SERVER_ONLY) {
    tape::write("L\t" + std::to_string(message->elevel) + "\t" +
                std::to_string(message->sqlerrcode) + "\t" + field(message->message));
    if (message->elevel < execution->previous_level) message->output_to_server = false;
  }
  if (next_hook != nullptr) next_hook(message);
}

char* tape_file = nullptr;
char* played_file = nullptr;

void assign_tape(const char* file, void*) {
  executions().clear();
  if (!InitializingParallelWorker && !IsParallelWorker()) tape::record(file == nullptr ? "" : file);
}

void assign_played(const char* file, void*) {
  if (!InitializingParallelWorker && !IsParallelWorker()) tape::play(file == nullptr ? "" : file);
}

__attribute__((constructor)) void install() {
  DefineCustomStringVariable("fuzz.tape", "The file of the tape.", nullptr, &tape_file, "",
                             PGC_USERSET, 0, nullptr, assign_tape, nullptr);
  DefineCustomStringVariable("fuzz.play", "The tape that is played.", nullptr, &played_file, "",
                             PGC_USERSET, 0, nullptr, assign_played, nullptr);
  next_hook = emit_log_hook;
  emit_log_hook = note_message;
}

}  // namespace

DPQ_WRAPPED(void, execute_release, "_ZN10dpquantile15execute_releaseEPNS_11ReleaseNodeE",
            (ReleaseNode * node)) {
  list_catalogs();
  executions().push_back({node, false, {}, 0});
  tape::begin_execution();
  PG_TRY();
  original_execute_release(node);
  PG_CATCH();
  end_last_execution();
  PG_RE_THROW();
  PG_END_TRY();
  end_last_execution();
}

DPQ_WRAPPED(int64, charge_budget,
            "_ZN10dpquantile13charge_budgetESt4spanIKNS_6ChargeEL" DPQ_DYNAMIC "EEPK4Listb",
            (std::span<const Charge> charges, const List* tables, bool after_first_group)) {
  write_charges(charges, tables, after_first_group);
  const int64 first = original_charge_budget(charges, tables, after_first_group);
  tape::write("c");
  return first;
}

// The secrets of these hashes are other ones than those of persons, by which the plan knows the
// groups of persons (pg/borrowed/ordered_persons.hpp).
DPQ_WRAPPED(void, group_by_hashes, "_ZN10dpquantile15group_by_hashesERKNS_9GroupKeysEPK4Listb",
            (const GroupKeys& keys, const List* groups, bool all_keys)) {
  constexpr std::uint64_t kBehindThoseOfPersons = 1 << 20;
  tape::begin_streams_at(kBehindThoseOfPersons);
  PG_TRY();
  original_group_by_hashes(keys, groups, all_keys);
  PG_FINALLY();
  tape::begin_streams_at(0);
  PG_END_TRY();
}

// The planner's reads have no execution.
DPQ_WRAPPED(void, watch_read, "_ZN10dpquantile10watch_readEPNS_11WatchedReadEPK4List",
            (WatchedRead * read, const List* relations)) {
  original_watch_read(read, relations);
  Execution* execution = innermost();
  if (execution == nullptr || !tape::is_recording()) return;
  tape::write("R");
  make_arrays_of_owner();
  execution->before = snapshot();
  execution->reads = true;
  execution->previous_level = DPQ_LOG_MIN_MESSAGES;
  DPQ_LOG_MIN_MESSAGES = DEBUG5;
}

DPQ_WRAPPED(void, end_read, "_ZN10dpquantile8end_readEPKNS_11WatchedReadE",
            (const WatchedRead* read)) {
  Execution* execution = innermost();
  if (execution != nullptr) end_window(execution);
  original_end_read(read);
}

[[noreturn]] DPQ_WRAPPED(void, fail_read, "_ZN10dpquantile9fail_readEPNS_11WatchedReadE",
                         (WatchedRead * read)) {
  tape::write("F\t" + std::to_string(geterrcode()));
  original_fail_read(read);
  abort();
}

DPQ_WRAPPED(NullableDatum, answer_call,
            "_ZN10dpquantile11answer_callEPNS_11ReleaseCallEPNS_12RandomStreamE13NullableDatumPd",
            (ReleaseCall * call, RandomStream* random, NullableDatum state, double* error)) {
  const Execution* execution = innermost();
  if (execution != nullptr) {
    tape::begin_call(group_of(execution->node, answers_of(execution->node)), call->column);
  }
  const NullableDatum answer = original_answer_call(call, random, state, error);
  tape::end_call();
  return answer;
}

// The answers of a group, and no states of groups that wait for a charge.
DPQ_WRAPPED(void, add_answer, "_ZN10dpquantile10add_answerERKNS_13SortedAnswersEP14TupleTableSlot",
            (const SortedAnswers& answers, TupleTableSlot* answer)) {
  const Execution* execution = innermost();
  if (execution != nullptr && answer == answers_of(execution->node)) {
    ExprContext* expressions = execution->node->scan.ss.ps.ps_ExprContext;
    const MemoryContext previous = MemoryContextSwitchTo(expressions->ecxt_per_tuple_memory);
    const std::string group = group_of(execution->node, answer);
    for (int i = 0; i < execution->node->call_count; ++i) {
      const int column = execution->node->calls[i].column;
      const FormData_pg_attribute* type = TupleDescAttr(answer->tts_tupleDescriptor, column - 1);
      Datum& value = answer->tts_values[column - 1];
      bool& is_null = answer->tts_isnull[column - 1];
      tape::write_answer(group, column, is_null ? "null" : bytes_of(value, type));
      if (const std::string* played = tape::answer_to_play(group, column)) {
        is_null = *played == "null";
        if (!is_null) value = value_of(*played, type, value);
      }
    }
    MemoryContextSwitchTo(previous);
  }
  original_add_answer(answers, answer);
}

}  // namespace dpquantile
