// OpenCL C twins of kernels in examples/, line by line the same arithmetic.
#pragma OPENCL FP_CONTRACT OFF

#define TILE 16

float at(global const float* in, int width, int height, int column, int row) {
  column = min(max(column, 0), width - 1);
  row = min(max(row, 0), height - 1);
  return in[row * width + column];
}

__attribute__((reqd_work_group_size(TILE, TILE, 1))) kernel void
diffuse(global const float* in, global float* out, int width, int height, float kappa) {
  local float tile[TILE + 2][TILE + 2];
  const int lx = get_local_id(0);
  const int ly = get_local_id(1);
  const int x = get_group_id(0) * TILE + lx;
  const int y = get_group_id(1) * TILE + ly;
  const int tx = lx + 1;
  const int ty = ly + 1;
  const bool isInside = x < width && y < height;

  tile[ty][tx] = at(in, width, height, x, y);
  if (lx == 0)
    tile[ty][0] = at(in, width, height, x - 1, y);
  if (lx == TILE - 1)
    tile[ty][TILE + 1] = at(in, width, height, x + 1, y);
  if (ly == 0)
    tile[0][tx] = at(in, width, height, x, y - 1);
  if (ly == TILE - 1)
    tile[TILE + 1][tx] = at(in, width, height, x, y + 1);
  barrier(CLK_LOCAL_MEM_FENCE);

  if (isInside) {
    const float centre = tile[ty][tx];
    const float neighbours =
        tile[ty][tx - 1] + tile[ty][tx + 1] + tile[ty - 1][tx] + tile[ty + 1][tx];
    out[y * width + x] = centre + kappa * (neighbours - 4.0f * centre);
  }
}

typedef struct {
  float dt;
  float softening;
  int bodies;
  float drift[3];
} Step;

kernel void integrate(global const float4* position, global float4* moved, global float4* velocity,
                      constant float* gravity, Step step) {
  const int i = get_global_id(0);
  if (i >= step.bodies)
    return;
  const float4 self = position[i];
  float fx = 0.0f, fy = 0.0f, fz = 0.0f;
  for (int j = 0; j < step.bodies; ++j) {
    const float4 other = position[j];
    const float dx = other.x - self.x, dy = other.y - self.y, dz = other.z - self.z;
    const float inverse = rsqrt(dx * dx + dy * dy + dz * dz + step.softening);
    const float scale = gravity[0] * other.w * inverse * inverse * inverse;
    fx += scale * dx;
    fy += scale * dy;
    fz += scale * dz;
  }
  float4 v = velocity[i];
  v.x = (v.x + fx * step.dt) * gravity[1] + step.drift[0];
  v.y = (v.y + fy * step.dt) * gravity[1] + step.drift[1];
  v.z = (v.z + fz * step.dt) * gravity[1] + step.drift[2];
  velocity[i] = v;
  moved[i] = (float4)(self.x + v.x * step.dt, self.y + v.y * step.dt, self.z + v.z * step.dt, self.w);
}
