// A result in memory, and an array that is moved from scratch to LDS.
typedef struct { float m[24]; } big;
__attribute__((noinline)) big make(float x, int n) {
  big r;
  for (int i = 0; i < 24; i++) r.m[i] = x + i;
  r.m[n & 15] = 0;
  return r;
}
__kernel void results(__global const float *in, __global float *out, int n) {
  big b = make(in[n], n);
  out[n] = b.m[n & 7];
}
__kernel void arrays(__global const uchar *in, __global int *out, int n) {
  uchar table[32];
  for (int i = 0; i < 32; i++) table[i] = in[i];
  int at = 0;
  for (int s = 0; s < n; s++) { at = table[at]; out[s] = at; }
}
