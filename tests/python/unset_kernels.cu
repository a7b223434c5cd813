// Kernels with local variables that are set late: in some of them one may be read before. Which, says
// test_same_code.py.

__device__ int place() { return blockIdx.x * blockDim.x + threadIdx.x; }

// Which of the products of a sum is rounded is for the compiler to choose.
__global__ void smooth(const float* in, float* out, float rate, int width, int height) {
  __shared__ float tile[16][16];
  const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  float north, south, west, east, strength, flow;
  const float here = x < width && y < height ? in[y * width + x] : 1.0f;
  tile[threadIdx.y][threadIdx.x] = here;
  __syncthreads();
  if (threadIdx.y == 0)
    north = in[max(y - 1, 0) * width + x] - here;
  else
    north = tile[threadIdx.y - 1][threadIdx.x] - here;
  if (threadIdx.y == 15)
    south = in[min(y + 1, height - 1) * width + x] - here;
  else
    south = tile[threadIdx.y + 1][threadIdx.x] - here;
  if (threadIdx.x == 0)
    west = in[y * width + max(x - 1, 0)] - here;
  else
    west = tile[threadIdx.y][threadIdx.x - 1] - here;
  if (threadIdx.x == 15)
    east = in[y * width + min(x + 1, width - 1)] - here;
  else
    east = tile[threadIdx.y][threadIdx.x + 1] - here;
  strength = (north * north + south * south + west * west + east * east) / (here * here);
  flow = (north + south + west + east) / here;
  strength = 0.5f * strength - 0.0625f * (flow * flow);
  const float damping = 1.0f + 0.25f * flow;
  strength = strength / (damping * damping);
  const float weight = 1.0f / (1.0f + (strength - rate) / (rate * (1.0f + rate)));
  out[y * width + x] = weight < 0 ? 0.0f : weight > 1 ? 1.0f : weight;
}

// Set and read by the threads within bounds, on both sides of a barrier.
__global__ void withinBounds(const float* in, float* out, int count) {
  __shared__ float others[256];
  float mine, sum;
  if (place() < count) {
    mine = in[place()];
    sum = mine;
    others[threadIdx.x] = mine;
  }
  for (int round = 0; round < 10; ++round) {
    __syncthreads();
    if (place() < count)
      sum = sum * mine + others[255 - threadIdx.x];
    __syncthreads();
    if (place() < count)
      others[threadIdx.x] = sum;
  }
  if (place() < count)
    out[place()] = sum;
}

// A flag says whether there is something.
__global__ void leastPositive(const float* in, float* out, int count) {
  float least;
  bool isFound = false;
  for (int i = 0; i < count; ++i) {
    const float value = in[place() * count + i];
    if (value > 0 && (!isFound || value < least)) {
      least = value;
      isFound = true;
    }
  }
  out[place()] = isFound ? least : 0.0f;
}

__device__ bool solve(float factor, float sum, float* result) {
  if (factor == 0)
    return false;
  *result = sum / factor;
  return true;
}

__global__ void solveEach(const float* in, float* out) {
  float result;
  if (solve(in[place()], 3.0f, &result))
    out[place()] = result;
}

// An array that is too long to be unrolled, and one that is filled as far as it is read.
__global__ void throughArrays(const float* in, float* out, int count) {
  float all[100], some[64];
  for (int i = 0; i < 100; ++i)
    all[i] = in[place() * i];
  for (int i = 0; i < count; ++i)
    some[i] = in[place() + i];
  float sum = 0;
  for (int i = 0; i < 100; ++i)
    sum += all[i * 7 % 100];
  for (int i = 0; i < count; ++i)
    sum += some[i];
  out[place()] = sum;
}

// One more is read than is set.
__global__ void oneTooMany(const float* in, float* out, int count) {
  float some[64];
  for (int i = 0; i < count; ++i)
    some[i] = in[place() + i];
  float sum = 0;
  for (int i = 0; i <= count; ++i)
    sum += some[i];
  out[place()] = sum;
}

__global__ void otherwiseNothing(const float* in, float* out, int kind) {
  float value, always = 2;
  switch (kind) {
  case 0:
    value = 1;
    break;
  case 1:
    value = in[0];
    break;
  }
  out[place()] = always * value;
}

// Each round has a variable of its own, which is not set in each.
__global__ void eachRound(const float* in, float* out, int count) {
  for (int i = 0; i < count; ++i) {
    float value;
    if (in[i] > 0)
      value = in[i];
    out[i] = value;
  }
}
