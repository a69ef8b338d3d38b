__device__ __forceinline__ int first(int x) { return x * 3 + 1; }
__global__ void a(int *p) { *p = first(*p); }
