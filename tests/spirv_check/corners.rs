//! Single properties, each alone in a module: `check` is clean on the output of every mode.

use eitri::build::Builder;
use eitri::model::{Accessibility, BaseEncoding, SourceLine, UnitId};
use eitri::spirv::{Binding, Field, Mode, Position, Provider, Set, attach, read};
use eitri::target::Target;

use crate::spirv_check::described::{Code, Core};
use crate::spirv_check::idle::idle;
use crate::spirv_check::omissions::modes;
use crate::spirv_check::random::{Choices, fixed_choices, targets};

/// A module with one function, to be described.
struct Corner {
    core: Core,
    code: Code,
    m: Builder,
    unit: UnitId,
    binding: Binding,
}

impl Corner {
    fn line(&mut self, line: u32) -> SourceLine {
        SourceLine::new(self.m.primary_file(self.unit).expect("a file"), line)
    }
}

/// Attaches a description in every mode and for every target. No difference is left, and each omission excuses one.
fn clean(describe: impl Fn(&mut Corner) -> eitri::Result<()>) {
    clean_for(&targets(), describe);
}

fn clean_for(targets: &[Target], describe: impl Fn(&mut Corner) -> eitri::Result<()>) {
    for target in targets {
        for mode in modes() {
            let mut core = Core::new();
            let choices = fixed_choices(3, 40);
            let code = core.function(&mut Choices::new(&choices));
            let mut m = Builder::new(target.clone());
            let unit = m.unit("0.cl");
            let mut corner = Corner { core, code, m, unit, binding: Binding::new() };
            describe(&mut corner).expect("every call is right");
            let Corner { core, m, binding, .. } = corner;
            let module = m.finish().expect("every call is right");
            let attached = attach(&core.words(), &module, &binding, &mode).expect("is attached");
            let checked = attached.check(&module, &binding, &mode).expect("is a module");
            let omissions: Vec<_> = attached.omissions.iter().map(ToString::to_string).collect();
            let place = format!("{} {}: {omissions:?}", mode.name(), mode.set().name());
            assert!(checked.is_clean(), "{place}: {checked}");
            assert_eq!(idle(&module, &binding, &mode, &attached), Ok(Vec::new()), "{place}");
        }
    }
}

#[test]
fn accessibility_outside_of_types() {
    for access in [Accessibility::Public, Accessibility::Protected, Accessibility::Private] {
        clean(|Corner { m, unit, .. }| {
            let int = m.base_type(*unit, "int", BaseEncoding::Signed, 32)?;
            m.function(*unit, "f")?.accessibility(access);
            let declared = m.function_declaration(*unit, "g")?.accessibility(access).id();
            m.function_definition(*unit, declared)?;
            m.variable(*unit, "v", int)?.accessibility(access);
            m.extern_variable(*unit, "e", int)?.accessibility(access);
            Ok(())
        });
    }
}

#[test]
fn linkage_names_of_definitions() {
    clean(|Corner { m, unit, .. }| {
        let unit = *unit;
        let int = m.base_type(unit, "int", BaseEncoding::Signed, 32)?;
        let class = m.class(unit, Some("C"), 4)?;
        let names =
            [(None, Some("_f")), (Some("_f"), None), (Some("_f"), Some("_g")), (Some("_f"), Some("f3"))];
        for (index, (declared, defined)) in names.into_iter().enumerate() {
            let name = format!("f{index}");
            for parent in [None, Some(class)] {
                let mut function = match parent {
                    None => m.function_declaration(unit, &name)?,
                    Some(class) => m.function_declaration(class, &name)?,
                };
                declared.map(|name| function.linkage_name(name).id());
                let id = function.id();
                let mut function = m.function_definition(unit, id)?;
                defined.map(|name| function.linkage_name(name).id());
            }
            let mut member = m.static_member(class, &name, int)?;
            declared.map(|name| member.linkage_name(name).id());
            let id = member.id();
            let mut variable = m.definition(unit, id)?;
            defined.map(|name| variable.linkage_name(name).id());
        }
        Ok(())
    });
}

#[test]
fn variables_declared_and_bound() {
    clean(|corner| {
        let Corner { core, m, unit, binding, .. } = corner;
        let int = m.base_type(*unit, "int", BaseEncoding::Signed, 32)?;
        for (is_external, &id) in [true, false].into_iter().zip(&core.variables) {
            let mut variable = m.extern_variable(*unit, &format!("v{is_external}"), int)?;
            if is_external {
                variable.external();
            }
            binding.global(variable.id(), id);
        }
        let constant = m.extern_variable(*unit, "constant", int)?.id();
        binding.global(constant, core.constant);
        Ok(())
    });
}

/// Two enumerations that are equal, in one structure.
#[test]
fn equal_enumerations() {
    clean(|Corner { m, unit, .. }| {
        let int = m.base_type(*unit, "int", BaseEncoding::Signed, 32)?;
        let class = m.structure(*unit, Some("S"), 8)?;
        for (name, offset) in [("a", 0), ("b", 4)] {
            let kind = m.enumeration(*unit, None, int, &[("A", 1), ("B", 2)])?;
            m.describe_type(kind)?.within(class)?;
            m.member(class, name, kind, offset)?;
        }
        Ok(())
    });
}

/// `Core` declares no `GenericPointer`.
#[test]
fn pointers_into_generic_memory() {
    clean(|Corner { m, unit, .. }| {
        let int = m.base_type(*unit, "int", BaseEncoding::Signed, 32)?;
        let spaces: Vec<_> = m.target().spaces().iter().map(|space| space.id).collect();
        for space in spaces {
            let pointer = m.pointer_into(*unit, Some(int), space)?;
            m.variable(*unit, &format!("in{}", space.0), pointer)?;
        }
        Ok(())
    });
}

#[test]
fn variables_without_a_name() {
    clean(|corner| {
        let line = corner.line(3);
        let Corner { core, code, m, unit, binding } = corner;
        let int = m.base_type(*unit, "int", BaseEncoding::Signed, 32)?;
        let f = m.function(*unit, "f")?.declared(line).id();
        let all = [
            m.parameter(f, "", int)?.id(),
            m.parameter(f, "named", int)?.id(),
            m.parameter(f, "", int)?.id(),
            m.variable(f, "", int)?.declared(line).id(),
        ];
        let block = m.block(f, &[])?;
        let inner = m.variable(block, "", int)?.id();
        let stored = m.variable(f, "", int)?.id();
        binding.global(stored, core.variables[0]);
        let start = Position::start(code.id, code.blocks[0].id);
        binding.function(f, code.id).scope(start, block);
        for variable in all.into_iter().chain([inner]) {
            binding.value(start, variable, &[Provider::value(code.parameter)]);
        }
        Ok(())
    });
}

/// The function that is bound is a declaration: outside of types, in a type, and with a definition.
#[test]
fn variables_without_a_name_in_declarations() {
    for (is_member, is_defined) in [(false, false), (true, false), (false, true), (true, true)] {
        for names in [["", ""], ["a", ""], ["", "b"]] {
            clean(|Corner { code, m, unit, binding, .. }| {
                let int = m.base_type(*unit, "int", BaseEncoding::Signed, 32)?;
                let class = m.class(*unit, Some("C"), 4)?;
                let declared = if is_member {
                    m.function_declaration(class, "f")?.id()
                } else {
                    m.function_declaration(*unit, "f")?.id()
                };
                let mut bound = declared;
                m.parameter(declared, names[0], int)?;
                if is_defined {
                    bound = m.function_definition(*unit, declared)?.id();
                    m.parameter(bound, names[1], int)?;
                } else {
                    m.parameter(declared, names[1], int)?;
                }
                binding.function(bound, code.id);
                Ok(())
            });
        }
    }
}

#[test]
fn discriminators_in_inlined_calls() {
    // The discriminator of the origin, and of the instance; `None` is a block without an origin.
    let all = [(Some(0), 3), (Some(3), 3), (Some(3), 4), (Some(3), 0), (None, 3), (None, 0)];
    for (of_origin, of_instance) in all {
        for has_value in [false, true] {
            clean(|corner| {
                let line = corner.line(9);
                let call = corner.line(6);
                let Corner { core: _, code, m, unit, binding } = corner;
                let int = m.base_type(*unit, "int", BaseEncoding::Signed, 32)?;
                let f = m.function(*unit, "f")?.declared(line).id();
                let g = m.function(*unit, "g")?.declared(line).id();
                let inlined = m.inlined(f, g, &[], call)?;
                let block = match of_origin {
                    Some(number) => {
                        let origin = m.block(g, &[])?;
                        m.begins(origin, line)?;
                        m.discriminator(origin, number)?;
                        m.inlined_block(inlined, origin, &[])?
                    }
                    None => m.block(inlined, &[])?,
                };
                m.discriminator(block, of_instance)?;
                let start = Position::start(code.id, code.blocks[0].id);
                binding.function(f, code.id).scope(start, block);
                if has_value {
                    let variable = m.variable(block, "v", int)?.id();
                    binding.value(start, variable, &[Provider::value(code.parameter)]);
                }
                Ok(())
            });
        }
    }
}

/// Storage classes of shaders come back as address spaces; a vector of three takes 96 bits.
#[test]
fn storage_classes_of_shaders() {
    let target = Target::shader();
    let classes: Vec<_> =
        target.spaces().iter().map(|space| target.storage_class(space.id).expect("is a class")).collect();
    assert_eq!(classes.len(), 11);
    clean_for(std::slice::from_ref(&target), |Corner { m, unit, .. }| {
        let float = m.base_type(*unit, "float", BaseEncoding::Float, 32)?;
        let vector = m.vector(*unit, float, 3)?;
        let packed = m.structure(*unit, Some("Packed"), 16)?;
        m.member(packed, "vector", vector, 0)?.member(packed, "scalar", float, 12)?;
        let spaces: Vec<_> = m.target().spaces().iter().map(|space| space.id).collect();
        for space in spaces {
            let pointer = m.pointer_into(*unit, Some(float), space)?;
            m.variable(*unit, &format!("in{}", space.0), pointer)?;
        }
        Ok(())
    });
    // The numbers of the core specification, section 3.7.
    let mut m = Builder::new(target.clone());
    let unit = m.unit("a.comp");
    let float = m.base_type(unit, "float", BaseEncoding::Float, 32).expect("a type");
    for name in ["storage_buffer", "uniform", "push_constant", "physical_storage_buffer", "private"] {
        let space = target.space_named(name).expect("is there").id;
        m.pointer_into(unit, Some(float), space).expect("a type");
    }
    let module = m.finish().expect("every call is right");
    let attached = attach(&Core::new().words(), &module, &Binding::new(), &Mode::exact(Set::Shader));
    let words = attached.expect("is attached").words;
    let facts = read(&words).expect("reads");
    let found: Vec<_> = facts.iter().filter_map(|fact| facts.number(&fact, Field::StorageClass)).collect();
    assert_eq!(found, [12, 2, 9, 5349, 6]);
}

/// Languages that DWARF does not number: 10 is WGSL, 11 Slang.
#[test]
fn languages_by_number() {
    for number in [10, 11, 7] {
        clean(|Corner { unit, binding, .. }| {
            binding.language(*unit, number);
            Ok(())
        });
    }
}
