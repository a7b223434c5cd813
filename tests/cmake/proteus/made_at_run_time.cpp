#include <cstdio>

#include <proteus/LLVMIRJitModule.h>

#ifndef PROTEUS_ENABLE_CUDA
#error "the package says for which vendor it is"
#endif

int main() {
  proteus::LLVMIRJitModule module("host", "define i32 @twice(i32 %n) {\n"
                                          "  %r = shl i32 %n, 1\n"
                                          "  ret i32 %r\n"
                                          "}\n");
  std::printf("%d\n", module.getFunction<int(int)>("twice").run(21));
}
