struct P { short a; char b; int c[2]; };
enum class E : unsigned char { x, y };
__shared__ int g_sh[32];
template <class T> __device__ __noinline__ T twice(T x) { T y = x + x; return y; }
__device__ __noinline__ bool isok(bool b, char c, short s, unsigned char uc, E e) {
  bool t = b && c > s;
  char u = c + uc;
  short v = s * 2;
  E f = e;
  if (t) return u > v;
  return f == E::y;
}
extern "C" __global__ void k(int *out, int n, char ch, P p, double d, bool flag) {
  __shared__ float tile[64];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  char c = ch + 1;
  short s = ch * n;
  bool b = i < n;
  long long l = n;
  float f = d;
  unsigned char uc = c ^ s;
  double dd = d * 2;
  E e = E::x;
  P q = p;
  q.c[0] = i;
  tile[threadIdx.x & 63] = f;
  g_sh[i & 31] = c;
  __syncthreads();
  for (int j = 0; j < n; j++) {
    i += q.c[j & 1] + tile[j & 63];
    if (isok(b, c, s, uc, e)) break;
  }
  switch (n) {
    case 0: s += 1; break;
    case 1: s += i; break;
    case 2: c ^= s; break;
    case 3: l *= i; break;
    case 4: dd += f; break;
  }
  do { l += s--; if (l & 1) continue; f *= 2; } while (s > c);
  if (i < n && flag) out[i] = i * n + twice(i) + twice(l) + g_sh[i & 31] + dd + f + c;
}
