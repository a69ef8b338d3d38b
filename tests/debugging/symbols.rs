//! Symbols and lines at an address, as llvm-symbolizer prints them.

use eitri::read::{Dwarf, Object};

use super::{CC, CLANG, STRIP, compile, symbolized};
use crate::common::tools::Folder;

/// Functions and data; `inner` is inside `outer`, `unsized_code` has no size, and `alias` is a second name.
const SOURCE: &str = r#"
int data[3] = {1, 2, 3};
static int hidden(int x) { return x * 3; }
__attribute__((noinline)) int visible(int x) { return hidden(x) + data[x]; }
extern int alias(int) __attribute__((alias("visible")));
int main(int count, char **words) { return visible(count); }
__asm__(
    ".text\n.globl outer\n.type outer,@function\nouter: nop; nop\n"
    ".type inner,@function\ninner: nop; nop\n.size inner, 2\nnop\n.size outer, .-outer\n"
    ".type unsized_code,@function\nunsized_code: nop; nop; nop\n"
);
"#;

fn addresses(object: &Object<'_>, name: &str) -> u64 {
    object.symbol_address(name).unwrap_or_else(|| panic!("{name}"))
}

#[test]
fn symbol_at_an_address_is_that_of_llvm_symbolizer() {
    for is_stripped in [false, true] {
        let folder = Folder::new();
        folder.file("a.c", SOURCE);
        let Some(program) = compile(CC, &folder, &["a.c"], &["-O1", "-g0", "-rdynamic"]) else { return };
        let bytes = std::fs::read(&program).expect("the program");
        let object = Object::read(&bytes).expect("an object");
        let start = |name| addresses(&object, name);
        let probes = [
            start("main"),
            start("main") + 3,
            start("visible") + 1,
            start("outer"),
            start("inner") + 1,
            start("unsized_code") + 1,
        ];
        if is_stripped {
            let Some(ran) = STRIP.run(&[program.as_os_str()]) else { return };
            ran.clean();
        }
        let bytes = std::fs::read(&program).expect("the program");
        let object = Object::read(&bytes).expect("an object");
        let mut found = 0;
        for address in probes {
            // Without debug information, the tool uses the symbol table.
            let Some(answer) = symbolized(&program, &["-f=linkage"], address) else { return };
            let expected = answer.lines().next().expect("a name").to_owned();
            let symbol = object.symbol_at(address);
            let name = symbol.map_or("??", |symbol| &*symbol.name);
            // `visible` and `alias` start together.
            let is_same =
                name == expected || [name, &expected].iter().all(|name| ["visible", "alias"].contains(name));
            assert!(is_same, "{address:#x}, stripped: {is_stripped}: {name}, llvm-symbolizer: {answer}");
            found += usize::from(symbol.is_some());
        }
        // Only global symbols are left in the dynamic table.
        assert!(found >= if is_stripped { 4 } else { 6 }, "{found}");
    }
}

#[test]
fn symbol_after_an_inner_symbol_is_that_around_it() {
    let folder = Folder::new();
    folder.file("a.c", SOURCE);
    let Some(program) = compile(CC, &folder, &["a.c"], &["-O1"]) else { return };
    let bytes = std::fs::read(program).expect("the program");
    let object = Object::read(&bytes).expect("an object");
    let outer = addresses(&object, "outer");
    // By hand: `outer` has 5 bytes, of which `inner` has the third and fourth.
    let names = (0..6).map(|by| object.symbol_at(outer + by).map(|symbol| symbol.name.to_string()));
    let names: Vec<_> = names.map(Option::unwrap_or_default).collect();
    assert_eq!(names, ["outer", "outer", "inner", "inner", "outer", "unsized_code"]);
    let data = addresses(&object, "data");
    assert_eq!(object.symbol_at(data + 11).map(|symbol| &*symbol.name), Some("data"));
    assert_ne!(object.symbol_at(data + 12).map(|symbol| &*symbol.name), Some("data"));
    assert!(object.symbol_at(0).is_none());
}

#[test]
fn line_0_keeps_its_column() {
    let folder = Folder::new();
    folder.file("a.c", "int f(int x) {\n#line 0\n  return x * 3;\n}\nint main(int count, char **words) { return f(count); }\n");
    let Some(program) = compile(CLANG, &folder, &["a.c"], &["-O0", "-w"]) else { return };
    let bytes = std::fs::read(&program).expect("the program");
    let object = Object::read(&bytes).expect("an object");
    let dwarf = Dwarf::read(&object).expect("debug information");
    let start = addresses(&object, "f");
    let size = object.symbol("f").expect("the function").size;
    let mut columns = Vec::new();
    for address in start..start + size {
        let line = dwarf.line_at(address).expect("lines").expect("a line");
        let Some(answer) = symbolized(&program, &[], address) else { return };
        let expected = answer.lines().nth(1).expect("a line");
        // Without the parts that are unknown.
        assert_eq!(line.to_string(), expected.trim_end_matches(":0"));
        columns
            .extend(expected.strip_prefix(&format!("{}:0:", line.file.expect("a file"))).map(str::to_owned));
    }
    // The multiplication.
    assert!(columns.iter().any(|column| column == "12"), "{columns:?}");
}
