//! Constructs that a consumer's format cannot express, in one table.

use super::{Count, ErrorKind};
use crate::attributes;
use crate::texts;

/// Returns a tag's name, or its number if the tag is nameless.
fn tag_name(tag: gimli::DwTag) -> String {
    tag.static_string().map_or_else(|| format!("{:#x}", tag.0), Into::into)
}

texts! {
    /// A construct that a consumer's format cannot express.
    Construct;

    // Operations and raw expressions.
    Operation(name: &'static str) "operation `{name}`";
    RawOperation(name: &'static str) "operation `{name}` in a raw expression";
    RawExpression(cause: Box<ErrorKind>) "a raw expression: {cause}";
    RawAddress "an address in a raw expression: use `addrx`";
    PartOfRawExpression "a part of a raw expression's location";

    // Entries.
    Attribute(attribute: gimli::DwAt) "attribute {}", attributes::text(*attribute);
    TakenAttribute(attribute: gimli::DwAt)
        "attribute {} of a vendor: the number has another meaning for it", attributes::text(*attribute);
    Tag(tag: gimli::DwTag) "an entry {}", tag_name(*tag);
    RowFlags "row flags and discriminators";
    LanguageVersion "a language version";
    Checksum(file: String) "the MD5 sum of file `{file}`";
    SourceText(file: String) "the source text of file `{file}`";
    MemorySpace "a declaration's memory space";
    AddressSpace "a pointer's address space";
    StringSize "the size of a string beside its length";
    FloatFormat "a floating-point format other than IEEE 754";
    Unprototyped "the absence of a prototype, where it is not a property of the declaration or the language";
    BodyLine "the line where a function body begins";
    CooperativeMatrix "a cooperative matrix";
    FrameOfNoCode "the frame base of a function without code";
    StaticLinkOfNoCode "the static link of a function without code";
    CallsOfNoCode "the set of described calls in a function without code";

    // Registers and memory.
    LaneOfWave "a lane other than the current one";
    WholeRegister(register: String) "all lanes of register {register}";
    RegisterNumber(register: String) "register {register} by number";
    SecondSpace(first: String, second: String) "a variable in two spaces: {first} and {second}";
    LongConstant(bytes: usize) "a constant of {} in a part or at some pcs", Count(*bytes, "byte");
    PerLaneRegister "the current lane of a register";
    CurrentLane "the current lane";
    RegisterValue(register: String) "the contents of register {register}";
    RegisterAtAllPcs(register: String) "the contents of register {register} at all pcs";
    MappedPcs(start: u64, end: u64)
        "a register in the register map at {start:#x}..{end:#x}: expected multiples of 16 in a function with a symbol";
    MappedNames "more registers than the register map has names for";
    RegisterPart(register: String) "a number in a part of register {register}";
    Memory(space: Option<String>)
        "memory in {}", space.as_ref().map_or_else(|| "a space".into(), |space| format!("space {space}"));
    LargeRead "a read of more memory bytes than an address has";
    BitOrder "part of an overlay, a constant or a procedure's location, chosen at run time, on a big-endian machine";
    ConstantEnd "a number past the end of a constant";
    OtherLocation "a location of this kind";
    ThreadLocalSymbol "a symbol in thread-local storage";

    // Offsets.
    OffsetBy "an offset known at run time";
    OffsetByOutsideMemory "an offset known at run time into storage other than memory";
    BitOffsetBy "bits at an offset known at run time";
    NegativeOffset "bits before the start of their storage";

    // Parts.
    UnsizedPart "a location in parts, without the size of the object";
    PartsOfPart "parts of a part";
    SelectedPartsOfPart "parts of a part that are chosen at run time";
    OutsideParts "a part outside its storage";
    ManyParts "this number of parts";
    Select "a choice by a mask known at run time";
    SelectByMask "a choice by a mask";
    Overlay "an overlay whose offset is known only at run time";
    LongLocation(bytes: usize) "a location of {}; DWARF 4 allows up to 65535", Count(*bytes, "byte");

    // References to entries.
    OtherUnit "a reference from a split unit to an entry in another unit";
    NoCode "a variable in a function without code";
    PartOfPointer "a part of an implicit pointer";
    Procedure "a call of a procedure whose entry has no location";
    PartOfProcedure "a part of a procedure's location";
    DeepProcedures "procedure calls this deep";

    // Frames.
    CallFrames "call frame information";
    CallFrameOperation(name: &'static str) "operation `{name}` in call frame information";
    CallerRegister(register: String) "the caller's value of register {register}";
    UnsavedRegister "a caller's register that is not saved in memory";
    WaveFrame "the frame of a wave";
    ReturnRegister(number: u64) "return address register {number} in a byte";
    ConstantCode "code at a constant address in `.eh_frame`";

    // Lanes.
    LanePc "the pc of each lane";
    WavePc "the pc of the wave";
    ActiveLanes "the active lanes";
    WholeWaveLanes "the active lanes in whole-wave code";
    Mask "a mask";
    LaneProcedure "an omitted lane procedure";
}
