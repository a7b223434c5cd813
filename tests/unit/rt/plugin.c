// A shared library as the passes leave it, with relocatable device code: no wrapper in the entry, one
// fat binary wrapper in the section the linker collects.
#include "runtime/core/abi/mneme_rt.h"

void plugin_stub(void) {}

static const unsigned long long fatbin[3] = {0x00100001BA55ED50ull, 8, 0};
static struct {
  unsigned magic, version;
  const void* data;
  void* unused;
} wrapper __attribute__((used, section(".nvFatBinSegment"))) = {0x466243b1, 1, fatbin, 0};

static const mneme_kernel_entry kernels[] = {{(const void*)plugin_stub, "plugin_kernel"}};
static const mneme_module_entry entry = {MNEME_RT_ABI, 0, 0, kernels, 0, 1, 0};

__attribute__((visibility("default"))) const mneme_module_entry* plugin_entry(void) {
  return &entry;
}
__attribute__((visibility("default"))) const void* plugin_fatbin(void) { return fatbin; }

__attribute__((constructor)) static void enter(void) { mneme_rt_register_module(&entry); }
__attribute__((destructor)) static void leave(void) { mneme_rt_unregister_module(&entry); }
