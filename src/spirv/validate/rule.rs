//! Named rules of the specifications.

macro_rules! rules { ($($(#[$doc:meta])* $variant:ident $name:literal $section:literal;)*) => {
    /// A rule of the set's specification, or of the core specification where it concerns debug instructions.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    #[non_exhaustive]
    pub enum Rule { $($(#[$doc])* $variant),* }

    impl Rule {
        /// All rules.
        pub const ALL: &'static [Rule] = &[$(Rule::$variant),*];

        /// Name of the rule.
        pub const fn name(self) -> &'static str {
            match self { $(Self::$variant => $name),* }
        }

        /// Section with the rule, if it is the same for all instructions; otherwise the section of the instruction
        /// applies.
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
    /// Debug instructions belong to a known set: those of other sets cannot be checked.
    UnknownSet "unknown-set" "2 Binary Form";
    /// The result type is `OpTypeVoid`.
    ResultType "result-type" "2 Binary Form";
    /// The set defines the instruction's number.
    Instruction "instruction" "3.1 Instruction Enumeration";
    /// The number of operands is permitted.
    OperandCount "operand-count" "";
    /// An operand refers to a permitted instruction.
    OperandKind "operand-kind" "";
    /// A referenced id is defined.
    Defined "defined" "2.1 Removing Instructions";
    /// A referenced id is defined earlier, except for members of composite types and functions.
    ForwardReference "forward-reference" "2.2 Forward references";
    /// The enumeration contains the number.
    Enumerant "enumerant" "3 Enumerations";
    /// A capability that an enumerant requires is declared, as `GenericPointer` for the storage class `Generic`.
    Capability "capability" "SPIR-V 3.7";
    /// The enumeration contains all flags.
    Flags "flags" "3.2 Debug Info Flags";
    /// An operation has the right operands.
    OperationOperands "operation-operands" "3.6 Debug Operations";
    /// The operations of an expression do not underflow the stack, which has one entry at first.
    Stack "stack" "3.6 Debug Operations";
    /// Instructions outside functions precede the functions.
    PlaceGlobals "place-globals" "2 Binary Form";
    /// Instructions that describe a function's code are in that function.
    PlaceBody "place-body" "2 Binary Form";
    /// An instruction in a block is not between a merge instruction and the branch; one of a non-semantic set is also
    /// not outside a block, nor before its `OpPhi` and `OpVariable`.
    PlaceBlock "place-block" "2 Binary Form";
    /// Ids that a function defines are referenced in that function only.
    OtherFunction "other-function" "SPIR-V 2.16.1";
    /// The definition of an id dominates its references: it is in the same block, or in a block that every path to the
    /// block of the reference passes.
    Dominance "dominance" "SPIR-V 2.16.1";
    /// The result of an `OpSampledImage` is an operand of image lookups and queries only.
    SampledImage "sampled-image" "SPIR-V 2.16.1";
    /// The results of debug instructions of a non-semantic set are operands of non-semantic instructions only. An
    /// `OpName`, which any tool may remove, is accepted.
    SemanticUse "semantic-use" "SPV_KHR_non_semantic_info";
    /// A type without a size has no members; in `OpenCL.DebugInfo.100` its name starts with `@`.
    OpaqueType "opaque-type" "2 Binary Form";
    /// The size of a type with unknown layout covers its members, and members are not of size 0.
    UnknownLayout "unknown-layout" "4.3 Type instructions";
    /// An encoding of floating-point numbers is given for a basic type with the encoding `Float` and the size of the
    /// encoding.
    FpEncoding "fp-encoding" "4.3 Type instructions";
    /// A variable as number of elements has an unsigned type of 32 or 64 bits.
    CountVariable "count-variable" "4.3 Type instructions";
    /// A type with base classes, pointers to members or template parameters is not a union.
    ClassOrStructure "class-or-structure" "";
    /// The composite type that a member refers to as its parent lists the member.
    MemberScope "member-scope" "4.3 Type instructions";
    /// Instruction 16 is a template template parameter, 17 a parameter pack.
    TemplateNumbers "template-numbers" "3.1 Instruction Enumeration";
    /// No white space separates a macro's name from its parameters, or the parameters.
    MacroName "macro-name" "4.9 Macros";
    /// An entity imported from a namespace is a namespace or a declaration; an unnamed block is neither.
    Namespace "namespace" "4.10 Imported Entities";
    /// A line is in the source's text.
    Line "line" "";
    /// A column is in the line.
    Column "column" "";
    /// A range of lines and columns does not end before it starts.
    LineRange "line-range" "4.7 Location Information";
    /// Continued text directly follows a source with text.
    SourceContinued "source-continued" "4.2 Compilation Unit";
    /// A build identifier has 32 or more lowercase hexadecimal digits.
    BuildIdentifier "build-identifier" "Debug Info Metadata";
    /// The function of a `DebugEntryPoint` is defined in the function of an `OpEntryPoint`.
    EntryPoint "entry-point" "4.2 Compilation Unit";
    /// A function definition is unique, and in the first block of the function that it refers to.
    FunctionDefinition "function-definition" "4.6 Functions";
    /// A module with a non-semantic set declares `SPV_KHR_non_semantic_info`, or is SPIR-V 1.6.
    Extension "extension" "SPV_KHR_non_semantic_info";
    /// A module with an `OpExtInstWithForwardRefsKHR` declares `SPV_KHR_relaxed_extended_instruction`.
    RelaxedExtension "relaxed-extension" "SPV_KHR_relaxed_extended_instruction";
    /// An `OpExtInstWithForwardRefsKHR` has a forward reference; otherwise `OpExtInst` must be used.
    NoForwardReference "no-forward-reference" "SPV_KHR_relaxed_extended_instruction";
    /// The indexes of a `DebugValue` or `DebugDeclare` select a part of the variable's type, as those of an
    /// `OpAccessChain` do.
    Index "index" "4.8 Local Variables";
    /// Note: a later version of a known set is read as the newest known version, of which it has all instructions. What
    /// it adds is not checked.
    LaterVersion "later-version" "Version Compatibility";
    /// Note: a set describes graphs rather than the program. Its instructions are not checked.
    GraphSet "graph-set" "2 Binary Form";
    /// Note: a reference was removed. The specification permits a `DebugInfoNone` in its place; `spirv-val` mostly does not.
    Removed "removed" "2.1 Removing Instructions";
    /// Note: debug instructions should follow the types, constants and global variables; many producers interleave
    /// them, and every reader accepts that.
    Interleaved "interleaved" "2 Binary Form";
    /// Note: a source's text has a `#line`, as written by glslang, or a `# 5`, as in preprocessor output. The
    /// compiled lines differ from those of the text.
    LineDirective "line-directive" "4.2 Compilation Unit";
    /// Note: a source's text is a checksum, as written by LLVM's translator. Lines cannot be compared with it.
    ChecksumText "checksum-text" "4.2 Compilation Unit";
    /// Note: the second half of the numbers of elements are missing or 0. LLVM's translator writes lower bounds there.
    LowerBounds "lower-bounds" "4.3 Type instructions";
    /// Note: a debug instruction precedes the label of the first block, on which readers based on LLVM's translator
    /// fail.
    BeforeLabel "before-label" "2 Binary Form";
    /// Note: a `DebugScope` or `DebugNoScope` follows a block's end, where `spirv-opt` leaves it. The instruction
    /// applies to nothing.
    AfterBlock "after-block" "2 Binary Form";
    /// Note: a `DebugDeclare` has a parameter that is a pointer instead of an `OpVariable`, as written by glslang. The
    /// variable is at the target of the pointer.
    DeclaredParameter "declared-parameter" "4.8 Local Variables";
}

impl Rule {
    /// Whether the rule is a note rather than a violation.
    pub const fn is_note(self) -> bool {
        matches!(
            self,
            Self::LaterVersion
                | Self::GraphSet
                | Self::Removed
                | Self::Interleaved
                | Self::LineDirective
                | Self::ChecksumText
                | Self::LowerBounds
                | Self::BeforeLabel
                | Self::AfterBlock
                | Self::DeclaredParameter
        )
    }
}
