#include "pg/restricted/bare_rows.hpp"

extern "C" {
#include "executor/tuptable.h"
#include "nodes/execnodes.h"
}

namespace dpquantile {

namespace {

// Plain data.
struct BareRowReceiver {
  DestReceiver receiver;  // first, so that PostgreSQL's pointer is ours
  DestReceiver* next;
  MemoryContext memory;
  TupleTableSlot* row;
};

BareRowReceiver* of(DestReceiver* receiver) {
  return reinterpret_cast<BareRowReceiver*>(receiver);
}

void start(DestReceiver* self, int operation, TupleDesc columns) {
  BareRowReceiver* bare = of(self);
  const MemoryContext previous = MemoryContextSwitchTo(bare->memory);
  bare->row = MakeSingleTupleTableSlot(columns, &TTSOpsVirtual);
  MemoryContextSwitchTo(previous);
  bare->next->rStartup(bare->next, operation, columns);
}

bool receive(TupleTableSlot* slot, DestReceiver* self) {
  const BareRowReceiver* bare = of(self);
  if (TTS_IS_VIRTUAL(slot)) return bare->next->receiveSlot(slot, bare->next);
  slot_getallattrs(slot);
  TupleTableSlot* row = ExecClearTuple(bare->row);
  const auto count = static_cast<Size>(slot->tts_tupleDescriptor->natts);
  memcpy(row->tts_values, slot->tts_values, count * sizeof(Datum));
  memcpy(row->tts_isnull, slot->tts_isnull, count * sizeof(bool));
  return bare->next->receiveSlot(ExecStoreVirtualTuple(row), bare->next);
}

void shut_down(DestReceiver* self) {
  const BareRowReceiver* bare = of(self);
  bare->next->rShutdown(bare->next);
  ExecDropSingleTupleTableSlot(bare->row);
}

void destroy(DestReceiver* self) {
  pfree(self);
}

}  // namespace

DestReceiver* hand_on_bare_rows(QueryDesc* query) {
  DestReceiver* next = query->dest;
  if (next == nullptr || next->mydest != DestSPI) return next;
  const MemoryContext memory = query->estate->es_query_cxt;
  auto* bare =
      static_cast<BareRowReceiver*>(MemoryContextAllocZero(memory, sizeof(BareRowReceiver)));
  bare->receiver = {receive, start, shut_down, destroy, DestSPI};
  bare->next = next;
  bare->memory = memory;
  query->dest = &bare->receiver;
  return next;
}

}  // namespace dpquantile
