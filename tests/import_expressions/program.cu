// Variables in registers, in local, shared, constant and global memory, in inlined and called functions.
struct Pair { int a; float b; };
template <class T> struct Box { T value; __device__ T get() const { return value; } };
__constant__ int table[16];
__device__ int counter;
__device__ __noinline__ int sum(const Pair *pairs, int count) {
    int total = 0;
    for (int i = 0; i < count; i++) total += pairs[i].a;
    return total;
}
__device__ inline float scaled(float x, float by) { float y = x * by; return y + 1.0f; }
__device__ double deep(double x, int n) { double y[4]; for (int i = 0; i < 4; i++) y[i] = x * i; return n > 0 ? y[n & 3] : x; }
__global__ void kernel(const Pair *in, float *out, int n, Box<long long> box) {
    __shared__ float tile[64];
    extern __shared__ int dynamic[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    Pair local[4];
    for (int k = 0; k < 4; k++) local[k] = in[i + k];
    tile[threadIdx.x & 63] = local[i & 3].b;
    dynamic[threadIdx.x] = i;
    __syncthreads();
    if (i < n) {
        float v = scaled(tile[(threadIdx.x + 1) & 63], 2.0f);
        unsigned char small = (unsigned char)i;
        long long big = box.get() + i;
        double d = deep(v, (int)big);
        out[i] = v + sum(local, 4) + table[i & 15] + small + (float)d + dynamic[0];
        atomicAdd(&counter, 1);
    }
}
