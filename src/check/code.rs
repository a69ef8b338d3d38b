//! Code: whether an object contains a module's code, and whether a unit's ranges cover its functions.

use core::ops::Range;

use gimli::constants as dw;
use hashbrown::HashSet;

use super::comparison::Compare;
use super::report::FindingKind;
use super::tree::code_text;
use crate::error::{At, Count, Error, Result};
use crate::model::{Address, CodePart, Function, FunctionId, Module, UnitId, Warned, Warning};
use crate::read::{ElfSection, ElfSymbolKind, Entry, Object, ResolvedValue};

/// Looks for every function's code in an object, before debug information is added to the object.
///
/// A function at a symbol: the object has the symbol, and the code ends before the symbol's section does. A symbol that a
/// relocatable object only refers to is defined by another object.
///
/// A function at an address: a linked object has the code in one section.
///
/// Returns a warning ([`SymbolSize`](crate::model::WarningKind::SymbolSize)) for each function whose code has another size
/// than its symbol, which can be right for assembly code and for functions with several symbols. A symbol without a size is
/// not compared, and neither is a symbol with the code of several functions or parts.
///
/// # Errors
/// [`BadArgument`](crate::error::ErrorKind::BadArgument) with function, symbol and section, for the first function
/// whose code is missing; errors from [`Object::read`].
///
/// # Example
///
/// ```
/// # use eitri::build::Builder;
/// # use eitri::check::check_code;
/// # use eitri::target::Target;
/// # let object = include_bytes!("../../examples/data/saxpy.o");
/// let mut m = Builder::new(Target::named("amdgpu-gfx1030-wave32")?);
/// let unit = m.unit("k01_saxpy.cl");
/// m.function(unit, "saxpy")?.code("saxpy", 0x88).kernel();
/// check_code(&m.finish()?, object)?;
/// # Ok::<(), eitri::Error>(())
/// ```
pub fn check_code(module: &Module, bytes: &[u8]) -> Result<Vec<Warning>> {
    let object = Object::read_for(bytes, module.target())?;
    module.functions.keys().try_for_each(|function| is_there(module, &object, function))?;
    Ok(other_sizes(module, &object))
}

/// Returns a warning for each function whose code has another size than its symbol.
fn other_sizes(module: &Module, object: &Object<'_>) -> Vec<Warning> {
    let parts = || {
        let functions = module.functions.iter();
        functions.flat_map(|(id, function)| function.code_parts().map(move |part| (id, part)))
    };
    // Code in the middle of a symbol: the symbol has the code of more than the function at its start.
    let inner = parts().filter_map(|(_, part)| match part.address {
        Address::Symbol(symbol, 1..) => Some(symbol),
        _ => None,
    });
    let shared: HashSet<_> = inner.collect();
    let mut warnings = Vec::new();
    for (id, part) in parts() {
        let Address::Symbol(symbol, 0) = part.address else { continue };
        let name = module.symbol_name(symbol);
        let Some(found) = object.symbol(name) else { continue };
        let is_sized = found.kind == ElfSymbolKind::Func && found.section.is_some() && found.size > 0;
        if !is_sized || found.size == part.bytes() || shared.contains(&symbol) {
            continue;
        }
        let what = format!(
            "code has {bytes:#x}, but the symbol `{name}` in the object has {size:#x}; expected one size",
            bytes = Count(part.bytes(), "byte"),
            size = Count(found.size, "byte"),
        );
        warnings.push(Warning::of_function(module, Warned::SymbolSize(id), id, None, what));
    }
    warnings
}

/// [`check_code`], for a function of an object that was read.
#[cfg(feature = "import")]
pub(crate) fn check_function(module: &Module, object: &Object<'_>, function: FunctionId) -> Result<()> {
    is_there(module, object, function)
}

/// Returns an error unless the object has a function's code, or another object defines the function's symbol.
pub(super) fn is_there(module: &Module, object: &Object<'_>, function: FunctionId) -> Result<()> {
    let data = module.function(function);
    data.code_parts().try_for_each(|part| is_part_there(module, object, data, &part))
}

fn is_part_there(module: &Module, object: &Object<'_>, data: &Function, part: &CodePart) -> Result<()> {
    let CodePart { address, ref pcs, .. } = *part;
    let bytes = pcs.end - pcs.start;
    let wrong = |section: Option<&ElfSection<'_>>, what: String| {
        let section = section.map(|section| section.name.clone().into_owned());
        Err(Error::bad_argument(what)
            .or_at(module.at_scope(data.scope).with(|context| context.section = section)))
    };
    let (start, section, what) = match address {
        Address::Symbol(symbol, by) => {
            let name = module.symbol_name(symbol);
            let Some(symbol) = object.symbol(name) else {
                return wrong(None, format!("the object has no symbol `{name}`, where its code is"));
            };
            let section = symbol.section.and_then(|section| object.sections().get(section));
            match section {
                Some(_) => {}
                None if object.is_relocatable() || symbol.is_defined => return Ok(()),
                None => {
                    let problem =
                        format!("the object does not define the symbol `{name}`, where its code is");
                    return wrong(None, problem);
                }
            }
            let what = match by {
                0 => format!("symbol `{name}`"),
                _ => format!("{by:#x} after symbol `{name}`"),
            };
            // The address is compared with the section below; an overflow is past its end.
            (symbol.address.checked_add(by), section, what)
        }
        // A relocatable object has no addresses yet: there is nothing to look up.
        Address::Constant(_) if object.is_relocatable() => return Ok(()),
        Address::Constant(start) => {
            let is_around = |section: &&ElfSection<'_>| {
                section.is_loaded()
                    && start.checked_sub(section.address).is_some_and(|offset| offset < section.size)
            };
            let what = format!("address {start:#x}");
            let section = object.sections().iter().find(is_around);
            if section.is_none() {
                return wrong(None, format!("no section of the object is at {what}, where its code is"));
            }
            (Some(start), section, what)
        }
    };
    let Some(section) = section else { return Ok(()) };
    let end = start.and_then(|start| start.checked_sub(section.address)?.checked_add(bytes));
    match end {
        Some(end) if end <= section.size => Ok(()),
        _ => {
            let has = section.size;
            let problem = format!(
                "code of {bytes:#x} at {what} goes past the end of the section, which has {has:#x}",
                bytes = Count(bytes, "byte"),
                has = Count(has, "byte")
            );
            wrong(Some(section), problem)
        }
    }
}

/// Compares a unit's ranges with its functions' code.
pub(super) fn compare_code<'a, 'o>(compare: &mut Compare<'a, 'o>, id: UnitId, root: Entry<'a, 'o>, at: &At) {
    let actual = match root.ranges() {
        Ok(ranges) => ranges,
        Err(error) => return compare.report.unreadable(compare.described.object, &error, at.clone()),
    };
    let [start, end, ranges] =
        [dw::DW_AT_low_pc, dw::DW_AT_high_pc, dw::DW_AT_ranges].map(|name| root.has(name));
    // `DW_AT_high_pc` means nothing without `DW_AT_low_pc`, and `DW_AT_ranges` replaces both.
    if end && (!start || ranges) {
        let actual = if start { "an end with ranges" } else { "an end without a start" };
        compare.report.find(
            FindingKind::Code,
            at.clone(),
            "the start and the end of a unit, or ranges",
            actual,
        );
    }
    let pcs = compare.described.object.pc_notation();
    if compare.described.consumer.lists.has_absolute_bounds {
        // The base of the unit's lists, whose addresses are absolute.
        let base = match root.attr(dw::DW_AT_low_pc) {
            Some(ResolvedValue::Address(base)) => base,
            _ => 0,
        };
        if !actual.is_empty() || base != 0 {
            let actual = if actual.is_empty() { pcs.pc(base).to_string() } else { code_text(pcs, &actual) };
            compare.report.find(
                FindingKind::Code,
                at.clone(),
                "no ranges, and 0 as the base of lists",
                actual,
            );
        }
        return;
    }
    let expected = compare.described.unit_code(id);
    if !is_code_of(&actual, &expected) {
        compare.report.find(
            FindingKind::Code,
            at.clone(),
            code_text(pcs, &expected),
            code_text(pcs, &actual),
        );
    }
}

/// Returns whether a unit's ranges cover the same bytes as its functions, and no byte more often. A linker that folds
/// identical code merges two functions, and leaves a range for each.
pub(super) fn is_code_of(unit: &[Range<u64>], functions: &[Range<u64>]) -> bool {
    // Sweep: at each address, by how much the counts change for the unit's and the functions' ranges.
    let mut steps: Vec<(u128, i64, i64)> = Vec::new();
    for (ranges, unit, functions) in [(unit, 1, 0), (functions, 0, 1)] {
        for range in ranges {
            // 128 bits, because a range can end at 2^64.
            let start = u128::from(range.start);
            let bytes = range.end.wrapping_sub(range.start);
            steps.push((start, unit, functions));
            steps.push((start + u128::from(bytes), -unit, -functions));
        }
    }
    steps.sort_unstable();
    let mut unit = 0;
    let mut functions = 0;
    steps.chunk_by(|left, right| left.0 == right.0).all(|here| {
        for step in here {
            (unit, functions) = (unit + step.1, functions + step.2);
        }
        // Between two addresses: a unit may cover shared code once or once per function.
        unit <= functions && (unit > 0) == (functions > 0)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_that_functions_share_may_be_there_once_or_for_each() {
        let f = 0x10..0x20;
        let g = 0x10..0x18;
        let h = 0x20..0x28;
        let functions = [f.clone(), g.clone(), h.clone()];
        let right: [&[Range<u64>]; 6] = [
            &[f.clone(), g.clone(), h.clone()],
            &[0x10..0x28],
            &[h.clone(), f.clone()],
            &[g.clone(), 0x18..0x28],
            &[0x10..0x28, 0x12..0x14],
            &[f.clone(), 0x14..0x14, h.clone()],
        ];
        for unit in right {
            assert!(is_code_of(unit, &functions), "{unit:x?}");
        }
        let wrong: [&[Range<u64>]; 8] = [
            &[],
            &[f.clone(), g.clone()],
            &[f.clone(), h.clone(), h.clone()],
            &[f.clone(), f.clone(), h.clone()],
            &[f.clone(), g.clone(), g.clone(), h.clone()],
            &[0x10..0x29],
            &[0x0f..0x28],
            &[0x10..0x1f, h],
        ];
        for unit in wrong {
            assert!(!is_code_of(unit, &functions), "{unit:x?}");
        }
        // Ranges that end at the last address, and an empty range.
        let last = [u64::MAX - 3..u64::MAX.wrapping_add(1), 8..8];
        assert!(is_code_of(&last[..1], &last));
    }
}
