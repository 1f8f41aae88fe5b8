#include "tensor_library.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <string>

#include "backends/error.hpp"
#include "device_guard.hpp"
#include "gpu_device.hpp"
#include "tensor.hpp"

namespace twill::TWILL_BACKEND {
namespace {

using create_function = int (*)(void** handle);
using create_tensor_function = int (*)(void* handle, void** tensor, std::uint32_t rank, const std::int64_t* extents,
                                       const std::int64_t* strides, int type, std::uint32_t alignment);
using create_permutation_function = int (*)(void* handle, void** operation, void* in, const std::int32_t* in_modes,
                                            int unary, void* out, const std::int32_t* out_modes, void* compute);
using create_preference_function = int (*)(void* handle, void** preference, int algorithm, int jit);
using create_plan_function = int (*)(void* handle, void** plan, void* operation, void* preference,
                                     std::uint64_t workspace);
using permute_function = int (*)(void* handle, void* plan, const void* alpha, const void* in, void* out,
                                 native_stream stream);
using destroy_function = int (*)(void* object);

struct tensor_library {
  create_function create = nullptr;
  create_tensor_function create_tensor = nullptr;
  create_permutation_function create_permutation = nullptr;
  create_preference_function create_preference = nullptr;
  create_plan_function create_plan = nullptr;
  permute_function permute = nullptr;
  destroy_function destroy_tensor = nullptr, destroy_operation = nullptr, destroy_preference = nullptr,
                   destroy_plan = nullptr;
  void* const* compute_float = nullptr;  // variables of the library
  void* const* compute_double = nullptr;
  bool is_complete = false;
};

template <class Pointer>
bool find_function(void* library, const char* symbol, Pointer* to) {
  *to = reinterpret_cast<Pointer>(dlsym(library, symbol));
  return *to != nullptr;
}

tensor_library load_tensor_library() {
  for (const auto& name : tensor::libraries()) {
    void* library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) continue;
    tensor_library l;
    l.is_complete = find_function(library, tensor::create, &l.create) &&
                    find_function(library, tensor::create_tensor, &l.create_tensor) &&
                    find_function(library, tensor::create_permutation, &l.create_permutation) &&
                    find_function(library, tensor::create_preference, &l.create_preference) &&
                    find_function(library, tensor::create_plan, &l.create_plan) &&
                    find_function(library, tensor::permute, &l.permute) &&
                    find_function(library, tensor::destroy_tensor, &l.destroy_tensor) &&
                    find_function(library, tensor::destroy_operation, &l.destroy_operation) &&
                    find_function(library, tensor::destroy_preference, &l.destroy_preference) &&
                    find_function(library, tensor::destroy_plan, &l.destroy_plan) &&
                    find_function(library, tensor::compute_float, &l.compute_float) &&
                    find_function(library, tensor::compute_double, &l.compute_double);
    if (l.is_complete) return l;  // stays loaded to the end
    dlclose(library);
  }
  return {};
}

const tensor_library& loaded_tensor_library() {
  static const tensor_library found = load_tensor_library();
  return found;
}

void check_tensor(int status, errc code, const char* what) {
  if (status == 0) return;
  static_cast<void>(last_error());
  detail::fail(code, std::string(tensor::rung_name) + ": " + what + " failed",
               "status " + std::to_string(status) + " of the tensor library", "leave this reference rung out");
}

/// Deletes a descriptor at the end of its scope.
struct descriptor {
  explicit descriptor(destroy_function destroy_it) : destroy(destroy_it) {}
  ~descriptor() {
    if (native != nullptr) destroy(native);
  }
  descriptor(const descriptor&) = delete;
  descriptor& operator=(const descriptor&) = delete;

  destroy_function destroy;
  void* native = nullptr;
};

/// What a plan depends on.
struct plan_key {
  std::int64_t element_bytes = 0, alignment = 0;
  int rank = 0;
  std::int64_t extents[8] = {}, order[8] = {};

  bool operator==(const plan_key& other) const {
    return element_bytes == other.element_bytes && alignment == other.alignment && rank == other.rank &&
           std::equal(extents, extents + 8, other.extents) && std::equal(order, order + 8, other.order);
  }
};

int type_of(std::int64_t bytes) {
  if (bytes == 2) return tensor::half_type;
  if (bytes == 4) return tensor::float_type;
  return bytes == 8 ? tensor::double_type : tensor::complex_type;
}

/// Address and strides agree in so many bytes, up to 256.
std::int64_t alignment_of(const void* in, const void* out) {
  const auto bits = reinterpret_cast<std::uintptr_t>(in) | reinterpret_cast<std::uintptr_t>(out) | 256;
  return static_cast<std::int64_t>(bits & -bits);
}

/// The library's handle of one device, with the plan of the last shape.
class tensor_handle {
 public:
  explicit tensor_handle(int ordinal) noexcept : ordinal_(ordinal) {}

  void run(native_stream stream, const detail::permute_rung_args& a) {
    static constexpr float one_float = 1;
    static constexpr double one_double[] = {1, 0};  // the real number is the first part
    const device_guard guard(ordinal_);
    const std::lock_guard<std::mutex> lock(mutex_);
    if (native_ == nullptr)
      check_tensor(loaded_tensor_library().create(&native_), errc::unsupported, "creation of a handle");
    prepare(a);
    const void* alpha = a.element_bytes <= 4 ? static_cast<const void*>(&one_float) : one_double;
    for (int i = 0; i < a.repeats; ++i) {
      check_tensor(loaded_tensor_library().permute(native_, plan_, alpha, a.in, a.out, stream), errc::launch_failed,
                   "the permutation");
    }
  }

 private:
  void prepare(const detail::permute_rung_args& a) {
    plan_key wanted{a.element_bytes, alignment_of(a.in, a.out), a.rank, {}, {}};
    std::copy_n(a.extents, a.rank, wanted.extents);
    std::copy_n(a.order, a.rank, wanted.order);
    if (plan_ != nullptr && key_ == wanted) return;
    if (plan_ != nullptr) loaded_tensor_library().destroy_plan(plan_);
    plan_ = nullptr;
    make_plan(wanted);
    key_ = wanted;
  }

  void make_plan(const plan_key& key) {
    const tensor_library& l = loaded_tensor_library();
    std::int64_t in_strides[8], out_extents[8], out_strides[8];
    std::int32_t in_modes[8], out_modes[8];
    std::int64_t in_stride = 1, out_stride = 1;
    for (int i = key.rank - 1; i >= 0; --i) {
      in_modes[i] = i;
      in_strides[i] = in_stride;
      in_stride *= key.extents[i];
      out_modes[i] = static_cast<std::int32_t>(key.order[i]);
      out_extents[i] = key.extents[key.order[i]];
      out_strides[i] = out_stride;
      out_stride *= out_extents[i];
    }
    const auto rank = static_cast<std::uint32_t>(key.rank), alignment = static_cast<std::uint32_t>(key.alignment);
    const int type = type_of(key.element_bytes);
    descriptor in(l.destroy_tensor), out(l.destroy_tensor), operation(l.destroy_operation),
        preference(l.destroy_preference);
    const auto made = [](int status) { check_tensor(status, errc::unsupported, "making a plan"); };
    made(l.create_tensor(native_, &in.native, rank, key.extents, in_strides, type, alignment));
    made(l.create_tensor(native_, &out.native, rank, out_extents, out_strides, type, alignment));
    made(l.create_permutation(native_, &operation.native, in.native, in_modes, tensor::identity, out.native, out_modes,
                              key.element_bytes <= 4 ? *l.compute_float : *l.compute_double));
    made(l.create_preference(native_, &preference.native, tensor::default_algorithm, tensor::no_jit));
    made(l.create_plan(native_, &plan_, operation.native, preference.native, 0));
  }

  int ordinal_;
  std::mutex mutex_;
  void* native_ = nullptr;
  void* plan_ = nullptr;
  plan_key key_;
};

// One handle a device and process; they stay to the end: the library may be unloaded before static objects are.
tensor_handle& tensor_handle_of(int ordinal) {
  static std::mutex mutex;
  static auto& handles = *new std::map<int, tensor_handle>;
  const std::lock_guard<std::mutex> lock(mutex);
  return handles.try_emplace(ordinal, ordinal).first->second;
}

void run_permute(const detail::work_queue& queue, const detail::permute_rung_args& args) {
  const std::int64_t bytes = args.element_bytes;
  if (bytes != 2 && bytes != 4 && bytes != 8 && bytes != 16) {
    detail::fail(errc::unsupported,
                 std::string(tensor::rung_name) + " cannot move elements of " + std::to_string(bytes) + " bytes",
                 "it has numbers of 2, 4, 8 or 16 bytes", "choose another rung");
  }
  tensor_handle_of(static_cast<gpu_device*>(queue.device)->ordinal())
      .run(static_cast<native_stream>(queue.native), args);
}

const detail::permute_rung_entry permute_rung{
    {"permute",
     tensor::rung_name,
     "the vendor's tensor library: computes 1 * in, so exact for normal numbers only",
     tensor::source,
     rung_promise::result,
     {},
     false},
    nullptr,
    nullptr,
    &run_permute};

}  // namespace

detail::table_view<detail::permute_rung_entry> tensor_library_rungs() {
  if (!loaded_tensor_library().is_complete) return {};
  return {&permute_rung, 1};
}

}  // namespace twill::TWILL_BACKEND
