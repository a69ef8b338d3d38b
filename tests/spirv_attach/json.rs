//! Bindings as JSON: the binding that the calls make, and refusals with their positions.

use eitri::model::{FunctionId, Module, SourceLine, VariableId};
use eitri::spirv::{Binding, DebugOperation, Id, Mode, Position, Provider, attach, from_bytes};
use pretty_assertions::assert_eq;

const PAGE: &str = include_str!("../../docs/description.md");

/// The example of the page.
fn example() -> &'static str {
    let (_, section) = PAGE.split_once("# SPIR-V modules\n").expect("the section");
    let fence = section.split("```json\n").nth(1).and_then(|rest| rest.split("```").next());
    fence.expect("an example")
}

fn saxpy() -> Vec<u32> {
    from_bytes(include_bytes!("../spirv/kernels/saxpy.O2.spv")).expect("is a module")
}

fn function(module: &Module) -> FunctionId {
    module.functions().find(|(_, it)| module.string(it.name) == "saxpy").expect("is there").0
}

fn variable(module: &Module, name: &str) -> VariableId {
    let is = |variable: &eitri::model::Variable| variable.name.is_some_and(|id| module.string(id) == name);
    module.variables().find(|(_, variable)| is(variable)).expect("is there").0
}

#[test]
fn the_example_is_the_binding_of_the_calls() {
    let words = saxpy();
    let (module, binding) = Binding::from_json(example(), &words).expect("reads");
    let (saxpy, i, xi) = (function(&module), variable(&module, "i"), variable(&module, "xi"));
    let block = module.variable(xi).scope;
    let file = module.units().next().expect("a unit").1.file;
    let start = Position::start(Id(11), Id(17));
    let mut expected = Binding::new();
    expected
        .build_identifier("0123456789abcdef0123456789abcdef", true)
        .storage_path("debug/saxpy.spv")
        .language(module.units().next().expect("a unit").0, 3)
        .global(variable(&module, "table"), Id(5))
        .function(saxpy, Id(11))
        .line(Position::start(Id(11), Id(16)), SourceLine { file, line: 2, column: 11 })
        .value(Position::after(Id(21)), i, &[Provider::value(Id(21))])
        .scope(start, block)
        .line(start, SourceLine { file, line: 4, column: 16 })
        .value(Position::after(Id(26)), xi, &[Provider::value(Id(26))])
        .value(Position::before(Id(11), Id(17), 6), xi, &[])
        .no_line(Position::start(Id(11), Id(18)))
        .scope(Position::start(Id(11), Id(18)), module.function(saxpy).scope);
    assert_eq!(binding, expected);
    let attached = attach(&words, &module, &binding, &Mode::opencl()).expect("is attached");
    assert!(attached.check(&module, &binding, &Mode::opencl()).expect("reads").is_clean());
}

/// The example with a replacement.
fn with(from: &str, to: &str) -> String {
    assert!(example().contains(from), "{from}");
    example().replacen(from, to, 1)
}

#[test]
fn providers_are_those_of_the_calls() {
    let words = saxpy();
    let by = |json: &str| {
        let text = with("[{\"id\": 26}]", &format!("[{json}]"));
        let (_, binding) =
            Binding::from_json(&text, &words).unwrap_or_else(|error| panic!("{error}: {json}"));
        binding.providers()[1].clone()
    };
    let id = Id(26);
    let operations = [DebugOperation::PlusUconst(4), DebugOperation::StackValue];
    for (json, expected) in [
        (r#"{"id": 26, "pointer": true}"#, Provider::pointer(id)),
        (
            r#"{"id": 26, "pointer": true, "space": 4, "plus": 16}"#,
            Provider::pointer(id).in_space(4).plus(16),
        ),
        (r#"{"id": 26, "plus": -1, "part": [1, 0]}"#, Provider::value(id).plus(-1).part(1).part(0)),
        (r#"{"id": 26, "taken": [0, 16], "bits": [16, 32]}"#, Provider::value(id).taken(0..16).bits(16..32)),
        (
            r#"{"id": 26, "operations": [["PlusUconst", [4]], ["StackValue", []]]}"#,
            Provider::expression(id, &operations),
        ),
    ] {
        assert_eq!(by(json), expected, "{json}");
    }
}

#[test]
fn mistakes_are_refused() {
    let words = saxpy();
    let refused = |text: String| {
        let error = Binding::from_json(text, &words).map(drop).expect_err("is refused");
        assert!(error.at().json.is_some(), "{error}");
        error.kind().to_string()
    };
    let named = refused(with("\"id\": \"saxpy\"", "\"id\": \"saxpi\""));
    assert!(named.ends_with("`saxpi`, as no id of the module is named; did you mean `saxpy`?"), "{named}");
    let twice = refused(with("\"after\": 21", "\"after\": 21, \"start\": 16"));
    assert_eq!(twice, "a position has one of the keys `start`, `before`, `after`");
    let unknown = refused(with("\"after\": 21", "\"behind\": 21"));
    assert!(unknown.starts_with("unknown field `behind`"), "{unknown}");
    let operation = refused(with("[{\"id\": 26}]", r#"[{"id": 26, "operations": [["Plus", [1]]]}]"#));
    assert_eq!(operation, "Plus has 0 operands, and here 1");
    let without = example().split(",\n    \"spirv\"").next().expect("a part").to_owned() + "}";
    let missing = refused(without);
    assert!(missing.ends_with("and the description has none"), "{missing}");
}
