#include "backends/backend.hpp"

#include "core/check.hpp"

#ifdef TWILL_HAS_CUDA
namespace twill::cuda {
std::vector<std::string> list();
std::shared_ptr<detail::backend_device> open(std::string_view which);
int current_ordinal();
}  // namespace twill::cuda
#endif

#ifdef TWILL_HAS_HIP
namespace twill::hip {
std::vector<std::string> list();
std::shared_ptr<detail::backend_device> open(std::string_view which);
int current_ordinal();
}  // namespace twill::hip
#endif

namespace twill::cpu {
std::vector<std::string> list();
std::shared_ptr<detail::backend_device> open(std::string_view which);
}  // namespace twill::cpu

namespace twill::simt {
std::vector<std::string> list();
std::shared_ptr<detail::backend_device> open(std::string_view which);
}  // namespace twill::simt

namespace twill::detail {

const std::vector<backend>& backends() {
  static const std::vector<backend> all{
#ifdef TWILL_HAS_CUDA
      {"cuda", &cuda::list, &cuda::open, &cuda::current_ordinal},
#endif
#ifdef TWILL_HAS_HIP
      {"hip", &hip::list, &hip::open, &hip::current_ordinal},
#endif
      {"cpu", &cpu::list, &cpu::open, nullptr},
      {"simt", &simt::list, &simt::open, nullptr},
  };
  return all;
}

std::shared_ptr<backend_device> open_ordinal(std::string_view backend_name, int ordinal) {
  for (const auto& one : backends()) {
    if (one.name != backend_name) continue;
    return one.open(std::to_string(ordinal < 0 ? one.current_ordinal() : ordinal));
  }
  fail(errc::no_device, "no " + std::string(backend_name) + " stream can be borrowed",
       "this build of Twill has no " + std::string(backend_name) + " backend", "build with it in TWILL_BACKENDS");
}

}  // namespace twill::detail
