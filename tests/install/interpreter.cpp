// Loads the extension as an interpreter would, and calls it for each device that is named.

#include <dlfcn.h>

#include <cstring>
#include <iostream>

int main(int argc, char** argv) {
  void* const extension = dlopen(EXTENSION, RTLD_NOW | RTLD_LOCAL);
  if (extension == nullptr) {
    std::cerr << dlerror() << '\n';
    return 1;
  }
  using call = int (*)(const char*, char*, std::size_t);
  const auto transpose_on = reinterpret_cast<call>(dlsym(extension, "transpose_on"));
  char message[1000] = "";
  for (int i = 1; i < argc; ++i) {
    const int wrong = transpose_on(argv[i], message, sizeof message);
    std::cout << "in a shared object, on " << argv[i] << ": " << wrong << " elements wrong " << message << '\n';
    if (wrong != 0) return 1;
  }
  if (transpose_on("abacus", message, sizeof message) == -1 && std::strstr(message, "abacus") != nullptr) return 0;
  std::cerr << "an unknown device was not refused\n";
  return 1;
}
