// Pointers into scratch and LDS, results in memory, and the result of a call in v0.
typedef struct { int a[12]; float f; } big;
__attribute__((noinline)) static big make(int seed, int n) {
  big r;
  for (int i = 0; i < 12; ++i) r.a[i] = seed * i + n;
  r.f = (float)seed;
  return r;
}
__attribute__((noinline)) static int total(big b, int k) {
  int t = 0;
  for (int i = 0; i < k; ++i) t += b.a[i];
  return t + (int)b.f;
}
__attribute__((noinline)) static int walk(__private int *p, int n) {
  int acc = 1;
  __private int *end = p + n;
  while (p != end) { acc = acc * 31 + *p; ++p; }
  return acc;
}
__attribute__((noinline)) static void swap2(__local int *x, __private int *y, __global int *z) {
  int old = *x;
  *x = *y; *y = z[0]; z[1] = old;
}
__kernel void ptrs(__global int *out, int n) {
  __local int sh[64];
  int l = __builtin_amdgcn_workitem_id_x();
  int arr[16];
  for (int i = 0; i < 16; ++i) arr[i] = out[l + i];
  int got = walk(&arr[n & 3], 8);
  big m = make(got, n);
  int t = total(m, n & 7);
  sh[l] = t;
  swap2(&sh[l], &arr[n & 15], out + l);
  __private int *q = &arr[got & 15];
  *q += t;
  out[l] = arr[l & 15] + *q + got + m.a[n & 7];
}
