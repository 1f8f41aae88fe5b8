#pragma once

// TWILL_SIMT_ASAN is defined when this is compiled for the address sanitizer, which has to know of fibers.

#if defined(__SANITIZE_ADDRESS__)
#define TWILL_SIMT_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TWILL_SIMT_ASAN 1
#endif
#endif

#ifdef TWILL_SIMT_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
