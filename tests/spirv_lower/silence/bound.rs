//! Bindings of the description.

use eitri::model::{FunctionId, ScopeId, SourceLine, VariableId};
use eitri::spirv::{Position, Provider};

use super::{Call, Owner, functions, nothing_is_lost, variables};
use crate::spirv_lower::case::{Case, ENTRY, MAIN, SUM, TABLE};

/// Start of the module's function.
const START: Position = Position::Start { function: MAIN, block: ENTRY };

#[test]
fn functions_and_variables() {
    let function: fn(&mut Case, FunctionId, usize) -> eitri::Result<()> = |case, f, way| {
        if way == 1 {
            case.binding.function(f, MAIN);
        }
        Ok(())
    };
    nothing_is_lost(functions::OWNERS, &[Call::new("Binding::function", 1, function)]);
    let global: fn(&mut Case, VariableId, usize) -> eitri::Result<()> = |case, v, way| {
        if way == 1 {
            case.binding.global(v, TABLE);
        }
        Ok(())
    };
    nothing_is_lost(variables::OWNERS, &[Call::new("Binding::global", 1, global)]);
}

const FUNCTIONS: &[Owner<(FunctionId, ScopeId, VariableId)>] = &[Owner::new("a function", |case| {
    let int = case.int();
    let callee = case.m.function(case.unit, "callee").unwrap().id();
    let f = case.function("f");
    let line = SourceLine::new(case.file, 9);
    let call = case.m.inlined(f, callee, &[], line).unwrap();
    let v = case.m.variable(f, "v", int).unwrap().id();
    case.binding.function(f, MAIN);
    (f, call, v)
})];

const CALLS: &[Call<(FunctionId, ScopeId, VariableId)>] = &[
    Call::new("Binding::scope", 1, |case, (_, call, _), way| {
        if way == 1 {
            case.binding.scope(START, call);
        }
        Ok(())
    }),
    Call::new("Binding::no_scope", 1, |case, _, way| {
        if way == 1 {
            case.binding.no_scope(START);
        }
        Ok(())
    }),
    Call::new("Binding::line", 2, |case, _, way| {
        if way > 0 {
            case.binding.line(START, case.line(way as u32, 0));
        }
        Ok(())
    }),
    Call::new("Binding::no_line", 1, |case, _, way| {
        let line = case.line(3, 0);
        case.binding.line(START, line);
        if way == 1 {
            case.binding.no_line(Position::before(MAIN, ENTRY, 0));
        }
        Ok(())
    }),
    Call::new("Binding::value", 2, |case, (.., v), way| {
        let providers: [&[Provider]; 3] = [&[], &[], &[Provider::value(SUM)]];
        if way > 0 {
            case.binding.value(Position::after(SUM), v, providers[way]);
        }
        Ok(())
    }),
    Call::new("Binding::declare", 1, |case, (.., v), way| {
        if way > 0 {
            case.binding.declare(START, v, Provider::value(TABLE));
        }
        Ok(())
    }),
    Call::new("Position::start", 1, |case, _, way| {
        let line = case.line(3, 0);
        if way == 1 {
            case.binding.line(Position::start(MAIN, ENTRY), line);
        }
        Ok(())
    }),
    Call::new("Position::before", 2, |case, _, way| {
        let line = case.line(3, 0);
        if way > 0 {
            case.binding.line(Position::before(MAIN, ENTRY, way as u32 - 1), line);
        }
        Ok(())
    }),
    Call::new("Position::after", 1, |case, _, way| {
        let line = case.line(3, 0);
        if way == 1 {
            case.binding.line(Position::after(SUM), line);
        }
        Ok(())
    }),
    Call::new("Binding::build_identifier", 3, |case, _, way| {
        if way > 0 {
            case.binding.build_identifier(&["0", "1", "1"][way - 1].repeat(32), way == 3);
        }
        Ok(())
    })
    .of(": build identifier: "),
    Call::new("Binding::storage_path", 2, |case, _, way| {
        if let Some(path) = [None, Some("a"), Some("b")][way] {
            case.binding.storage_path(path);
        }
        Ok(())
    })
    .of(": storage path: "),
    Call::new("Binding::language", 2, |case, _, way| {
        if way > 0 {
            case.binding.language(case.unit, [10, 11][way - 1]);
        }
        Ok(())
    }),
];

#[test]
fn binding_properties_are_written_or_listed() {
    nothing_is_lost(FUNCTIONS, CALLS);
}
