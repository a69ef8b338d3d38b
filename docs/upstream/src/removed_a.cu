extern __device__ int used(int);
__device__ __noinline__ int unused(int x) { return x * 3; }
__global__ void k(int *p) { *p = used(*p); }
