/* Twenty programs in one. Each calls `stop` some frames deep, where a debugger looks at the variables of all frames. */
#include <stdarg.h>

/* As far out as the stack is looked at. */
char *outermost;
volatile int sink;
volatile int source = 3;

#define NOINLINE __attribute__((noinline, noclone))
#define USED(place) __asm__ volatile("" : : "r"(place) : "memory")
/* Overwrites all call-clobbered registers of both calling conventions' arguments. */
#define CLOBBER() __asm__ volatile("mov $0x5a5a5a5a5a5a5a5a, %%rax; mov %%rax, %%rcx; mov %%rax, %%rdx; mov %%rax, %%rsi;" \
    "mov %%rax, %%rdi; mov %%rax, %%r8; mov %%rax, %%r9; mov %%rax, %%r10; mov %%rax, %%r11;" \
    "movq %%rax, %%xmm0; movq %%rax, %%xmm1; movq %%rax, %%xmm2; movq %%rax, %%xmm7; movq %%rax, %%xmm8" \
    : : : "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "xmm0", "xmm1", "xmm2", "xmm7", "xmm8", "memory")

NOINLINE void stop(void) { CLOBBER(); __asm__ volatile(".globl here\nhere: nop" : : : "memory"); }

struct pair { int a; double d; };

/* 1: a parameter that dies, passed by the address of a local. */
static int square(int x) { int t = x * x; return t + 1; }
NOINLINE int sums(struct pair *p, int n) {
    int s = 0;
    for (int i = 0; i < n; i++) s += square(p->a + i);
    stop();
    return s;
}
NOINLINE int one(int n) { struct pair p = {n, 1.5}; USED(&p); return sums(&p, n + 3) + p.a; }

/* 2: constants as arguments. */
NOINLINE int constants(int a, long b, short c, char d) { sink = a + b + c + d; stop(); return sink; }
NOINLINE int two(int n) { return constants(17, -5, 1234, 'x') + n; }

/* 3: recursion that changes its arguments. */
NOINLINE long depth(long n, long a, long b) {
    USED(&n);
    if (n == 0) { stop(); return a - b; }
    long below = depth(n - 1, a + n, b ^ a);
    return below + a * 3;
}
NOINLINE int three(int n) { return depth(n, 2, 9); }

/* 4: more values than callee-saved registers. */
NOINLINE long pressure(long a, long b, long c, long d, long e, long f) {
    long g = a * b, h = c * d, i = e * f, j = a ^ f, k = b - e;
    stop();
    return a + b + c + d + e + f + g * h * i * j * k;
}
NOINLINE int four(int n) { return pressure(n, n + 1, n * 2, n - 7, n ^ 5, 99); }

/* 5: floating point, which has no callee-saved registers. */
NOINLINE double floats(double a, double b, float c, int n) {
    double d = a * b;
    stop();
    return n ? d + c : a;
}
NOINLINE int five(int n) { return floats(n * 1.5, 2.25, 0.5f, n); }

/* 6: a call through a pointer. */
typedef int (*taking)(int, int);
NOINLINE int pointed(int a, int b) { sink = a; stop(); return b > 2; }
taking volatile pointer = pointed;
NOINLINE int six(int n) { taking f = pointer; int r = f(n + 40, n + 41); return r + n; }

/* 7: a tail call, after which the caller is not the one that passed the values. */
NOINLINE int jumped(int a, int b) { sink = a - b; stop(); return sink + 1; }
NOINLINE int jumps(int a, int b) { sink = b; return jumped(b + 1000, a + 2000); }
NOINLINE int seven(int n) { int r = jumps(n, n + 1); return r * 2; }

/* 8: a tail call to itself through another function. */
NOINLINE int pong(int n, int m);
NOINLINE int ping(int n, int m) { sink = n; if (n < 0) { stop(); return sink + m; } return pong(n - 1, m * 3); }
NOINLINE int pong(int n, int m) { sink = m; return ping(n - 2, m + 1); }
NOINLINE int eight(int n) { int r = ping(n + 3, 1); return r + 5; }

/* 9: inlined calls between frames. */
static inline int inner(int v, int w) { int x = v * w; stop(); return x + w; }
static inline int outer(int v) { int y = v + 7; int z = inner(y, v); return z - y; }
NOINLINE int nine(int n) { int q = outer(n * 2); return q + n; }

/* 10: an address that only the call site knows. */
NOINLINE int fills(int *to, const char *text, int count) { to[count] = text[0]; sink = to[1]; stop(); return count; }
NOINLINE int ten(int n) { int all[8] = {n, 2, 3}; USED(all); return fills(all, "abc", n & 7) + all[2]; }

/* 11: a structure in registers, and one on the stack. */
struct two { long a, b; };
struct four_longs { long a, b, c, d; };
NOINLINE long structures(struct two t, struct four_longs f, long last) { sink = t.a; stop(); return t.b + f.d + last; }
NOINLINE int eleven(int n) {
    struct two t = {n, n + 1};
    struct four_longs f = {1, 2, 3, n};
    return structures(t, f, 77);
}

/* 12: more arguments than registers. */
NOINLINE int many(int a, int b, int c, int d, int e, int f, int g, int h) { sink = a + h; stop(); return b + g * 2; }
NOINLINE int twelve(int n) { return many(n, 2, n + 3, 4, n + 5, 6, n + 7, 8) + 1; }

/* 13: a value that the function overwrites in its register before the call. */
NOINLINE int overwrites(unsigned a, unsigned b) {
    while (b) { unsigned t = a % b; a = b; b = t; }
    sink = a;
    stop();
    return a;
}
NOINLINE int thirteen(int n) { return overwrites(n * 36, n * 24) + n; }

/* 14: a value computed from the entry values of two arguments. */
NOINLINE long derived(long a, long b) { long total = a * 2 + b; sink = total; stop(); return 4; }
NOINLINE int fourteen(int n) { long keep = n * 11; return derived(keep, keep + 6) + keep; }

/* 15: variable arguments. */
NOINLINE int variadic(int n, ...) {
    va_list all;
    va_start(all, n);
    int first = va_arg(all, int), second = va_arg(all, int);
    va_end(all);
    sink = first;
    stop();
    return second;
}
NOINLINE int fifteen(int n) { return variadic(n, n + 1, n + 2, 2.5) + n; }

/* 16: two frames of entry values: the value that was passed on is an entry value itself. */
NOINLINE int last(int a) { sink = a; stop(); return 1; }
NOINLINE int middle(int a, int b) { int r = last(a + 1); sink = b; return r; }
NOINLINE int sixteen(int n) { return middle(n * 5, n * 6) + 2; }

/* 17: a loop around the call. */
NOINLINE int body(int i, int sum) { sink = i; if (i == 2) stop(); return sum ^ i; }
NOINLINE int seventeen(int n) { int sum = n; for (int i = 0; i < 4; i++) sum += body(i, sum * 3); return sum; }

/* 18: a frame pointer, for an array of any size. */
NOINLINE int sized(int n, char mark) {
    char all[n];
    for (int i = 0; i < n; i++) all[i] = mark + i;
    USED(all);
    stop();
    return all[n / 2];
}
NOINLINE int eighteen(int n) { return sized(n + 20, 'k') + n; }

/* 19: an unused argument and unsigned char. */
NOINLINE int unused(int a, unsigned char b, int *c) { stop(); return 3; }
NOINLINE int nineteen(int n) { int here = n; USED(&here); return unused(n, n + 200, &here) + here; }

/* 20: a partial value: the low half of a register. */
NOINLINE int halves(unsigned long v) { unsigned lo = v, hi = v >> 32; sink = lo; stop(); return hi; }
NOINLINE int twenty(int n) { return halves(0x1234567800000000ul + n) + n; }

int main(int count, char **words) {
    outermost = (char *)__builtin_frame_address(0) + 16;
    int n = source + count - 1;
    int all = one(n) + two(n) + three(n) + four(n) + five(n) + six(n) + seven(n) + eight(n) + nine(n) + ten(n);
    all += eleven(n) + twelve(n) + thirteen(n) + fourteen(n) + fifteen(n) + sixteen(n) + seventeen(n);
    all += eighteen(n) + nineteen(n) + twenty(n);
    return all & 1;
}
