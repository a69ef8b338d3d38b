__global__ void k1(int *p) { *p = 1; }
__global__ void k2(int *p) { *p = 2; }
__global__ void k3(int *p) { *p = 3; }
