//! Split units: the object with the skeletons, and the files with the other entries. DWARF 5 sections 3.1.2, 3.1.3
//! and 7.3.2.

use gimli::constants as dw;

use super::compare::{
    UnitsByName, compare_header, compare_pending, compare_unit_with_root, report_missing_unit,
    report_other_units,
};
use super::comparison::Compare;
use super::describe::Describe;
use super::frames::compare_call_frames;
use super::headers::compare_headers;
use super::index::Index;
use super::lookup::{compare_addresses, compare_lookups};
use super::omitted::Omitted;
use super::reading::{dialect, read_unlinked, unreadable};
use super::report::{CheckReport, FindingKind, Listed};
use super::tree::Described;
use super::unencodable::report_unencodable;
use crate::consumer::Consumer;
use crate::error::{At, Result};
use crate::model::Module;
use crate::omission::Omission;
use crate::read::{Dwarf, Object, Placing, ReadOptions};

/// Compares an object, `main`, and its split units' files with the module that they were written from, for a consumer
/// that [splits units](Consumer::is_split). Beyond what [`check`](super::check) compares, each split unit must match
/// its skeleton.
///
/// `omissions` is as for [`check`](super::check). The split files may come in any order; units with the same name
/// come in module order.
///
/// # Errors
/// Returns an error only if the bytes cannot be read. Everything else is a finding in the report.
///
/// # Example
///
/// ```
/// # use eitri::check::check_split;
/// # use eitri::emit::elf::{ObjectCode, new_object};
/// # use eitri::build::Builder;
/// # use eitri::model::{BaseEncoding, Loc};
/// # use eitri::target::Target;
/// # use eitri::lower::{Consumer, Policy, lower};
/// # let gpu = Target::named("amdgpu-gfx1030-wave32")?;
/// # let (v3, v4) = (gpu.vgpr(3)?, gpu.vgpr(4)?);
/// # let mut m = Builder::new(gpu);
/// # let unit = m.unit("scale.cl");
/// # let int = m.base_type(unit, "int", BaseEncoding::Signed, 32)?;
/// # let kernel = m.function(unit, "scale")?.code("scale", 0x28).kernel().id();
/// # m.variable(kernel, "x", int)?.live(0x04..0x28, Loc::per_lane(v3))?;
/// # let module = m.finish()?;
/// let mut consumer = Consumer::dwarf5();
/// consumer.is_split = true;
/// let written = lower(&module, &consumer, Policy::Partial)?;
/// let code = ObjectCode::text(vec![0; 0x28]).with_function("scale", 0, 0x28);
/// let main = new_object(module.target(), &code, &written.sections)?;
/// // A name, relative to the folder of the compilation, and the bytes of the file.
/// let [(name, dwo)] = &written.split_files(module.target())?[..] else { panic!("one unit") };
/// println!("{name}");
/// let report = check_split(&module, &consumer, &written.omissions, &main, &[dwo])?;
/// assert!(report.is_clean(), "{report}");
/// # Ok::<(), eitri::Error>(())
/// ```
pub fn check_split(
    module: &Module,
    consumer: &Consumer,
    omissions: &[Omission],
    main: &[u8],
    split: &[&[u8]],
) -> Result<CheckReport> {
    let dialect = dialect(consumer);
    let sizes = read_unlinked(module, consumer, main)?;
    let object = Object::read_placed(main, Placing::Linked(&sizes), Some(module.target()))?;
    let skeletons = match Dwarf::read_with(
        &object,
        &ReadOptions::new().dialect(dialect).draft(consumer.expressions.draft),
    ) {
        Ok(dwarf) => dwarf,
        Err(error) => return Ok(unreadable(&object, &error, omissions)),
    };
    // No linker reads the split files.
    let objects =
        split.iter().map(|bytes| Object::read_for(bytes, module.target())).collect::<Result<Vec<_>>>()?;
    let mut files = Vec::new();
    for file in &objects {
        // Without the skeletons, for the unit's name if reading with them fails.
        let alone =
            Dwarf::read_with(file, &ReadOptions::new().dialect(dialect).draft(consumer.expressions.draft))?;
        match Dwarf::read_split(&skeletons, file) {
            Ok(dwarf) => files.push(dwarf),
            Err(error) => {
                let mut report = unreadable(file, &error, omissions);
                report.findings[0].at.unit =
                    alone.units().first().and_then(|unit| unit.name.as_deref()).map(Into::into);
                return Ok(report);
            }
        }
    }
    let index = Index::new(module, &object);
    let names = module.split_names();
    let omitted = Omitted::new(module, omissions);
    let listed = Listed::All;
    let described = Described { module, consumer, object: &object, index: &index, omitted: &omitted, listed };
    let mut compare = Compare::new(described, &skeletons);
    compare.split.names = &names;
    run_split(&mut compare, &skeletons, &objects, &files);
    Ok(compare.report)
}

/// Runs the whole comparison.
fn run_split<'a, 'o>(
    compare: &mut Compare<'a, 'o>,
    skeletons: &'a Dwarf<'o>,
    objects: &[Object<'_>],
    files: &'a [Dwarf<'o>],
) {
    let object = compare.described.object;
    compare_header(compare, object);
    report_unencodable(compare);
    compare_headers(&mut compare.tables(), object, skeletons);
    let unmatched = skeletons.units().iter().map(|unit| (unit, false)).collect();
    compare.split.main = Some(skeletons);
    compare.split.skeletons = unmatched;
    for (index, unit) in skeletons.units().iter().enumerate() {
        if unit.kind == dw::DW_UT_skeleton {
            compare.split.unmatched.entry(unit.dwo_id).or_default().push_back(index);
        }
    }

    for (object, file) in objects.iter().zip(files) {
        compare_header(compare, object);
        compare_headers(&mut compare.tables(), object, file);
        report_relocations(compare, object);
    }
    // Files match units by the unit's name, not by the file's.
    let mut known = UnitsByName::new(files);
    let mut of_file = vec![Vec::new(); files.len()];
    for (id, unit) in compare.described.module.units() {
        match known.take(compare.described.module.string(unit.name)) {
            Some((file, found)) => of_file[file].push((id, found)),
            None => report_missing_unit(compare, unit),
        }
    }
    report_other_units(compare, known, &files.iter().collect::<Vec<_>>());
    for (file, units) in files.iter().zip(of_file) {
        // Offsets of one file mean nothing in another.
        compare.begin_file(file);
        for (id, found) in units {
            compare_unit_with_root(compare, id, found);
        }
        compare_lookups(&mut compare.tables());
        compare.split.is_first = false;
        compare_pending(compare);
    }
    compare_addresses(&mut compare.tables());
    compare_call_frames(&mut compare.meanings(), skeletons);
    let skeletons = core::mem::take(&mut compare.split.skeletons);
    for (unit, _) in skeletons.into_iter().filter(|&(_, is_taken)| !is_taken) {
        let text = format!("a unit of kind {}, of file {}", unit.kind.describe(), unit.dwo_name.describe());
        compare.report.find(FindingKind::Extra, At::default(), "a skeleton for each split unit", text);
    }
}

/// Reports relocations in a split file, which no linker reads.
fn report_relocations(compare: &mut Compare<'_, '_>, object: &Object<'_>) {
    const SHT_RELA: u32 = 4;
    const SHT_REL: u32 = 9;
    for section in object.sections() {
        if matches!(section.kind, SHT_RELA | SHT_REL) && section.name.ends_with(".dwo") {
            let site = At::new(|context| context.section = Some(section.name.to_string()));
            compare.report.find(
                FindingKind::Unreadable,
                site,
                "no relocations in a split unit's file",
                "some",
            );
        }
    }
}
