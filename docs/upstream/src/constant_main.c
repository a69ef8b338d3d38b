int f(int);
__attribute__((noinline)) int g(int x) { __asm__ volatile(""); return x; }
int main(void) { return f(1); }
