//! Facts that an import leaves out, with the reason: one table.

use core::fmt;
use core::ops::Range;

use gimli::{DwAt, DwTag};

use super::expression::Untyped;
use crate::attributes;
use crate::error::{Count, Error, PcText};
use crate::read::{PcNotation, ResolvedValue};
use eitri_dwarf::texts;

texts! {
    /// Reason why an import leaves out a fact.
    UnimportedReason;

    Refused(why: Error) "{why}";
    Unreadable(why: Error) "{why}";
    NoProperty "the model has no such property";
    NoEntity(tag: DwTag) "the model has no entity for {} in the entry around it", tag_text(*tag);
    InsideEntry "the entry around it is not imported";
    Unreferenced "its unit is imported only as far as other units refer to it, and no imported entry does";
    Unselected "it belongs to another function than the selected functions";
    ValueClass(value: String, expected: &'static str) "its value is {value}; expected {expected}";
    ValueRange(value: i128) "its value {value} is out of range";
    OtherValue(value: u64, expected: String) "its value is {value}; expected {expected}";
    OtherName(value: String, expected: String)
        "its value is `{value}`; expected `{expected}`, the name that the function has already";
    MissingReference "it refers to an entry that is missing or not imported";
    NoCode "it has pcs, and the function around it has no code";
    OtherCode "it has pcs outside the function around it";
    SeveralRanges "the function's code has overlapping ranges or more than 256; expected at most 256 separate ranges";
    EmptyPcs "its pc range is empty";
    ReversedPcs "its pc range ends before it begins";
    DiscardedCode "its code is not in the object";
    OtherCopy "the object has the code of another copy of the function";
    OnlyDiscarded "only code or data that is not in the object refers to it";
    UnknownSymbol(address: u64) "no symbol is at or before its address {address:#x}";
    Untyped(why: Untyped) "no location or number of the model is that of its expression: {why}";
    UntypedExpression "its expression has no equivalent in the model";
    BlockExpression(why: Error) "its expression is not imported: {why}";
    TooManyLocations "its location list has too many overlapping ranges";
    UndefinedBeside "it is undefined where the variable has another location";
    NoFunction "neither a function nor a row of a unit has its code";
    PartialSums "its checksum is omitted: other files of the unit have none";
    MissingFile(number: u64) "the line table has no file {number}";
    FileTime "the time and size of a file are not imported";
    RowState "its operation index, instruction set or basic block is not imported";
    FrameState "the size of its arguments or the signature of its return address is not imported";
    FrameDetail "its augmentation is not imported";
    ReturnRegisters "the frames of the function's parts have several return address registers";
    PartOfFrame "neither a function nor a row of a unit has a part of its code";
    SecondFrame "its code, or a part of it, has another frame";
    TooManyFunctions "too many functions have its code";
    NoFrameBase "its canonical frame address has no rule at some pc";
    NoSplitUnit "its split unit is not read";
    UnitKind "such a unit is not imported";
    LanePcs "it has a form that is not that of regions and whole-wave code";
    AsVariable "a parameter in a block is imported as a variable";
    DeclarationLocation "a declaration has no location";
    SecondLocation "the variable has a location already";
    RegisterHome(home: String) "its PTX register is in {home}; expected a general register";
    NoRegisterHome(registers: String) "its PTX registers have no homes at its pcs: {registers}";
    PtxRegister(register: String) "it has the PTX register {register}, without pcs at which the register has a home";
    RegisterHomes(count: usize) "homes of PTX registers that are no variable's location: {count}";
    RegisterTypes "types of PTX registers are not imported";
    LocationViews "numbers of views at an address are not imported";
    Misaligned "it is inside an instruction";
    CyclicType "the type contains itself; its members are not imported";
    AsClass "an interface is imported as a class";
    AsUnspecified "its type is imported as an unspecified type";
    UnknownSection(name: String) "the section `{name}` is removed: it is unknown, and can refer to a section that is replaced";
    DeclarationOfLocated "a variable with a location is imported as defined";
    SplitName(name: String, why: Error) "the name `{name}` of its split file is not imported: {why}";
    TooManyCopies "too many entries are imported again for other units";
}

fn tag_text(tag: DwTag) -> String {
    tag.static_string().map_or_else(|| format!("tag {:#x}", tag.0), Into::into)
}

/// A fact that an import leaves out: an attribute, an entry, or a fact in another section.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnimportedFact {
    /// Name of the file of split units, or of the supplementary file, where the fact is in such a file.
    pub file: Option<String>,
    /// Name of the unit, where the fact belongs to a unit.
    pub unit: Option<String>,
    /// Name of the function, where the fact is known to belong to a function.
    pub function: Option<String>,
    /// Half-open range of addresses, where the fact has pcs. In a relocatable object, those that the reader assigns.
    pub pcs: Option<Range<u64>>,
    /// The same pcs in a cubin, from the start of the function's code.
    pub function_pcs: Option<PcText<'static>>,
    /// The section.
    pub section: &'static str,
    /// Offset in bytes of the entry, the row's opcode, the frame or the macro from the start of the section.
    pub offset: u64,
    /// The entry's tag; `None` in other sections than `.debug_info` and `.debug_types`.
    pub tag: Option<DwTag>,
    /// The attribute; `None` for the entry as a whole.
    pub attribute: Option<DwAt>,
    /// The reason.
    pub reason: UnimportedReason,
}

impl UnimportedReason {
    /// The reason for a value of another class than expected.
    pub(super) fn class(value: ResolvedValue<'_>, expected: &'static str) -> Self {
        let value = match value {
            ResolvedValue::Unsigned(number) => format!("the number {number}"),
            ResolvedValue::Signed(number) => format!("the number {number}"),
            ResolvedValue::Wide(number) => format!("the number {number}"),
            ResolvedValue::Address(address) => format!("the address {address:#x}"),
            ResolvedValue::AddressIndex(index) => format!("the address with index {index}"),
            ResolvedValue::AddressIndexOffset(index, bytes) => {
                format!("the address with index {index}, plus {bytes}")
            }
            ResolvedValue::String(_) => match value.text() {
                Some(text) => format!("the text {text:?}"),
                None => "a text".into(),
            },
            ResolvedValue::Reference(offset) => format!("a reference to the entry at {offset:#x}"),
            ResolvedValue::Signature(signature) => format!("a reference to the type {signature:#x}"),
            ResolvedValue::Expr(bytes) => format!("an expression of {}", Count(bytes.len(), "byte")),
            ResolvedValue::LocList(offset) => format!("the location list at {offset:#x}"),
            ResolvedValue::RngList(offset) => format!("the range list at {offset:#x}"),
            ResolvedValue::LineProgram(offset) => format!("the line table at {offset:#x}"),
            ResolvedValue::Offset(offset) => format!("the offset {offset:#x} in a section"),
            ResolvedValue::Flag(flag) => format!("the flag {flag}"),
            ResolvedValue::Block(bytes) => format!("a block of {}", Count(bytes.len(), "byte")),
            _ => "in another file, or not readable".into(),
        };
        Self::ValueClass(value, expected)
    }

    /// Returns the name of the reason, without its values: facts with one name can be counted together.
    pub fn name(&self) -> String {
        let text = format!("{self:?}");
        let end = text.find(|char: char| !char.is_alphanumeric()).unwrap_or(text.len());
        text[..end].to_owned()
    }
}

impl UnimportedFact {
    /// Returns a fact about a part of a section, which belongs to no entry.
    pub(crate) fn new(section: &'static str, offset: u64, reason: UnimportedReason) -> Self {
        Self {
            file: None,
            unit: None,
            function: None,
            pcs: None,
            function_pcs: None,
            section,
            offset,
            tag: None,
            attribute: None,
            reason,
        }
    }

    /// Takes the unit, the function and the pcs of a refusal, which then are the fact's. The builder counts pcs from the start of
    /// the function; `addresses` returns their addresses.
    pub(super) fn locate(
        &mut self,
        addresses: impl Fn(&Range<u64>) -> Option<Range<u64>>,
        notation: PcNotation<'_>,
    ) {
        let UnimportedReason::Refused(error) = &self.reason else { return };
        let mut at = error.at().clone();
        self.unit = at.unit.take().or(self.unit.take());
        self.function = at.function.take().or(self.function.take());
        self.pcs = at.pcs.as_ref().and_then(addresses);
        if let Some(pcs) = &self.pcs {
            at.pcs = None;
            self.function_pcs =
                Some(notation.pcs(pcs)).filter(|pcs| pcs.in_function().is_some()).map(PcText::into_owned);
        }
        self.reason = UnimportedReason::Refused(Error::new(error.kind().clone()).or_at(at));
    }

    /// Returns the pcs as text: those of the function in a cubin, and else addresses.
    pub fn pc_text(&self) -> Option<PcText<'_>> {
        let addresses = || self.pcs.as_ref().map(|pcs| PcNotation::default().pcs(pcs));
        self.function_pcs.clone().or_else(addresses)
    }
}

impl fmt::Display for UnimportedFact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, unit, function, section, offset, tag, attribute, reason, .. } = self;
        let named = [("file", file), ("unit", unit), ("function", function)];
        for (what, name) in named.iter().filter_map(|(what, name)| Some((what, name.as_ref()?))) {
            write!(f, "{what} `{name}`, ")?;
        }
        write!(f, "{section}, offset {offset:#x}")?;
        if let Some(tag) = tag {
            match tag.static_string() {
                Some(name) => write!(f, ", {name}")?,
                None => write!(f, ", tag {:#x}", tag.0)?,
            }
        }
        if let Some(attribute) = attribute {
            write!(f, ", {}", attributes::text(*attribute))?;
        }
        if let Some(pcs) = self.pc_text() {
            write!(f, ", {pcs}")?;
        }
        write!(f, ": {reason}")
    }
}
