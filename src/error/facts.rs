//! Facts of errors, to which a program can react.

use core::ops::Range;

use super::texts;

texts! {
    /// A feature that some targets lack.
    Feature: Copy, Hash;

    Lanes "lanes";
    LaneScratch "scratch memory of each lane";
    WaveScratch "scratch memory of the wave";
    InlinedRows "inlined calls in `.loc`, which came with PTX 7.2";
}

texts! {
    /// Debug information that an input already has.
    Present;

    Section(name: String) "an added section has a new name: the object already has `{name}`";
    PtxSection(name: String) "the text has a section {name} already";
    PtxOption "the text has the option `debug` already";
    PtxLines "the text has line directives already";
    Instructions(set: String) "the module has instructions of {set} already";
}

texts! {
    /// A property of the code in an object or a module, compared with that of the target.
    Identity;

    Machine(number: u16) "ELF machine {number}";
    LittleEndian "little endian";
    BigEndian "big endian";
    Processor(number: u32) "AMD processor {number:#04x}";
    Ptx "PTX";
    Name(name: String) "target {name}";
}

texts! {
    /// A rule that the fields of a consumer violate.
    Conflict;

    Version(found: u16) "DWARF 2 to 5 are written: the version is {found}";
    Names(found: u16)
        "`.debug_names` came with DWARF 5, older versions have `.debug_pubnames`: the version is {found}";
    TypeUnits(found: u16) "type units require DWARF 4 or newer: the version is {found}";
    NamesOfTypeUnits "`.debug_names` of an object cannot refer to type units, which a linker may drop";
    EhFrame(target: String) "the ABI of the target has `.eh_frame`: that of {target} does not";
    SplitVersion(found: u16) "split units are written in DWARF 5: the version is {found}";
    SplitTypeUnits "split units are written without type units";
    SplitStream "split units are lowered from one module, which gives their files names";
    DirectivesStream "line directives are lowered from one module, which gives its files numbers";
}

texts! {
    /// A number that is a multiple of another.
    Aligned: Copy, Hash;

    Instruction "an instruction begins at a multiple";
    CodeBytes "the size of the code is a multiple";
    RowOffset "a slot for all lanes begins at a multiple";
}

texts! {
    /// A rule for the values of a SPIR-V module that a variable has, with the violation.
    Unavailable: Copy, Hash;

    OtherFunction(id: u32) "%{id} is defined in another function";
    Later(id: u32) "%{id} is defined behind the position at which it is bound";
    NotDominating(id: u32, defined: usize, used: usize)
        "a value is available where its definition dominates: %{id}, defined at word {defined}, does not dominate \
         word {used}";
}

/// Kinds of code that lie within the code of a scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Enclosed {
    /// The entry pc of a scope, in the code of the scope.
    EntryPc,
    /// The code of a scope, in that of the enclosing scope.
    Scope,
    /// A divergent region, in an inlined call.
    Region,
}

/// Number of ranges that a message has at most.
const SHOWN: usize = 4;

impl Enclosed {
    /// The message, with the code that is around.
    pub(super) fn message(self, code: &[Range<u64>]) -> String {
        let rule = match self {
            Self::EntryPc => "the entry pc of a scope is in the code of the scope",
            Self::Scope => "the code of a scope is in one range of the enclosing scope",
            Self::Region => "a region is in one range of its inlined call",
        };
        let mut ranges = String::new();
        for Range { start, end } in code.iter().take(SHOWN) {
            ranges += &format!("{}{start:#x}..{end:#x}", if ranges.is_empty() { "" } else { ", " });
        }
        let more = if code.len() > SHOWN { ", …" } else { "" };
        format!("{rule}: {ranges}{more}")
    }
}
