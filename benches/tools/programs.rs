//! Programs in Rust, C++ and Go with debug information, as their compilers write it.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Number of types for which the program in C++ has instances of the library's templates.
const TYPES: usize = 24;

/// A program's file, or why there is none.
type Built = Result<PathBuf, String>;

/// Returns the programs by their languages. `own` is the benchmark's program, `folder` is for the others.
pub fn built(own: &Path, folder: &Path) -> [(&'static str, Built); 3] {
    fs::create_dir_all(folder).expect("a folder");
    [("rust", rust(own)), ("cpp", cpp(folder)), ("go", go(folder))]
}

/// The command in the debug profile, beside the release profile of this benchmark.
fn rust(own: &Path) -> Built {
    // target/release/deps/tools-…
    let target = own.ancestors().nth(3).expect("the target folder");
    let file = target.join("debug/eitri");
    if file.exists() { Ok(file) } else { Err("`cargo build -p eitri-cli` makes the program".into()) }
}

/// A program that uses containers, strings, streams, threads and regular expressions of the standard library.
fn cpp(folder: &Path) -> Built {
    let mut source = String::from(
        "#include <algorithm>\n#include <functional>\n#include <iostream>\n#include <map>\n#include <regex>\n\
         #include <string>\n#include <thread>\n#include <unordered_map>\n#include <vector>\n",
    );
    for number in 0..TYPES {
        write!(
            source,
            "struct T{number} {{ int a; std::string s; bool operator<(const T{number} &o) const {{ return a < o.a; }} }};\n\
             int use{number}(int n) {{\n  std::map<T{number}, std::vector<T{number}>> m; std::unordered_map<int, T{number}> h;\n\
             for (int i = 0; i < n; i++) {{ m[T{number}{{i, \"x\"}}].push_back(T{number}{{n - i, \"y\"}}); h[i] = T{number}{{i, \"z\"}}; }}\n\
             for (auto &[k, v] : m) std::sort(v.begin(), v.end());\n\
             std::function<int(const T{number} &)> f = [&](const T{number} &t) {{ return t.a + (int)m.size(); }};\n\
             std::regex r(\"a(b*)c\"); std::thread t([&] {{ std::cout << f(h[0]) << std::regex_match(h[0].s, r); }}); t.join();\n\
             return f(h[n - 1]);\n}}\n"
        )
        .expect("text");
    }
    source.push_str("int main(int n, char **) { int sum = 0;\n");
    (0..TYPES).for_each(|number| writeln!(source, "sum += use{number}(n);").expect("text"));
    source.push_str("return sum; }\n");
    fs::write(folder.join("program.cpp"), source).expect("a source");
    run(
        Command::new("g++").args(["-g", "-O2", "-std=c++17", "-pthread", "program.cpp", "-o", "cpp"]),
        folder,
        "cpp",
    )
}

/// A server of the standard library.
fn go(folder: &Path) -> Built {
    let source = "package main\n\nimport (\n\t\"encoding/json\"\n\t\"net/http\"\n)\n\nfunc main() {\n\
                  \thttp.HandleFunc(\"/\", func(w http.ResponseWriter, r *http.Request) {\n\
                  \t\tjson.NewEncoder(w).Encode(r.Header)\n\t})\n\thttp.ListenAndServe(\"localhost:0\", nil)\n}\n";
    fs::write(folder.join("main.go"), source).expect("a source");
    run(
        Command::new("go").args(["build", "-ldflags=-compressdwarf=false", "-o", "go", "main.go"]),
        folder,
        "go",
    )
}

fn run(command: &mut Command, folder: &Path, file: &str) -> Built {
    let output = command.current_dir(folder).output().map_err(|error| format!("not built: {error}"))?;
    if output.status.success() {
        Ok(folder.join(file))
    } else {
        Err(format!("not built: {}", String::from_utf8_lossy(&output.stderr)))
    }
}
