//! Properties that can be omitted: one table.

macro_rules! properties { ($($name:ident $text:literal;)*) => {
    /// A property of an entity.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    #[non_exhaustive]
    pub enum Property {
        $(#[doc = concat!("Message text: \"", $text, "\".")] $name,)*
    }

    impl Property {
        /// The text of messages.
        pub(crate) fn text(self) -> &'static str {
            match self { $(Self::$name => $text,)* }
        }
    }
} }

properties! {
    // The entity as a whole.
    Entity "";
    // Attributes of one kind in all entries of a unit, and flags in all rows of a function.
    Attributes "attributes of its entries";
    RowFlags "the flags of its rows";
    // Imports of SPIR-V: the instruction as a whole, or the operand in the reason.
    Instruction "it is not described: ";
    Operand "";

    // Locations, numbers and frames: what expressions encode.
    Location "its location";
    Value "its value";
    Rule "its rule";
    Lanes "its lanes";
    Target "its target";
    ClobberedTarget "its target, from operands that the callee may change";
    Frame "its frame";
    StaticLink "its static link";

    // Entities of several kinds.
    Name "its name";
    LinkageName "its linkage name";
    Type "its type";
    Scope "its scope";
    EnclosingScope "what it is declared in";
    InlinedScope "that it is of one inlined call";
    Line "where it is declared";
    Column "its column";
    Accessibility "who may name it";
    Artificial "that the compiler made it";
    External "that it is external";
    Declaration "that it is defined elsewhere";
    Definition "that it is the definition of what is declared before";
    Discriminator "its discriminator";
    Code "its OpFunction";
    Storage "its OpVariable";

    // Modules, units and files.
    BuildIdentifier "its build identifier";
    StoragePath "where its debug information is stored";
    Producer "its producer";
    CommandLine "what its compiler was called with";
    Language "its language";
    LanguageVersion "the version of its language";
    SplitName "the file of its split unit";
    Optimized "that its code was optimized";
    Directory "its directory";
    Checksum "its MD5 sum";
    SourceText "its text";
    Macros "its macros";
    MacroUndefinition "the end of the macro";
    MacroInclusion "the inclusion of a file";
    MacroFile "the file that the preprocessor began in";
    InlineNamespace "that it is inline";
    CallFile "its file";
    CallLine "its line";

    // Types.
    Kind "its kind";
    Encoding "its encoding";
    Size "its size";
    Alignment "its alignment";
    Stride "its stride";
    FirstIndex "the index of its first element";
    IndexType "the type of its indices";
    Dimensions "its dimensions";
    Count "its elements";
    ElementType "the type of its elements";
    Pointee "what it points to";
    Qualified "what it qualifies";
    Named "what names it, or what it names";
    Class "its class";
    StorageClass "its storage class";
    AddressSpace "that it points into the address space";
    Offset "its offset";
    BitField "that it is a bit field";
    Mutable "that it is mutable";
    Members "its members";
    StaticMember "a static member";
    VariantParts "its variant parts";
    Enumerators "its enumerators";
    Parameters "its parameters";
    TemplateParameters "the parameters of the template";
    Pack "that it is a pack";
    Default "that it is the default";

    // Functions and calls.
    Kernel "that it is a kernel";
    NotKernel "that it is no kernel";
    BodyLine "where its body begins";
    ObjectPointer "which parameter is its object";
    Variadic "that it takes more arguments";
    NoReturn "that it does not return";
    Main "that the program begins in it";
    DeclaredInline "that it is declared inline";
    Convention "how it is called";
    Virtuality "that it is virtual";
    Deleted "that it is deleted";
    Defaulted "that it is defaulted";
    Calls "its calls, and what they are given";
    DescribedCalls "which of its calls are described";

    // Variables.
    Parameter "that it is a parameter";
    MemorySpace "the memory that it is in";
    NamedConstant "that it is a named constant";
}
