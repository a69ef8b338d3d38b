__int128 f(__int128 a, int n) {
  __int128 b = a << n;
  return b + n;
}
