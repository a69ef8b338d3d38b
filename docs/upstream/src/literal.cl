kernel void f(global int *p) {
  int s = 42;
  p[0] = p[1] + s;
}
