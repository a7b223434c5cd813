// Streams, events and captured graphs of the CUDA driver API: handles are the runtime's.
#include "runtime/emulator/runtimes/core/exported.h"
#include "runtime/emulator/runtimes/cuda_driver/forward.h"

using namespace mneme::cpu_runtime::cuda_driver;

MNEME_RUNTIME_API int cuStreamCreate(void** stream, unsigned flags) {
  return forward<"cudaStreamCreateWithFlags">(stream, flags);
}

MNEME_RUNTIME_API int cuStreamCreateWithPriority(void** stream, unsigned flags, int priority) {
  return forward<"cudaStreamCreateWithPriority">(stream, flags, priority);
}

MNEME_RUNTIME_API int cuStreamDestroy_v2(void* stream) {
  return forward<"cudaStreamDestroy">(stream);
}

MNEME_RUNTIME_API int cuStreamQuery(void* stream) { return forward<"cudaStreamQuery">(stream); }

MNEME_RUNTIME_API int cuStreamSynchronize(void* stream) {
  return forward<"cudaStreamSynchronize">(stream);
}

MNEME_RUNTIME_API int cuStreamWaitEvent(void* stream, void* event, unsigned flags) {
  return forward<"cudaStreamWaitEvent">(stream, event, flags);
}

MNEME_RUNTIME_API int cuStreamGetFlags(void* stream, unsigned* flags) {
  return forward<"cudaStreamGetFlags">(stream, flags);
}

MNEME_RUNTIME_API int cuStreamGetPriority(void* stream, int* priority) {
  return forward<"cudaStreamGetPriority">(stream, priority);
}

MNEME_RUNTIME_API int cuStreamGetAttribute(void* stream, int attribute, void* value) {
  return forward<"cudaStreamGetAttribute">(stream, attribute, value);
}

MNEME_RUNTIME_API int cuStreamSetAttribute(void* stream, int attribute, const void* value) {
  return forward<"cudaStreamSetAttribute">(stream, attribute, value);
}

MNEME_RUNTIME_API int cuStreamCopyAttributes(void* destination, void* source) {
  return forward<"cudaStreamCopyAttributes">(destination, source);
}

MNEME_RUNTIME_API int cuStreamGetId(void* stream, unsigned long long* id) {
  return forward<"cudaStreamGetId">(stream, id);
}

MNEME_RUNTIME_API int cuStreamGetDevice(void* stream, int* device) {
  return forward<"cudaStreamGetDevice">(stream, device);
}

MNEME_RUNTIME_API int cuStreamGetCtx(void* stream, void** context) {
  unsigned flags = 0;
  const int status = cuStreamGetFlags(stream, &flags);
  return status == CUDA_SUCCESS ? give(context, currentContext()) : status;
}

MNEME_RUNTIME_API int cuStreamAttachMemAsync(void* stream, CUdeviceptr address, size_t bytes,
                                             unsigned flags) {
  return forward<"cudaStreamAttachMemAsync">(stream, asPointer(address), bytes, flags);
}

MNEME_RUNTIME_API int cuStreamAddCallback(void* stream, void (*callback)(void*, int, void*),
                                          void* user, unsigned flags) {
  return forward<"cudaStreamAddCallback">(stream, callback, user, flags);
}

MNEME_RUNTIME_API int cuLaunchHostFunc(void* stream, void (*function)(void*), void* user) {
  return forward<"cudaLaunchHostFunc">(stream, function, user);
}

MNEME_RUNTIME_API int cuEventCreate(void** event, unsigned flags) {
  return forward<"cudaEventCreateWithFlags">(event, flags);
}

MNEME_RUNTIME_API int cuEventDestroy_v2(void* event) { return forward<"cudaEventDestroy">(event); }

MNEME_RUNTIME_API int cuEventRecord(void* event, void* stream) {
  return forward<"cudaEventRecord">(event, stream);
}

MNEME_RUNTIME_API int cuEventRecordWithFlags(void* event, void* stream, unsigned flags) {
  return forward<"cudaEventRecordWithFlags">(event, stream, flags);
}

MNEME_RUNTIME_API int cuEventQuery(void* event) { return forward<"cudaEventQuery">(event); }

MNEME_RUNTIME_API int cuEventSynchronize(void* event) {
  return forward<"cudaEventSynchronize">(event);
}

MNEME_RUNTIME_API int cuEventElapsedTime_v2(float* milliseconds, void* start, void* end) {
  return forward<"cudaEventElapsedTime">(milliseconds, start, end);
}

MNEME_RUNTIME_API int cuThreadExchangeStreamCaptureMode(int* mode) {
  return forward<"cudaThreadExchangeStreamCaptureMode">(mode);
}

MNEME_RUNTIME_API int cuStreamBeginCapture_v2(void* stream, int mode) {
  return forward<"cudaStreamBeginCapture">(stream, mode);
}

MNEME_RUNTIME_API int cuStreamEndCapture(void* stream, void** graph) {
  return forward<"cudaStreamEndCapture">(stream, graph);
}

MNEME_RUNTIME_API int cuStreamIsCapturing(void* stream, int* status) {
  return forward<"cudaStreamIsCapturing">(stream, status);
}

MNEME_RUNTIME_API int cuGraphCreate(void** graph, unsigned flags) {
  return forward<"cudaGraphCreate">(graph, flags);
}

MNEME_RUNTIME_API int cuGraphDestroy(void* graph) { return forward<"cudaGraphDestroy">(graph); }

MNEME_RUNTIME_API int cuGraphInstantiateWithFlags(void** exec, void* graph,
                                                  unsigned long long flags) {
  return forward<"cudaGraphInstantiateWithFlags">(exec, graph, flags);
}

MNEME_RUNTIME_API int cuGraphLaunch(void* exec, void* stream) {
  return forward<"cudaGraphLaunch">(exec, stream);
}

MNEME_RUNTIME_API int cuGraphUpload(void* exec, void* stream) {
  return forward<"cudaGraphUpload">(exec, stream);
}

MNEME_RUNTIME_API int cuGraphExecDestroy(void* exec) {
  return forward<"cudaGraphExecDestroy">(exec);
}
