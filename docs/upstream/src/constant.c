int g(int);
int f(int n) {
  int next = n + 1, limit = 42;
  g(n);
  limit = g(limit);
  return g(limit);
}
