__attribute__((noinline)) void g(int *x) { *x = 1; }
__attribute__((noinline)) int f(int *x, int n) {
  g(x);
  return *x + n;
}
kernel void k(global int *p, int n) {
  int i = __builtin_amdgcn_workitem_id_x();
  if (i > 3) p[i] = f(p + i, n);
}
