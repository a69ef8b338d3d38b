//! Descriptions whose own output is read back as another one: each is clean in every mode.

use eitri::build::Builder;
use eitri::model::{Accessibility, BaseEncoding, SourceLine, VariableId};
use eitri::omission::{Property, Subject};
use eitri::spirv::{Binding, Id, Mode, Position, Provider, Set, attach};
use eitri::target::{Gfx, Target, Wave};
use pretty_assertions::assert_eq;

use crate::spirv_check::described::{Code, Core};
use crate::spirv_check::random::{Choices, fixed_choices};

/// Attaches a description in every mode, and returns the differences.
fn differences(make: impl Fn(&mut Builder, &mut Binding, &Code, Id) -> eitri::Result<()>) -> Vec<String> {
    let mut core = Core::new();
    let choices = fixed_choices(3, 40);
    let code = core.function(&mut Choices::new(&choices));
    let constant = core.constant;
    let words = core.words();
    let mut m = Builder::new(Target::amdgpu(Gfx::GFX1030, Wave::W32).expect("is known"));
    let mut binding = Binding::new();
    make(&mut m, &mut binding, &code, constant).expect("every call is right");
    let module = m.finish().expect("is whole");
    let mut wrong = Vec::new();
    let modes = Set::ALL.map(Mode::exact).into_iter().chain(Set::ALL.map(Mode::validating));
    let presets = [Mode::opencl(), Mode::vulkan(), Mode::translator(), Mode::translator200()];
    for mode in modes.chain(presets) {
        let at = format!("{} {:?}", mode.name(), mode.set());
        let attached =
            attach(&words, &module, &binding, &mode).unwrap_or_else(|error| panic!("{at}: {error}"));
        let checked = attached.check(&module, &binding, &mode).expect("reads");
        if !checked.is_clean() {
            let left: Vec<_> = attached.omissions.iter().map(ToString::to_string).collect();
            wrong.push(format!("{at}: {checked}\n  {}", left.join("\n  ")));
        }
    }
    wrong
}

/// A difference has its subject and property as data: a program need not read the text.
#[test]
fn differences_are_data() {
    let mut core = Core::new();
    let choices = fixed_choices(3, 40);
    core.function(&mut Choices::new(&choices));
    let words = core.words();
    let binding = Binding::new();
    let mode = Mode::exact(Set::OpenCl);
    let describe = |names: &[&str], line: u32| {
        let mut m = Builder::new(Target::amdgpu(Gfx::GFX1030, Wave::W32).expect("is known"));
        let unit = m.unit("a.cl");
        let file = m.primary_file(unit).expect("a unit");
        let int = m.base_type(unit, "int", BaseEncoding::Signed, 32).expect("a type");
        for name in names {
            m.variable(unit, name, int).expect("a scope").declared(SourceLine::new(file, line));
        }
        m.finish().expect("is whole")
    };
    let attached = attach(&words, &describe(&["x", "y"], 3), &binding, &mode).expect("is described");
    let found = |names: &[&str], line| {
        let checked = attached.check(&describe(names, line), &binding, &mode).expect("reads");
        checked.differences.into_iter().map(|it| (it.subject, it.property)).collect::<Vec<_>>()
    };
    let [x, y, z] = [0, 1, 2].map(|id| Some(Subject::Variable(VariableId::from_u32(id))));
    assert_eq!(found(&["x", "y"], 3), []);
    assert_eq!(found(&["x", "y"], 4), [(x, Property::Line), (y, Property::Line)]);
    assert_eq!(found(&["x", "y", "z"], 3), [(z, Property::Entity)]);
    // An entity that only the words have has an id of another module.
    assert_eq!(found(&["x"], 3), [(None, Property::Entity)]);
}

fn none() -> Vec<String> {
    Vec::new()
}

#[test]
fn accessibility_outside_of_types() {
    let found = differences(|m, binding, code, _| {
        let unit = m.unit("a.cl");
        let int = m.base_type(unit, "int", BaseEncoding::Signed, 32)?;
        let f = m.function(unit, "f")?.accessibility(Accessibility::Private).id();
        m.parameter(f, "x", int)?.accessibility(Accessibility::Protected);
        m.variable(f, "y", int)?.accessibility(Accessibility::Private);
        m.variable(unit, "g", int)?.accessibility(Accessibility::Protected);
        m.function_declaration(unit, "declared")?.accessibility(Accessibility::Public);
        let space = m.namespace(unit, "space")?;
        m.variable(space, "h", int)?.accessibility(Accessibility::Public).external();
        binding.function(f, code.id);
        Ok(())
    });
    assert_eq!(found, none());
}

#[test]
fn a_definition_with_another_linkage_name_or_accessibility() {
    let found = differences(|m, binding, code, _| {
        let unit = m.unit("a.cl");
        let int = m.base_type(unit, "int", BaseEncoding::Signed, 32)?;
        let class = m.class(unit, Some("C"), 4)?;
        m.member(class, "x", int, 0)?;
        let of_class = m.function_declaration(class, "f")?.linkage_name("_ZN1C1fEv").id();
        let f = m.function_definition(unit, of_class)?.linkage_name("other").id();
        let free = m.function_declaration(unit, "g")?.linkage_name("_Z1gv").id();
        m.function_definition(unit, free)?.linkage_name("_Z1g_other");
        let plain = m.function_declaration(unit, "h")?.id();
        m.function_definition(unit, plain)?.linkage_name("_Z1hv");
        let hidden = m.function_declaration(class, "i")?.accessibility(Accessibility::Private).id();
        m.function_definition(unit, hidden)?.accessibility(Accessibility::Public);
        let member = m.static_member(class, "s", int)?.id();
        m.definition(unit, member)?.linkage_name("_ZN1C1sE");
        binding.function(f, code.id);
        Ok(())
    });
    assert_eq!(found, none());
}

#[test]
fn a_bound_declaration() {
    let found = differences(|m, binding, code, constant| {
        let unit = m.unit("a.cl");
        let int = m.base_type(unit, "int", BaseEncoding::Signed, 32)?;
        let class = m.class(unit, Some("C"), 4)?;
        let declared = m.function_declaration(unit, "f")?.id();
        m.parameter(declared, "x", int)?;
        let method = m.function_declaration(class, "method")?.id();
        let other = m.extern_variable(unit, "v", int)?.id();
        binding.function(declared, code.id).global(other, constant);
        let _ = method;
        Ok(())
    });
    assert_eq!(found, none());
}

#[test]
fn an_unnamed_variable_in_a_bound_function() {
    for kind in 0..4 {
        let found = differences(|m, binding, code, _| {
            let unit = m.unit("a.cl");
            let file = m.primary_file(unit)?;
            let int = m.base_type(unit, "uint", BaseEncoding::Unsigned, 32)?;
            let f = match kind {
                0 => m.function(unit, "f")?.id(),
                1 => m.function(unit, "f")?.kernel().id(),
                2 => {
                    let declared = m.function_declaration(unit, "f")?.id();
                    m.parameter(declared, "", int)?;
                    m.function_definition(unit, declared)?.id()
                }
                _ => {
                    let class = m.class(unit, Some("C"), 4)?;
                    let declared = m.function_declaration(class, "f")?.id();
                    m.parameter(declared, "", int)?;
                    m.function_definition(unit, declared)?.id()
                }
            };
            let x = m.parameter(f, "", int)?.id();
            let at = SourceLine::new(file, 4).column(2);
            let y = m.variable(f, "", int)?.declared(at).id();
            let z = m.variable(f, "", int)?.id();
            let block = m.block(f, &[])?;
            let w = m.variable(block, "", int)?.id();
            binding.function(f, code.id);
            let start = Position::start(code.id, code.blocks[0].id);
            for variable in [x, y, z] {
                binding.value(start, variable, &[Provider::value(code.parameter)]);
            }
            binding.scope(start, block).value(start, w, &[Provider::value(code.parameter)]);
            Ok(())
        });
        assert_eq!(found, none(), "{kind}");
    }
}

#[test]
fn a_block_with_a_discriminator_in_an_inlined_call() {
    for kind in 0..6 {
        let found = differences(|m, binding, code, _| {
            let unit = m.unit("a.cl");
            let file = m.primary_file(unit)?;
            let line = |line| SourceLine::new(file, line);
            let int = m.base_type(unit, "uint", BaseEncoding::Unsigned, 32)?;
            let g = m.function(unit, "g")?.declared(line(1)).id();
            let block = m.block(g, &[])?;
            m.begins(block, line(2))?;
            if kind & 1 != 0 {
                m.discriminator(block, 3)?;
            }
            let v = m.variable(block, "v", int)?.id();
            let f = m.function(unit, "f")?.declared(line(5)).id();
            let call = m.inlined(f, g, &[], line(6))?;
            let instance = match kind >= 4 {
                // Without an origin.
                true => m.block(call, &[])?,
                false => m.inlined_block(call, block, &[])?,
            };
            if kind & 2 != 0 || kind >= 4 {
                m.discriminator(instance, 5)?;
            }
            binding.function(f, code.id);
            let start = Position::start(code.id, code.blocks[0].id);
            binding.scope(start, instance);
            if kind < 4 {
                let w = m.inlined_variable(instance, v)?.id();
                binding.value(start, w, &[Provider::value(code.parameter)]);
            }
            Ok(())
        });
        assert_eq!(found, none(), "{kind}");
    }
}
