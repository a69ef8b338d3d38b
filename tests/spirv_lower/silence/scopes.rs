//! Namespaces, blocks, inlined calls; imports; labels.

use eitri::model::{FunctionId, Imported, ScopeId, SourceLine};

use super::{Call, NOTHING, Owner, nothing_is_lost};
use crate::spirv_lower::case::Case;

/// A function with a block, and an inlined call of it.
fn inlined(case: &mut Case) -> (FunctionId, ScopeId, ScopeId) {
    let callee = case.m.function(case.unit, "callee").unwrap().id();
    let block = case.m.block(callee, &[]).unwrap();
    let caller = case.function("caller");
    let line = SourceLine::new(case.file, 9);
    (callee, block, case.m.inlined(caller, callee, &[], line).unwrap())
}

const OWNERS: &[Owner<ScopeId>] = &[
    Owner::new("a namespace", |case| case.m.namespace(case.unit, "n").unwrap()),
    Owner::new("an inline namespace", |case| case.m.inline_namespace(case.unit, "n").unwrap()),
    Owner::new("a namespace without a name", |case| case.m.anonymous_namespace(case.unit).unwrap()),
    Owner::new("a block", |case| {
        let f = case.function("f");
        case.m.block(f, &[]).unwrap()
    }),
    Owner::new("an inlined call", |case| inlined(case).2),
    Owner::new("a block of an inlined call", |case| {
        let (_, block, call) = inlined(case);
        case.m.inlined_block(call, block, &[]).unwrap()
    }),
    Owner::new("a block of an inlined call alone", |case| {
        let (.., call) = inlined(case);
        case.m.block(call, &[]).unwrap()
    })
    .of("without an origin"),
];

const CALLS: &[Call<ScopeId>] = &[
    Call::new("Builder::begins", 4, |case, scope, way| {
        let other = case.m.file(case.unit, "b.h", None)?;
        let lines =
            [(case.file, 3, 0), (case.file, 3, 0), (case.file, 3, 1), (case.file, 4, 0), (other, 3, 0)];
        if way > 0 {
            let (file, line, column) = lines[way];
            case.m.begins(scope, SourceLine::new(file, line).column(column))?;
        }
        Ok(())
    })
    .of("that of the origin is encoded"),
    Call::new("Builder::discriminator", 2, |case, scope, way| {
        if way > 0 {
            case.m.discriminator(scope, way as u32)?;
        }
        Ok(())
    })
    .of(": discriminator: "),
];

#[test]
fn scope_properties_are_written_or_listed() {
    nothing_is_lost(OWNERS, CALLS);
}

type Say = fn(&mut Case, (), usize) -> eitri::Result<()>;

#[test]
fn kinds_of_scopes() {
    let namespace: Say = |case, (), way| {
        match way {
            0 => return Ok(()),
            1 => case.m.namespace(case.unit, "n")?,
            2 => case.m.namespace(case.unit, "o")?,
            3 => case.m.inline_namespace(case.unit, "n")?,
            4 => case.m.anonymous_namespace(case.unit)?,
            _ => {
                let around = case.m.namespace(case.unit, "o")?;
                case.m.namespace(around, "n")?
            }
        };
        Ok(())
    };
    let block: Say = |case, (), way| {
        let f = case.function("f");
        let mut around = case.m.block(f, &[])?;
        for _ in 0..way {
            around = case.m.block(around, &[])?;
        }
        Ok(())
    };
    let call: Say = |case, (), way| {
        let callees = [case.m.function(case.unit, "one")?.id(), case.m.function(case.unit, "other")?.id()];
        let f = case.function("f");
        let g = case.function("g");
        let other = case.m.file(case.unit, "b.h", None)?;
        let at = SourceLine::new(case.file, 9);
        let calls = [
            (f, 0, at),
            (f, 1, at),
            (g, 0, at),
            (f, 0, SourceLine { line: 8, ..at }),
            (f, 0, SourceLine { column: 1, ..at }),
            (f, 0, SourceLine { file: other, ..at }),
        ];
        if let Some(&(caller, callee, line)) = way.checked_sub(1).and_then(|index| calls.get(index)) {
            case.m.inlined(caller, callees[callee], &[], line)?;
        }
        Ok(())
    };
    let inner: Say = |case, (), way| {
        let (_, block, call) = inlined(case);
        match way {
            0 => return Ok(()),
            1 => case.m.inlined_block(call, block, &[])?,
            _ => case.m.block(call, &[])?,
        };
        Ok(())
    };
    for name in ["Builder::namespace", "Builder::inline_namespace", "Builder::anonymous_namespace"] {
        nothing_is_lost(&NOTHING, &[Call::new(name, 5, namespace)]);
    }
    let kind: Say = |case, (), way| {
        match way {
            0 => return Ok(()),
            1 => case.m.language_module(case.unit, "n")?,
            2 => case.m.common_block(case.unit, "n")?,
            _ => case.m.namelist(case.unit, "n")?,
        };
        Ok(())
    };
    for name in ["Builder::language_module", "Builder::common_block", "Builder::namelist"] {
        nothing_is_lost(&NOTHING, &[Call::new(name, 3, kind).of(": kind: ")]);
    }
    nothing_is_lost(
        &NOTHING,
        &[
            Call::new("Builder::block", 3, block),
            Call::new("Builder::inlined", 6, call),
            Call::new("Builder::inlined_block", 2, inner),
        ],
    );
}

/// Scopes with imports.
const PLACES: &[Owner<ScopeId>] = &[
    Owner::new("a block", |case| {
        let f = case.function("f");
        case.m.block(f, &[]).unwrap()
    }),
    Owner::new("a namespace", |case| case.m.namespace(case.unit, "in").unwrap()),
    Owner::new("an inlined call", |case| inlined(case).2),
];

const NAMES: &[Call<ScopeId>] = &[
    Call::new("Builder::import", 7, |case, scope, way| {
        let int = case.int();
        let a = case.m.namespace(case.unit, "a")?;
        let f = case.m.function_declaration(a, "g")?.id();
        let v = case.m.extern_variable(a, "v", int)?.id();
        let s = case.m.structure(case.unit, Some("S"), 4)?;
        let b = case.m.namespace(case.unit, "b")?;
        let all = [
            None,
            Some(Imported::Function(f)),
            Some(Imported::Variable(v)),
            Some(Imported::Type(s)),
            Some(Imported::Namespace(a)),
            Some(Imported::AllOf(a)),
            Some(Imported::Namespace(b)),
            Some(Imported::AllOf(b)),
        ];
        if let Some(what) = all[way] {
            case.m.import(scope, what)?;
        }
        Ok(())
    }),
    Call::new("ImportBuilder::name", 2, |case, scope, way| {
        let a = case.m.namespace(case.unit, "a")?;
        let mut import = case.m.import(scope, Imported::Namespace(a))?;
        if let Some(name) = [None, Some("b"), Some("c")][way] {
            import.name(name)?;
        }
        Ok(())
    })
    .of("the import of"),
    Call::new("ImportBuilder::declared", 3, |case, scope, way| {
        let a = case.m.namespace(case.unit, "a")?;
        let other = case.m.file(case.unit, "b.h", None)?;
        let lines = [None, Some((case.file, 3)), Some((case.file, 4)), Some((other, 3))];
        let mut import = case.m.import(scope, Imported::AllOf(a))?;
        if let Some((file, line)) = lines[way] {
            import.declared(SourceLine::new(file, line))?;
        }
        Ok(())
    })
    .of("the import of"),
    Call::new("ImportBuilder::declared", 1, |case, scope, way| {
        let a = case.m.namespace(case.unit, "a")?;
        let line = case.line(3, 1 + way as u32);
        case.m.import(scope, Imported::AllOf(a))?.declared(line)?;
        Ok(())
    })
    .of("the import of"),
    Call::new("Builder::label", 2, |case, scope, way| {
        if let Some(name) = [None, Some("again"), Some("done")][way] {
            case.m.label(scope, name)?;
        }
        Ok(())
    }),
    Call::new("LabelBuilder::declared", 2, |case, scope, way| {
        let file = case.file;
        let mut label = case.m.label(scope, "again")?;
        if way > 0 {
            label.declared(SourceLine::new(file, way as u32))?;
        }
        Ok(())
    })
    .of("the label `again`: no operand encodes this"),
    Call::new("LabelBuilder::declared", 1, |case, scope, way| {
        let line = case.line(3, 1 + way as u32);
        case.m.label(scope, "again")?.declared(line)?;
        Ok(())
    })
    .of("the label `again`: no operand encodes this"),
    Call::new("Builder::call", 2, |case, scope, way| {
        for pc in 0..way {
            case.m.call(scope)?.at(4 * pc as u64)?;
        }
        Ok(())
    }),
    Call::new("CallBuilder::calls", 1, |case, scope, way| {
        let f = case.m.function_declaration(case.unit, "g")?.id();
        let mut call = case.m.call(scope)?;
        call.at(0)?;
        if way > 0 {
            call.calls(f)?;
        }
        Ok(())
    })
    .of(": calls and arguments: "),
    Call::new("CallBuilder::tail", 1, |case, scope, way| {
        let mut call = case.m.call(scope)?;
        call.at(0)?;
        if way > 0 {
            call.tail();
        }
        Ok(())
    })
    .of(": calls and arguments: "),
    Call::new("CallBuilder::line", 1, |case, scope, way| {
        let line = case.line(3, 1);
        let mut call = case.m.call(scope)?;
        call.at(0)?;
        if way > 0 {
            call.line(line)?;
        }
        Ok(())
    })
    .of(": calls and arguments: "),
    Call::new("Builder::lanes", 1, |case, scope, way| {
        if way > 0 {
            case.m.lanes(scope)?;
        }
        Ok(())
    }),
];

#[test]
fn name_properties_are_written_or_listed() {
    nothing_is_lost(PLACES, NAMES);
}
