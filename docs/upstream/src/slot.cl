void set(int *x) __attribute__((noinline));
void set(int *x) { *x = 1; }
kernel void f(global int *p) { int x; set(&x); p[0] = x; }
