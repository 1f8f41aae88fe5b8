#include "geam.hpp"

#include <dlfcn.h>

#include <iterator>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "backends/error.hpp"
#include "blas.hpp"
#include "device_guard.hpp"
#include "gpu_device.hpp"
#include "peers.hpp"
#include "table.hpp"
#include "tensor_library.hpp"

namespace twill::TWILL_BACKEND {
namespace {

// cuBLAS and rocBLAS agree in all of this; every pointer to numbers is a `void*` here.
using create_function = int (*)(void** handle);
using set_stream_function = int (*)(void* handle, native_stream stream);
using geam_function = int (*)(void* handle, int op_a, int op_b, int m, int n, const void* alpha, const void* a, int lda,
                              const void* beta, const void* b, int ldb, void* c, int ldc);

struct blas_library {
  create_function create = nullptr;
  set_stream_function set_stream = nullptr;
  geam_function geam4 = nullptr, geam8 = nullptr, geam16 = nullptr;

  bool is_complete() const {
    return create != nullptr && set_stream != nullptr && geam4 != nullptr && geam8 != nullptr && geam16 != nullptr;
  }
};

template <class Function>
void find(void* library, const char* symbol, Function* function) {
  *function = reinterpret_cast<Function>(dlsym(library, symbol));
}

blas_library load() {
  for (const auto& name : blas::libraries()) {
    void* library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) continue;
    blas_library found;
    find(library, blas::create, &found.create);
    find(library, blas::set_stream, &found.set_stream);
    find(library, blas::geam4, &found.geam4);
    find(library, blas::geam8, &found.geam8);
    find(library, blas::geam16, &found.geam16);
    if (found.is_complete() && blas::has_our_runtime(library)) return found;  // stays loaded to the end
    dlclose(library);
  }
  return {};
}

const blas_library& library() {
  static const blas_library found = load();
  return found;
}

// As `status` of a BLAS call: 0 is success in both libraries.
void check_blas(int status, errc code, const char* what) {
  if (status == 0) return;
  static_cast<void>(last_error());
  detail::fail(code, std::string(blas::rung_name) + ": " + what + " failed",
               "status " + std::to_string(status) + " of the BLAS library", "leave this reference rung out");
}

geam_function geam_for(std::int64_t element_bytes) {
  switch (element_bytes) {
    case 4:
      return library().geam4;
    case 8:
      return library().geam8;
    case 16:
      return library().geam16;
    default:
      return nullptr;
  }
}

// 1 and 0 in the arithmetic of `geam_for`: float, double, double complex.
constexpr float one4 = 1, zero4 = 0;
constexpr double one16[] = {1, 0}, zero16[] = {0, 0};

// One handle a device and process, made by the rung's first run. They stay to the end: the BLAS may be unloaded before
// static objects are.
blas_handle& handle_of(int ordinal) {
  static std::mutex mutex;
  static auto& handles = *new std::map<int, blas_handle>;
  const std::lock_guard<std::mutex> lock(mutex);
  return handles.try_emplace(ordinal, ordinal).first->second;
}

void run_geam(const detail::work_queue& queue, const detail::transpose_rung_args& args) {
  const int ordinal = static_cast<gpu_device*>(queue.device)->ordinal();
  handle_of(ordinal).transpose(static_cast<native_stream>(queue.native), args);
}

const detail::transpose_rung_entry geam_rung{
    {"transpose",
     blas::rung_name,
     "the vendor's BLAS: computes 1 * in + 0, so exact for normal numbers only",
     blas::source,
     rung_promise::transpose,
     {},
     false},
    nullptr,
    nullptr,
    &run_geam};

// The rungs compiled here, then the vendor's: its BLAS and its tensor library where they are found, looked for once a
// process, and the rungs of peers.hpp where the build has them.
struct extended_ladders {
  std::vector<detail::transpose_rung_entry> transpose;
  std::vector<detail::reduce_rung_entry> reduce;
  std::vector<detail::array_rung_entry> arrays;
  detail::ladder_table table;

  extended_ladders() : table(kernel_ladders()) {
    if (library().is_complete()) extend(table.transpose, {&geam_rung, 1}, transpose);
#ifdef TWILL_HAS_TENSOR_LIBRARY
    table.permute = tensor_library_rungs();
#endif
#ifdef TWILL_HAS_PEERS
    extend(table.reduce, peer_reductions(), reduce);
    extend(table.arrays, peer_scans(), arrays);
#endif
  }

  template <class Entry>
  static void extend(detail::table_view<Entry>& table, detail::table_view<Entry> more, std::vector<Entry>& all) {
    all.assign(table.begin(), table.end());
    all.insert(all.end(), more.begin(), more.end());
    table = {all.data(), all.size()};
  }
};

}  // namespace

void blas_handle::transpose(native_stream stream, const detail::transpose_rung_args& args) {
  const geam_function geam = geam_for(args.element_bytes);
  constexpr std::int64_t most = std::numeric_limits<int>::max();
  if (geam == nullptr || args.rows > most || args.cols > most) {
    detail::fail(errc::unsupported, std::string(blas::rung_name) + " cannot move this matrix",
                 "it has elements of 4, 8 or 16 bytes and 32-bit extents", "choose another rung");
  }
  const device_guard guard(ordinal_);
  const std::lock_guard<std::mutex> lock(mutex_);
  if (native_ == nullptr) check_blas(library().create(&native_), errc::unsupported, "creation of a handle");
  check_blas(library().set_stream(native_, stream), errc::launch_failed, "setting the stream");

  // Row-major rows x cols is column-major cols x rows, so C = A^T is rows x cols, column-major. B is C, times zero.
  const void* one = args.element_bytes == 4 ? static_cast<const void*>(&one4) : one16;
  const void* zero = args.element_bytes == 4 ? static_cast<const void*>(&zero4) : zero16;
  const int m = static_cast<int>(args.rows), n = static_cast<int>(args.cols);
  for (int i = 0; i < args.repeats; ++i) {
    check_blas(geam(native_, blas::transpose, blas::keep, m, n, one, args.in, n, zero, args.out, m, args.out, m),
               errc::launch_failed, "the transpose");
  }
}

const detail::ladder_table& ladders() {
  static const extended_ladders extended;
  return extended.table;
}

}  // namespace twill::TWILL_BACKEND
