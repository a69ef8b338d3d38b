// A result in memory, an argument whose register is used again, and an index as the difference of two addresses.
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
struct Big {
  float m[20];
  __device__ Big times(const Big &o) const { Big r; for (int i = 0; i < 20; i++) r.m[i] = m[i] * o.m[19 - i]; return r; }
};
__device__ __attribute__((noinline)) Big make(float x, int n) {
  Big r;
  for (int i = 0; i < 20; i++) r.m[i] = x + i;
  if (n > 3) r.m[n & 15] = 0;
  return r;
}
__device__ __attribute__((noinline)) Big turn(Big a, int k) {
  Big r;
  for (int i = 0; i < 20; i++) r.m[(i + k) % 20] = a.m[i];
  if (k & 1) { Big t = r.times(a); return t; }
  return r;
}
extern "C" __global__ void results(Big *out, float x, int n) {
  Big b = make(x, n);
  out[n] = turn(b, n);
}
