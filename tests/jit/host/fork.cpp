// A child of fork() goes on with what is compiled, and with other values.
#include <cstdio>
#include <sys/wait.h>
#include <unistd.h>

__attribute__((annotate("jit", 1))) int work(int k) { return k * 11; }

int main() {
  printf("%d\n", work(1));
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    printf("child %d %d\n", work(1), work(2));
    fflush(stdout);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  printf("%d %d\n", WEXITSTATUS(status), work(3));
}
