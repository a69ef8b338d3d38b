int f(const unsigned char *);
int g(unsigned a, unsigned long b) { return a + b; }
int main(void) { unsigned char c = 77; return f(&c); }
