//! Modules written as sections, as an object, and into an object; and compared with an object.

use std::ffi::{CString, c_char, c_int, c_void};

use eitri::emit::{RelocationTarget, Section};
use eitri::lower::lower;
use eitri::output::{Comparison, attached_output, compare, new_output};

use crate::buffer::{eitri_buffer, put};
use crate::description::eitri_module;
use crate::error::{Failure, eitri_error, eitri_result, run};
use crate::finding::{Callback, eitri_finding_callback};
use crate::handle;
use crate::input::{array, c_text, place};
use crate::options::{Options, eitri_options};

/// Symbol or section whose address or offset a relocation stores.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum eitri_relocation_kind {
    /// The start of another debug section: the section with this name in the same group, or else in no group.
    EITRI_SECTION = 0,
    /// A symbol of the code or data.
    EITRI_SYMBOL = 1,
    /// The distance from the field to a symbol.
    EITRI_DISTANCE = 2,
}

/// A field that the linker computes.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct eitri_relocation {
    /// Offset of the field from the start of the section, in bytes. The field is 0.
    pub offset: u64,
    /// Number of bytes to add, modulo 2^64.
    pub addend: u64,
    /// Name of the section or symbol.
    pub name: *const c_char,
    /// Kind of the target.
    pub kind: eitri_relocation_kind,
    /// Size of the field in bytes: 4 or 8.
    pub size: u8,
}

/// A debug section.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct eitri_section {
    /// Name, with the leading dot.
    pub name: *const c_char,
    /// Contents.
    pub data: *const u8,
    /// Number of bytes.
    pub size: usize,
    /// Relocations, with ascending offsets.
    pub relocations: *const eitri_relocation,
    /// Number of relocations.
    pub relocation_count: usize,
    /// Whether the section consists of strings that end with a NUL, and that a linker may merge.
    pub is_strings: bool,
    /// Whether the section is in the group `group`; a linker keeps one group with this name.
    pub has_group: bool,
    /// Signature of the type unit in the section's group.
    pub group: u64,
}

/// A callback that gets a section.
pub type eitri_section_callback =
    Option<unsafe extern "C" fn(context: *mut c_void, section: *const eitri_section) -> c_int>;

/// Counts of a comparison.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct eitri_check_counts {
    /// Differences. 0 if the object says what the module says.
    pub findings: u64,
    /// Parts that cannot be compared, such as raw expressions.
    pub unproven: u64,
    /// Compared debugging information entries.
    pub entries: u64,
    /// Compared locations: in a cubin, of each variable at each pc.
    pub locations: u64,
    /// Compared rows of line tables.
    pub rows: u64,
}

/// Writes a module's debug sections, for an object that the caller writes, and passes each to a callback.
///
/// # Safety
/// `options` is NULL or points to options; `section` takes `context`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eitri_emit_sections(
    module: *const eitri_module,
    options: *const eitri_options,
    section: eitri_section_callback,
    context: *mut c_void,
    error: *mut *mut eitri_error,
) -> eitri_result {
    let body = || {
        let module = handle::get(module, "module")?;
        // SAFETY: of the caller.
        let options = unsafe { Options::writing(options) }?;
        let callback = section.ok_or_else(|| Failure::argument("`section` is NULL; expected a callback"))?;
        let consumer = options.consumer(module.0.target())?;
        let lowered = lower(&module.0, &consumer, options.policy())?;
        let warnings = if options.warned.is_set() { module.0.warnings() } else { Vec::new() };
        // SAFETY: of the caller.
        unsafe { options.tell(&lowered.omissions, &warnings) }?;
        for section in &lowered.sections {
            // SAFETY: of the caller.
            match with_section(section, |section| unsafe { callback(context, section) }) {
                0 => {}
                number => return Err(Failure::Callback("section", number)),
            }
        }
        Ok(())
    };
    // SAFETY: of the caller.
    unsafe { run(error, body) }
}

/// Calls a function with a section as C has it.
fn with_section(section: &Section, call: impl FnOnce(*const eitri_section) -> c_int) -> c_int {
    let names: Vec<CString> = section
        .relocations
        .iter()
        .map(|relocation| match &relocation.target {
            RelocationTarget::Section(name) => c_text(*name),
            RelocationTarget::Symbol(name) => c_text(&**name),
            RelocationTarget::Distance(name) => c_text(&**name),
        })
        .collect();
    let relocations: Vec<eitri_relocation> = section
        .relocations
        .iter()
        .zip(&names)
        .map(|(relocation, name)| eitri_relocation {
            offset: relocation.offset,
            addend: relocation.addend,
            name: name.as_ptr(),
            kind: match relocation.target {
                RelocationTarget::Section(_) => eitri_relocation_kind::EITRI_SECTION,
                RelocationTarget::Symbol(_) => eitri_relocation_kind::EITRI_SYMBOL,
                RelocationTarget::Distance(_) => eitri_relocation_kind::EITRI_DISTANCE,
            },
            size: relocation.bytes,
        })
        .collect();
    let name = c_text(section.name);
    let passed = eitri_section {
        name: name.as_ptr(),
        data: section.bytes.as_ptr(),
        size: section.bytes.len(),
        relocations: relocations.as_ptr(),
        relocation_count: relocations.len(),
        is_strings: section.is_strings,
        has_group: section.group.is_some(),
        group: section.group.unwrap_or_default(),
    };
    call(&raw const passed)
}

/// Writes a module as a new relocatable ELF object that has only debug sections, with undefined symbols for the code, into
/// a new buffer. PTX is not an object: for "cuda-gdb", `eitri_attach` writes it.
///
/// # Safety
/// `options` is NULL or points to options; `object` can be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eitri_emit(
    module: *const eitri_module,
    options: *const eitri_options,
    object: *mut *mut eitri_buffer,
    error: *mut *mut eitri_error,
) -> eitri_result {
    let body = || {
        let module = handle::get(module, "module")?;
        // SAFETY: of the caller.
        let options = unsafe { Options::writing(options) }?;
        let make = || {
            let consumer = options.consumer(module.0.target())?;
            let output = new_output(&module.0, &consumer, None, &options.output()?)?;
            // SAFETY: of the caller.
            unsafe { options.tell(&output.omissions, &output.warnings) }?;
            Ok(output.bytes.into())
        };
        // SAFETY: of the caller.
        unsafe { put(object, "object", make) }
    };
    // SAFETY: of the caller.
    unsafe { run(error, body) }
}

/// Adds a module's debug information to an ELF object with the code, relocatable or linked; for "cuda-gdb", to a PTX text.
/// The result is a new buffer.
///
/// # Safety
/// `code` points to `size` bytes; `options` is NULL or points to options; `object` can be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eitri_attach(
    module: *const eitri_module,
    code: *const c_char,
    size: usize,
    options: *const eitri_options,
    object: *mut *mut eitri_buffer,
    error: *mut *mut eitri_error,
) -> eitri_result {
    let body = || {
        let module = handle::get(module, "module")?;
        // SAFETY: of the caller.
        let code: &[u8] = unsafe { array(code.cast(), size, "code") }?;
        // SAFETY: of the caller.
        let options = unsafe { Options::attaching(options) }?;
        let make = || {
            let consumer = options.consumer(module.0.target())?;
            let output = attached_output(&module.0, &consumer, code, &options.output()?)?;
            // SAFETY: of the caller.
            unsafe { options.tell(&output.omissions, &output.warnings) }?;
            Ok(output.bytes.into())
        };
        // SAFETY: of the caller.
        unsafe { put(object, "object", make) }
    };
    // SAFETY: of the caller.
    unsafe { run(error, body) }
}

/// Compares an object, or a PTX text, with the module that was written into it: entries, rows, frames, and locations by
/// evaluation. For "cuda-gdb", an object is the cubin that ptxas generated from the PTX, and has its text. Each difference is passed to a callback. Differences are no error: `counts` has their number.
///
/// # Safety
/// `object` points to `size` bytes; `options` is NULL or points to the options with which the object was written; `finding`
/// takes `context`; `counts` can be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eitri_check(
    module: *const eitri_module,
    object: *const c_char,
    size: usize,
    options: *const eitri_options,
    finding: eitri_finding_callback,
    context: *mut c_void,
    counts: *mut eitri_check_counts,
    error: *mut *mut eitri_error,
) -> eitri_result {
    let body = || {
        let module = handle::get(module, "module")?;
        // SAFETY: of the caller.
        let object: &[u8] = unsafe { array(object.cast(), size, "object") }?;
        // SAFETY: of the caller.
        let options = unsafe { Options::attaching(options) }?;
        // SAFETY: of the caller.
        let counts = unsafe { place(counts, "counts") }?;
        let consumer = options.consumer(module.0.target())?;
        let compared = compare(&module.0, &consumer, options.policy(), object, &[])?;
        let callback = Callback::new("finding", finding, context);
        for finding in compared.findings() {
            // SAFETY: of the caller.
            unsafe { callback.finding(finding.into()) }?;
        }
        let findings = compared.findings().len() as u64;
        let none = eitri_check_counts { findings, unproven: 0, entries: 0, locations: 0, rows: 0 };
        counts.write(match &compared {
            Comparison::Report(report) => eitri_check_counts {
                unproven: report.unproven.len() as u64,
                entries: report.entries,
                locations: report.locations,
                rows: report.rows,
                ..none
            },
            Comparison::Coverage(coverage) => {
                let (_, located, _) = coverage.totals();
                eitri_check_counts { locations: located, ..none }
            }
        });
        Ok(())
    };
    // SAFETY: of the caller.
    unsafe { run(error, body) }
}
