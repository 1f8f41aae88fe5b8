#include "shared_segment.hpp"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <random>
#include <string>
#include <utility>

#include "backends/error.hpp"

namespace twill::detail {
namespace {

constexpr const char* file_name = "twill-exchange";

[[noreturn]] void fail_shared(const std::string& what, const std::string& why) {
  fail(errc::unsupported, "memory is not shared with other processes", what + ": " + why, "use messages");
}

std::uint64_t& number_of(unsigned char* segment) {
  return *reinterpret_cast<std::uint64_t*>(segment);
}

// Process numbers mean something else in another container, whose files must not be opened.
bool is_segment(const std::string& path) {
  char target[64] = {};
  const auto length = readlink(path.c_str(), target, sizeof target - 1);
  return length > 0 && std::string(target).rfind(std::string("/memfd:") + file_name, 0) == 0;
}

}  // namespace

shared_segment::~shared_segment() {
  close();
  if (data_ != nullptr) munmap(data_, bytes_);
}

shared_segment::shared_segment(shared_segment&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      bytes_(std::exchange(other.bytes_, 0)),
      file_(std::exchange(other.file_, -1)) {}

shared_segment& shared_segment::operator=(shared_segment&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  std::swap(file_, other.file_);
  return *this;
}

void shared_segment::map(int file, std::size_t bytes) {
  void* const mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (mapped == MAP_FAILED) fail_shared("mmap", std::strerror(errno));
  data_ = static_cast<unsigned char*>(mapped);
  bytes_ = bytes;
}

shared_segment shared_segment::make(std::size_t bytes) {
  shared_segment made;
  rlimit most{};
  if (getrlimit(RLIMIT_FSIZE, &most) == 0 && most.rlim_cur < bytes) {  // a file beyond it would end the process
    fail_shared("RLIMIT_FSIZE", "it is below " + std::to_string(bytes) + " bytes");
  }
  made.file_ = memfd_create(file_name, MFD_CLOEXEC);
  if (made.file_ < 0) fail_shared("memfd_create", std::strerror(errno));
  // Not only made as long: a page that there is no memory for would end the process when it is touched.
  const int code = posix_fallocate(made.file_, 0, static_cast<off_t>(bytes));
  if (code != 0) {
    fail(errc::out_of_memory, std::to_string(bytes) + " bytes of shared memory could not be had", std::strerror(code),
         "free host memory");
  }
  made.map(made.file_, bytes);
  number_of(made.data_) = (std::uint64_t{std::random_device{}()} << 32) | std::random_device{}();
  return made;
}

shared_segment shared_segment::open(const segment_ticket& of) {
  const std::string path = "/proc/" + std::to_string(of.process) + "/fd/" + std::to_string(of.file);
  if (!is_segment(path)) fail_shared(path, "it is no segment of twill that this process can see");
  shared_segment opened;
  opened.file_ = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (opened.file_ < 0) fail_shared(path, std::strerror(errno));
  struct stat found{};
  if (fstat(opened.file_, &found) != 0 || found.st_size != static_cast<off_t>(of.bytes)) {
    fail_shared(path, "it is another segment");
  }
  opened.map(opened.file_, of.bytes);
  if (number_of(opened.data_) != of.number) fail_shared(path, "it is another segment");
  opened.close();
  return opened;
}

segment_ticket shared_segment::ticket() const {
  return {getpid(), file_, bytes_, number_of(data_)};
}

void shared_segment::close() noexcept {
  if (file_ >= 0) ::close(std::exchange(file_, -1));
}

}  // namespace twill::detail
