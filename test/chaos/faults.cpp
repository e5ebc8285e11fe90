// Preloaded into a server (LD_PRELOAD). It fails, or delays, writes and flushes of the files that
// the rule in DPQ_FAULTS/rule names, and it remembers which bytes of the write-ahead log no flush
// has made durable: a power failure may take them back.
//
// A rule is a text "ACTION ERRNO FRAGMENT..." that ends with a zero. It concerns each file whose
// path contains one of the fragments, with no digit after it. ACTION: write (any write), grow (a
// write that makes the file longer), flush (fsync and fdatasync), slow (a flush lasts half a second
// longer).
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <cctype>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

constexpr std::size_t kPageSize = 4096;

// The file that the server's processes and the test share
struct Page {
  char rule[kPageSize - sizeof(std::uint32_t)];
  std::atomic<std::uint32_t> hits;  // how many calls the rules have failed or delayed
};
static_assert(sizeof(Page) == kPageSize);

template <class Function>
Function next(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

const char* directory() {
  static const char* const name = std::getenv("DPQ_FAULTS");
  if (name != nullptr) return name;
  std::fputs("DPQ_FAULTS is not set\n", stderr);
  std::abort();
}

Page* map_page() {
  const std::string name = std::string(directory()) + "/rule";
  const int file = open(name.c_str(), O_RDWR | O_CLOEXEC);
  void* page =
      file < 0 ? MAP_FAILED : mmap(nullptr, kPageSize, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (page == MAP_FAILED) {
    std::perror(name.c_str());
    std::abort();
  }
  close(file);
  return static_cast<Page*>(page);
}

Page* page() {
  static Page* const mapped = map_page();
  return mapped;
}

std::string path_of(int file) {
  char link[64];
  char path[PATH_MAX];
  std::snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  const ssize_t length = readlink(link, path, sizeof path);
  return {path, length > 0 ? static_cast<std::size_t>(length) : 0};
}

bool contains(const std::string& path, const std::string& fragment) {
  const std::size_t at = path.find(fragment);
  if (at == std::string::npos) return false;
  const std::size_t end = at + fragment.size();
  return end == path.size() || std::isdigit(static_cast<unsigned char>(path[end])) == 0 ||
         fragment.back() == '/';
}

std::vector<std::string> words_of(const char* text) {
  std::vector<std::string> words(1);
  for (; *text != '\0'; ++text) {
    if (*text == ' ') {
      words.emplace_back();
    } else {
      words.back() += *text;
    }
  }
  return words;
}

// The errno of the rule if it is about this action and file, or 0.
int rule_for(const char* action, int file) {
  if (page()->rule[0] == '\0') return 0;
  const std::vector<std::string> words = words_of(page()->rule);
  if (words.size() < 3 || words[0] != action) return 0;
  const std::string path = path_of(file);
  for (std::size_t i = 2; i < words.size(); ++i) {
    if (contains(path, words[i])) return std::atoi(words[1].c_str());
  }
  return 0;
}

bool grows(int file, off_t end) {
  struct stat status;
  return fstat(file, &status) == 0 && end > status.st_size;
}

// Sets errno and returns true if the write must fail.
bool write_fails(int file, off_t end) {
  int error = rule_for("write", file);
  if (error == 0 && grows(file, end)) error = rule_for("grow", file);
  if (error == 0) return false;
  ++page()->hits;
  errno = error;
  return true;
}

// The file with the bytes that were in a segment of the write-ahead log before writes that are not
// flushed. Empty if the file is no segment.
std::string unflushed_of(int file) {
  constexpr std::size_t kNameLength = 24;
  const std::string path = path_of(file);
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos || slash < 6 || path.compare(slash - 6, 7, "pg_wal/") != 0 ||
      path.size() - slash - 1 != kNameLength) {
    return {};
  }
  return std::string(directory()) + "/unflushed/" + path.substr(slash + 1);
}

// Appends the offset, the length and the old bytes. One process writes to the log at a time.
void remember(int file, std::size_t length, off_t offset) {
  const std::string name = unflushed_of(file);
  if (name.empty()) return;
  std::vector<char> bytes(16 + length);
  const std::int64_t head[2] = {offset, static_cast<std::int64_t>(length)};
  std::memcpy(bytes.data(), head, sizeof head);
  const int to = open(name.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (pread(file, bytes.data() + 16, length, offset) != static_cast<ssize_t>(length) || to < 0 ||
      next<ssize_t (*)(int, const void*, std::size_t)>("write")(to, bytes.data(), bytes.size()) !=
          static_cast<ssize_t>(bytes.size())) {
    std::perror(name.c_str());
    std::abort();
  }
  close(to);
}

void forget(int file) {
  const std::string name = unflushed_of(file);
  if (!name.empty()) unlink(name.c_str());
}

off_t total(const iovec* parts, int count) {
  off_t sum = 0;
  for (int i = 0; i < count; ++i) sum += static_cast<off_t>(parts[i].iov_len);
  return sum;
}

int flush(int file, const char* name) {
  if (const int error = rule_for("flush", file); error != 0) {
    ++page()->hits;
    errno = error;
    return -1;
  }
  if (rule_for("slow", file) != 0) {
    ++page()->hits;
    usleep(500'000);
  }
  const int result = next<int (*)(int)>(name)(file);
  if (result == 0) forget(file);
  return result;
}

int allocate(int file, off_t offset, off_t length, const char* name) {
  if (write_fails(file, offset + length)) return errno;
  return next<int (*)(int, off_t, off_t)>(name)(file, offset, length);
}

ssize_t write_at(int file, const void* bytes, std::size_t length, off_t offset, const char* name) {
  if (write_fails(file, offset + static_cast<off_t>(length))) return -1;
  remember(file, length, offset);
  return next<ssize_t (*)(int, const void*, std::size_t, off_t)>(name)(file, bytes, length, offset);
}

ssize_t write_parts_at(int file, const iovec* parts, int count, off_t offset, const char* name) {
  if (write_fails(file, offset + total(parts, count))) return -1;
  return next<ssize_t (*)(int, const iovec*, int, off_t)>(name)(file, parts, count, offset);
}

}  // namespace

extern "C" {

ssize_t pwrite(int file, const void* bytes, size_t length, off_t offset) {
  return write_at(file, bytes, length, offset, "pwrite");
}

ssize_t pwrite64(int file, const void* bytes, size_t length, off_t offset) {
  return write_at(file, bytes, length, offset, "pwrite64");
}

ssize_t pwritev(int file, const iovec* parts, int count, off_t offset) {
  return write_parts_at(file, parts, count, offset, "pwritev");
}

ssize_t pwritev64(int file, const iovec* parts, int count, off_t offset) {
  return write_parts_at(file, parts, count, offset, "pwritev64");
}

int posix_fallocate(int file, off_t offset, off_t length) {
  return allocate(file, offset, length, "posix_fallocate");
}

int posix_fallocate64(int file, off_t offset, off_t length) {
  return allocate(file, offset, length, "posix_fallocate64");
}

int fsync(int file) {
  return flush(file, "fsync");
}

int fdatasync(int file) {
  return flush(file, "fdatasync");
}
}
