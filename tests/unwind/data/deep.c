#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* As far out as the stack is looked at. */
char *outermost;
static int calls;

#define NOINLINE __attribute__((noinline))
#define USED(place) __asm__ volatile("" : : "r"(place) : "memory")

NOINLINE void stop(int n) { USED((long)n); }

NOINLINE static void handler(int n) {
    char kept[100];
    memset(kept, n, sizeof kept);
    stop(kept[3]);
    USED(kept);
}

/* A frame whose size is known when it runs; the signal comes in the midst of it. */
NOINLINE static int variable(int n) {
    char kept[n];
    memset(kept, n, n);
    raise(SIGUSR1);
    USED(kept);
    return kept[n / 2];
}

NOINLINE static long recursive(long n, long a, long b, long c, long d) {
    USED(&n);
    if (n == 0) return variable(77) + a + b;
    long below = recursive(n - 1, a + n, b ^ n, c * n, d - n);
    return below + a * b + c * d + n;
}

static int compare(const void *a, const void *b) {
    if (calls++ == 3) calls += (int)recursive(4, 1, 2, 3, 4);
    return *(const int *)a - *(const int *)b;
}

int main(int count, char **words) {
    int numbers[] = {5, 3, 9, 1, count};
    outermost = (char *)__builtin_frame_address(0) + 2048;
    signal(SIGUSR1, handler);
    qsort(numbers, 5, sizeof *numbers, compare);
    return numbers[0] + (int)(long)words;
}
