//! Programs of several units, which share a header.

const HEADER: &str = r"
#include <stddef.h>
struct node { int value; struct node *next; unsigned flag : 3; double weight; char name[8]; };
typedef struct node node_t;
enum color { RED, GREEN = 5, BLUE };
struct inner;
struct outer { struct inner *p; union { int a; float b; }; int (*run)(struct node *, enum color); };
struct even { struct odd *odd; }; struct odd { struct even *even; };
";

/// Three units. `config` and `MOST` are different in the first two, and `inner` is complete in the first only.
const C: [(&str, &str); 3] = [
    (
        "a.c",
        r#"#include "h.h"
struct inner { int q; };
struct config { int a; };
enum { MOST = 10 };
struct config conf = {MOST};
int sum(struct node *n, enum color c);
int main(int argc, char **argv) {
    struct inner i = {2};
    struct outer o = {&i};
    struct even e = {0};
    o.run = sum;
    struct node n = {argc, 0, 1, 2.5, "n"};
    char *s = argv[0];
    const char *t = s;
    return o.run(&n, RED) + (t != s) + conf.a + (e.odd != 0);
}
"#,
    ),
    (
        "b.c",
        r#"#include "h.h"
struct config { float z; int b; };
enum { MOST = 20 };
struct config conf2 = {1, MOST};
int sum(struct node *n, enum color c) {
    int t = 0;
    for (; n; n = n->next) t += n->value;
    char *x = n ? n->name : 0;
    char *y = x, *z = y;
    struct odd odd = {0};
    int last = 0;
#ifndef __OPTIMIZE__
    int many[t * t + 1];
    last = many[0] = 1;
#endif
    return t + c + (z != x) + conf2.b + (odd.even != 0) + last;
}
"#,
    ),
    (
        "c.c",
        r#"#include "h.h"
struct config { int a; };
extern struct config conf;
struct outer *gg;
node_t nn;
size_t strange(struct outer *o, size_t n) { size_t k = n; return k + sizeof *o + conf.a; }
"#,
    ),
];

/// The files of the C program.
pub(super) fn c_files() -> Vec<(&'static str, &'static str)> {
    C.into_iter().chain([("h.h", HEADER)]).collect()
}

const CPP_HEADER: &str = r"
#include <vector>
namespace ns {
struct Base {
    virtual ~Base();
    virtual int f(int) const;
    static int count;
    struct Nested { int q; Base *b; };
    enum Kind { One, Two };
    Nested n;
    template <class T> T as() const { return T(); }
};
template <class T, int N = 3> struct Box { T t; T get() const { return t; } int Box::*member; };
inline int twice(int x) { return x * 2; }
inline namespace v1 { struct In { int i; }; }
}
namespace { struct Anon { int a; }; }
struct Later { struct Part; Part *part; };
";

/// The files of the C++ program.
pub(super) const CPP: [(&str, &str); 3] = [
    ("x.h", CPP_HEADER),
    (
        "x1.cc",
        r#"#include "x.h"
struct Later::Part { int p; };
int ns::Base::count = 3;
ns::Base::~Base() {}
int ns::Base::f(int x) const { return x * count; }
Anon a1;
Later later;
int local(std::vector<ns::In> &v) { auto q = [&](int z) { return z + v[0].i; }; return v.size() + a1.a + q(2); }
"#,
    ),
    (
        "x2.cc",
        r#"#include "x.h"
Anon a2;
int local(std::vector<ns::In> &v);
int other(ns::Box<long> &m, Later &l) {
    ns::Box<int> b{3};
    return m.get() + b.get() + ns::twice(4) + a2.a + (l.part != nullptr);
}
int main(int argc, char **) {
    std::vector<ns::In> v{{argc}, {2}};
    ns::Box<long> m{argc};
    Later l{};
    ns::Base b;
    b.n.q = ns::Base::Two;
    return local(v) + other(m, l) + b.f(1) + b.as<int>();
}
"#,
    ),
];
