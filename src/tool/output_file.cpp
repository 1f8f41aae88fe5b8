#include "output_file.hpp"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>
#include <unistd.h>

#include "parse.hpp"

namespace twill::tool {
namespace {

namespace fs = std::filesystem;

/// Ignores, for the moment of writing, the signals by which a user ends the tool.
class signals_ignored {
 public:
  signals_ignored() {
    for (std::size_t i = 0; i < std::size(signals); ++i) before_[i] = std::signal(signals[i], SIG_IGN);
  }
  ~signals_ignored() {
    for (std::size_t i = 0; i < std::size(signals); ++i) std::signal(signals[i], before_[i]);
  }
  signals_ignored(const signals_ignored&) = delete;
  signals_ignored& operator=(const signals_ignored&) = delete;

 private:
  static constexpr int signals[] = {SIGINT, SIGTERM, SIGHUP};
  void (*before_[std::size(signals)])(int);
};

[[noreturn]] void refuse_path(const std::string& path, const std::string& why) {
  refuse(fmt::format("cannot write \"{}\"", path), why, "give a file in a folder that you may write to");
}

/// Standard output, or one regular file, there or not; not two paths to /dev/null.
bool is_same_file(std::string a, std::string b) {
  std::error_code problem;
  for (std::string* path : {&a, &b}) {
    if (*path == "-") *path = "/dev/stdout";
  }
  if (a.empty() || b.empty() || fs::weakly_canonical(fs::absolute(a), problem) == "/dev/null") return false;
  if (a == b || fs::equivalent(a, b, problem)) return true;
  const fs::path real_a = fs::weakly_canonical(fs::absolute(a), problem);
  const fs::path real_b = fs::weakly_canonical(fs::absolute(b), problem);
  return !problem && real_a == real_b;
}

/// Empty, or what the system says was wrong.
std::string write_file(const std::string& path, const std::string& text) {
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (file == nullptr) return std::strerror(errno);
  const bool all = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  int problem = all ? 0 : errno;
  if (std::fclose(file) != 0 && problem == 0) problem = errno;
  return problem == 0 && all ? "" : std::strerror(problem);
}

}  // namespace

output_file::output_file(const std::string& path) : path_(path), target_(path) {
  if (!wanted() || is_stdout()) return;
  std::error_code problem;
  const fs::path real = fs::weakly_canonical(path, problem);
  if (!problem) target_ = real.string();
  const fs::file_status status = fs::status(target_, problem);
  if (fs::is_directory(status)) refuse_path(path, "it is a folder");
  if (fs::exists(status) && !fs::is_regular_file(status)) return;

  temporary_ = fmt::format("{}.{}.part", target_, static_cast<long>(getpid()));
  const signals_ignored meanwhile;
  const std::string why = write_file(temporary_, "");
  if (why.empty()) fs::remove(temporary_, problem);
  if (!why.empty()) refuse_path(path, why);
  if (fs::exists(status) && access(target_.c_str(), W_OK) != 0) refuse_path(path, std::strerror(errno));
}

void output_file::write(const std::string& text) const {
  if (!wanted()) return;
  if (is_stdout()) {
    std::fwrite(text.data(), 1, text.size(), stdout);
    return;
  }
  const signals_ignored meanwhile;
  std::string why = write_file(temporary_.empty() ? target_ : temporary_, text);
  if (!temporary_.empty()) {
    if (why.empty() && std::rename(temporary_.c_str(), target_.c_str()) != 0) why = std::strerror(errno);
    if (!why.empty()) std::remove(temporary_.c_str());
  }
  if (why.empty()) return;
  throw write_error(fmt::format("cannot write \"{}\" ({}) make room, or give another file", path_, why));
}

void require_distinct(const std::vector<named_path>& outputs, const std::vector<named_path>& inputs) {
  std::vector<named_path> others = inputs;
  for (const named_path& output : outputs) {
    for (const named_path& other : others) {
      if (!is_same_file(other.path, output.path)) continue;
      refuse(fmt::format("{} and {} name the same file", other.option, output.option), output.path,
             "give each its own");
    }
    others.push_back(output);
  }
}

}  // namespace twill::tool
