int g(unsigned, unsigned long);
int f(const unsigned char *p) {
  unsigned char h = *p;
  return g(h, h);
}
