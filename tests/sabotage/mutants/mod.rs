//! Mutants: files with a few changed bytes in their debug sections. `check` panics on none, and takes a bounded number
//! of steps. What another reader prints of a mutant that is clean is what it prints of the original, except where a
//! specification gives the bytes no meaning.

mod judge;
mod kinds;

use core::ops::Range;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use eitri::check::CheckReport;
use object::{Object, ObjectSection};

use crate::common::cases::{Random, cases};
use crate::common::tools::Folder;
use kinds::Specimen;

/// Debug sections of a file, with their names; the sections' lines of a PTX text.
fn regions(file: &[u8]) -> Vec<(String, Range<usize>)> {
    if !file.starts_with(b"\x7fELF") {
        let start = file.windows(8).position(|bytes| bytes == b".section").expect("sections");
        return vec![("text".into(), start..file.len())];
    }
    let object = object::File::parse(file).expect("an object");
    let named = object.sections().filter_map(|section| {
        let (start, bytes) = section.file_range()?;
        Some((section.name().ok()?.to_owned(), start as usize..(start + bytes) as usize))
    });
    named.filter(|(name, range)| name.contains(".debug_") && !range.is_empty()).collect()
}

/// Changes a few bytes: flips a bit, replaces, swaps, clears or copies.
fn change(random: &mut Random, bytes: &mut [u8]) {
    let at = random.below(bytes.len());
    let other = random.below(bytes.len());
    let run = 1 + random.below(8);
    match random.below(10) {
        0..4 => bytes[at] ^= 1 << random.below(8),
        4..6 => bytes[at] = random.next() as u8,
        6 => bytes[at] = bytes[other],
        7 => bytes.swap(at, other),
        8 => bytes[at..].iter_mut().take(run).for_each(|byte| *byte = 0),
        _ => {
            let run = run.min(bytes.len() - at.max(other));
            bytes.copy_within(other..other + run, at);
        }
    }
}

/// Changes a digit.
fn change_text(random: &mut Random, bytes: &mut [u8]) {
    let digits: Vec<usize> = (0..bytes.len()).filter(|&at| bytes[at].is_ascii_digit()).collect();
    let at = digits[random.below(digits.len())];
    bytes[at] = match random.below(3) {
        0 => bytes[digits[random.below(digits.len())]],
        1 => b'0' + (bytes[at] - b'0') % 9 + 1,
        _ => b'0' + random.below(10) as u8,
    };
}

/// Result of a comparison, and the steps that it took.
fn checked(specimen: &Specimen, files: &[Vec<u8>]) -> Option<(eitri::Result<CheckReport>, u64)> {
    let mut report = None;
    let mut run = || report = Some(specimen.check(files));
    #[cfg(debug_assertions)]
    let steps = catch_unwind(AssertUnwindSafe(|| eitri_dwarf::work::steps(&mut run))).ok()?;
    #[cfg(not(debug_assertions))]
    let steps = catch_unwind(AssertUnwindSafe(|| run())).map(|()| 0).ok()?;
    Some((report.expect("was run"), steps))
}

/// Checks mutants of a file.
fn sweep(name: &str, specimen: &Specimen) {
    let (original, own_steps) = checked(specimen, &specimen.files).expect("no panic");
    let original = original.expect("is read");
    assert!(original.is_clean(), "{name}: {original}");
    let regions = (0..)
        .zip(&specimen.files)
        .flat_map(|(file, bytes)| regions(bytes).into_iter().map(move |(name, range)| (file, name, range)));
    let regions: Vec<(usize, String, Range<usize>)> = regions.collect();
    let size: usize = regions.iter().map(|(.., range)| range.len()).sum();
    let folder = Folder::new();
    let facts: Vec<_> = specimen.files.iter().map(|file| judge::facts(&folder, file)).collect();
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut reasons = BTreeMap::<(&str, &str), usize>::new();
    let mut faults = Vec::new();
    let [mut found, mut refused, mut clean, mut most_steps] = [0, 0, 0, 0];
    for number in 0..cases(100) {
        let mut at = random.below(size);
        let (file, section, range) = regions
            .iter()
            .find(|(.., range)| {
                let is_here = at < range.len();
                at -= if is_here { 0 } else { range.len() };
                is_here
            })
            .expect("a section");
        let mut files = specimen.files.clone();
        let bytes = &mut files[*file][range.clone()];
        while *bytes == specimen.files[*file][range.clone()] {
            if section == "text" { change_text(&mut random, bytes) } else { change(&mut random, bytes) }
        }
        let changed = || {
            let both = files[*file].iter().zip(&specimen.files[*file]).enumerate();
            let bytes = both.filter(|(_, (new, old))| new != old);
            let bytes = bytes.map(|(at, (&new, &old))| (at - range.start, old, new)).collect();
            judge::Change { section, bytes }
        };
        let about = || {
            let bytes =
                changed().bytes.into_iter().map(|(at, old, new)| format!("{at:#x}: {old:02x} to {new:02x}"));
            format!("{name}, mutant {number}, {section} {}", bytes.collect::<Vec<_>>().join(", "))
        };
        let Some((report, steps)) = checked(specimen, &files) else {
            faults.push(format!("{}: a panic", about()));
            continue;
        };
        most_steps = most_steps.max(steps);
        match report {
            Err(_) => refused += 1,
            Ok(report) if !report.is_clean() || report.unproven != original.unproven => found += 1,
            Ok(_) => {
                clean += 1;
                let facts = facts[*file].as_ref().zip(judge::facts(&folder, &files[*file]));
                match facts.map(|(original, mutant)| judge::reason(original, &mutant, &changed())) {
                    Some(Err(difference)) => faults.push(format!("{}:\n{difference}", about())),
                    Some(Ok(why)) => *reasons.entry((section, why)).or_default() += 1,
                    None => {}
                }
            }
        }
    }
    println!(
        "{name}: {found} mutants found, {refused} refused, {clean} clean; {most_steps} steps at most, {own_steps} without a change"
    );
    for ((section, why), count) in reasons {
        println!("  {count} in {section}: {why}");
    }
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
    assert!(most_steps <= 40 * own_steps, "{most_steps} steps, and {own_steps} without a change");
    assert!(found > clean, "{found} found, {clean} clean");
}

macro_rules! sweeps {
    ($($name:ident,)*) => {
        $(
            #[test]
            fn $name() {
                sweep(stringify!($name), &kinds::$name());
            }
        )*
    };
}

sweeps! {
    relocatable, lanes, frames, lists, compressed, dwarf2, dwarf3, dwarf4, big_endian, calls, types, split_units, ptx,
}

/// Changes each relocation of debug sections: to one without a symbol, to one that does nothing, to another field.
#[test]
fn changed_relocations_are_found() {
    let specimens = [
        ("relocatable", kinds::relocatable()),
        ("lanes", kinds::lanes()),
        ("frames", kinds::frames()),
        ("lists", kinds::lists()),
        ("dwarf2", kinds::dwarf2()),
        ("dwarf3", kinds::dwarf3()),
        ("dwarf4", kinds::dwarf4()),
        ("big_endian", kinds::big_endian()),
        ("calls", kinds::calls()),
        ("types", kinds::types()),
    ];
    let mut missed = Vec::new();
    let mut count = 0;
    for (name, specimen) in &specimens {
        let is_big = specimen.module.target().is_big_endian();
        let file = &specimen.files[0];
        // Elf64_Rela: an offset; symbol and type, of which the symbol is the upper half; an addend.
        let [symbol, kind] = if is_big { [8..12, 12..16] } else { [12..16, 8..12] };
        for (section, range) in regions(file).into_iter().filter(|(name, _)| name.starts_with(".rela")) {
            for at in range.step_by(24) {
                for (field, range, number) in
                    [("symbol", symbol.clone(), 0u64), ("type", kind.clone(), 0), ("offset", 0..8, 7)]
                {
                    let mut changed = file.clone();
                    let bytes = &mut changed[at..][range];
                    let len = bytes.len();
                    let [least, most] = [number.to_le_bytes(), number.to_be_bytes()];
                    bytes.copy_from_slice(if is_big { &most[8 - len..] } else { &least[..len] });
                    count += 1;
                    if specimen.check(&[changed]).is_ok_and(|report| report.is_clean()) {
                        missed.push(format!(
                            "{name}, {section}: the {field} of the entry at {at:#x} in the file"
                        ));
                    }
                }
            }
        }
    }
    assert!(missed.is_empty(), "{} of {count}:\n{}", missed.len(), missed.join("\n"));
    assert!(count > 700, "{count}");
}

/// References by an offset in `.debug_info` instead of one in the unit: a linker that puts the unit elsewhere makes them
/// wrong. In the object the unit is the first, so that the numbers are equal.
#[test]
fn offsets_that_linkers_do_not_change_are_found() {
    // DW_OP_call4 and DW_OP_call_ref; DW_FORM_ref4 and DW_FORM_ref_addr.
    let changes = [(".debug_info", 0x99, 0x9a), (".debug_abbrev", 0x13, 0x10)];
    let specimen = kinds::relocatable();
    let original = &specimen.files[0];
    let mut counts = [0; 2];
    for (section, range) in regions(original) {
        for ((changed, old, new), count) in changes.iter().zip(&mut counts) {
            if section != *changed {
                continue;
            }
            for at in range.clone().filter(|&at| original[at] == *old) {
                let mut file = original.clone();
                file[at] = *new;
                let is_clean = specimen.check(&[file]).is_ok_and(|report| report.is_clean());
                assert!(!is_clean, "{section}: {old:#x} at {:#x}", at - range.start);
                *count += 1;
            }
        }
    }
    assert!(counts.iter().all(|&count| count > 0), "{counts:?}");
}

/// Indices after the end of the unit's own table of addresses, where another unit has the same address.
#[test]
fn indices_in_the_table_of_another_unit_are_found() {
    let specimen = kinds::split_units();
    let number = specimen.files.len() - 1;
    let (_, range) = regions(&specimen.files[number])
        .into_iter()
        .find(|(section, _)| section == ".debug_info.dwo")
        .expect("the split unit's section");
    // DW_OP_addrx with one byte.
    let operands: Vec<usize> = range.clone().filter(|&at| specimen.files[number][at - 1] == 0xa1).collect();
    assert!(!operands.is_empty());
    for at in operands {
        for index in 0..=u8::MAX {
            let mut files = specimen.files.clone();
            if files[number][at] == index {
                continue;
            }
            files[number][at] = index;
            let is_clean = specimen.check(&files).is_ok_and(|report| report.is_clean());
            assert!(!is_clean, "index {index} at {:#x}", at - range.start);
        }
    }
}

#[test]
fn linked() {
    if let Some(specimen) = kinds::linked() {
        sweep("linked", &specimen);
    }
}
