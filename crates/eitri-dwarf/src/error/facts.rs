//! Facts in errors, to which a program can react.

use core::ops::Range;

use crate::texts;

texts! {
    /// A feature that some targets lack.
    Feature: Copy, Hash;

    Lanes "lanes";
    LaneScratch "per-lane scratch memory";
    WaveScratch "per-wave scratch memory";
    InlinedRows "inlined calls in `.loc` (PTX 7.2)";
}

texts! {
    /// Debug information that an input already has.
    Present;

    Section(name: String) "the object already has a section `{name}`";
    PtxSection(name: String) "the PTX text already has a section {name}";
    PtxOption "the PTX text already has the option `debug`";
    PtxLines "the PTX text already has line directives";
    Instructions(set: String) "the module already has {set} instructions";
}

texts! {
    /// Property of the code in an object or a module, compared with the target's property.
    Identity;

    Machine(number: u16) "ELF machine {number}";
    LittleEndian "little endian";
    BigEndian "big endian";
    Processor(number: u32) "AMD processor {number:#04x}";
    Ptx "PTX";
    Name(name: String) "target {name}";
}

texts! {
    /// Violated rule about a consumer's fields.
    Conflict;

    Version(version: u16) "DWARF version {version} is not supported; expected 2 to 5";
    Names(version: u16) "DWARF {version} has no `.debug_names`; expected DWARF 5, or `.debug_pubnames`";
    TypeUnits(version: u16) "DWARF {version} has no type units; expected DWARF 4 or 5";
    NamesOfTypeUnits "`.debug_names` cannot refer to type units in an object, because a linker may drop them";
    EhFrame(target: String) "the ABI of {target} has no `.eh_frame`";
    InlinedRows "the line table has the names of inlined functions in `.debug_str`; expected strings in the entries, and DWARF 2 to 4";
    LineDirectives(target: String) "the consumer reads PTX, which target {target} does not have; expected an NVIDIA target";
    SplitVersion(version: u16) "DWARF {version} has no split units; expected DWARF 5";
    SplitTypeUnits "split units cannot be combined with type units";
    References "split units and type units cannot refer to types of other units";
    SplitStream "split units cannot be lowered as a stream, because one module names their files";
    DirectivesStream "line directives cannot be lowered as a stream, because one module numbers their files";
}

texts! {
    /// A number that must be a multiple of another number.
    Aligned: Copy, Hash;

    Instruction "start of an instruction";
    CodeBytes "code size";
    RowOffset "offset of an all-lane slot";
}

texts! {
    /// Violated rule about a SPIR-V value that a variable has.
    UnavailableValue: Copy, Hash;

    OtherFunction(id: u32) "%{id} is defined in another function";
    Later(id: u32) "%{id} is defined after the position at which it is bound";
    NotDominating(id: u32, defined: usize, used: usize)
        "%{id}, defined at word {defined}, does not dominate its use at word {used}";
}

/// Kinds of code that must lie within a scope's code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Enclosed {
    /// A scope's entry pc, within the scope's code.
    EntryPc,
    /// A scope's code, within the enclosing scope.
    Scope,
    /// A divergent region, within an inlined call.
    Region,
    /// A variable's live range, within the code of its block or inlined call.
    Live,
}

/// Maximum number of ranges in a message.
const SHOWN: usize = 4;

impl Enclosed {
    /// Returns the message, which ends with the enclosing code.
    pub(super) fn message(self, code: &[Range<u64>]) -> String {
        let problem = match self {
            Self::EntryPc => "entry pc is outside the scope's code",
            Self::Scope => "scope is not within one range of the enclosing scope",
            Self::Region => "region is not within one range of its inlined call",
            Self::Live => "live range is not within the code of the variable's scope",
        };
        let mut ranges = String::new();
        for Range { start, end } in code.iter().take(SHOWN) {
            ranges += &format!("{}{start:#x}..{end:#x}", if ranges.is_empty() { "" } else { ", " });
        }
        let more = if code.len() > SHOWN { ", …" } else { "" };
        format!("{problem}: {ranges}{more}")
    }
}
