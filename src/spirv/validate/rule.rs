//! Named rules from the specifications.

macro_rules! rules { ($($(#[$doc:meta])* $variant:ident $name:literal $section:literal;)*) => {
    /// A rule in the set's specification, or in the core specification where it concerns debug instructions.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    #[non_exhaustive]
    pub enum ValidationRule { $($(#[$doc])* $variant),* }

    impl ValidationRule {
        /// All rules.
        pub const ALL: &'static [ValidationRule] = &[$(ValidationRule::$variant),*];

        /// The rule's name.
        pub const fn name(self) -> &'static str {
            match self { $(Self::$variant => $name),* }
        }

        /// The section with the rule, if it is the same for all instructions; otherwise the instruction's section
        /// applies.
        pub const fn section(self) -> Option<&'static str> {
            let section = match self { $(Self::$variant => $section),* };
            if section.is_empty() { None } else { Some(section) }
        }
    }
} }

rules! {
    /// An id is more than 0 and less than the header's bound.
    IdRange "id-range" "SPIR-V 2.3";
    /// An id is defined once.
    DefinedOnce "defined-once" "SPIR-V 2.16.1";
    /// The set is an `OpExtInstImport`'s result.
    Set "set" "2 Binary Form";
    /// Debug instructions belong to a known set, because instructions from other sets cannot be checked.
    UnknownSet "unknown-set" "2 Binary Form";
    /// The result type is `OpTypeVoid`.
    ResultType "result-type" "2 Binary Form";
    /// The set defines the instruction's number.
    Instruction "instruction" "3.1 Instruction Enumeration";
    /// The operand count is permitted.
    OperandCount "operand-count" "";
    /// An operand refers to a permitted instruction.
    OperandKind "operand-kind" "";
    /// A referenced id is defined.
    Defined "defined" "2.1 Removing Instructions";
    /// A referenced id is defined earlier, except for members and functions of composite types.
    ForwardReference "forward-reference" "2.2 Forward references";
    /// The enumeration contains the number.
    Enumerant "enumerant" "3 Enumerations";
    /// A capability that an enumerant requires is declared, such as `GenericPointer` for the storage class `Generic`.
    Capability "capability" "SPIR-V 3.7";
    /// The enumeration contains all flags.
    Flags "flags" "3.2 Debug Info Flags";
    /// An operation has the right operands.
    OperationOperands "operation-operands" "3.6 Debug Operations";
    /// An expression's operations do not underflow the stack, which has one entry at first.
    Stack "stack" "3.6 Debug Operations";
    /// Instructions outside functions precede the functions.
    PlaceGlobals "place-globals" "2 Binary Form";
    /// Instructions that describe a function's code are in that function.
    PlaceBody "place-body" "2 Binary Form";
    /// An instruction in a block is not between a merge instruction and the branch; an instruction from a non-semantic
    /// set is also not outside a block, nor before its `OpPhi` and `OpVariable`.
    PlaceBlock "place-block" "2 Binary Form";
    /// Ids that a function defines are referenced in that function only.
    OtherFunction "other-function" "SPIR-V 2.16.1";
    /// An id's definition dominates its references: it is in the same block, or in a block that every path to the
    /// reference's block passes.
    Dominance "dominance" "SPIR-V 2.16.1";
    /// An `OpSampledImage`'s result is only an operand in image lookups and queries.
    SampledImage "sampled-image" "SPIR-V 2.16.1";
    /// Debug instructions' results in a non-semantic set are only operands in non-semantic instructions. An `OpName`,
    /// which any tool may remove, is accepted.
    SemanticUse "semantic-use" "SPV_KHR_non_semantic_info";
    /// A type without a size has no members; in `OpenCL.DebugInfo.100` its name starts with `@`.
    OpaqueType "opaque-type" "2 Binary Form";
    /// The size of a type with unknown layout covers its members, and no member has size 0.
    UnknownLayout "unknown-layout" "4.3 Type instructions";
    /// A floating-point encoding is only given for a basic type with the encoding `Float` and the size that the
    /// encoding has.
    FpEncoding "fp-encoding" "4.3 Type instructions";
    /// A variable that is an element count has an unsigned type with 32 or 64 bits.
    CountVariable "count-variable" "4.3 Type instructions";
    /// A type with base classes, member pointers or template parameters is not a union.
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
    /// A line and column range does not end before it starts.
    LineRange "line-range" "4.7 Location Information";
    /// Continued text directly follows a source with text.
    SourceContinued "source-continued" "4.2 Compilation Unit";
    /// A build identifier has 32 or more lowercase hexadecimal digits.
    BuildIdentifier "build-identifier" "Debug Info Metadata";
    /// A `DebugEntryPoint`'s function is defined in an `OpEntryPoint`'s function.
    EntryPoint "entry-point" "4.2 Compilation Unit";
    /// A function definition is unique, and in the first block of the function that it refers to.
    FunctionDefinition "function-definition" "4.6 Functions";
    /// A module with a non-semantic set declares `SPV_KHR_non_semantic_info`, or is SPIR-V 1.6.
    Extension "extension" "SPV_KHR_non_semantic_info";
    /// A module with an `OpExtInstWithForwardRefsKHR` declares `SPV_KHR_relaxed_extended_instruction`.
    RelaxedExtension "relaxed-extension" "SPV_KHR_relaxed_extended_instruction";
    /// An `OpExtInstWithForwardRefsKHR` has a forward reference; otherwise `OpExtInst` must be used.
    NoForwardReference "no-forward-reference" "SPV_KHR_relaxed_extended_instruction";
    /// Indexes in a `DebugValue` or `DebugDeclare` select a part of the variable's type, as in an `OpAccessChain`.
    Index "index" "4.8 Local Variables";
    /// Note: a later version of a known set is read as the newest known version, whose instructions it all contains.
    /// What it adds is not checked.
    LaterVersion "later-version" "Version Compatibility";
    /// Note: a set describes graphs rather than the program. Its instructions are not checked.
    GraphSet "graph-set" "2 Binary Form";
    /// Note: a reference was removed. The specification permits a `DebugInfoNone` instead; `spirv-val` usually does
    /// not.
    Removed "removed" "2.1 Removing Instructions";
    /// Note: debug instructions should follow the types, constants and global variables; many producers interleave
    /// them, and every reader accepts that.
    Interleaved "interleaved" "2 Binary Form";
    /// Note: a source's text has a `#line`, as glslang writes it, or a `# 5`, as in preprocessor output. The compiled
    /// lines differ from the text's lines.
    LineDirective "line-directive" "4.2 Compilation Unit";
    /// Note: a source's text is a checksum, as LLVM's translator writes it. Lines cannot be compared with it.
    ChecksumText "checksum-text" "4.2 Compilation Unit";
    /// Note: the second half of the element counts is missing or 0. LLVM's translator writes lower bounds there.
    LowerBounds "lower-bounds" "4.3 Type instructions";
    /// Note: a debug instruction precedes the first block's label. Readers based on LLVM's translator fail on it.
    BeforeLabel "before-label" "2 Binary Form";
    /// Note: a `DebugScope` or `DebugNoScope` follows a block's end, where `spirv-opt` leaves it. The instruction
    /// applies to nothing.
    AfterBlock "after-block" "2 Binary Form";
    /// Note: a `DebugDeclare` has a pointer parameter instead of an `OpVariable`, as glslang writes it. The variable is
    /// at the pointer's target.
    DeclaredParameter "declared-parameter" "4.8 Local Variables";
}

impl ValidationRule {
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
