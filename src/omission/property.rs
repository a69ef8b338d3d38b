//! Properties that can be omitted: one table.

use eitri_dwarf::texts;

macro_rules! properties { ($($name:ident $text:literal;)*) => {
    texts! {
        /// An entity's property.
        Property: Copy, PartialOrd, Ord, Hash;

        $($name $text;)*
    }

    #[cfg(all(feature = "spirv", feature = "read"))]
    impl Property {
        /// All properties, by their [numbers](Self::number).
        const ALL: &[Self] = &[$(Self::$name),*];

        /// Index in the table.
        pub(crate) fn number(self) -> u32 {
            self as u32
        }

        /// Property with an index in the table.
        pub(crate) fn from_number(number: usize) -> Option<Self> {
            Self::ALL.get(number).copied()
        }
    }
} }

impl Property {
    /// The property of an attribute without a field in its entity.
    pub(crate) fn of_attribute(attribute: gimli::DwAt) -> Self {
        match attribute {
            gimli::DW_AT_data_location => Self::DataLocation,
            gimli::DW_AT_allocated => Self::Allocated,
            gimli::DW_AT_associated => Self::Associated,
            gimli::DW_AT_rank => Self::Rank,
            gimli::DW_AT_string_length => Self::StringLength,
            gimli::DW_AT_string_length_byte_size => Self::StringLengthSize,
            gimli::DW_AT_byte_size => Self::Size,
            gimli::DW_AT_data_member_location => Self::Offset,
            gimli::DW_AT_lower_bound => Self::FirstIndex,
            gimli::DW_AT_upper_bound => Self::LastIndex,
            gimli::DW_AT_use_location => Self::UseLocation,
            gimli::DW_AT_vtable_elem_location => Self::VtableSlot,
            _ => Self::VendorAttribute,
        }
    }
}

properties! {
    // The entity as a whole.
    Entity "";
    // Attributes with one kind in all entries of a unit, and flags in all rows of a function.
    Attributes "attributes of the entries";
    RowFlags "flags of rows";
    // SPIR-V imports: the instruction as a whole, or the operand in the reason.
    Instruction "not imported";
    Operand "";

    // Locations, numbers and frames: what expressions encode.
    Location "location";
    Value "value";
    Rule "rule";
    Lanes "lanes";
    Target "target";
    ClobberedTarget "target after the call";
    Frame "frame";
    CallFrames "call frame information";
    StaticLink "static link";
    DataLocation "data location";
    Allocated "allocation";
    Associated "association";
    Rank "number of dimensions";
    StringLength "length of the string";
    StringLengthSize "size of the length of the string";
    UseLocation "location of the member";
    VtableSlot "slot in the table of virtual functions";
    VendorAttribute "vendor attribute";

    // Properties that several kinds of entities have.
    Name "name";
    LinkageName "linkage name";
    Type "type";
    Scope "scope";
    EnclosingScope "enclosing scope";
    InlinedScope "inlined call of the scope";
    Line "line";
    Column "column";
    Accessibility "accessibility";
    Artificial "artificial flag";
    External "external flag";
    Declaration "declaration flag";
    Definition "declaration that it completes";
    Discriminator "discriminator";
    Code "OpFunction";
    Storage "OpVariable";

    // Modules, units and files.
    BuildIdentifier "build identifier";
    StoragePath "storage path";
    Producer "producer";
    CommandLine "command line";
    Language "language";
    LanguageVersion "language version";
    SplitName "file of the split unit";
    Optimized "optimized flag";
    Directory "directory";
    Checksum "MD5 checksum";
    SourceText "source text";
    Macros "macros";
    MacroUndefinition "end of a macro";
    MacroInclusion "inclusion of a file";
    MacroFile "first file of the preprocessor";
    InlineNamespace "inline flag";
    CallFile "call file";
    CallLine "call line";

    // Types.
    Kind "kind";
    Encoding "encoding";
    Size "size";
    Alignment "alignment";
    Stride "stride";
    FirstIndex "lower bound";
    LastIndex "upper bound";
    IndexType "index type";
    Dimensions "dimensions";
    Count "count of elements";
    ElementType "element type";
    Pointee "pointee";
    Qualified "qualified type";
    Named "type";
    Class "class";
    StorageClass "storage class";
    AddressSpace "address space";
    Offset "offset";
    BitField "bit field flag";
    Mutable "mutable flag";
    Members "members";
    StaticMember "static member";
    VariantParts "variant parts";
    Enumerators "enumerators";
    Parameters "parameters";
    Unprototyped "absent prototype";
    Instance "function of which it is an instance";
    TemplateParameters "template parameters";
    Pack "parameter pack";
    Default "default flag";

    // Functions and calls.
    Kernel "kernel flag";
    NotKernel "absent kernel flag";
    BodyLine "line of the body";
    Flag "flag of a function";
    ObjectPointer "object parameter";
    WithoutEntry "absence of an entry";
    Variadic "variadic flag";
    NoReturn "noreturn flag";
    Main "main flag";
    DeclaredInline "declared inline";
    Convention "calling convention";
    Virtuality "virtuality";
    Deleted "deleted flag";
    Defaulted "defaulted";
    Calls "calls and arguments";
    DescribedCalls "set of described calls";

    // Variables.
    Parameter "parameter";
    MemorySpace "memory space";
    NamedConstant "constant flag";
}
