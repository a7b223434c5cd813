/* Stands for libcuda.so.1 when a program is linked where no driver is installed. */
int cuMemAlloc_v2(void) { return 100; }
int cuMemAllocPitch_v2(void) { return 100; }
int cuMemAllocHost_v2(void) { return 100; }
int cuMemFree_v2(void) { return 100; }
int cuMemFreeHost(void) { return 100; }
int cuMemcpyDtoH_v2(void) { return 100; }
