// A collection of kernels on grids and of particles in them, in float and in double.
// usage: grid_kernels [EDGE [DEPTH]]     edge of squares of floats; edge of cubes of them
#include "collection.h"

/// A square that is continued periodically.
struct Square {
  int edge;
  __device__ int x() const { return blockIdx.x * blockDim.x + threadIdx.x; }
  __device__ int y() const { return blockIdx.y * blockDim.y + threadIdx.y; }
  __device__ int wrap(int at) const { return at < 0 ? at + edge : (at >= edge ? at - edge : at); }
  __device__ long at(int x, int y) const { return long(wrap(y)) * edge + wrap(x); }
  __device__ bool isOutside() const { return x() >= edge || y() >= edge; }
};

template <typename Real> __global__ void laplace5(Real* out, const Real* in, Real kappa, Square s) {
  if (s.isOutside())
    return;
  const int x = s.x(), y = s.y();
  const Real centre = in[s.at(x, y)];
  const Real around =
      in[s.at(x - 1, y)] + in[s.at(x + 1, y)] + in[s.at(x, y - 1)] + in[s.at(x, y + 1)];
  out[s.at(x, y)] = centre + kappa * (around - 4 * centre);
}

template <typename Real>
__global__ void biharmonic(Real* out, const Real* in, Real kappa, Square s) {
  if (s.isOutside())
    return;
  const int x = s.x(), y = s.y();
  const Real near =
      in[s.at(x - 1, y)] + in[s.at(x + 1, y)] + in[s.at(x, y - 1)] + in[s.at(x, y + 1)];
  const Real corners = in[s.at(x - 1, y - 1)] + in[s.at(x + 1, y - 1)] + in[s.at(x - 1, y + 1)] +
                       in[s.at(x + 1, y + 1)];
  const Real far =
      in[s.at(x - 2, y)] + in[s.at(x + 2, y)] + in[s.at(x, y - 2)] + in[s.at(x, y + 2)];
  const Real centre = in[s.at(x, y)];
  out[s.at(x, y)] = centre - kappa * (20 * centre - 8 * near + 2 * corners + far);
}

template <typename Real>
__global__ void upwind(Real* out, const Real* in, const Real* u, const Real* v, Real dt, Square s) {
  if (s.isOutside())
    return;
  const int x = s.x(), y = s.y();
  const long at = s.at(x, y);
  const Real alongX = u[at] > 1 ? in[at] - in[s.at(x - 1, y)] : in[s.at(x + 1, y)] - in[at];
  const Real alongY = v[at] > 1 ? in[at] - in[s.at(x, y - 1)] : in[s.at(x, y + 1)] - in[at];
  out[at] = in[at] - dt * ((u[at] - 1) * alongX + (v[at] - 1) * alongY);
}

template <typename Real>
__global__ void magnetic(Real* hx, Real* hy, const Real* e, Real factor, Square s) {
  if (s.isOutside())
    return;
  const int x = s.x(), y = s.y();
  const long at = s.at(x, y);
  hx[at] -= factor * (e[s.at(x, y + 1)] - e[at]);
  hy[at] += factor * (e[s.at(x + 1, y)] - e[at]);
}

template <typename Real>
__global__ void electric(Real* e, const Real* hx, const Real* hy, Real factor, Square s) {
  if (s.isOutside())
    return;
  const int x = s.x(), y = s.y();
  const long at = s.at(x, y);
  e[at] += factor * (hy[at] - hy[s.at(x - 1, y)] - hx[at] + hx[s.at(x, y - 1)]);
}

template <typename Real> struct Water {
  Real height, alongX, alongY;
};

template <typename Real> __device__ Water<Real> fluxX(Water<Real> w) {
  const Real u = w.alongX / w.height;
  return {w.alongX, w.alongX * u + Real(4.9) * w.height * w.height, w.alongY * u};
}

/// One step by Lax and Friedrichs, of arrays of structures.
template <typename Real>
__global__ void shallowWater(Water<Real>* out, const Water<Real>* in, Real ratio, Square s) {
  if (s.isOutside())
    return;
  const int x = s.x(), y = s.y();
  const Water<Real> west = in[s.at(x - 1, y)], east = in[s.at(x + 1, y)];
  const Water<Real> south = in[s.at(x, y - 1)], north = in[s.at(x, y + 1)];
  const Water<Real> left = fluxX(west), right = fluxX(east);
  const Water<Real> below = fluxX<Real>({south.height, south.alongY, south.alongX});
  const Water<Real> above = fluxX<Real>({north.height, north.alongY, north.alongX});
  const auto next = [&](Real sum, Real overX, Real overY) {
    return Real(0.25) * sum - ratio * (overX + overY);
  };
  out[s.at(x, y)] = {next(west.height + east.height + south.height + north.height,
                          right.height - left.height, above.height - below.height),
                     next(west.alongX + east.alongX + south.alongX + north.alongX,
                          right.alongX - left.alongX, above.alongY - below.alongY),
                     next(west.alongY + east.alongY + south.alongY + north.alongY,
                          right.alongY - left.alongY, above.alongX - below.alongX)};
}

template <typename Real>
__global__ void burgers(Real* nextU, Real* nextV, const Real* u, const Real* v, Real dt, Real nu,
                        Square s) {
  if (s.isOutside())
    return;
  const int x = s.x(), y = s.y();
  const long at = s.at(x, y), w = s.at(x - 1, y), e = s.at(x + 1, y), b = s.at(x, y - 1),
             a = s.at(x, y + 1);
  nextU[at] = u[at] - dt * (u[at] * (u[at] - u[w]) + v[at] * (u[at] - u[b])) +
              nu * (u[w] + u[e] + u[b] + u[a] - 4 * u[at]);
  nextV[at] = v[at] - dt * (u[at] * (v[at] - v[w]) + v[at] * (v[at] - v[b])) +
              nu * (v[w] + v[e] + v[b] + v[a] - 4 * v[at]);
}

template <typename Real>
__global__ void grayScott(Real* nextU, Real* nextV, const Real* u, const Real* v, Real feed,
                          Real kill, Square s) {
  if (s.isOutside())
    return;
  const int x = s.x(), y = s.y();
  const long at = s.at(x, y), w = s.at(x - 1, y), e = s.at(x + 1, y), b = s.at(x, y - 1),
             a = s.at(x, y + 1);
  const Real reaction = u[at] * v[at] * v[at];
  nextU[at] =
      u[at] + Real(0.16) * (u[w] + u[e] + u[b] + u[a] - 4 * u[at]) - reaction + feed * (1 - u[at]);
  nextV[at] = v[at] + Real(0.08) * (v[w] + v[e] + v[b] + v[a] - 4 * v[at]) + reaction -
              (feed + kill) * v[at];
}

/// The chemical potential of two phases that part.
template <typename Real>
__global__ void potential(Real* out, const Real* in, Real width, Square s) {
  if (s.isOutside())
    return;
  const int x = s.x(), y = s.y();
  const Real c = in[s.at(x, y)] - Real(0.8);
  const Real around =
      in[s.at(x - 1, y)] + in[s.at(x + 1, y)] + in[s.at(x, y - 1)] + in[s.at(x, y + 1)];
  out[s.at(x, y)] = c * c * c - c - width * (around - 4 * in[s.at(x, y)]);
}

/// Populations are pulled from neighbours and collide.
template <typename Real>
__global__ void latticeBoltzmann(Real* out, const Real* in, Real relaxation, Square s) {
  if (s.isOutside())
    return;
  const int cx[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1}, cy[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
  const long cells = long(s.edge) * s.edge, own = s.at(s.x(), s.y());
  Real f[9], density = 0, ux = 0, uy = 0;
  for (int q = 0; q < 9; ++q) {
    f[q] = in[q * cells + s.at(s.x() - cx[q], s.y() - cy[q])];
    density += f[q];
    ux += cx[q] * f[q];
    uy += cy[q] * f[q];
  }
  ux /= density;
  uy /= density;
  for (int q = 0; q < 9; ++q) {
    const Real weight = q == 0 ? Real(4) / 9 : (q < 5 ? Real(1) / 9 : Real(1) / 36);
    const Real along = 3 * (cx[q] * ux + cy[q] * uy);
    const Real rest =
        weight * density * (1 + along + along * along / 2 - Real(1.5) * (ux * ux + uy * uy));
    out[q * cells + own] = f[q] + relaxation * (rest - f[q]);
  }
}

/// In place, every other cell.
template <typename Real>
__global__ void redBlack(Real* value, const Real* source, int colour, Square s) {
  if (s.isOutside() || (s.x() + s.y()) % 2 != colour)
    return;
  const int x = s.x(), y = s.y();
  value[s.at(x, y)] =
      Real(0.25) * (value[s.at(x - 1, y)] + value[s.at(x + 1, y)] + value[s.at(x, y - 1)] +
                    value[s.at(x, y + 1)] + source[s.at(x, y)]);
}

/// To a square of half the edge.
template <typename Real>
__global__ void restricted(Real* coarse, const Real* fine, Square whole, Square s) {
  if (s.isOutside())
    return;
  const int x = 2 * s.x(), y = 2 * s.y();
  Real sum = 0;
  for (int dy = -1; dy <= 1; ++dy)
    for (int dx = -1; dx <= 1; ++dx)
      sum += fine[whole.at(x + dx, y + dy)] * ((2 - abs(dx)) * (2 - abs(dy)));
  coarse[s.at(s.x(), s.y())] = sum / 16;
}

template <typename Real>
__global__ void prolonged(Real* fine, const Real* coarse, Square half, Square s) {
  if (s.isOutside())
    return;
  const int x = s.x() / 2, y = s.y() / 2, oddX = s.x() % 2, oddY = s.y() % 2;
  const Real below = coarse[half.at(x, y)] + coarse[half.at(x + oddX, y)];
  const Real above = coarse[half.at(x, y + oddY)] + coarse[half.at(x + oddX, y + oddY)];
  fine[s.at(s.x(), s.y())] += Real(0.25) * (below + above);
}

/// What was where the wind comes from, between four cells.
template <typename Real>
__global__ void carried(Real* out, const Real* in, const Real* u, const Real* v, Real dt,
                        Square s) {
  if (s.isOutside())
    return;
  const long at = s.at(s.x(), s.y());
  const Real fromX = s.x() - dt * u[at], fromY = s.y() - dt * v[at];
  const int x = int(floor(fromX)), y = int(floor(fromY));
  const Real partX = fromX - x, partY = fromY - y;
  out[at] = (1 - partY) * ((1 - partX) * in[s.at(x, y)] + partX * in[s.at(x + 1, y)]) +
            partY * ((1 - partX) * in[s.at(x, y + 1)] + partX * in[s.at(x + 1, y + 1)]);
}

/// One system for each column, interleaved.
template <typename Real>
__global__ void tridiagonal(Real* x, Real* scratch, const Real* b, int length, int systems) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= systems)
    return;
  Real factor = Real(-1) / 4, value = b[i] / 4;
  scratch[i] = factor;
  x[i] = value;
  for (int k = 1; k < length; ++k) {
    const long at = long(k) * systems + i;
    const Real scale = 1 / (4 + factor);
    value = (b[at] + value) * scale;
    factor = -scale;
    scratch[at] = factor;
    x[at] = value;
  }
  for (int k = length - 2; k >= 0; --k) {
    const long at = long(k) * systems + i;
    value = x[at] - scratch[at] * value;
    x[at] = value;
  }
}

template <typename Real>
__global__ void stateOfGas(Real* pressure, Real* sound, const Real* density, const Real* energy,
                           Real gamma, long n) {
  const long i = long(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  const Real p = (gamma - 1) * density[i] * energy[i];
  pressure[i] = p;
  sound[i] = sqrt(gamma * p / density[i]);
}

/// Fluxes between cells by Harten, Lax and van Leer.
template <typename Real>
__global__ void gasFlux(Real* mass, Real* momentum, const Real* density, const Real* speed,
                        const Real* pressure, long n) {
  const long i = long(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i + 1 >= n)
    return;
  const Real soundL = sqrt(Real(1.4) * pressure[i] / density[i]);
  const Real soundR = sqrt(Real(1.4) * pressure[i + 1] / density[i + 1]);
  const Real slow = min(speed[i] - soundL, speed[i + 1] - soundR);
  const Real fast = max(speed[i] + soundL, speed[i + 1] + soundR);
  const Real massL = density[i] * speed[i], massR = density[i + 1] * speed[i + 1];
  const Real momentumL = massL * speed[i] + pressure[i],
             momentumR = massR * speed[i + 1] + pressure[i + 1];
  if (slow > 0) {
    mass[i] = massL;
    momentum[i] = momentumL;
  } else if (fast < 0) {
    mass[i] = massR;
    momentum[i] = momentumR;
  } else {
    const Real width = 1 / (fast - slow);
    mass[i] = (fast * massL - slow * massR + fast * slow * (density[i + 1] - density[i])) * width;
    momentum[i] = (fast * momentumL - slow * momentumR + fast * slow * (massR - massL)) * width;
  }
}

struct Cube {
  int edge;
  __device__ bool isInside(int x, int y, int z, int margin) const {
    return x >= margin && y >= margin && z >= margin && x < edge - margin && y < edge - margin &&
           z < edge - margin;
  }
  __device__ long at(int x, int y, int z) const { return (long(z) * edge + y) * edge + x; }
};

template <typename Real> __global__ void laplace27(Real* out, const Real* in, Cube c) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y,
            z = blockIdx.z;
  if (!c.isInside(x, y, z, 1))
    return;
  const Real weight[4] = {Real(-4.2666667), Real(0.4666667), Real(0.1), Real(0.0333333)};
  Real sum = 0;
  for (int dz = -1; dz <= 1; ++dz)
    for (int dy = -1; dy <= 1; ++dy)
      for (int dx = -1; dx <= 1; ++dx)
        sum += weight[abs(dx) + abs(dy) + abs(dz)] * in[c.at(x + dx, y + dy, z + dz)];
  out[c.at(x, y, z)] = sum;
}

/// A wave, of the eighth order in space.
template <typename Real>
__global__ void wave(Real* next, const Real* now, const Real* speed, Cube c) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y,
            z = blockIdx.z;
  if (!c.isInside(x, y, z, 4))
    return;
  const Real weight[5] = {Real(-2.847222), Real(1.6), Real(-0.2), Real(0.025397), Real(-0.001786)};
  Real sum = 3 * weight[0] * now[c.at(x, y, z)];
  for (int d = 1; d <= 4; ++d)
    sum += weight[d] * (now[c.at(x - d, y, z)] + now[c.at(x + d, y, z)] + now[c.at(x, y - d, z)] +
                        now[c.at(x, y + d, z)] + now[c.at(x, y, z - d)] + now[c.at(x, y, z + d)]);
  const long at = c.at(x, y, z);
  next[at] = 2 * now[at] - next[at] + speed[at] * Real(0.01) * sum;
}

/// Charged particles in constant fields, turned and pushed.
template <typename Real>
__global__ void push(Real* position, Real* velocity, Real dt, int steps, long n) {
  const long i = long(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  Real x = position[i], y = position[n + i], u = velocity[i], v = velocity[n + i];
  for (int step = 0; step < steps; ++step) {
    const Real field = 1 / (1 + x * x + y * y), turn = field * dt / 2,
               scale = 2 * turn / (1 + turn * turn);
    const Real middleU = u + v * turn, middleV = v - u * turn;
    u += middleV * scale;
    v -= middleU * scale;
    x += dt * u;
    y += dt * v;
  }
  position[i] = x, position[n + i] = y;
  velocity[i] = u, velocity[n + i] = v;
}

/// Forces between particles and as many others.
template <typename Real>
__global__ void lennardJones(Real* force, const Real* position, int others, long n) {
  const long i = long(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  Real sum = 0;
  for (int k = 1; k <= others; ++k) {
    const long other = i + k * 7 < n ? i + k * 7 : i + k * 7 - n;
    const Real d = position[i] - position[other], square = d * d + Real(0.5);
    const Real inverse = 1 / square, sixth = inverse * inverse * inverse;
    sum += 24 * inverse * sixth * (2 * sixth - 1) * d;
  }
  force[i] = sum;
}

template <typename Real> void squares(int edge) {
  const long n = long(edge) * edge;
  const Square s{edge}, half{edge / 2};
  const dim3 block(32, 8), grid(blocksFor(edge, 32), blocksFor(edge, 8)),
      quarter(blocksFor(edge / 2, 32), blocksFor(edge / 2, 8));
  const Array<Real> a(n, 1), b(n, 2), c(n, 3), d(n, 4);
  laplace5<Real><<<grid, block>>>(d, a, Real(0.1), s), d.show("laplace5");
  biharmonic<Real><<<grid, block>>>(d, a, Real(0.01), s), d.show("biharmonic");
  upwind<Real><<<grid, block>>>(d, a, b, c, Real(0.1), s), d.show("upwind");
  magnetic<Real><<<grid, block>>>(b, c, a, Real(0.5), s), b.show("magnetic");
  electric<Real><<<grid, block>>>(a, b, c, Real(0.5), s), a.show("electric");
  burgers<Real><<<grid, block>>>(c, d, a, b, Real(0.01), Real(0.1), s), c.show("burgers");
  grayScott<Real><<<grid, block>>>(c, d, a, b, Real(0.037), Real(0.06), s), c.show("grayScott");
  potential<Real><<<grid, block>>>(d, a, Real(0.5), s), d.show("potential");
  redBlack<Real><<<grid, block>>>(a, b, 0, s), a.show("redBlack");
  carried<Real><<<grid, block>>>(d, a, b, c, Real(1.5), s), d.show("carried");
  restricted<Real><<<quarter, block>>>(d, a, s, half), d.show("restricted");
  prolonged<Real><<<grid, block>>>(d, a, half, s), d.show("prolonged");
}

template <typename Real> void structured(int edge) {
  const int part = edge / 2;
  const long n = long(part) * part;
  const Square s{part};
  const dim3 block(32, 8), grid(blocksFor(part, 32), blocksFor(part, 8));
  const Array<Real> in(9 * n, 5), out(9 * n, 6), third(n, 7);
  const auto* const from = reinterpret_cast<Water<Real>*>(static_cast<Real*>(in));
  auto* const to = reinterpret_cast<Water<Real>*>(static_cast<Real*>(out));
  shallowWater<Real><<<grid, block>>>(to, from, Real(0.01), s), out.show("shallowWater");
  latticeBoltzmann<Real><<<grid, block>>>(out, in, Real(0.7), s), out.show("latticeBoltzmann");
  const Array<Real> scratch(4 * n, 8);
  tridiagonal<Real><<<blocksFor(4 * n / 32, 128), 128>>>(out, scratch, in, 32, int(4 * n / 32)),
      out.show("tridiagonal");
  Real *const first = in, *const second = out;
  stateOfGas<Real><<<blocksFor(4 * n), kThreads>>>(second, second + 4 * n, first, first + 4 * n,
                                                   Real(1.4), 4 * n);
  out.show("stateOfGas");
  gasFlux<Real><<<blocksFor(3 * n), kThreads>>>(second, second + 3 * n, first, first + 3 * n,
                                                first + 6 * n, 3 * n);
  out.show("gasFlux");
  push<Real><<<blocksFor(n), kThreads>>>(second, first, Real(0.01), 8, n), out.show("push");
  lennardJones<Real><<<blocksFor(n), kThreads>>>(out, in, 16, n), out.show("lennardJones");
}

template <typename Real> void cubes(int edge) {
  const long n = long(edge) * edge * edge;
  const dim3 block(32, 8), grid(blocksFor(edge, 32), blocksFor(edge, 8), edge);
  const Array<Real> a(n, 1), b(n, 2), c(n, 3);
  laplace27<Real><<<grid, block>>>(b, a, Cube{edge}), b.show("laplace27");
  wave<Real><<<grid, block>>>(b, a, c, Cube{edge}), b.show("wave");
}

int main(int argc, char** argv) {
  const int edge = argc > 1 ? std::atoi(argv[1]) : 256, depth = argc > 2 ? std::atoi(argv[2]) : 32;
  if (edge < 64 || edge % 64 || depth < 16) {
    std::fprintf(stderr, "usage: grid_kernels [EDGE, a multiple of 64 [DEPTH, at least 16]]\n");
    return 2;
  }
  // Numbers twice as large, and about half as many.
  squares<float>(edge), squares<double>(edge * 3 / 4);
  structured<float>(edge), structured<double>(edge * 3 / 4);
  cubes<float>(depth), cubes<double>(depth * 3 / 4);
}
