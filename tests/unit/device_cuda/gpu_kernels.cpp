#include "gpu_support.h"

const std::string test::kernels = R"(
.version 6.3
.target sm_70
.address_size 64

.extern .func (.param .b32 result) vprintf(.param .b64 format, .param .b64 values);
.extern .shared .align 16 .b8 dynamic[];
.global .align 1 .b8 greeting[14] = {104, 101, 108, 108, 111, 32, 103, 112, 117, 32, 55, 33, 10, 0};
.visible .const .align 4 .b32 factors[4] = {1, 2, 3, 4};
.visible .global .align 8 .b64 counter = 5;

.visible .entry empty()
{
  ret;
}

.visible .entry fill(.param .u64 out, .param .u32 factor)
{
  .reg .b32 %r<6>;
  .reg .b64 %d<4>;
  ld.param.u64 %d1, [out];
  ld.param.u32 %r1, [factor];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.u32 %r5, %r2, %r3, %r4;
  mul.wide.u32 %d2, %r5, 4;
  add.u64 %d3, %d1, %d2;
  mul.lo.u32 %r5, %r5, %r1;
  st.global.u32 [%d3], %r5;
  ret;
}

.visible .entry needShared(.param .u64 out)
{
  .reg .b32 %r<3>;
  .reg .b64 %d<2>;
  ld.param.u64 %d1, [out];
  mov.u32 %r1, 42;
  st.shared.u32 [dynamic+102396], %r1;
  ld.shared.u32 %r2, [dynamic+102396];
  st.global.u32 [%d1], %r2;
  ret;
}

.visible .entry together(.param .u64 arrivals)
{
  .reg .b32 %r<4>;
  .reg .b64 %d<2>;
  .reg .pred %p<2>;
  ld.param.u64 %d1, [arrivals];
  mov.u32 %r2, %nctaid.x;
  atom.global.add.u32 %r1, [%d1], 1;
WAIT:
  ld.volatile.global.u32 %r3, [%d1];
  setp.lt.u32 %p1, %r3, %r2;
  @%p1 bra WAIT;
  ret;
}

.visible .entry useVariables(.param .u64 out)
{
  .reg .b32 %r<2>;
  .reg .b64 %d<4>;
  ld.param.u64 %d1, [out];
  ld.const.u32 %r1, [factors+8];
  ld.global.u64 %d2, [counter];
  cvt.u64.u32 %d3, %r1;
  add.u64 %d2, %d2, %d3;
  st.global.u64 [%d1], %d2;
  ret;
}

.visible .entry illegal()
{
  .reg .b32 %r<2>;
  .reg .b64 %d<2>;
  mov.u64 %d1, 16;
  mov.u32 %r1, 1;
  st.global.u32 [%d1], %r1;
  ret;
}

.visible .entry trapping()
{
  trap;
  ret;
}

.visible .entry hang(.param .u64 flag)
{
  .reg .b32 %r<2>;
  .reg .b64 %d<2>;
  .reg .pred %p<2>;
  ld.param.u64 %d1, [flag];
AGAIN:
  ld.volatile.global.u32 %r1, [%d1];
  setp.eq.u32 %p1, %r1, 0;
  @%p1 bra AGAIN;
  ret;
}

.visible .entry hello()
{
  .reg .b32 %r<2>;
  .reg .b64 %d<4>;
  mov.u64 %d1, greeting;
  cvta.global.u64 %d2, %d1;
  mov.u64 %d3, 0;
  {
  .param .b64 format;
  .param .b64 values;
  .param .b32 result;
  st.param.b64 [format], %d2;
  st.param.b64 [values], %d3;
  call.uni (result), vprintf, (format, values);
  ld.param.b32 %r1, [result];
  }
  ret;
}
)";

const std::string test::clusterKernels = R"(
.version 7.8
.target sm_90
.address_size 64

.visible .entry clusterSize(.param .u64 out)
{
  .reg .b32 %r<3>;
  .reg .b64 %d<4>;
  ld.param.u64 %d1, [out];
  mov.u32 %r1, %ctaid.x;
  mul.wide.u32 %d2, %r1, 4;
  add.u64 %d3, %d1, %d2;
  mov.u32 %r2, %cluster_nctaid.x;
  st.global.u32 [%d3], %r2;
  ret;
}
)";
