#include "omatcopy.hpp"

#include <dlfcn.h>

#include <limits>

#include <twill/error.hpp>

#include "backends/error.hpp"

namespace twill::cpu {
namespace {

using single_function = void (*)(int order, int trans, int rows, int cols, float alpha, const void* in, int in_ld,
                                 void* out, int out_ld);
using double_function = void (*)(int order, int trans, int rows, int cols, double alpha, const void* in, int in_ld,
                                 void* out, int out_ld);
using complex_function = void (*)(int order, int trans, int rows, int cols, const double* alpha, const void* in,
                                  int in_ld, void* out, int out_ld);

constexpr int row_major = 101, transposed = 112;  // CblasRowMajor, CblasTrans

struct omatcopy_library {
  single_function move4 = nullptr;
  double_function move8 = nullptr;
  complex_function move16 = nullptr;
};

template <class Function>
void find(void* library, const char* symbol, Function* function) {
  *function = reinterpret_cast<Function>(dlsym(library, symbol));
}

// A build with 64-bit integers has names of its own (libopenblas64) and is not looked for.
omatcopy_library load() {
  void* library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return {};
  omatcopy_library found;
  find(library, "cblas_somatcopy", &found.move4);
  find(library, "cblas_domatcopy", &found.move8);
  find(library, "cblas_zomatcopy", &found.move16);
  if (found.move4 != nullptr && found.move8 != nullptr && found.move16 != nullptr) return found;  // stays loaded
  dlclose(library);
  return {};
}

const omatcopy_library& library() {
  static const omatcopy_library found = load();
  return found;
}

void run(const detail::work_queue&, const detail::transpose_rung_args& a) {
  constexpr std::int64_t most = std::numeric_limits<int>::max();
  if (a.element_bytes < 4 || a.rows > most || a.cols > most) {
    detail::fail(errc::unsupported, "openblas-omatcopy cannot move this matrix",
                 "it has elements of 4, 8 or 16 bytes and 32-bit extents", "choose another rung");
  }
  const int rows = static_cast<int>(a.rows), cols = static_cast<int>(a.cols);
  const double one[] = {1, 0};
  for (int i = 0; i < a.repeats; ++i) {
    if (a.element_bytes == 4) {
      library().move4(row_major, transposed, rows, cols, 1, a.in, cols, a.out, rows);
    } else if (a.element_bytes == 8) {
      library().move8(row_major, transposed, rows, cols, 1, a.in, cols, a.out, rows);
    } else {
      library().move16(row_major, transposed, rows, cols, one, a.in, cols, a.out, rows);
    }
  }
}

const detail::transpose_rung_entry rung{{"transpose",
                                         "openblas-omatcopy",
                                         "OpenBLAS on one thread: computes 1 * in, so exact for normal numbers only",
                                         "OpenBLAS",
                                         rung_promise::transpose,
                                         {},
                                         false},
                                        nullptr,
                                        nullptr,
                                        &run};

}  // namespace

const detail::transpose_rung_entry* omatcopy_rung() noexcept {
  return library().move4 == nullptr ? nullptr : &rung;
}

}  // namespace twill::cpu
