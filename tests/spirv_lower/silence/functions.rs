//! Functions.

use eitri::build::Template;
use eitri::model::{Accessibility, Defaulted, DescribedCalls, FunctionId, Loc, SourceLine, Virtuality};
use eitri::op::Expr;

use super::{Call, Owner, nothing_is_lost};
use crate::spirv_lower::case::Case;

pub const OWNERS: &[Owner<FunctionId>] = &[
    Owner::new("a function", |case| case.function("f")),
    Owner::new("a function without code", |case| case.m.function(case.unit, "f").unwrap().id()),
    Owner::new("a declaration", |case| case.m.function_declaration(case.unit, "f").unwrap().id()),
    Owner::new("a declaration that is defined", |case| {
        let declared = case.m.function_declaration(case.unit, "f").unwrap().id();
        case.m.function_definition(case.unit, declared).unwrap();
        declared
    }),
    Owner::new("a definition", |case| {
        let declared = case.m.function_declaration(case.unit, "f").unwrap().id();
        case.m.function_definition(case.unit, declared).unwrap().code("f", 0x100).id()
    }),
    Owner::new("an instance", |case| {
        let function = case.m.function(case.unit, "f").unwrap().id();
        case.m.function_instance(case.unit, function).unwrap().code("f", 0x100).id()
    }),
    Owner::new("a member function", |case| {
        let class = case.m.class(case.unit, Some("C"), 4).unwrap();
        case.m.function_declaration(class, "f").unwrap().id()
    }),
    Owner::new("a member function that is defined in its class", |case| {
        let class = case.m.class(case.unit, Some("C"), 4).unwrap();
        case.m.function(class, "f").unwrap().code("f", 0x100).id()
    }),
    Owner::new("a member function of an incomplete class", |case| {
        let class = case.m.incomplete(case.unit, eitri::model::CompositeKind::Class, "C").unwrap();
        case.m.function_declaration(class, "f").unwrap().id()
    }),
];

pub const CALLS: &[Call<FunctionId>] = &[
    Call::new("FunctionBuilder::linkage_name", 2, |case, f, way| {
        let names = [None, Some("_f"), Some("_g")];
        if let Some(name) = names[way] {
            case.m.describe_function(f)?.linkage_name(name);
        }
        Ok(())
    }),
    Call::new("FunctionBuilder::returns", 2, |case, f, way| {
        let types = [None, Some(case.int()), Some(case.uint())];
        if let Some(ty) = types[way] {
            case.m.describe_function(f)?.returns(ty)?;
        }
        Ok(())
    }),
    Call::new("FunctionBuilder::declared", 3, |case, f, way| {
        let other = case.m.file(case.unit, "b.h", None)?;
        let lines = [None, Some((case.file, 3)), Some((case.file, 4)), Some((other, 3))];
        if let Some((file, line)) = lines[way] {
            case.m.describe_function(f)?.declared(SourceLine::new(file, line));
        }
        Ok(())
    }),
    Call::new("FunctionBuilder::declared", 1, |case, f, way| {
        let line = case.line(3, 1 + way as u32);
        case.m.describe_function(f)?.declared(line);
        Ok(())
    }),
    Call::new("FunctionBuilder::body_line", 2, |case, f, way| {
        let file = case.file;
        case.m.describe_function(f)?.declared(SourceLine::new(file, 3)).body_line([0, 4, 5][way]);
        Ok(())
    })
    .of(": line of the body: "),
    Call::new("FunctionBuilder::vtable_elem_location", 2, |case, f, way| {
        if way > 0 {
            let expr = case.m.expr(Expr::raw([0x30 + way as u8]), &[])?;
            case.m.describe_function(f)?.vtable_elem_location(&Loc::expr(expr))?;
        }
        Ok(())
    })
    .of("slot in the table of virtual functions: "),
    flag!("FunctionBuilder::external", describe_function, external),
    // A kernel is visible outside its unit.
    Call::new("FunctionBuilder::kernel", 1, |case, f, way| {
        let mut f = case.m.describe_function(f)?;
        f.external();
        if way == 1 {
            f.kernel();
        }
        Ok(())
    }),
    Call::new("FunctionBuilder::kernel, which is an entry point", 1, |case, f, way| {
        case.binding.function(f, crate::spirv_lower::case::MAIN);
        let mut f = case.m.describe_function(f)?;
        f.external();
        if way == 1 {
            f.kernel();
        }
        Ok(())
    }),
    flag!("FunctionBuilder::variadic", describe_function, variadic),
    flag!("FunctionBuilder::unprototyped", describe_function, unprototyped),
    flag!("FunctionBuilder::noreturn", describe_function, noreturn),
    flag!("FunctionBuilder::main", describe_function, main),
    Call::new("FunctionBuilder::convention", 2, |case, f, way| {
        let numbers = [None, Some(2), Some(3)];
        if let Some(number) = numbers[way] {
            case.m.describe_function(f)?.convention(number);
        }
        Ok(())
    })
    .of(": calling convention: "),
    flag!("FunctionBuilder::declared_inline", describe_function, declared_inline),
    Call::new("FunctionBuilder::accessibility", 3, |case, f, way| {
        if let Some(access) = access(way) {
            case.m.describe_function(f)?.accessibility(access);
        }
        Ok(())
    }),
    Call::new("FunctionBuilder::virtuality", 2, |case, f, way| {
        let ways = [None, Some(Virtuality::Virtual), Some(Virtuality::Pure)];
        if let Some(virtuality) = ways[way] {
            case.m.describe_function(f)?.virtuality(virtuality);
        }
        Ok(())
    })
    .of(": virtuality: "),
    flag!("FunctionBuilder::explicit", describe_function, explicit),
    flag!("FunctionBuilder::deleted", describe_function, deleted),
    Call::new("FunctionBuilder::defaulted", 2, |case, f, way| {
        let ways = [None, Some(Defaulted::InClass), Some(Defaulted::OutOfClass)];
        if let Some(defaulted) = ways[way] {
            case.m.describe_function(f)?.defaulted(defaulted);
        }
        Ok(())
    })
    .of(": defaulted: "),
    Call::new("FunctionBuilder::object_pointer", 2, |case, f, way| {
        let int = case.int();
        let all = [case.m.parameter(f, "one", int)?.id(), case.m.parameter(f, "other", int)?.id()];
        if let Some(&this) = way.checked_sub(1).and_then(|index| all.get(index)) {
            case.m.describe_function(f)?.object_pointer(this)?;
        }
        Ok(())
    })
    .of(": object parameter: "),
    Call::new("FunctionBuilder::template", 2, |case, f, way| {
        let types = [None, Some(case.int()), Some(case.uint())];
        if let Some(ty) = types[way] {
            case.m.describe_function(f)?.template(Template::ty("T", Some(ty)))?;
        }
        Ok(())
    })
    .of(": template parameters: "),
    Call::new("FunctionBuilder::describes", 3, |case, f, way| {
        let ways =
            [None, Some(DescribedCalls::Tail), Some(DescribedCalls::All), Some(DescribedCalls::Source)];
        if let Some(calls) = ways[way] {
            case.m.describe_function(f)?.describes(calls);
        }
        Ok(())
    })
    .of(": set of described calls: "),
    Call::new("FunctionBuilder::frame_base", 1, |case, f, way| {
        let reg = case.m.target().register_named("s32")?;
        if way == 1 {
            case.m.describe_function(f)?.frame_base(&Loc::register(reg))?;
        }
        Ok(())
    }),
    Call::new("FunctionBuilder::frame_base_at", 1, |case, f, way| {
        let reg = case.m.target().register_named("s32")?;
        if way == 1 {
            case.m.describe_function(f)?.frame_base_at(0..4, &Loc::register(reg))?;
        }
        Ok(())
    }),
    Call::new("FunctionBuilder::static_link", 1, |case, f, way| {
        let reg = case.m.target().register_named("s32")?;
        if way == 1 {
            case.m.describe_function(f)?.static_link(&Loc::register(reg))?;
        }
        Ok(())
    }),
];

/// Accessibility of an entity.
pub fn access(way: usize) -> Option<Accessibility> {
    [None, Some(Accessibility::Public), Some(Accessibility::Protected), Some(Accessibility::Private)][way]
}

#[test]
fn function_properties_are_written_or_listed() {
    nothing_is_lost(OWNERS, CALLS);
}

/// Kinds of functions: definitions, declarations, members, and their scopes.
#[test]
fn kinds_of_functions() {
    let kind: fn(&mut Case, (), usize) -> eitri::Result<()> = |case, (), way| {
        // The presence of code is not encoded, so that two of them are equal.
        let owners =
            OWNERS.iter().filter(|owner| !["a function without code", "a definition"].contains(&owner.name));
        if let Some(owner) = way.checked_sub(1).and_then(|index| owners.clone().nth(index)) {
            (owner.make)(case);
        }
        Ok(())
    };
    let names = [
        "Builder::function",
        "Builder::function_declaration",
        "Builder::function_definition",
        "Builder::function_instance",
    ];
    for name in names {
        nothing_is_lost(&super::NOTHING, &[Call::new(name, 6, kind)]);
    }
}
