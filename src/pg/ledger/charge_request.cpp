#include "pg/ledger/charge_request.hpp"

namespace dpquantile {

namespace {

constexpr Size kReplyStart = offsetof(ChargeRequest, outcome);
constexpr Size kReplyEnd = offsetof(ChargeRequest, item_count);

char* reply(ChargeRequest* request) {
  return reinterpret_cast<char*>(request) + kReplyStart;
}

}  // namespace

void copy_reply(ChargeRequest* to, const ChargeRequest* from) {
  memcpy(reply(to), reinterpret_cast<const char*>(from) + kReplyStart, kReplyEnd - kReplyStart);
}

void clear_reply(ChargeRequest* request) {
  memset(reply(request), 0, kReplyEnd - kReplyStart);
}

}  // namespace dpquantile
