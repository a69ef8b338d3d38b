__global__ void k(int *p) { int v = *p; *p = v + 1; }
