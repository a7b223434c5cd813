// Room emulator/runtimes: the entries of the stand-in. Code in assembly, as an entry knows nothing
// of its function's parameters: it has to leave all of them where they are.
#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>

#include "tests/hip_stand_in/stand_in.h"

using namespace mneme::stand_in;

// What this folder has, of all names; null where it has none.
#define ENTRY(number, name)                                                                        \
  extern "C" [[gnu::weak, gnu::visibility("hidden")]] int own_##name(void);
#include "entries.inc"
#undef ENTRY

extern "C" [[gnu::visibility("hidden")]] void mneme_stand_in_enter();
extern "C" [[gnu::visibility("hidden")]] void* mneme_stand_in_resolve(unsigned number) noexcept;

namespace {

struct Entry {
  const char* name;
  void* own;
};

Entry entryOf(unsigned number) noexcept {
  switch (number) {
#define ENTRY(number, name)                                                                        \
  case number:                                                                                     \
    return {#name, reinterpret_cast<void*>(&own_##name)};
#include "entries.inc"
#undef ENTRY
  }
  return {"", nullptr};
}

#define ENTRY(number, name) +1
constexpr size_t kEntries = 0
#include "entries.inc"
    ;
#undef ENTRY

thread_local int statusOfFailure = 0;
thread_local bool isElsewhereNow = false;

int fail() { return statusOfFailure; }

/// A symbol without a value is passed over by the dynamic loader.
void hide(const char* name) noexcept {
  static const char here = 0;
  Dl_info self{}, found{};
  ElfW(Sym)* symbol = nullptr;
  void* const address = dlsym(RTLD_DEFAULT, name);
  dladdr(&here, &self);
  void* const library = dlopen(self.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  void* const ours = library ? dlsym(library, name) : address;
  if (!ours || !dladdr1(ours, &found, reinterpret_cast<void**>(&symbol), RTLD_DL_SYMENT) ||
      !symbol || found.dli_fbase != self.dli_fbase)
    return;
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto first = reinterpret_cast<uintptr_t>(symbol) & ~(page - 1);
  const auto last = (reinterpret_cast<uintptr_t>(symbol + 1) - 1) & ~(page - 1);
  if (mprotect(reinterpret_cast<void*>(first), last - first + page, PROT_READ | PROT_WRITE) == 0)
    symbol->st_value = 0;
}

[[gnu::constructor]] void hideWhatIsMissing() { visitMissing(&hide); }

} // namespace

/// Where the entries jump to: to mneme_stand_in_enter() as long as every call has to be looked at.
extern "C" {
[[gnu::visibility("hidden"),
  gnu::used]] std::array<std::atomic<void*>, kEntries> mneme_stand_in_targets = {
#define ENTRY(number, name) reinterpret_cast<void*>(&mneme_stand_in_enter),
#include "entries.inc"
#undef ENTRY
};
}

// The number is passed in a register that is unused at a call.
#define ENTRY(number, name)                                                                        \
  __asm__(".pushsection .text\n.globl " #name "\n.type " #name ",@function\n" #name ":\n"          \
          "  movl $" #number ", %r11d\n"                                                           \
          "  jmpq *mneme_stand_in_targets+8*" #number "(%rip)\n"                                   \
          ".size " #name ", .-" #name "\n.popsection\n");
#include "entries.inc"
#undef ENTRY

__asm__(R"(.pushsection .text
.globl mneme_stand_in_enter
.hidden mneme_stand_in_enter
.type mneme_stand_in_enter,@function
mneme_stand_in_enter:
  pushq %rbp
  movq %rsp, %rbp
  subq $176, %rsp
  movq %rdi, (%rsp)
  movq %rsi, 8(%rsp)
  movq %rdx, 16(%rsp)
  movq %rcx, 24(%rsp)
  movq %r8, 32(%rsp)
  movq %r9, 40(%rsp)
  movups %xmm0, 48(%rsp)
  movups %xmm1, 64(%rsp)
  movups %xmm2, 80(%rsp)
  movups %xmm3, 96(%rsp)
  movups %xmm4, 112(%rsp)
  movups %xmm5, 128(%rsp)
  movups %xmm6, 144(%rsp)
  movups %xmm7, 160(%rsp)
  movl %r11d, %edi
  callq mneme_stand_in_resolve
  movq %rax, %r11
  movq (%rsp), %rdi
  movq 8(%rsp), %rsi
  movq 16(%rsp), %rdx
  movq 24(%rsp), %rcx
  movq 32(%rsp), %r8
  movq 40(%rsp), %r9
  movups 48(%rsp), %xmm0
  movups 64(%rsp), %xmm1
  movups 80(%rsp), %xmm2
  movups 96(%rsp), %xmm3
  movups 112(%rsp), %xmm4
  movups 128(%rsp), %xmm5
  movups 144(%rsp), %xmm6
  movups 160(%rsp), %xmm7
  leaveq
  jmpq *%r11
.size mneme_stand_in_enter, .-mneme_stand_in_enter
.popsection)");

namespace mneme::stand_in {

void* failureWith(int status) noexcept {
  statusOfFailure = status;
  return reinterpret_cast<void*>(&fail);
}

bool isElsewhere() noexcept { return isElsewhereNow; }

} // namespace mneme::stand_in

extern "C" void* mneme_stand_in_resolve(unsigned number) noexcept {
  const Entry entry = entryOf(number);
  isElsewhereNow = false;
  if (const Fault* fault = faultOfCall(entry.name)) {
    if (fault->kind == FaultKind::Fail)
      return failureWith(fault->status);
    if (fault->kind == FaultKind::Hang) {
      hang();
      return failureWith(kSuccess);
    }
    isElsewhereNow = fault->kind == FaultKind::Elsewhere;
  }
  if (void* const instead = whileHanging(entry.name))
    return instead;
  void* const target = entry.own ? entry.own : nextFunction(entry.name);
  if (!target)
    return failureWith(kNotSupported);
  if (!hasFaults(entry.name) && !canHang())
    mneme_stand_in_targets[number] = target;
  return target;
}
