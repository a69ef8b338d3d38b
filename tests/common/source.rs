//! A program in C with parameters, locals, blocks, an inlined function, static and global variables.

pub const SOURCE: &str = r#"
struct pair { long a, b; };
static int table[16];
extern int outside(int, struct pair *);
static inline int twice(int x) { int y = x * 2; return y + 1; }
int visible = 3;
int sum(int n, const int *p, struct pair q) {
    int total = 0;
    for (int i = 0; i < n; i++) {
        int v = p[i];
        if (v & 1) { float v = total; total += (int)(v * 2.5f); }
        total += twice(v) + table[i & 15];
    }
    char buffer[32];
    for (int i = 0; i < 32; i++) buffer[i] = (char)total;
    struct pair r = { total, q.b };
    return outside(total, &r) + buffer[n & 31] + (int)r.a;
}
int unused(double d) { return (int)d; }
"#;
