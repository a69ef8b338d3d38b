static inline int square(int x) {
    int y = x * x;
    return y + 1;
}

int squares(const int *from, int count) {
    int total = 0;
    for (int i = 0; i < count; i++)
        total += square(from[i]);
    return total;
}
