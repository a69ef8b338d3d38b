//! Arrays whose number of elements is known at run time: an expression, or a variable that the compiler adds.

use super::debugged::shows_the_same;
use super::keeps_facts;
use super::kept::{compiled, twice};
use crate::common::tools::{Folder, Tool};

/// The flexible array is equal to the variable's type but for its bound, which is an expression.
const SOURCE: &str = r"
struct tail { int count; int flexible[]; } *tail;
int use(int *, int);
int simple(int n) {
    int many[n];
    many[0] = tail->flexible[0];
    return use(many, n);
}
int one(int n) {
    int many[n * n + 1];
    many[0] = 1;
    use(many, n);
    return many[n];
}
int two(int n, int m) {
    double table[n][m + 2];
    table[0][0] = 1;
    use((int *)table, n);
    typedef int row[m];
    row last;
    use(last, m);
    return table[n - 1][m] + sizeof table;
}
int length(const char *text, unsigned long n) {
    for (int i = 0; i < 2; i++) {
        unsigned long a = n * 2, b = __builtin_strlen(text);
        char copied[a + b + 3];
        __builtin_memcpy(copied, text, b + 1);
        use((int *)copied, a);
    }
    return 0;
}
int sum(int n, int a[n], int b[n][n]) {
    int s = 0;
    for (int i = 0; i < n; i++) s += a[i] + b[i][i];
    return s;
}
";

/// gcc writes upper bounds, as expressions or as references to artificial variables with location lists; clang writes
/// counts as references.
#[test]
fn arrays_of_variable_length_keep_their_facts() {
    const GCC: Tool = Tool::new("gcc", "gcc");
    const CLANG: Tool = Tool::new("clang-19", "clang-19");
    for compiler in [GCC, CLANG] {
        for version in ["-gdwarf-2", "-gdwarf-3", "-gdwarf-4", "-gdwarf-5"] {
            for level in ["-O0", "-O2"] {
                let folder = Folder::new();
                folder.file("a.c", SOURCE);
                let arguments = [version, level, "-c", "-o", "a.o", "a.c"];
                let Some(ran) = compiler.run_in(folder.path(), &arguments) else { continue };
                assert!(ran.succeeded, "{ran}");
                let bytes = std::fs::read(folder.path().join("a.o")).expect("an object");
                keeps_facts(&format!("{} {version} {level}", compiler.name), &bytes);
            }
        }
    }
}

/// Arrays that are declared without a bound, and defined with one.
const DEFINED: &str = r#"
extern int table[];
int table[3] = {7, 8, 9};
#ifdef __cplusplus
extern const char *const names[];
struct squares { static const int all[]; };
const int squares::all[] = {1, 4, 9};
extern "C" const int *first(void) { return squares::all; }
#else
extern const char *const names[];
#endif
const char *const names[] = {"one", "two"};
int main(void) { return table[0] + names[1][0] - 123; }
"#;

#[test]
fn definitions_of_arrays_keep_their_bounds() {
    const GDB: Tool = Tool::new("gdb", "gdb");
    const COMPILERS: [(Tool, &str); 4] = [
        (Tool::new("gcc", "gcc"), "a.c"),
        (Tool::new("g++", "g++"), "a.cc"),
        (Tool::new("clang-19", "clang-19"), "a.c"),
        (Tool::new("clang++-19", "clang-19"), "a.cc"),
    ];
    for (compiler, file) in COMPILERS {
        for version in ["-gdwarf-2", "-gdwarf-4", "-gdwarf-5"] {
            let folder = Folder::new();
            folder.file(file, DEFINED);
            let Some(ran) = compiler.run_in(folder.path(), &[version, "-o", "before", file]) else {
                continue;
            };
            assert!(ran.succeeded, "{ran}");
            let name = format!("{} {version}", compiler.name);
            let before = std::fs::read(folder.path().join("before")).expect("a program");
            let after = keeps_facts(&name, &before);
            std::fs::write(folder.path().join("after"), &after.object).expect("a program");
            let said = ["before", "after"].map(|program| {
                let commands = ["print table", "whatis names", "print 'squares::all'"];
                let words = commands.iter().flat_map(|command| ["-ex", command]);
                let words: Vec<_> = ["-batch"].into_iter().chain(words).chain([program]).collect();
                Some(GDB.run_in(folder.path(), &words)?.out)
            });
            let [Some(before), Some(after)] = said else { return };
            assert!(before.contains("{7, 8, 9}") && before.contains("[2]"), "{name}: {before}");
            assert_eq!(before, after, "{name}");
        }
    }
}

/// gcc's structures with arrays of variable length have no size, and members at computed offsets.
#[test]
fn structures_with_arrays_of_variable_length_keep_their_members() {
    const SOURCE: &str = r"
        int fill(int n) {
            struct row { int count; int values[n]; char text[2 * n]; } row;
            row.count = n;
            for (int i = 0; i < n; i++) row.values[i] = i * n, row.text[i] = 'a' + i;
            row.text[n] = 0;
            return row.values[n - 1] + row.text[0] + row.count;
        }
        int main(void) { return fill(4) == 0; }
    ";
    for version in ["-gdwarf-3", "-gdwarf-4", "-gdwarf-5"] {
        let folder = Folder::new();
        let Some(bytes) = compiled(&folder, Tool::new("gcc", "gcc"), ("a.c", SOURCE), &[version, "-O0"])
        else {
            return;
        };
        keeps_facts(version, &bytes);
        let lost = twice(&folder, &bytes);
        assert!(lost.is_empty(), "{version}: {lost:#?}");
        let commands = [
            "break 7",
            "run",
            "print row.count",
            "print row.values",
            "print row.text",
            "whatis row",
            "bt full",
        ];
        let Some(shown) = shows_the_same(&folder, version, &commands) else { return };
        for text in ["= 4", "= {0, 4, 8, 12}", "= \"abcd", "type = struct row"] {
            assert!(shown.contains(text), "{version}: no {text:?} in {shown}");
        }
    }
}
