// A library with marked functions comes, goes and comes again.
#include <cstdio>
#include <dlfcn.h>

int main(int, char** arguments) {
  for (int round = 0; round < 3; ++round) {
    void* library = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
    if (!library)
      return puts(dlerror()), 1;
    auto* function = reinterpret_cast<int (*)(int)>(dlsym(library, "in_library"));
    printf("%d %d\n", function(1), function(1));
    dlclose(library);
  }
}
