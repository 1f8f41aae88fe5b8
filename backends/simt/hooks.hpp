#pragma once

// How the memory accesses of kernels are seen. Included before anything else in sources that CMake compiles with
// the code that -fsanitize=thread makes, a call before each access, but without that sanitizer: here its calls get
// names of our own (hooks.cpp), so that a program may still use the real one.

__asm__(
    ".irp bytes,1,2,4,8,16\n"
    ".set __tsan_read\\bytes, twill_simt_read\\bytes\n"
    ".set __tsan_write\\bytes, twill_simt_write\\bytes\n"
    ".endr\n"
    ".irp bytes,2,4,8,16\n"
    ".set __tsan_unaligned_read\\bytes, twill_simt_unaligned_read\\bytes\n"
    ".set __tsan_unaligned_write\\bytes, twill_simt_unaligned_write\\bytes\n"
    ".endr\n"
    ".irp name,read_range,write_range,memcpy,memmove,memset,init,func_entry,func_exit,vptr_update,vptr_read\n"
    ".set __tsan_\\name, twill_simt_\\name\n"
    ".endr\n"
    ".irp bits,8,16,32,64\n"
    ".irp name,load,store,exchange,fetch_add,fetch_sub,fetch_and,fetch_or,fetch_xor\n"
    ".set __tsan_atomic\\bits\\()_\\name, twill_simt_atomic\\bits\\()_\\name\n"
    ".endr\n"
    ".irp name,strong,weak,val\n"
    ".set __tsan_atomic\\bits\\()_compare_exchange_\\name, twill_simt_atomic\\bits\\()_compare_exchange_\\name\n"
    ".endr\n"
    ".endr\n"
    ".set __tsan_atomic_thread_fence, twill_simt_atomic_thread_fence\n"
    ".set __tsan_atomic_signal_fence, twill_simt_atomic_signal_fence\n");
