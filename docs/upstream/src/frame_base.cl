kernel void f(global int *p) {
  volatile int a = 1;
  p[0] = a;
}
