//! Constructs that a consumer's format cannot express: one table.

use super::texts;
use super::{Count, ErrorKind};

/// Name of an attribute, or its number.
fn name_of_attribute(attribute: gimli::DwAt) -> String {
    attribute.static_string().map_or_else(|| format!("{:#x}", attribute.0), Into::into)
}

/// Name of a tag, or its number.
fn name_of_tag(tag: gimli::DwTag) -> String {
    tag.static_string().map_or_else(|| format!("{:#x}", tag.0), Into::into)
}

texts! {
    /// A construct that a consumer's format cannot express.
    Construct;

    // Operations and raw expressions.
    Operation(name: &'static str) "operation `{name}`";
    RawOperation(name: &'static str) "operation `{name}` in a raw expression";
    RawExpression(why: Box<ErrorKind>) "a raw expression: {why}";
    RawAddress "an address in a raw expression: use `addrx`";
    PartOfRawExpression "a part of the location of a raw expression";

    // Entries.
    Attribute(attribute: gimli::DwAt) "attribute {}", name_of_attribute(*attribute);
    Tag(tag: gimli::DwTag) "an entry {}", name_of_tag(*tag);
    RowFlags "the flags and discriminators of rows";
    LanguageVersion "the version of a language";
    Checksum(file: String) "the MD5 sum of file `{file}`";
    SourceText(file: String) "the text of file `{file}`";
    MemorySpace "the memory space of a declaration";
    AddressSpace "the address space of a pointer";
    FloatFormat "a floating-point format other than IEEE 754's";
    BodyLine "the line where the body of a function begins";
    FrameOfNoCode "the frame base of a function without code";
    StaticLinkOfNoCode "the static link of a function without code";
    CallsOfNoCode "the set of described calls of a function without code";

    // Registers and memory.
    LaneOfWave "a lane other than the current one";
    WholeRegister(register: String) "all lanes of register {register}";
    RegisterNumber(register: String) "register {register} by its number";
    SecondSpace(first: String, second: String) "a variable in two spaces: {first} and {second}";
    LongConstant(bytes: usize) "a constant of {} in a part or at some pcs", Count(*bytes, "byte");
    PerLaneRegister "the current lane of a register";
    CurrentLane "the current lane";
    RegisterValue(register: String) "the contents of register {register}";
    RegisterAtAllPcs(register: String) "the contents of register {register} at all pcs";
    RegisterPart(register: String) "a number in a part of register {register}";
    Memory(space: Option<String>)
        "memory in {}", space.as_ref().map_or_else(|| "a space".into(), |space| format!("space {space}"));
    LargeRead "more bytes of memory than an address has, at once";
    ConstantEnd "a number past the end of a constant";
    OtherLocation "a location of this kind";

    // Offsets.
    OffsetBy "an offset known at run time";
    OffsetByOutsideMemory "an offset known at run time into storage other than memory";
    BitOffsetBy "bits at an offset known at run time";
    NegativeOffset "bits in front of their storage";

    // Parts.
    UnsizedPart "a part without a size";
    PartsOfPart "parts of a part";
    SelectedPartsOfPart "parts of a part that are chosen at run time";
    OutsideParts "a part outside of its storage";
    ManyParts "this many parts";
    Select "a choice by a mask known at run time";
    SelectByMask "a choice by a mask";
    Overlay "an overlay whose place is known at run time";
    LongLocation(bytes: usize) "a location of {}, where DWARF 4 has up to 65535", Count(*bytes, "byte");

    // References to entries.
    OtherUnit "an entry of another unit, from a split unit";
    NoCode "a variable of a function that has no code";
    PartOfPointer "a part of an implicit pointer";
    Procedure "a call of a procedure whose entry has no location";
    PartOfProcedure "a part of the location of a procedure";
    DeepProcedures "calls of procedures this deep";

    // Frames.
    CallFrameOperation(name: &'static str) "operation `{name}` in call frame information";
    CallerRegister(register: String) "the caller's value of register {register}";
    UnsavedRegister "a register of the caller that is not saved in memory";
    WaveFrame "the frame of a wave";
    ConstantCode "code at a constant address, in `.eh_frame`";

    // Lanes.
    LanePc "the pc of each lane";
    WavePc "the pc of the wave";
    ActiveLanes "the active lanes";
    WholeWaveLanes "the active lanes of whole-wave code";
    Mask "a mask";
    LaneProcedure "an omitted lane procedure";
}
