//! Objects to mutate, of different kinds: targets, versions, formats, tables, files.

use core::ops::Range;

use eitri::build::Builder;
use eitri::check::{CheckReport, check_split};
use eitri::consumer::Tables;
use eitri::emit::elf::{Compression, ObjectCode, attach, new_object, new_object_with};
use eitri::emit::ptx;
use eitri::lower::{Consumer, Lowered, Policy, lower};
use eitri::model::{BaseEncoding, LineTableRow, Loc, Module, RegionKind, SourceLine};
use eitri::omission::Omission;
use eitri::target::Target;
use gimli::Format;

use crate::additive::support::{link, uspill};
use crate::common::cubin;
use crate::sabotage::{code, patched, scopes, type_units, waves};
use crate::{emission_goldens, split};

/// Files that were written from a module: an object or a PTX text, which the files of its split units can follow.
pub struct Specimen {
    pub module: Module,
    pub consumer: Consumer,
    omissions: Vec<Omission>,
    pub files: Vec<Vec<u8>>,
}

impl Specimen {
    fn new(
        module: Module,
        consumer: Consumer,
        write: impl FnOnce(&Module, &Lowered) -> Vec<Vec<u8>>,
    ) -> Self {
        let written = lower(&module, &consumer, Policy::Partial).expect("is written");
        let files = write(&module, &written);
        Self { module, consumer, omissions: written.omissions, files }
    }

    /// A relocatable object.
    fn relocatable(module: Module, consumer: Consumer, code: &ObjectCode) -> Self {
        Self::new(module, consumer, |module, written| {
            vec![new_object(module.target(), code, &written.sections).expect("an object")]
        })
    }

    /// Compares files with the module.
    pub fn check(&self, files: &[Vec<u8>]) -> eitri::Result<CheckReport> {
        let Self { module, consumer, omissions, .. } = self;
        match files {
            [main] => eitri::check(module, consumer, omissions, main),
            [main, split @ ..] => {
                let split: Vec<&[u8]> = split.iter().map(|file| &file[..]).collect();
                check_split(module, consumer, omissions, main, &split)
            }
            [] => unreachable!("a specimen has a file"),
        }
    }
}

/// LLVM's extension in a relocatable object of an AMD GPU.
pub fn relocatable() -> Specimen {
    Specimen::relocatable(patched::truth(), Consumer::llvm(), &code())
}

/// Regions, whole-wave code and their masks.
pub fn lanes() -> Specimen {
    let [_, rocgdb, _] = waves::consumers();
    Specimen::relocatable(waves::lanes(&rocgdb), rocgdb, &code())
}

/// Frames that save registers in lanes and in memory, in the older dialect.
pub fn frames() -> Specimen {
    Specimen::relocatable(waves::frames(), Consumer::rocgdb_legacy(), &code())
}

/// Functions of a compiled object: lanes, regions, a spilled variable.
fn compiled() -> Module {
    let mut m = Builder::new(Target::named("amdgpu-gfx1030-wave32").expect("a target"));
    let gpu = m.target().clone();
    let s = |number| Loc::register(gpu.sgpr(number).expect("a register"));
    let v = |number| gpu.vgpr(number).expect("a register");
    let unit = m.unit("k14_spill.cl");
    let file = m.primary_file(unit).expect("a file");
    let int = m.base_type(unit, "int", BaseEncoding::Signed, 32).expect("a type");
    for (name, bytes, is_kernel) in
        [("uspill", 1388, true), ("vspillf", 1884, false), ("vspillk", 2380, true)]
    {
        let mut f = m.function(unit, name).expect("a function");
        f.code(name, bytes).declared(SourceLine::new(file, 3));
        if is_kernel {
            f.kernel();
        }
        let f = f.id();
        let mut n = m.variable(f, "n", int).expect("a variable");
        n.live(0..0x20, s(4)).and_then(|n| n.live(0x20..bytes, Loc::lane(v(40), 7))).expect("locations");
        let mut each = m.variable(f, "each", int).expect("a variable");
        each.live(8..0x100, Loc::per_lane(v(3))).expect("a location");
        let mut slot = m.variable(f, "slot", int).expect("a variable");
        if is_kernel {
            slot.live(0x40..0x80, Loc::stack_slot(16)).expect("a location");
        }
        let mut lanes = m.lanes(f).expect("lanes");
        lanes.region(RegionKind::Then, 0x10..0x80, 0x90, &[(0..bytes, s(30))]).expect("a region");
        for pc in (0..bytes).step_by(bytes as usize / 32 * 4) {
            m.row(f, LineTableRow::new(pc, file, 4 + pc as u32 / 8).column(5)).expect("a row");
        }
    }
    m.finish().expect("a module")
}

/// An object of another compiler with our sections, linked by a linker; `None` without the linker.
pub fn linked() -> Option<Specimen> {
    let mut linked = None;
    let specimen = Specimen::new(compiled(), Consumer::rocgdb(), |module, written| {
        linked = link(&attach(&uspill(), module.target(), &written.sections).expect("an object"), &[]);
        linked.iter().cloned().collect()
    });
    linked.map(|_| specimen)
}

/// Functions with variables in long location lists.
fn lists_of(target: Target, variables: u64, ranges: u64) -> (Module, ObjectCode) {
    let mut m = Builder::new(target);
    let registers: Vec<_> = m.target().registers().filter(|register| register.bits == 32).take(60).collect();
    let registers: Vec<_> = registers.iter().map(|register| register.reg).collect();
    let unit = m.unit("lists.cl");
    let int = m.base_type(unit, "int", BaseEncoding::Signed, 32).expect("a type");
    let mut code = ObjectCode::text(vec![0; 0x400]);
    for (number, name) in (0..).zip(["first", "second"]) {
        let f = m.function(unit, name).expect("a function").code(name, 0x200).id();
        code = code.with_function(name, 0x200 * number, 0x200);
        for index in 0..variables {
            let mut variable =
                m.variable(f, &format!("a_variable_of_{name}_{index}"), int).expect("a variable");
            let pcs = |range: u64| -> Range<u64> {
                16 * range + 4 * (index % 3)..16 * range + 12 + 4 * (range % 2)
            };
            for range in 0..ranges {
                let reg = registers[(index * 7 + range * 3) as usize % registers.len()];
                let loc = match range % 5 {
                    4 => Loc::implicit(&[range as u8, 1, 2, 3]),
                    _ => Loc::register(reg),
                };
                variable.live(pcs(range), loc).expect("a location");
            }
        }
    }
    (m.finish().expect("a module"), code)
}

/// Location lists of plain DWARF 5.
pub fn lists() -> Specimen {
    let (module, code) = lists_of(Target::named("amdgpu-gfx90a-wave64").expect("a target"), 5, 12);
    Specimen::relocatable(module, Consumer::dwarf5(), &code)
}

/// Sections that are compressed.
pub fn compressed() -> Specimen {
    let (module, code) = lists_of(Target::named("amdgpu-gfx1100-wave32").expect("a target"), 24, 3);
    Specimen::new(module, Consumer::llvm(), |module, written| {
        let object = new_object_with(module.target(), &code, &written.sections, Compression::Zstd);
        vec![object.expect("an object")]
    })
}

/// The module of the emission goldens, which has each kind of section, with lookup tables.
fn whole(target: &Target, version: u16, format: Format) -> Specimen {
    let mut consumer = Consumer::dwarf5();
    (consumer.version, consumer.format) = (version, format);
    consumer.tables = Tables { names: version >= 5, pubs: version < 5, aranges: true, ..Tables::default() };
    let code =
        ObjectCode::text(vec![0; 0x80]).with_function("twice", 0, 0x40).with_function("data", 0x60, 32);
    Specimen::relocatable(emission_goldens::module(target.clone()).expect("a module"), consumer, &code)
}

/// DWARF 2.
pub fn dwarf2() -> Specimen {
    whole(&Target::x86_64(), 2, Format::Dwarf32)
}

/// DWARF 3 in the 64-bit format.
pub fn dwarf3() -> Specimen {
    whole(&Target::x86_64(), 3, Format::Dwarf64)
}

/// DWARF 4.
pub fn dwarf4() -> Specimen {
    whole(&Target::x86_64(), 4, Format::Dwarf32)
}

/// DWARF 5 with a name index, most significant byte first.
pub fn big_endian() -> Specimen {
    whole(&Target::s390x(), 5, Format::Dwarf32)
}

/// Declarations, definitions, calls, imports, labels.
pub fn calls() -> Specimen {
    Specimen::relocatable(scopes::truth(), Consumer::dwarf5(), &code())
}

/// Type units in groups.
pub fn types() -> Specimen {
    let [_, five] = type_units::consumers();
    Specimen::relocatable(type_units::module(|_| ()), five, &code())
}

/// An object with skeletons, and the files of its split units.
pub fn split_units() -> Specimen {
    Specimen::new(split::module().expect("a module"), split::split(), |module, written| {
        let main = new_object(module.target(), &split::code(), &written.sections).expect("an object");
        let files = written.split_files(module.target()).expect("files");
        [main].into_iter().chain(files.into_iter().map(|(_, bytes)| bytes)).collect()
    })
}

/// A PTX text.
pub fn ptx() -> Specimen {
    Specimen::new(
        cubin::described(cubin::REGISTERS).expect("a module"),
        Consumer::cuda_gdb(),
        |module, written| {
            let how = crate::common::with::<ptx::PtxAttachOptions>(|options| {
                options.lines = written.lines.as_ref()
            });
            vec![ptx::attach(cubin::TEXT, module.target(), &written.sections, &how).expect("a text").into()]
        },
    )
}
