// Ranks of a job call a marked function with the same values, at the same time or one after
// another.
//   ranks [LEVEL [RANK...]]   MPI is initialised for LEVEL; only the RANKs named call the function
#include <cstdio>
#include <cstdlib>
#include <mpi.h>
#include <proteus/JitInterface.h>
#include <unistd.h>

__attribute__((annotate("jit", 1), noinline)) long power(int exponent, long base) {
  long result = 1;
  for (int i = 0; i < exponent; ++i)
    result *= base;
  return result;
}

int main(int count, char** arguments) {
  int rank = 0, level = 0;
  MPI_Init_thread(&count, &arguments, count > 1 ? atoi(arguments[1]) : MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  bool isCalling = count <= 2;
  for (int i = 2; i < count; ++i)
    isCalling |= atoi(arguments[i]) == rank;
  long sum = 0, all = 0;
  for (int exponent = 1; isCalling && exponent <= 5; ++exponent)
    sum += power(exponent, rank + 2);
  MPI_Allreduce(&sum, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  printf("rank %d sum %ld of %ld\n", rank, sum, all);
  usleep(
      5000); // MPI_Finalize() wants other threads to be out of MPI: rank 0's is, between two looks
  MPI_Finalize();
  return 0;
}
