// Runs the test cases on every process of mpirun at once.

#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <mpi.h>

int main(int count, char** arguments) {
  int level = MPI_THREAD_SINGLE;
  if (MPI_Init_thread(&count, &arguments, MPI_THREAD_SERIALIZED, &level) != MPI_SUCCESS) return 3;
  doctest::Context context(count, arguments);
  const int result = context.run();
  MPI_Finalize();
  return result;
}
