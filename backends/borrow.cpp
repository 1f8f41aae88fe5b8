#include <twill/cuda.hpp>
#include <twill/hip.hpp>

#include "backends/backend.hpp"

namespace twill {

stream_ref cuda::borrow(CUstream_st* stream, int ordinal) {
  return stream_ref(device(detail::open_ordinal("cuda", ordinal)), stream);
}

stream_ref hip::borrow(ihipStream_t* stream, int ordinal) {
  return stream_ref(device(detail::open_ordinal("hip", ordinal)), stream);
}

stream_ref hip::borrow(CUstream_st* stream, int ordinal) {
  return stream_ref(device(detail::open_ordinal("hip", ordinal)), stream);
}

stream_ref hip::borrow(std::nullptr_t, int ordinal) {
  return stream_ref(device(detail::open_ordinal("hip", ordinal)), nullptr);
}

}  // namespace twill
