//! The rules: what the specifications say that has to be so, each with a name.

macro_rules! rules { ($($(#[$doc:meta])* $variant:ident $name:literal $section:literal;)*) => {
    /// A rule of the specification of the set, or of the core specification where debug instructions meet it.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    #[non_exhaustive]
    pub enum Rule { $($(#[$doc])* $variant),* }

    impl Rule {
        /// Every rule.
        pub const ALL: &'static [Rule] = &[$(Rule::$variant),*];

        /// Its name.
        pub const fn name(self) -> &'static str {
            match self { $(Self::$variant => $name),* }
        }

        /// The section that has it, if it is always the same; else it is that of the instruction.
        pub const fn section(self) -> Option<&'static str> {
            let section = match self { $(Self::$variant => $section),* };
            if section.is_empty() { None } else { Some(section) }
        }
    }
} }

rules! {
    /// An id is more than 0 and less than the bound of the header.
    IdRange "id-range" "SPIR-V 2.3";
    /// An id is defined once.
    DefinedOnce "defined-once" "SPIR-V 2.16.1";
    /// The set is the result of an `OpExtInstImport`.
    Set "set" "2 Binary Form";
    /// Debug instructions are of a set that is known: of others it is not known whether they are right.
    UnknownSet "unknown-set" "2 Binary Form";
    /// The result type is `OpTypeVoid`.
    ResultType "result-type" "2 Binary Form";
    /// The number is one of the set's.
    Instruction "instruction" "3.1 Instruction Enumeration";
    /// There are as many operands as the instruction has.
    OperandCount "operand-count" "";
    /// An operand names what it should.
    OperandKind "operand-kind" "";
    /// What is named is defined.
    Defined "defined" "2.1 Removing Instructions";
    /// What is named comes before, but for members of composite types and functions.
    ForwardReference "forward-reference" "2.2 Forward references";
    /// A number is one of the list.
    Enumerant "enumerant" "3 Enumerations";
    /// The capability that an enumerant needs is declared: `GenericPointer` of the storage class `Generic`.
    Capability "capability" "SPIR-V 3.7";
    /// Flags are those of the list.
    Flags "flags" "3.2 Debug Info Flags";
    /// An operation has its operands.
    OperationOperands "operation-operands" "3.6 Debug Operations";
    /// The operations of an expression find what they take on the stack, which has one entry at first.
    Stack "stack" "3.6 Debug Operations";
    /// What is not in a function is before the functions.
    PlaceGlobals "place-globals" "2 Binary Form";
    /// What is about a function's code is among its instructions.
    PlaceBody "place-body" "2 Binary Form";
    /// In a block: not between a merge instruction and the branch; of a non-semantic set also neither outside of the
    /// block nor before its `OpPhi` and `OpVariable`.
    PlaceBlock "place-block" "2 Binary Form";
    /// What a function defines is named in this function only.
    OtherFunction "other-function" "SPIR-V 2.16.1";
    /// A type without a size has no members, and in `OpenCL.DebugInfo.100` a name that starts with `@`.
    OpaqueType "opaque-type" "2 Binary Form";
    /// The size of a type whose layout is not known has room for its members, and that of a member is not 0.
    UnknownLayout "unknown-layout" "4.3 Type instructions";
    /// What says how a floating-point number is encoded is of a basic type whose encoding is `Float`.
    FpEncoding "fp-encoding" "4.3 Type instructions";
    /// A variable that counts elements is of an unsigned type of 32 or 64 bits.
    CountVariable "count-variable" "4.3 Type instructions";
    /// What has base classes, pointers to members or template parameters is no union.
    ClassOrStructure "class-or-structure" "";
    /// The composite type that a member names as its own has it as a member.
    MemberScope "member-scope" "4.3 Type instructions";
    /// 16 is a template as a parameter, 17 a parameter pack.
    TemplateNumbers "template-numbers" "3.1 Instruction Enumeration";
    /// Between the name of a macro and its parameters, and between these, there is no white space.
    MacroName "macro-name" "4.9 Macros";
    /// What is imported from a namespace is a namespace or a declaration; a block without a name is neither.
    Namespace "namespace" "4.10 Imported Entities";
    /// A line is in the text of the source.
    Line "line" "";
    /// A column is in the line.
    Column "column" "";
    /// A range of lines and columns does not end before it starts.
    LineRange "line-range" "4.7 Location Information";
    /// Text is continued right behind a source that has some.
    SourceContinued "source-continued" "4.2 Compilation Unit";
    /// A build identifier has 32 lowercase hexadecimal digits, or more.
    BuildIdentifier "build-identifier" "Debug Info Metadata";
    /// The function of an entry point is defined in one.
    EntryPoint "entry-point" "4.2 Compilation Unit";
    /// A function is defined once, in the first block of the function that it names.
    FunctionDefinition "function-definition" "4.6 Functions";
    /// A module with a non-semantic set says so: `SPV_KHR_non_semantic_info`, or SPIR-V 1.6.
    Extension "extension" "SPV_KHR_non_semantic_info";
    /// Note: something was removed. The text allows a `DebugInfoNone` in its place; `spirv-val` mostly does not.
    Removed "removed" "2.1 Removing Instructions";
    /// Note: debug instructions should be behind the types, constants and global variables; many producers have them
    /// among these, and every reader takes that.
    Interleaved "interleaved" "2 Binary Form";
    /// Note: the text of a source has a `#line`, as glslang writes it, or a `# 5`, as preprocessors do. Lines are then not
    /// those of the text.
    LineDirective "line-directive" "4.2 Compilation Unit";
    /// Note: the text of a source is a checksum, as the LLVM translator writes it. Lines cannot be compared with it.
    ChecksumText "checksum-text" "4.2 Compilation Unit";
    /// Note: half of the numbers of elements are nothing or 0. The LLVM translator writes lower bounds there.
    LowerBounds "lower-bounds" "4.3 Type instructions";
    /// Note: a debug instruction before the label of the first block, on which readers of the LLVM translator fail.
    BeforeLabel "before-label" "2 Binary Form";
}

impl Rule {
    /// Whether it is no violation, but worth knowing.
    pub const fn is_note(self) -> bool {
        matches!(
            self,
            Self::Removed
                | Self::Interleaved
                | Self::LineDirective
                | Self::ChecksumText
                | Self::LowerBounds
                | Self::BeforeLabel
        )
    }
}
