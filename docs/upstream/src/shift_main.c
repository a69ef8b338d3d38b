__int128 f(__int128, int);
int main(void) { return f(((__int128)5 << 64) | 7, 1); }
