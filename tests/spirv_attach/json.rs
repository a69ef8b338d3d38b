//! Bindings as JSON: the binding that the calls make, and refusals with their positions.

use eitri::model::{FunctionId, Module, ScopeId, SourceLine, VariableId};
use eitri::spirv::{Binding, DebugOperation, Id, Mode, Position, Provider, attach, from_bytes};
use pretty_assertions::assert_eq;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

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
    let saxpy = function(&module);
    let i = variable(&module, "i");
    let xi = variable(&module, "xi");
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
        .line(Position::start(Id(11), Id(16)), SourceLine::new(file, 2).column(11))
        .value(Position::after(Id(21)), i, &[Provider::value(Id(21))])
        .scope(start, block)
        .line(start, SourceLine::new(file, 4).column(16))
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

/// Indexes of the example, one by the value of an id; sums; and an index by a name.
#[test]
fn indexes_by_id() {
    let words = saxpy();
    let text = with("[{\"id\": 26}]", r#"[{"id": 26, "part": [1, {"id": 21}], "plus": [4, -1]}]"#);
    let (_, binding) = Binding::from_json(&text, &words).expect("reads");
    let expected = Provider::value(Id(26)).plus(4).plus(-1).part(1).part_by(Id(21));
    assert_eq!(binding.providers()[1], expected);
    let named = with("[{\"id\": 26}]", r#"[{"id": 26, "part": [{"id": "saxpi"}]}]"#);
    let error = Binding::from_json(&named, &words).expect_err("is refused").to_string();
    assert!(error.contains("no id of the module has the name `saxpi`"), "{error}");
}

#[test]
fn entities_of_another_module_are_not_written() {
    let (module, _) = Binding::from_json(example(), &saxpy()).expect("reads");
    let position = Position::start(Id(11), Id(17));
    let mut of_scope = Binding::new();
    of_scope.scope(position, ScopeId::from_u32(99));
    let mut of_variable = Binding::new();
    of_variable.value(position, VariableId::from_u32(99), &[]);
    let mut of_function = Binding::new();
    of_function.function(FunctionId::from_u32(99), Id(11));
    for binding in [of_scope, of_variable, of_function] {
        let error = binding.to_json(&module).expect_err("is refused").to_string();
        assert!(error.contains("99"), "{error}");
    }
}

#[test]
fn a_module_alone_refuses_unknown_keys_too() {
    let text = with("\"storage_path\"", "\"storage_paht\"");
    let error = Module::from_json(text).expect_err("is refused");
    assert_eq!(error.at().json.as_ref().map(|at| at.path.as_str()), Some("spirv.storage_paht"));
    let error = error.to_string();
    assert!(error.contains("did you mean `storage_path`?"), "{error}");
}

/// Providers of every form that the calls make.
fn providers() -> impl Strategy<Value = Provider> {
    use DebugOperation as Op;
    let bits = || option::of((0u32..1 << 31, 1u32..1 << 31));
    let operation = prop_oneof![
        Just(Op::Deref),
        any::<u32>().prop_map(Op::PlusUconst),
        (any::<u32>(), any::<u32>()).prop_map(|(offset, size)| Op::BitPiece { offset, size }),
        (any::<u32>(), any::<u32>()).prop_map(|(offset, size)| Op::Fragment { offset, size }),
        any::<u32>().prop_map(|value| Op::new(11, &[value]).expect("Addr has an operand")),
    ];
    let computed = (0..2u8, option::of(any::<u32>()), vec(any::<i32>(), 0..3), bits());
    let computed = computed.prop_map(|(kind, space, sums, taken)| {
        let provider = if kind == 0 { Provider::value(Id(26)) } else { Provider::pointer(Id(26)) };
        let provider = space.into_iter().fold(provider, Provider::in_space);
        let provider = sums.into_iter().fold(provider, Provider::plus);
        taken.into_iter().fold(provider, |provider, (start, size)| provider.taken(start..start + size))
    });
    let expression = vec(operation, 0..4)
        .prop_map(|all| Provider::expression(Id(26), &all))
        .prop_filter("bits are not empty", |provider| {
            !provider.operations(false).iter().any(|it| matches!(it, Op::Fragment { size: 0, .. }))
        });
    let parts = vec((any::<bool>(), any::<u32>()), 0..3);
    (prop_oneof![computed, expression], parts, bits()).prop_map(|(provider, parts, bits)| {
        let provider = parts.into_iter().fold(provider, |provider, (is_id, index)| {
            if is_id { provider.part_by(Id(index)) } else { provider.part(index) }
        });
        bits.into_iter().fold(provider, |provider, (start, size)| provider.bits(start..start + size))
    })
}

proptest! {
    /// Written bindings are read back unchanged.
    #[test]
    fn written_bindings_are_read_back(
        statements in vec((0..3u8, 10u32..30, any::<u32>(), 0..7u8, vec(providers(), 0..3)), 0..12),
        functions in vec((0..2usize, 10u32..14), 0..3),
        identifier in option::of(("[0-9a-f]{32}", any::<bool>())),
        path in option::of(".*"),
        language in option::of(any::<u32>()),
        global in option::of(any::<u32>()),
    ) {
        let mut builder = eitri::build::Builder::new(eitri::target::Target::kernel());
        let unit = builder.unit("a.cl");
        let file = builder.primary_file(unit).expect("a file");
        let int = builder.base_type(unit, "int", eitri::model::BaseEncoding::Signed, 32).expect("a type");
        let described = [0, 1].map(|_| builder.function(unit, "f").expect("a function").id());
        let block = builder.block(described[0], &[]).expect("a block");
        let variable = builder.variable(block, "x", int).expect("a variable").id();
        let outside = builder.variable(unit, "y", int).expect("a variable").id();
        let module = builder.finish().expect("is whole");

        let mut binding = Binding::new();
        for (index, id) in functions {
            // A function is bound once.
            if binding.function_id(described[index]).is_none() {
                binding.function(described[index], Id(id));
            }
        }
        for (kind, id, number, what, providers) in statements {
            let function = Id(10 + number % 4);
            let block_id = Id(id);
            let position = match kind {
                0 => Position::start(function, block_id),
                1 => Position::before(function, block_id, number),
                _ => Position::after(block_id),
            };
            let first = providers.first().cloned().unwrap_or_else(|| Provider::value(Id(1)));
            match what {
                0 => binding.scope(position, block),
                1 => binding.scope(position, module.function(described[1]).scope),
                2 => binding.no_scope(position),
                3 => binding.line(position, SourceLine::new(file, number).column(number % 3)),
                4 => binding.no_line(position),
                5 => binding.declare(position, variable, first),
                _ => binding.value(position, variable, &providers),
            };
        }
        if let Some((digits, may_be_shared)) = identifier {
            binding.build_identifier(&digits, may_be_shared);
        }
        path.map(|path| binding.storage_path(&path).global_id(variable));
        language.map(|number| binding.language(unit, number).global_id(variable));
        global.map(|id| binding.global(outside, Id(id)).global_id(variable));

        let text = binding.to_json(&module).expect("is written");
        let read = Binding::from_json(&text, &saxpy()).expect("reads");
        prop_assert_eq!(read, (module, binding), "{}", text);
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
    assert!(named.ends_with("no id of the module has the name `saxpi`; did you mean `saxpy`?"), "{named}");
    let twice = refused(with("\"after\": 21", "\"after\": 21, \"start\": 16"));
    assert_eq!(twice, "position has no location or several; expected one of `start`, `before`, `after`");
    let unknown = refused(with("\"after\": 21", "\"behind\": 21"));
    assert!(unknown.starts_with("unknown field `behind`"), "{unknown}");
    let operation = refused(with("[{\"id\": 26}]", r#"[{"id": 26, "operations": [["Plus", [1]]]}]"#));
    assert_eq!(operation, "Plus has 1 operand; expected 0");
    let space = refused(with("[{\"id\": 26}]", r#"[{"id": 26, "space": 7}]"#));
    assert_eq!(space, "`space` stands without `pointer`; expected an id that is the variable's address");
    let shared = refused(with("\"build_identifier\": \"0123456789abcdef0123456789abcdef\", ", ""));
    assert_eq!(
        shared,
        "`shared_identifier` stands alone; expected a `build_identifier`, which may be shared"
    );
    let without = example().split(",\n    \"spirv\"").next().expect("a part").to_owned() + "}";
    let missing = refused(without);
    assert!(missing.contains("description has no key `spirv`"), "{missing}");
}
