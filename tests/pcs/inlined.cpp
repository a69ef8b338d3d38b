#include <stdint.h>
volatile int sink;
namespace geo {
struct Vec { int x, y, z;
  int dot(const Vec &o) const { int sum = x * o.x; { int yy = y * o.y; sum += yy; } return sum + z * o.z; }
  Vec scaled(int by) const { Vec out{x * by, y * by, z * by}; return out; }
};
template <typename T> static inline T clamp(T v, T lo, T hi) { if (v < lo) return lo; if (v > hi) return hi; return v; }
}
static inline int depth3(int a) { int loc = a ^ 5; sink = loc; return loc * 3; }
static inline int depth2(int a) { int loc = depth3(a + 1); static int calls; calls++; return loc + depth3(a - calls); }
static inline int depth1(int a) { int unused = a * 7; int loc = depth2(a) + 2; return geo::clamp(loc, 0, 100); }
__attribute__((noinline)) int recur(int n) { int x = n; if (n < 2) { int x = 3; sink = x; return x; } return recur(n - 1) + depth1(n); }
int shadow(int x) { int r = 0; for (int i = 0; i < x; i++) { int x = depth1(i); r += x; { int x = r & 3; sink = x; } } return r; }
int main(int argc, char **argv) {
  geo::Vec v{argc, argc + 1, argc + 2};
  int acc = 0;
  for (int i = 0; i < argc * 10; i++) { geo::Vec w = v.scaled(i); acc += v.dot(w); if (acc > 1000) { try { if (i == 77) throw i; } catch (int e) { acc -= e; } } }
  acc += recur(argc + 3) + shadow(acc);
  uint64_t big = (uint64_t)acc << 32; sink = (int)(big >> 33);
  return acc & 127;
}
