//! Units, files and macros.

use eitri::model::{Language, UnitId};

use super::{Call, NOTHING, Owner, nothing_is_lost};
use crate::spirv_lower::case::MAIN;

const OWNERS: &[Owner<UnitId>] = &[
    Owner::new("a unit", |case| case.unit),
    Owner::new("a unit with a full path", |case| case.m.unit("/full/a.cl")),
    Owner::new("a unit with a function", |case| {
        case.function("f");
        case.unit
    }),
    Owner::new("a unit with a declaration", |case| {
        case.m.function_declaration(case.unit, "f").unwrap();
        case.unit
    }),
    Owner::new("a unit with an entry point", |case| {
        let f = case.m.function(case.unit, "main").unwrap().kernel().id();
        case.binding.function(f, MAIN);
        case.unit
    }),
];

const OF_UNITS: &[Call<UnitId>] = &[
    Call::new("UnitBuilder::directory", 2, |case, unit, way| {
        if let Some(directory) = [None, Some("/other"), Some("/third")][way] {
            case.m.describe_unit(unit)?.directory(directory);
        }
        Ok(())
    }),
    Call::new("UnitBuilder::producer", 2, |case, unit, way| {
        if let Some(producer) = [None, Some("one"), Some("other")][way] {
            case.m.describe_unit(unit)?.producer(producer);
        }
        Ok(())
    })
    .of(": producer: "),
    Call::new("UnitBuilder::command_line", 2, |case, unit, way| {
        if let Some(line) = [None, Some("-g"), Some("-O")][way] {
            case.m.describe_unit(unit)?.command_line(line);
        }
        Ok(())
    })
    .of(": command line: "),
    flag!("UnitBuilder::optimized", describe_unit, optimized),
    Call::new("UnitBuilder::language", 6, |case, unit, way| {
        let all = [
            None,
            Some(Language::OPENCL_C),
            Some(Language::HIP),
            Some(Language::RUST),
            Some(Language::HLSL),
            Some(Language::C99),
            Some(Language::C11),
        ];
        if let Some(language) = all[way] {
            case.m.describe_unit(unit)?.language(language);
        }
        Ok(())
    }),
    Call::new("UnitBuilder::language_version", 2, |case, unit, way| {
        if let Some(version) = [None, Some(3), Some(4)][way] {
            case.m.describe_unit(unit)?.language_version(version);
        }
        Ok(())
    })
    .of(": language version: "),
    Call::new("UnitBuilder::split_name", 1, |case, unit, way| {
        if way == 1 {
            case.m.describe_unit(unit)?.split_name("a.dwo")?;
        }
        Ok(())
    }),
];

const CALLS: &[Call<()>] = &[
    Call::new("Builder::unit", 2, |case, (), way| {
        if way > 0 {
            case.m.unit(["", "b.cl", "c.cl"][way]);
        }
        Ok(())
    }),
    Call::new("Builder::file", 3, |case, (), way| {
        let all = [None, Some(("b.h", None)), Some(("b.h", Some("inc"))), Some(("c.h", None))];
        if let Some((name, directory)) = all[way] {
            case.m.file(case.unit, name, directory)?;
        }
        Ok(())
    }),
    Call::new("Builder::file, with a full path", 2, |case, (), way| {
        case.m.file(case.unit, "/full/b.h", [None, Some("inc"), Some("lib")][way])?;
        Ok(())
    }),
    Call::new("Builder::file_md5", 2, |case, (), way| {
        if way > 0 {
            case.m.file_md5(case.file, [way as u8; 16])?;
        }
        Ok(())
    })
    .of(": MD5 checksum: "),
    Call::new("Builder::file_source", 2, |case, (), way| {
        if let Some(text) = [None, Some("one"), Some("other")][way] {
            case.m.file_source(case.file, text)?;
        }
        Ok(())
    }),
    Call::new("MacroBuilder::define", 6, |case, (), way| {
        let file = case.file;
        let all = [None, Some("A"), Some("A 1"), Some("A 2"), Some("A(x) 1"), Some("A(x,y) 1"), Some("B 1")];
        let mut macros = case.m.macros(case.unit)?;
        macros.file(0, file)?;
        if let Some(text) = all[way] {
            macros.define(3, text)?;
        }
        macros.end_file()?;
        Ok(())
    })
    .of(": macros: "),
    Call::new("MacroBuilder::define, in a line", 2, |case, (), way| {
        let file = case.file;
        let mut macros = case.m.macros(case.unit)?;
        if way == 0 {
            macros.define(0, "A 1")?;
        }
        macros.file(0, file)?;
        if way > 0 {
            macros.define(way as u32, "A 1")?;
        }
        macros.end_file()?;
        Ok(())
    })
    .of(": macros: "),
    Call::new("MacroBuilder::undefine", 2, |case, (), way| {
        let file = case.file;
        let mut macros = case.m.macros(case.unit)?;
        macros.file(0, file)?.define(1, "A 1")?.define(2, "B 1")?;
        if let Some(name) = [None, Some("A"), Some("B")][way] {
            macros.undefine(3, name)?;
        }
        macros.end_file()?;
        Ok(())
    })
    .of(": macros: "),
    Call::new("MacroBuilder::undefine, of what was not defined", 2, |case, (), way| {
        let file = case.file;
        let mut macros = case.m.macros(case.unit)?;
        macros.file(0, file)?;
        if let Some(name) = [None, Some("A"), Some("B")][way] {
            macros.undefine(3, name)?;
        }
        macros.end_file()?;
        Ok(())
    })
    .of(": macros: "),
    Call::new("MacroBuilder::file", 3, |case, (), way| {
        let (file, others) =
            (case.file, [case.m.file(case.unit, "b.h", None)?, case.m.file(case.unit, "c.h", None)?]);
        let mut macros = case.m.macros(case.unit)?;
        macros.file(0, file)?;
        let (line, header) = [(1, 0), (1, 0), (2, 0), (1, 1)][way];
        if way > 0 {
            macros.file(line, others[header])?;
        }
        macros.define(3, "A 1")?;
        if way > 0 {
            macros.end_file()?;
        }
        macros.end_file()?;
        Ok(())
    })
    .of(": macros: "),
    Call::new("MacroBuilder::file, in which nothing is", 2, |case, (), way| {
        let file = case.file;
        let other = case.m.file(case.unit, "b.h", None)?;
        let mut macros = case.m.macros(case.unit)?;
        if let Some(file) = [None, Some(file), Some(other)][way] {
            macros.file(0, file)?.end_file()?;
        }
        Ok(())
    })
    .of(": macros: "),
    Call::new("MacroBuilder::end_file", 1, |case, (), way| {
        let file = case.file;
        let other = case.m.file(case.unit, "b.h", None)?;
        let mut macros = case.m.macros(case.unit)?;
        macros.file(0, file)?.file(2, other)?;
        match way {
            0 => macros.define(3, "A 1")?.end_file()?,
            _ => macros.end_file()?.define(3, "A 1")?,
        };
        macros.end_file()?;
        Ok(())
    })
    .of(": macros: "),
];

#[test]
fn unit_properties_are_written_or_listed() {
    nothing_is_lost(OWNERS, OF_UNITS);
}

#[test]
fn file_and_macro_properties_are_written_or_listed() {
    nothing_is_lost(&NOTHING, CALLS);
}
