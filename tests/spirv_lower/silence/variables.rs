//! Variables, parameters, constants and static members.

use eitri::model::{BaseEncoding, FunctionId, MemorySpace, ScopeId, SourceLine, VariableId};

use super::functions::access;
use super::{Call, NOTHING, Owner, nothing_is_lost};
use crate::spirv_lower::case::Case;

/// A function, and a call of it inlined into another.
fn inlined_call(case: &mut Case) -> (FunctionId, ScopeId) {
    let callee = case.m.function(case.unit, "callee").unwrap().id();
    let caller = case.function("caller");
    let line = SourceLine::new(case.file, 9);
    (callee, case.m.inlined(caller, callee, &[], line).unwrap())
}

pub const OWNERS: &[Owner<VariableId>] = &[
    Owner::new("a variable of a function", |case| {
        let f = case.function("f");
        let int = case.int();
        case.m.variable(f, "v", int).unwrap().id()
    }),
    Owner::new("a variable of a block", |case| {
        let f = case.function("f");
        let int = case.int();
        let block = case.m.block(f, &[]).unwrap();
        case.m.variable(block, "v", int).unwrap().id()
    }),
    Owner::new("a parameter", |case| {
        let f = case.function("f");
        let int = case.int();
        case.m.parameter(f, "v", int).unwrap().id()
    }),
    Owner::new("a parameter of a declaration", |case| {
        let f = case.m.function_declaration(case.unit, "f").unwrap().id();
        let int = case.int();
        case.m.parameter(f, "v", int).unwrap().id()
    })
    .of("a parameter of a declaration"),
    Owner::new("a variable declared in a function", |case| {
        let f = case.function("f");
        let int = case.int();
        case.m.extern_variable(f, "v", int).unwrap().id()
    }),
    Owner::new("a constant of a function", |case| {
        let f = case.function("f");
        let int = case.int();
        case.m.constant(f, "v", int, &[1, 0, 0, 0]).unwrap()
    }),
    Owner::new("a variable of a function that is an OpVariable", |case| {
        let f = case.function("f");
        let int = case.int();
        let v = case.m.variable(f, "v", int).unwrap().id();
        case.binding.global(v, crate::spirv_lower::case::TABLE);
        v
    }),
    Owner::new("an instance of a variable in an inlined call", |case| {
        let ((callee, call), int) = (inlined_call(case), case.int());
        let v = case.m.variable(callee, "v", int).unwrap().id();
        case.m.inlined_variable(call, v).unwrap().id()
    }),
    Owner::new("an instance of a parameter in an inlined call", |case| {
        let ((callee, call), int) = (inlined_call(case), case.int());
        let v = case.m.parameter(callee, "v", int).unwrap().id();
        case.m.inlined_variable(call, v).unwrap().id()
    }),
    Owner::new("a variable of an inlined call alone", |case| {
        let ((_, call), int) = (inlined_call(case), case.int());
        case.m.variable(call, "v", int).unwrap().id()
    }),
    Owner::new("a variable of a unit", |case| {
        let int = case.int();
        case.m.variable(case.unit, "v", int).unwrap().id()
    }),
    Owner::new("a variable of a namespace", |case| {
        let int = case.int();
        let n = case.m.namespace(case.unit, "n").unwrap();
        case.m.variable(n, "v", int).unwrap().id()
    }),
    Owner::new("a declared variable", |case| {
        let int = case.int();
        case.m.extern_variable(case.unit, "v", int).unwrap().id()
    }),
    Owner::new("a declared variable that is defined", |case| {
        let int = case.int();
        let v = case.m.extern_variable(case.unit, "v", int).unwrap().id();
        case.m.definition(case.unit, v).unwrap();
        v
    }),
    // The external visibility of a declaration applies to its definition.
    Owner::new("the definition of a variable", |case| {
        let int = case.int();
        let v = case.m.extern_variable(case.unit, "v", int).unwrap().id();
        case.m.definition(case.unit, v).unwrap().external().id()
    }),
    Owner::new("a constant", |case| {
        let int = case.int();
        case.m.constant(case.unit, "v", int, &[1, 0, 0, 0]).unwrap()
    }),
    Owner::new("a static member", |case| {
        let int = case.int();
        let class = case.m.class(case.unit, Some("C"), 4).unwrap();
        case.m.static_member(class, "v", int).unwrap().id()
    }),
    Owner::new("a static member that is not seen outside", |case| {
        let int = case.int();
        let class = case.m.class(case.unit, Some("C"), 4).unwrap();
        case.m.variable(class, "v", int).unwrap().id()
    }),
    Owner::new("the definition of a static member", |case| {
        let int = case.int();
        let class = case.m.class(case.unit, Some("C"), 4).unwrap();
        let v = case.m.static_member(class, "v", int).unwrap().id();
        case.m.definition(case.unit, v).unwrap().external().id()
    }),
    Owner::new("a static member of an incomplete class", |case| {
        let class = case.m.incomplete(case.unit, eitri::model::CompositeKind::Class, "C").unwrap();
        let int = case.int();
        case.m.static_member(class, "v", int).unwrap().id()
    })
    .of("the type has no members"),
];

pub const CALLS: &[Call<VariableId>] = &[
    Call::new("VariableBuilder::completed_type", 1, |case, v, way| {
        let long = case.m.base_type(case.unit, "long", BaseEncoding::Signed, 64)?;
        if way == 1 {
            case.m.describe_variable(v)?.completed_type(long)?;
        }
        Ok(())
    }),
    Call::new("VariableBuilder::declared", 3, |case, v, way| {
        let other = case.m.file(case.unit, "b.h", None)?;
        let lines = [None, Some((case.file, 3)), Some((case.file, 4)), Some((other, 3))];
        if let Some((file, line)) = lines[way] {
            case.m.describe_variable(v)?.declared(SourceLine::new(file, line));
        }
        Ok(())
    })
    .of(": line: "),
    Call::new("VariableBuilder::declared", 1, |case, v, way| {
        let line = case.line(3, 1 + way as u32);
        case.m.describe_variable(v)?.declared(line);
        Ok(())
    })
    .of(": line: "),
    Call::new("VariableBuilder::linkage_name", 2, |case, v, way| {
        if let Some(name) = [None, Some("_v"), Some("_w")][way] {
            case.m.describe_variable(v)?.linkage_name(name);
        }
        Ok(())
    })
    .of(": linkage name: "),
    Call::new("VariableBuilder::const_value", 2, |case, v, way| {
        if way > 0 {
            case.m.describe_variable(v)?.const_value(&[way as u8, 1, 0, 0])?;
        }
        Ok(())
    })
    .of(": value: "),
    flag!("VariableBuilder::artificial", describe_variable, artificial),
    flag!("VariableBuilder::external", describe_variable, external),
    Call::new("VariableBuilder::memory_space", 4, |case, v, way| {
        if let Some(memory) = memory(way) {
            case.m.describe_variable(v)?.memory_space(memory);
        }
        Ok(())
    })
    .of(": memory space: "),
    Call::new("VariableBuilder::accessibility", 3, |case, v, way| {
        if let Some(access) = access(way) {
            case.m.describe_variable(v)?.accessibility(access);
        }
        Ok(())
    })
    .of(": accessibility: "),
];

/// Memory space in the source.
pub fn memory(way: usize) -> Option<MemorySpace> {
    use MemorySpace::{Constant, Global, Group, Private};
    [None, Some(Global), Some(Constant), Some(Group), Some(Private)][way]
}

#[test]
fn variable_properties_are_written_or_listed() {
    nothing_is_lost(OWNERS, CALLS);
}

/// Kinds of variables, and their scopes.
#[test]
fn kinds_of_variables() {
    let kind: fn(&mut Case, (), usize) -> eitri::Result<()> = |case, (), way| {
        // Two of them give the same module.
        let owners = OWNERS.iter().filter(|owner| owner.name != "a declared variable that is defined");
        if let Some(owner) = way.checked_sub(1).and_then(|index| owners.clone().nth(index)) {
            (owner.make)(case);
        }
        Ok(())
    };
    let of_function: fn(&mut Case, (), usize) -> eitri::Result<()> = |case, (), way| {
        let f = case.function("f");
        let int = case.int();
        match way {
            0 => case.m.variable(f, "v", int)?.id(),
            1 => case.m.parameter(f, "v", int)?.id(),
            2 => case.m.extern_variable(f, "v", int)?.id(),
            3 => case.m.constant(f, "v", int, &[1, 0, 0, 0])?,
            _ => case.m.variable(f, "v", int)?.const_value(&[1, 0, 0, 0])?.id(),
        };
        Ok(())
    };
    let of_unit: fn(&mut Case, (), usize) -> eitri::Result<()> = |case, (), way| {
        let int = case.int();
        match way {
            0 => case.m.variable(case.unit, "v", int)?.id(),
            1 => case.m.extern_variable(case.unit, "v", int)?.id(),
            2 => case.m.constant(case.unit, "v", int, &[1, 0, 0, 0])?,
            _ => case.m.variable(case.unit, "v", int)?.const_value(&[1, 0, 0, 0])?.id(),
        };
        Ok(())
    };
    let bound: fn(&mut Case, (), usize) -> eitri::Result<()> = |case, (), way| {
        let f = case.function("f");
        let int = case.int();
        let v = match way {
            0 => case.m.variable(f, "v", int)?.id(),
            _ => case.m.parameter(f, "v", int)?.id(),
        };
        case.binding.global(v, crate::spirv_lower::case::TABLE);
        Ok(())
    };
    let order: fn(&mut Case, (), usize) -> eitri::Result<()> = |case, (), way| {
        let f = case.function("f");
        let int = case.int();
        for name in [["a", "b"], ["b", "a"]][way] {
            case.m.parameter(f, name, int)?;
        }
        Ok(())
    };
    let inlined: fn(&mut Case, (), usize) -> eitri::Result<()> = |case, (), way| {
        let ((callee, call), int) = (inlined_call(case), case.int());
        let v = case.m.variable(callee, "v", int)?.id();
        if way == 1 {
            case.m.inlined_variable(call, v)?;
        }
        Ok(())
    };
    let parameter: fn(&mut Case, (), usize) -> eitri::Result<()> = |case, (), way| {
        let ((_, call), int) = (inlined_call(case), case.int());
        match way {
            0 => case.m.variable(call, "v", int)?.id(),
            _ => case.m.parameter(call, "v", int)?.id(),
        };
        Ok(())
    };
    let definition: fn(&mut Case, (), usize) -> eitri::Result<()> = |case, (), way| {
        let int = case.int();
        let class = case.m.class(case.unit, Some("C"), 4)?;
        let members =
            [case.m.static_member(class, "v", int)?.id(), case.m.static_member(class, "w", int)?.id()];
        if let Some(&member) = way.checked_sub(1).and_then(|index| members.get(index)) {
            case.m.definition(case.unit, member)?;
        }
        Ok(())
    };
    nothing_is_lost(
        &NOTHING,
        &[
            Call::new("Builder::variable", OWNERS.len() - 1, kind),
            Call::new("Builder::parameter", 4, of_function),
            Call::new("Builder::constant", 3, of_unit),
            Call::new("Builder::extern_variable", 3, of_unit),
            Call::new("Builder::parameter, an OpVariable", 1, bound),
            Call::new("Builder::parameter, in order", 1, order),
            Call::new("Builder::inlined_variable", 1, inlined),
            Call::new("Builder::parameter, of an inlined call alone", 1, parameter),
            Call::new("Builder::definition", 2, definition),
        ],
    );
}
