// Functions of LLVM IR on the host.
#include <cstdio>
#include <string>

#include <proteus/Error.h>
#include <proteus/LLVMIRJitModule.h>

extern "C" int ofTheProgram(int n) { return n + 100; }

static const char* const kCode = R"(
@calls = internal global i32 0
declare i32 @ofTheProgram(i32)
define i32 @add(i32 %a, i32 %b) {
  %n = load i32, ptr @calls
  %m = add i32 %n, 1
  store i32 %m, ptr @calls
  %s = add i32 %a, %b
  ret i32 %s
}
define i32 @calls_so_far() {
  %n = load i32, ptr @calls
  ret i32 %n
}
define i32 @ask(i32 %n) {
  %r = call i32 @ofTheProgram(i32 %n)
  ret i32 %r
}
define double @sum(ptr %data, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %s = phi double [ 0.0, %entry ], [ %t, %loop ]
  %p = getelementptr double, ptr %data, i64 %i
  %v = load double, ptr %p
  %t = fadd double %s, %v
  %next = add i64 %i, 1
  %end = icmp eq i64 %next, %n
  br i1 %end, label %out, label %loop
out:
  ret double %t
}
)";

// Errors name the line of the program that made the module, or asked it for a function.
static void refuse(const char* what, const char* target, const char* code) {
  const unsigned made = __LINE__ + 2;
  try {
    proteus::LLVMIRJitModule module(target, code);
    module.getFunction<int()>("f").run();
    std::printf("%s: accepted\n", what);
  } catch (const proteus::FatalError& error) {
    std::string text = error.what();
    for (const unsigned line : {made, made + 1}) {
      const std::string place = std::string(__FILE__) + ":" + std::to_string(line) + " => ";
      if (const size_t at = text.find(place); at != text.npos)
        text = text.substr(at + place.size());
    }
    std::printf("%s: %s\n", what, text.c_str());
  }
}

int main() {
  proteus::LLVMIRJitModule module("host", kCode);
  auto add = module.getFunction<int(int, int)>("add");
  std::printf("add %d\n", add.run(1, 2));
  // Another module of the same text has variables of its own.
  proteus::LLVMIRJitModule other("native", kCode, proteus::LLVMIRInputKind::TextIR);
  other.compile(true);
  std::printf("calls %d %d\n", module.getFunction<int()>("calls_so_far").run(),
              other.getFunction<int()>("calls_so_far").run());
  std::printf("ask %d\n", module.getFunction<int(int)>("ask").run(7));
  double data[] = {1, 2, 3.5};
  std::printf("sum %g\n", module.getFunction<double(double*, unsigned long)>("sum").run(data, 3));
  refuse("not IR", "host", "define i32 @f( {");
  refuse("wrong type", "host", "define i32 @f() {\n  ret i64 0\n}\n");
  refuse("broken", "host",
         "define i32 @f(i32 %n) {\n  %k = add i32 %m, 1\n"
         "  %m = add i32 %n, 1\n  ret i32 %k\n}\n");
  refuse("no such function", "host", "define i32 @g() {\n  ret i32 0\n}\n");
  refuse("undefined", "host",
         "declare i32 @nowhere()\ndefine i32 @f() {\n"
         "  %r = call i32 @nowhere()\n  ret i32 %r\n}\n");
  refuse("other target", "gpu", kCode);
  refuse("host_cuda", "host_cuda", kCode);
}
