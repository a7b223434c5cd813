// Opens plugin.hip's library twice, as its second argument says; with a third one it does so in a
// child that replaces itself as well, and then replaces itself.
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

int main(int count, char** argv) {
  for (int by = 2; by < 4; ++by) {
    void* const plugin =
        dlopen(argv[1], RTLD_NOW | (std::strcmp(argv[2], "deep") == 0 ? RTLD_DEEPBIND : 0));
    if (!plugin) {
      std::puts(dlerror());
      return 1;
    }
    std::printf("%d\n", reinterpret_cast<int (*)(int)>(dlsym(plugin, "run"))(by));
    dlclose(plugin);
  }
  std::fflush(stdout);
  if (count < 4)
    return 0;
  int status = 0;
  const pid_t child = fork();
  if (child == 0)
    execl(argv[0], argv[0], argv[1], argv[2], nullptr);
  waitpid(child, &status, 0);
  std::printf("child: %d\n", status);
  std::fflush(stdout);
  execl(argv[0], argv[0], argv[1], argv[2], nullptr);
}
