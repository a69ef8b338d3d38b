//! Arrays whose number of elements is known at run time: an expression, or a variable that the compiler adds.

use super::keeps_facts;
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
