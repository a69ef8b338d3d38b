//! Comparison of facts with the source from which clang made the metadata.

use std::path::Path;

use pretty_assertions::assert_eq;

use super::facts::{Place, Program, Provider};
use super::{Nodes, Value, disassembled, read_back};
use crate::spirv::kernels::{KERNELS, bitcode, compiled};
use crate::spirv::tools::Folder;

#[test]
fn nodes_are_read() {
    let nodes = Nodes::read(
        "!llvm.dbg.cu = !{!0}\n\
         !0 = distinct !DICompileUnit(language: DW_LANG_OpenCL, file: !1, isOptimized: false, imports: !2)\n\
         !1 = !DIFile(filename: \"a \\22b\\22, (c).cl\", directory: \"\\\\x\")\n\
         !2 = !{!1, null, !\"text\", i32 7, void ()* @f, !DIExpression(DW_OP_constu, 1)}\n\
         !3 = !DIThing(flags: DIFlagA | DIFlagB, type: null, expr: !DIExpression())\n",
    );
    let unit = nodes.get(0);
    let file = nodes.get(1);
    let thing = nodes.get(3);
    assert_eq!(unit.kind, "DICompileUnit");
    assert_eq!(unit.text("language"), "DW_LANG_OpenCL");
    assert_eq!(nodes.named(unit, "file"), Some(file));
    assert_eq!((file.text("filename"), file.text("directory")), ("a \"b\", (c).cl", "\\x"));
    let list: Vec<_> = nodes.get(2).fields.iter().map(|field| &field.1).collect();
    let Value::Node(expression) = list[5] else { panic!("{list:?}") };
    assert_eq!(list[..3], [&Value::Named(1), &Value::Null, &Value::Text("text".into())]);
    assert_eq!(list[3..5], [&Value::Word("i32 7".into()), &Value::Word("void ()* @f".into())]);
    let operands: Vec<_> = expression.fields.iter().map(|field| &field.1).collect();
    assert_eq!(operands, [&Value::Word("DW_OP_constu".into()), &Value::Word("1".into())]);
    assert!(thing.has("flags", "DIFlagB") && !thing.has("flags", "DIFlag"));
    assert_eq!(
        (thing.field("type"), thing.field("none"), thing.number("line")),
        (Some(&Value::Null), None, 0)
    );
    assert_eq!((nodes.of_kind("DIFile"), nodes.list(unit, "imports").len()), (vec![1], 6));
}

const SOURCE: &str = "namespace geo {
struct Base { int tag; };
class Box : public Base {
public:
  static const int limit = 7;
  float w;
  float area(float h) const { return w * h; }
protected:
  volatile int *where;
};
template <typename T, int N, typename... Rest> struct Vec { T items[N]; };
enum class Color : unsigned char { Red, Green = 4 };
}
namespace g = geo;
using geo::Box;
using namespace geo;
union Pun { float f; unsigned u; };
struct Node { Node *next; int grid[2][3]; };
global int counter;
int helper(const int &left, float4 v) {
  for (int i = 0; i < 3; i++) { int twice = left * i; if (twice > 4) return twice; }
  return (int)v.x;
}
kernel void run(global int *out, Color color, local Pun *pun) {
  Vec<float, 4, char, int> vec;
  Node node;
  int geo::Base::*member = &geo::Base::tag;
  Box box;
  box.w = vec.items[0];
  out[0] = helper(node.grid[1][2], box.area(2)) + counter + box.*member + (int)color + pun->u;
}
";

/// Each expected line follows from the source.
#[test]
fn clang_metadata_is_read() {
    let folder = Folder::new();
    let source = folder.file("a.clcpp", SOURCE);
    let Some(bitcode) = bitcode(&folder, &source, &["-g", "-O0"]) else { return };
    let Some(ran) = disassembled(&bitcode) else { return };
    let program = Program::read(&ran.clean());
    let file = source.to_str().expect("a path");
    assert_eq!(program.units, [format!("DW_LANG_C_plus_plus_14 {file}")]);
    let imports = ["declaration g = geo line 14", "declaration geo::Box line 15", "module geo line 16"];
    assert_eq!(program.imports, imports);

    let int = "int:32 signed";
    let [counter] = &program.globals[..] else { panic!("{program}") };
    assert_eq!((&counter.name[..], counter.line, &counter.ty[..]), ("counter", 19, int));
    assert_eq!((&counter.held_by[..], &counter.expression[..]), ("@counter", "constu 1, swap, xderef"));
    assert!(counter.is_definition && !counter.is_local && counter.file == file);

    let functions: Vec<_> = program
        .functions
        .iter()
        .map(|it| (&it.name[..], it.line, it.scope_line, &it.declaration[..]))
        .collect();
    let expected = [("geo::Box::area", 7, 7, "line 7"), ("helper", 20, 20, ""), ("run", 24, 24, "")];
    assert_eq!(functions, expected);

    let helper = program.function("helper");
    let reference = format!("reference:64 of space 4 to const {int}");
    let float4 = "float4 = vector[4]:128 of float:32 float";
    assert_eq!(helper.ty, format!("({reference}, {float4}) -> {int}"));
    assert_eq!(helper.linkage, "_Z6helperRU3AS4KiDv4_f");
    let variables = |name: &str| -> Vec<String> {
        let shown = program.function(name).variables.iter();
        shown
            .map(|it| format!("{} {} {} of {}: {}", it.argument, it.name, it.line, it.scope, it.ty))
            .collect()
    };
    let round = "block 21:3 in block 21:3 in helper";
    let expected = [
        format!("1 left 20 of helper: {reference}"),
        format!("2 v 20 of helper: {float4}"),
        format!("0 i 21 of block 21:3 in helper: {int}"),
        format!("0 twice 21 of block 21:31 in {round}: {int}"),
    ];
    assert_eq!(variables("helper"), expected);
    let place = |line, column, scope: &str| Place { line, column, scope: scope.into() };
    assert!(helper.places.contains(&place(21, 21, round)));
    assert!(helper.places.contains(&place(21, 50, &format!("block 21:31 in {round}"))));
    assert!(helper.places.ends_with(&[
        place(22, 15, "helper"),
        place(22, 3, "helper"),
        place(23, 1, "helper")
    ]));
    let providers: Vec<_> = helper.providers.iter().map(|it| (&it.variable[..], it.is_declared)).collect();
    assert_eq!(providers, [("left", true), ("v", true), ("i", true), ("twice", true)]);
    assert_eq!(helper.providers[2].value, "i32* %6");

    let color = "enum class geo::Color:8 { Red = 0, Green = 4 } of unsigned char:8 unsigned_char";
    let pun =
        "union Pun:32 { f:32 at 0 line 17: float:32 float; u:32 at 0 line 17: unsigned int:32 unsigned }";
    let base = format!("structure geo::Base:32 {{ tag:32 at 0 line 2: {int} }}");
    let this = "pointer:64 of space 4 to const class geo::Box";
    let node = "structure Node:256 { next:64 at 0 line 18: pointer:64 of space 4 to structure Node; \
                grid:192 at 64 line 18: array[2][3]:192 of int:32 signed }";
    let expected = [
        format!("1 out 24 of run: pointer:64 of space 1 to {int}"),
        format!("2 color 24 of run: {color}"),
        format!("3 pun 24 of run: pointer:64 of space 3 to {pun}"),
        format!(
            "0 vec 25 of run: structure geo::Vec<float, 4, char, int><T = float:32 float, N: {int} = i32 4, \
             Rest... = {{ = char:8 signed_char,  = {int}}}>:128 {{ items:128 at 0 line 11: array[4]:128 of \
             float:32 float }}"
        ),
        format!("0 node 26 of run: {node}"),
        format!("0 member 27 of run: pointer to member of Base: {int}"),
        format!(
            "0 box 28 of run: class geo::Box:128 {{ public base at 0: {base}; public static limit = i32 7: const \
             {int}; public w:32 at 32 line 6: float:32 float; protected where:64 at 64 line 9: pointer:64 of space 4 \
             to volatile {int}; public area({this}, float:32 float) -> float:32 float line 7 }}"
        ),
    ];
    assert_eq!(variables("run"), expected);
}

/// Inlined scopes, and values in results, constants and parts.
#[test]
fn optimized_metadata_is_read() {
    let folder = Folder::new();
    let source = Path::new(crate::common::ROOT).join("benches/data/inline.cl");
    let Some(bitcode) = bitcode(&folder, &source, &["-g", "-O2"]) else { return };
    let Some(ran) = disassembled(&bitcode) else { return };
    let program = Program::read(&ran.clean());
    let names: Vec<_> = program.functions.iter().map(|it| &it.name[..]).collect();
    assert_eq!(names, ["clampf", "cmul", "mandel", "fractal"]);
    assert!(program.function("cmul").places.is_empty(), "it is only inlined");
    let fractal = program.function("fractal");
    let multiply = "cmul at 14 in block 13:22 in mandel at 28 in fractal";
    assert!(fractal.places.contains(&Place { line: 6, column: 24, scope: multiply.into() }));
    let provider = |variable: &str, scope: &str, value: &str| Provider {
        variable: variable.into(),
        scope: scope.into(),
        is_declared: false,
        value: value.into(),
        expression: "constu 0, swap, xderef".into(),
    };
    assert!(fractal.providers.contains(&provider("lo", "clampf at 26 in fractal", "float -2.000000e+00")));
    assert!(fractal.providers.contains(&provider("re", multiply, "float undef")));
    assert!(
        fractal
            .providers
            .iter()
            .any(|it| it.variable == "a" && it.scope == multiply && it.value.contains('%'))
    );
}

/// The translator's round trip preserves clang's facts, except for its known changes.
#[test]
fn attached_metadata_reads_back_as_clang_wrote_it() {
    for kernel in KERNELS {
        let folder = Folder::new();
        let source = Path::new(crate::common::ROOT).join(kernel.source);
        let Some(bitcode) = bitcode(&folder, &source, &["-g", "-O0"]) else { return };
        let Some(ran) = disassembled(&bitcode) else { return };
        let mut expected = Program::read(&ran.clean());
        let Some(words) = compiled(&source, &["-g", "-O0"]) else { return };
        let Some(read) = read_back(&words) else { return };
        // For global variables no expression is written.
        expected.globals.iter_mut().for_each(|global| global.expression.clear());
        // A member without access becomes public; an enumeration with a type becomes an `enum class`.
        let plain =
            |program: &Program| program.to_string().replace("public ", "").replace("enum class", "enum");
        assert_eq!(plain(&read), plain(&expected), "{}", kernel.name);
        assert!(read.functions.iter().any(|it| it.providers.len() > 1));
    }
}
