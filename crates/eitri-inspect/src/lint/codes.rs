//! Finding codes: names, levels and pages.

/// Severity.
///
/// Exhaustive: a match names all variants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// A convention that every reader has to know, or information that is missing.
    Note,
    /// A debugger can show a wrong value.
    Warning,
    /// A debugger shows a wrong value, or none where the information promises one.
    Error,
}

impl Level {
    /// All levels, the lightest first.
    pub const ALL: [Self; 3] = [Self::Note, Self::Warning, Self::Error];

    /// Returns the name: `note`, `warning` or `error`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// Explanation page for a code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Page {
    /// Title, without a period.
    pub title: &'static str,
    /// Reason why a debugger shows the wrong thing.
    pub why: &'static str,
    /// Example, with its producer.
    pub example: &'static str,
    /// Correct information.
    pub instead: &'static str,
    /// Text that decides it.
    pub text: &'static str,
}

macro_rules! codes { ($($variant:ident $name:literal $level:ident {
    $title:literal; $why:literal; $example:literal; $instead:literal; $text:literal
})*) => {
    /// Kind of mistake. The names are stable.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    #[non_exhaustive]
    pub enum LintCode { $(
        #[doc = concat!("`", $name, "`: ", $title, ".")]
        $variant,
    )* }

    impl LintCode {
        /// All codes.
        pub const ALL: &'static [Self] = &[$(Self::$variant),*];

        /// Returns the name.
        pub const fn name(self) -> &'static str {
            match self { $(Self::$variant => $name),* }
        }

        /// Returns the default level.
        pub const fn level(self) -> Level {
            match self { $(Self::$variant => Level::$level),* }
        }

        /// Returns the page.
        pub const fn page(self) -> Page {
            match self { $(Self::$variant => Page {
                title: $title, why: $why, example: $example, instead: $instead, text: $text,
            }),* }
        }
    }
} }

impl LintCode {
    /// Returns the code with a name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|code| code.name() == name)
    }
}

codes! {
    RegisterAsMemory "register-as-memory" Error {
        "a register has the value, and the expression is memory at the address in it";
        "The expression loads from memory at the address that the register contains, and the result is again an address. The register contains the value itself, so a debugger shows unrelated memory, or an error. Compilers write the same for an array that was moved from scratch to LDS: the register contains its LDS address, and the expression is memory in scratch.";
        "clang 19 and LLVM 22, OpenCL C at -O2: `bregx v3+0; lit1; swap; xderef` for a variable in v3. The front end describes the variable's stack slot with `xderef`; promotion to a register keeps the operations.";
        "A location in the register: `regx v3`, with the current lane selected: `regx v3; push_lane; lit4; mul; offset`.";
        "DWARF 5 section 2.5.1.3 (xderef); section 2.6.1.1.3 (register locations)."
    }
    ConstantDereferenced "constant-dereferenced" Error {
        "a constant value is used as an address";
        "The constant is the variable's value. The expression uses it as an address, and loads from memory there.";
        "clang 19 and LLVM 22, OpenCL C at -O2: `consts 128; lit1; swap; xderef; stack_value` for a loop counter with the value 128.";
        "The constant alone: `consts 128; stack_value`.";
        "DWARF 5 section 2.5.1.3 (xderef), section 2.6.1.1.4 (stack_value)."
    }
    ConstantAsAddress "constant-as-address" Error {
        "a constant without stack_value is an address";
        "Without `stack_value`, an expression's result is the object's address. A debugger reads memory at the constant.";
        "Triton 3.9 for sm_90: `consts 5` in a DWARF 2 unit, which has no `stack_value`.";
        "`stack_value` after the constant, from DWARF 4 on; before DWARF 4, `DW_AT_const_value` if the variable has the same value everywhere, or else no entry.";
        "DWARF 5 section 2.6.1.1.2 (memory locations) and section 2.6.1.1.4."
    }
    ConstantForComputed "constant-for-computed" Warning {
        "a constant, where the code has computed another value";
        "The entry has a constant, and the variable's next entry is a register that no instruction between them sets. The register had the value already: the constant belongs to an earlier pc, or to another path.";
        "LLVM at -O2: `consts 0; stack_value` up to 0x40, and then `regx v3`, which an instruction at 0x20 sets to a sum.";
        "The register, from the instruction that sets it on.";
        "DWARF 5 section 2.6.2."
    }
    SlotWaveScaled "slot-wave-scaled" Error {
        "a stack slot counted in wave bytes is used as a lane address";
        "With swizzled scratch (gfx9, gfx10), s32 and s33 count bytes for all lanes in the wave. A lane address is that number divided by the number of lanes. The difference shows in every function but a kernel, because the register is not 0 there. A value that is computed from the register and from a lane address is wrong for the same reason.";
        "clang 19 for gfx900: `bregx s33+60; lit1; swap; xderef`, while the prologue adds 64 times the frame's bytes per lane to s32.";
        "An address in the wave's space (`bregx s33+3840; lit6; form_aspace_address`), or s33 divided by the number of lanes.";
        "AMDGPU back end user guide, Address Spaces (private_lane, private_wave)."
    }
    SlotSpaceLost "slot-space-lost" Error {
        "a stack slot in scratch is named in the default address space";
        "The frame base is a register with an address in scratch. `fbreg` or `bregx` alone name memory in the default space, which is global memory, and `deref` after them reads there.";
        "clang 19, HIP at -O0: `fbreg 4` with the frame base `regx s33`.";
        "The scratch address space: `bregx s33+4; lit5; form_aspace_address`, in the units of that space.";
        "AMDGPU back end user guide, Address Spaces; DWARF Extensions for Heterogeneous Debugging A.2.5.4.4.2."
    }
    XderefAsLocation "xderef-as-location" Note {
        "xderef reads memory; it does not name a location";
        "`xderef` replaces an address by what memory contains there. LLVM writes it for the location itself, and readers of that dialect know this. By the specification, the variable is at the address that its slot contains.";
        "clang 19, OpenCL C at -O0: `fbreg 8; lit1; swap; xderef`.";
        "`form_aspace_address` instead of `swap; xderef`.";
        "DWARF 5 section 2.5.1.3 (xderef)."
    }
    NoFrameBase "no-frame-base" Error {
        "fbreg in a function without a frame base";
        "`fbreg` adds to the function's `DW_AT_frame_base`. Without this attribute, no debugger can evaluate the expression.";
        "clang 19, OpenCL C kernels at -O2 with a private array: `fbreg 0` and no `DW_AT_frame_base`.";
        "`DW_AT_frame_base` in the function's entry.";
        "DWARF 5 section 2.5.1.2 (fbreg), section 3.3.5."
    }
    RemovedSymbol "removed-symbol" Error {
        "a location in a symbol that no file defines became address 0";
        "The expression contains the address of a symbol that was removed or renamed, so that the linker wrote 0. All such variables have the same location.";
        "clang 19: `addrx 0; lit2; swap; xderef` for a local array; the pass that lays out LDS removes the symbol `reduce.sm`.";
        "The variable's offset in LDS, as a constant: `lit0; lit3; form_aspace_address`.";
        "DWARF 5 section 2.5.1.1 (addr, addrx); ELF, Symbol Table."
    }
    NoLane "no-lane" Warning {
        "a vector register without a chosen lane";
        "A vector register has an element for each lane. `regx` alone begins at lane 0, so that a debugger shows lane 0's value in every lane.";
        "clang 19, HIP at -O2, and Triton 3.9: `regx v0` for a variable that each lane has.";
        "`regx v0; push_lane; lit4; mul; offset`.";
        "DWARF Extensions for Heterogeneous Debugging A.2.5.4.1 (push_lane)."
    }
    RegisterNotThere "register-not-there" Error {
        "a PTX register without a machine register at these pcs";
        "The map `.nv_debug_info_reg_sass` lists the machine registers for each PTX register, by pc. It contains no register at this entry's pcs.";
        "A generated object: an entry in `.debug_loc` names `%r9` from 0x2f0 on, and the map contains `%r9` up to 0x2a0.";
        "Pcs at which the map contains the register.";
        "CUDA Binary Utilities; the sections that ptxas writes."
    }
    ExtentNotCode "extent-not-code" Error {
        "a function's range does not match its code";
        "The function ends beyond its section, or its size differs from its symbol's size. A debugger finds the wrong function, or none. On CPUs, where a symbol can have more or less code than a function for good reasons, such as several entry points, a finding needs a second function, with its own symbol, in the code after the end of the first function's symbol.";
        "A generated object: `DW_AT_high_pc` is 0xe50 where `.text.add` has 0xc80 bytes.";
        "The end of the function's code.";
        "DWARF 5 section 2.17."
    }
    ZeroSizeType "zero-size-type" Error {
        "a variable with a 0-byte base type is in a register or in pieces";
        "A debugger cannot show a value without bytes, even if its location has bytes.";
        "Triton 3.9: `unknown_type`, with 0 bytes, at `regx v4; piece 4; regx v5; piece 4`.";
        "The value's type, or `DW_TAG_unspecified_type` if there is no type.";
        "DWARF 5 section 5.1."
    }
    OneNameTwoTypes "one-name-two-types" Warning {
        "two variables in a scope have the same name, different types, and locations at the same pc";
        "A debugger shows only one of the two variables.";
        "Triton 3.9: `x` as `float` and as `unknown_type` in the same function.";
        "One entry for each source variable.";
        "DWARF 5 section 4.1."
    }
    NoCfa "no-cfa" Error {
        "no rule for the canonical frame address";
        "Without the rule, no caller can be found: a backtrace ends here.";
        "clang 19 and LLVM 22 for AMD GPUs: entries in `.debug_frame` have pcs and no instructions.";
        "Rules for the canonical frame address and the return address; in a kernel, an undefined return address.";
        "DWARF 5 section 6.4."
    }
    NoLanePc "no-lane-pc" Note {
        "lanes wait, and nothing describes where";
        "Instructions switch lanes off. Without `DW_AT_LLVM_lane_pc`, a debugger shows the wave's pc for lanes that are elsewhere.";
        "clang 19: `s_and_saveexec_b32` in a function without the attribute.";
        "`DW_AT_LLVM_lane_pc` in the function's entry.";
        "AMDGPU back end user guide, DW_AT_LLVM_lane_pc."
    }
    RecoverableUnlocated "recoverable-unlocated" Note {
        "a parameter without a location, whose value the kernel still has";
        "A debugger shows the parameter as optimised out. Its value is in the kernarg segment, whose address is in scalar registers, and after the load in scalar registers too.";
        "clang 19 at -O2: no location for `n` in a kernel that loads it with `s_load_dword s4, s[6:7], 0x10`.";
        "The register from the load on, until an instruction sets it; before the load, memory at the kernarg pointer.";
        "AMDGPU back end user guide, Kernel Argument and Initial Kernel Execution State; DWARF 5 section 2.6."
    }
    UnknownRegister "unknown-register" Error {
        "a register that the target does not have";
        "No machine has this register, so that the expression fails everywhere.";
        "A generated object: `regx 600` on gfx1030.";
        "A register number that the target has.";
        "The processor's ABI."
    }
    UnknownSpace "unknown-space" Error {
        "an address space that the target does not have";
        "The operation needs the number of an address space that the target has.";
        "A generated object: `lit9; form_aspace_address` on gfx1030.";
        "A number in the target's address space table.";
        "AMDGPU back end user guide, Address Spaces."
    }
    LaneBeyondWave "lane-beyond-wave" Error {
        "a location past the last lane of a vector register";
        "The offset exceeds the register.";
        "A generated object: lane 40 in waves of 32 lanes.";
        "A lane in the wave.";
        "DWARF Extensions for Heterogeneous Debugging A.2.5.4.4.1 (offset)."
    }
    IllFormed "ill-formed" Error {
        "an expression that no machine can evaluate";
        "The bytes are not operations, an operation lacks its operands, or the evaluation fails whatever registers and \
         memory contain: a division by the constant 0, or a read past the end of a storage.";
        "Generated objects: `swap` on an empty stack; `lit1; lit0; div`.";
        "A well-formed expression.";
        "DWARF 5 section 2.5."
    }
    PiecesBeyondType "pieces-beyond-type" Warning {
        "pieces that have more bytes than the type";
        "A debugger ignores the rest, or refuses the variable.";
        "A generated object: two 4-byte pieces for an `int`.";
        "Pieces that together have the type's size.";
        "DWARF 5 section 2.6.1.2."
    }
    PiecesShortOfType "pieces-short-of-type" Note {
        "pieces that have fewer bytes than the type";
        "The bits that pieces describe are right, and the remaining bits are undefined: gdb shows a synthetic pointer, lldb \
         shows 0. These bits may be padding, or a part that was optimised out.";
        "clang 19 on x86-64: `reg3; piece 8` for a structure with two `long` members, the second of which is nowhere.";
        "An empty piece for the rest, which gdb shows as optimised out: `reg3; piece 8; piece 8`.";
        "DWARF 5 section 2.6.1.2; DWARF 6 section 3.12 (issue 251120.1)."
    }
    StorageTooShort "storage-too-short" Warning {
        "a value or register with fewer bytes than the type, or than its piece";
        "The rest is read from somewhere else, as 0, or not at all. gdb reads a whole piece as 0 if it is larger than the \
         value, and lldb extends the value. A piece that holds the constant 0 has the intended bytes in both: it is a finding \
         for AMD GPUs alone, because only AMD's specification has a rule.";
        "clang 19 on x86-64: `fbreg -8; deref; stack_value`, an 8-byte value, for a 32-byte `std::string`.";
        "A memory location (`deref` alone), or pieces with the size that their storage has: `lit5; stack_value; piece 8; lit0; stack_value; \
         piece 8`.";
        "DWARF 5 section 2.6.1.1.4 and section 2.6.1.2; DWARF Extensions for Heterogeneous Debugging A.2.5.4.4.6."
    }
    ContradictingOverlap "contradicting-overlap" Error {
        "two list entries have different constants at the same pc";
        "Overlapping entries are two locations for the same object, but a constant cannot have two values.";
        "A generated object: `consts 1` and `consts 2` at the same pc.";
        "Ranges that do not overlap.";
        "DWARF 5 section 2.6.2."
    }
    ReversedRange "reversed-range" Error {
        "a range ends before it starts";
        "The range contains no pcs, or all pcs outside it.";
        "A generated object: [0x20, 0x10).";
        "The start first.";
        "DWARF 5 section 2.17.3."
    }
    RangeOutsideFunctions "range-outside-functions" Error {
        "an entry's pcs are outside every function";
        "No debugger asks for the variable there; its range is not where its code is.";
        "A generated object: an entry past the end of the section.";
        "Pcs in the function.";
        "DWARF 5 section 2.6.2."
    }
    ForeignRange "foreign-range" Error {
        "an entry in one function has pcs in another function";
        "The list has another base address than the producer assumed.";
        "A generated object: a list with offsets from another function's start.";
        "Pcs in the variable's function.";
        "DWARF 5 section 2.6.2."
    }
    BadReference "bad-reference" Error {
        "a reference to nowhere, or to an entry of the wrong kind";
        "No entry begins at the attribute's offset, or the entry has a kind that the attribute cannot mean: `DW_AT_type` of an entry that is no type, or an origin that is a unit. A file number (`DW_AT_decl_file`, `DW_AT_call_file`) can be past the end of the line table's files.";
        "A generated object: `DW_AT_type` with an offset between entries.";
        "The entry's offset, or the file's number.";
        "DWARF 5 section 2.2, section 2.14 and section 7.5.5.5."
    }
    BadFrameInstruction "bad-frame-instruction" Error {
        "call frame instructions that cannot be run";
        "The rows after this offset are unknown.";
        "A generated object: `DW_CFA_restore_state` on an empty stack.";
        "Valid instructions.";
        "DWARF 5 section 6.4.2."
    }
    CieByConvention "cie-by-convention" Warning {
        "a common information entry that readers complete by convention";
        "The specification does not define the entry, and debuggers agree on its meaning.";
        "GNU as for RISC-V and MIPS: the first instruction is `DW_CFA_def_cfa_register`, which is valid only if the rule has \
         an offset already; readers take 0. Other producers: an augmentation `S` without `z`.";
        "`DW_CFA_def_cfa` with the offset 0; `zS`.";
        "DWARF 5 section 6.4.2.2; Linux Standard Base, section 10.6.1.1.1."
    }
    NoReturnAddress "no-return-address" Warning {
        "a frame without a rule for the return address";
        "The canonical frame address is known, and the caller's pc is not.";
        "A generated object: `DW_CFA_def_cfa` alone on x86-64.";
        "A rule for the return address register.";
        "DWARF 5 section 6.4.4."
    }
    AmbiguousAttribute "ambiguous-attribute" Note {
        "an attribute number or an address class with two meanings";
        "AMD's tools and LLVM's registry read the attribute numbers 0x3e08 to 0x3e0c differently. A debugger takes an \
         address class for AMD's address space number, but in most files it is the compiler's own number.";
        "Objects for AMD's debugger: 0x3e0b is `DW_AT_LLVM_lane_pc` there, and `DW_AT_LLVM_ptrauth` data elsewhere. \
         clang 19 for AMD GPUs: class 1 for pointers to private memory. Triton 3.9: class 1 for pointers to global \
         memory.";
        "The registry's number, if the reader knows it. `DW_AT_LLVM_address_space` with the target's number: 3 for local \
         and 5 for private memory, and no attribute for global memory.";
        "DWARF registry of vendor attributes; AMDGPU back end user guide, DWARF address space mapping."
    }
    AbstractDiffers "abstract-differs" Warning {
        "an instance differs from its abstract instance";
        "A debugger uses the attribute in either instance.";
        "A generated object: a concrete parameter with another name or type.";
        "The attribute in the abstract instance alone.";
        "DWARF 5 section 3.3.8."
    }
    SplitUnitElsewhere "split-unit-elsewhere" Note {
        "a skeleton unit whose split unit was not found";
        "The unit's functions and variables are in another file. Without that file they are not checked, and a \
         debugger does not show them.";
        "gcc and clang with `-gsplit-dwarf`: `a.o` contains the skeleton unit, and `a.dwo` the rest.";
        "`a.dwo` in the object's folder or named with `--split`, or `-gsplit-dwarf=single`, if all of it is to be \
         checked.";
        "DWARF 5 section 3.1.2 and section 7.3.2."
    }
    StaleField "stale-field" Note {
        "a stored number differs from its relocation's addend";
        "Debuggers load the relocated image, as all eitri commands do, and show the right number. A tool that applies no \
         relocations shows the stored number.";
        "ptxas 13 for sm_90: `DW_AT_high_pc` has 0x390 in the field and 0x400 in the relocation; `cuobjdump -elf` prints 0x390.";
        "The addend in the field, or 0.";
        "System V ABI, Relocation (`Elf64_Rela`)."
    }
    MercuryDiffers "mercury-differs" Error {
        "a Mercury copy contradicts the debug section";
        "nvlink, and the driver where it finalizes code for another processor, make the debug sections from the copies alone, and ignore the originals. What differs, or has no copy, is wrong or missing after linking.";
        "A tool that replaces `.debug_info` in a relocatable cubin for sm_120, and leaves `.nv.merc.debug_info`: after `nvlink -g`, the debugger shows the old entries.";
        "Copies with the same facts as their originals, with pcs of Mercury code; in a linked file, also no copies.";
        "The cubins that ptxas and nvlink 13 write."
    }
    Unreadable "unreadable" Error {
        "debug information that cannot be read";
        "The part is left out; everything else is checked. A debugger shows nothing from the part, or nothing from there on.";
        "A generated object: a unit with version 9, or a frame description entry whose pointer names no common information entry.";
        "The part as the specification defines it.";
        "DWARF 5 section 7."
    }
    WrongKind "wrong-kind" Error {
        "a location with the wrong kind for its context";
        "A frame base, a canonical frame address, a static link, and the locations of members and data are addresses: `fbreg` \
         adds to such an address, and a debugger reads memory there. A value, or pieces, have no address. `DW_AT_LLVM_lane_pc` is a \
         vector with an address for each lane, not a single address.";
        "Generated objects: `DW_AT_frame_base` is `lit1; stack_value`; `DW_AT_data_member_location` is \
         `plus_uconst 4; stack_value`.";
        "The memory location alone, without `stack_value`.";
        "DWARF 5 section 3.3.5, section 5.7.6 and section 5.18.1; proposal of SIMT lanes, DW_AT_lane_pc."
    }
    NoDebugInfo "no-debug-info" Warning {
        "code without debug information";
        "The file has code and no unit in `.debug_info`. A debugger shows no line and no variable, and nothing was checked.";
        "A stripped object, or an object compiled without `-g`.";
        "The object before `strip`, or a build with `-g`.";
        "DWARF 5 section 3.1."
    }
    CodeNotDecoded "code-not-decoded" Note {
        "machine code for a GPU whose instructions are not known here";
        "Findings with an instruction as evidence are missing: registers as memory, lanes that wait, parameters that the \
         kernel still has.";
        "An object for gfx1250, where a mode register extends register numbers, or for a processor before gfx9.";
        "The same program compiled for gfx9 to gfx12.0.";
        "AMDGPU back end, ELF header flags."
    }
    CodeDescribedTwice "code-described-twice" Warning {
        "two function entries with the same code";
        "A debugger uses one entry: breakpoints, types and variables in the other entry are lost, and a register map \
         by function fits only one entry.";
        "nvcc -G and nvlink: a template that is instantiated in two objects: nvlink keeps the code from one object, and the \
         entries from both.";
        "One entry for the code; low and high pc removed from the other entry, or set to 0.";
        "DWARF 5 section 3.3.3; NonSemantic.Shader.DebugInfo.100, DebugFunctionDefinition."
    }
    CallTargetOverwritten "call-target-overwritten" Error {
        "a call target in the register that the call sets to the return address";
        "A debugger evaluates `DW_AT_call_target` in a frame whose call is active. The call has set the register to the \
         return address, which the debugger takes for the called function.";
        "clang 19 and LLVM 22 for AMD GPUs: `regx s30; piece 4; regx s31; piece 4` for `s_swappc_b64 s[30:31], s[16:17]`, \
         which is the destination instead of the target.";
        "The register with the target, in `DW_AT_call_target_clobbered` if the called function can change it.";
        "DWARF 5 section 3.4.1."
    }
    ListWithoutBase "list-without-base" Warning {
        "a location list with offsets from a base address that nothing specifies";
        "A list's base address is the unit's `DW_AT_low_pc`, or an entry in the list. Without either, a debugger takes \
         0, another base address, or no location.";
        "ptxas 13 in Triton 3.9: `.debug_loc` contains offset pairs, and the unit has no `DW_AT_low_pc`.";
        "`DW_AT_low_pc` in the unit's entry: 0 if the pairs are addresses.";
        "DWARF 4 section 2.6.2 and section 3.1.1."
    }
    ReversedRow "reversed-row" Error {
        "line table or call frame rows whose addresses go back";
        "Addresses ascend in a line sequence and in a frame's rows. A debugger that looks a pc up with binary \
         search finds another row, or none.";
        "A generated object: `DW_CFA_set_loc` with an address before the current one, or `DW_LNE_set_address` within a sequence.";
        "Rows in address order; a new sequence for code at lower addresses.";
        "DWARF 5 section 6.2.5 and section 6.4.2.1 (set_loc)."
    }
    RowInsideInstruction "row-inside-instruction" Error {
        "a line table row begins inside an instruction";
        "A row's address is that of an instruction. A debugger that sets a breakpoint at the row overwrites the middle of an \
         instruction, which then does something else, and the breakpoint is never hit.";
        "A generated object: rows counted in instructions of 4 bytes, where an instruction has 8.";
        "A row at the start of the instruction.";
        "DWARF 5 section 6.2.1 and section 6.2.2 (address)."
    }
    RowBeyondCode "row-beyond-code" Warning {
        "a call frame row begins past the end of its entry";
        "No pc has the row: an advance is too large, or counts in units other than the code alignment factor.";
        "A generated object: `DW_CFA_advance_loc` by 63 bytes in a 32-byte entry.";
        "Rows in the entry's address range.";
        "DWARF 5 section 6.4.1."
    }
    IndexOutsideType "index-outside-type" Error {
        "an index selects no part of the variable's type";
        "The indexes of a `DebugDeclare` or `DebugValue` select a part of the variable, as in an `OpAccessChain`. This index \
         is not below the number of parts, or the type has no parts at this depth, so that a debugger drops the value or \
         shows it in another part.";
        "A generated module: `DebugValue` with the index 3 for a variable with a vector of 3 elements.";
        "Indexes that select a member, an element or a column of the variable's type.";
        "OpenCL.DebugInfo.100 section 4.8; NonSemantic.Shader.DebugInfo.100, DebugDeclare and DebugValue."
    }
    ValueTypeDiffers "value-type-differs" Warning {
        "a variable and its storage or value have different types";
        "A debugger reads the bits of the storage or value with the variable's debug type: the bits of a floating-point \
         number as an integer, or a pointer as the number that it points to.";
        "A generated module: an `int` of 32 bits, declared in an `OpVariable` with a 32-bit floating-point number.";
        "Storage or a value with the variable's type; for a pointer to the value, an expression with `Deref`.";
        "OpenCL.DebugInfo.100 section 4.8; NonSemantic.Shader.DebugInfo.100, DebugDeclare and DebugValue."
    }
    ValueSizeDiffers "value-size-differs" Warning {
        "a variable, or the part of it that is meant, and its storage or value have different sizes";
        "A debugger takes the missing bits from somewhere else, or drops the bits that are too many.";
        "A generated module: a 16-bit integer as the value of a 32-bit variable.";
        "Storage or a value with the variable's size, or a `Fragment` with the bits that the value has.";
        "OpenCL.DebugInfo.100 section 3.6 and section 4.8; NonSemantic.Shader.DebugInfo.100, DebugDeclare and DebugValue."
    }
    FragmentBeyondType "fragment-beyond-type" Error {
        "a fragment outside the variable";
        "`Fragment` names bits of the source variable. These bits are past the end of the variable's type, so that a debugger \
         drops the value.";
        "A generated module: `Fragment 32 32` for a variable with 32 bits.";
        "An offset and a size inside the variable's type, in bits.";
        "OpenCL.DebugInfo.100 section 3.6 (Fragment)."
    }
    MemberBeyondType "member-beyond-type" Warning {
        "a member ends after the type that contains it";
        "The member's offset and size exceed the size of the composite type. A debugger reads the member from memory after \
         the variable, and copies or compares too few bytes of the variable.";
        "A generated module: a member with 32 bits at bit 64 of a structure with 64 bits. An object whose `DW_AT_data_member_location` is 200 in a structure with 24 bytes.";
        "The size that covers all members.";
        "OpenCL.DebugInfo.100 section 4.3 (DebugTypeComposite, DebugTypeMember); DWARF 5 section 5.7.6."
    }
    ForeignScope "foreign-scope" Error {
        "code in one function has a scope in another function";
        "A `DebugScope` without an inlined call names a scope in another function than the `DebugFunction` of the code. A \
         debugger shows the other function as the place where the program stopped, and its variables.";
        "A generated module: `DebugScope` with the block of another function.";
        "A scope in the function that the code belongs to, or the `DebugInlinedAt` of the call.";
        "OpenCL.DebugInfo.100 section 4.7 (DebugScope, DebugInlinedAt)."
    }
    ForeignVariable "foreign-variable" Error {
        "a variable is declared or has a value in code of another function";
        "The variable's scope is in another function than the scope of the code. A debugger that looks the scopes of a pc up \
         never shows the variable, and another debugger shows it in a function that does not have it.";
        "A generated module: `DebugDeclare` of another function's variable, with no `DebugScope` with an inlined call.";
        "A variable of the function in scope; for inlined code, a `DebugScope` with the inlined function and the call.";
        "OpenCL.DebugInfo.100 section 4.7 and section 4.8."
    }
    NoScope "no-scope" Warning {
        "code with lines, or a variable, is in no scope";
        "A `DebugScope` ends with its block. Without a scope in force, a debugger does not know the function and the block that \
         the code or the variable belongs to: it shows a line without variables.";
        "Slang 2026.14: a `DebugScope` in the first block of a function only, and lines in all blocks.";
        "A `DebugScope` at the start of each block; `DebugNoScope` and no line for code that the compiler added.";
        "OpenCL.DebugInfo.100 section 4.7 (DebugScope)."
    }
    DeclaredTwice "declared-twice" Warning {
        "a variable is declared twice";
        "A `DebugDeclare` states where a variable is for its whole life. With two, a debugger shows the variable twice, or \
         takes either.";
        "A generated module: two `DebugDeclare` instructions for one `DebugLocalVariable`.";
        "One `DebugDeclare`, or `DebugValue` from the instruction on at which the variable moves.";
        "OpenCL.DebugInfo.100 section 4.8 (DebugDeclare)."
    }
    EqualArguments "equal-arguments" Warning {
        "two parameters of a function have the same argument number";
        "A debugger orders parameters by their numbers. It drops one of the two, or shows a call with the wrong arguments.";
        "A generated module: two `DebugLocalVariable` instructions of a function with the argument number 1.";
        "The position of each parameter; no number for other local variables.";
        "OpenCL.DebugInfo.100 section 4.8 (DebugLocalVariable)."
    }
    LineOutsideSource "line-outside-source" Warning {
        "a line or column outside the source's text";
        "The module contains the text of the source, and the text does not have the line or column. A debugger shows another \
         line, or none.";
        "A generated module: line 40 of a text with 12 lines.";
        "A line and a column of the text, or 0 where they are unknown.";
        "OpenCL.DebugInfo.100 section 4.2 (DebugSource); NonSemantic.Shader.DebugInfo.100, DebugLine."
    }
    InlinedElsewhere "inlined-elsewhere" Error {
        "a chain of inlined calls ends in another function";
        "The last `DebugInlinedAt` of a chain is a call in the function that contains the code. Here its scope is in another \
         function, so that a debugger shows a call stack that never existed.";
        "A generated module: a `DebugInlinedAt` whose scope is the inlined function itself.";
        "The scope of the call in the function that contains the code.";
        "OpenCL.DebugInfo.100 section 4.7 (DebugInlinedAt)."
    }
    DefinitionMissing "definition-missing" Warning {
        "nothing connects a function's code with its description";
        "Scopes in the code name a `DebugFunction`, but no `DebugFunctionDefinition` (in `OpenCL.DebugInfo.100`: no `Function` \
         operand) names the `OpFunction`. A debugger finds no name, no line and no parameters for the code, and breakpoints on \
         the function are lost.";
        "A generated module: a function without `DebugFunctionDefinition` in its first block.";
        "`DebugFunctionDefinition` in the first block; in `OpenCL.DebugInfo.100`, the function's id in the `DebugFunction`.";
        "NonSemantic.Shader.DebugInfo.100, DebugFunctionDefinition; OpenCL.DebugInfo.100 section 4.6."
    }
    VariableNotVisible "variable-not-visible" Warning {
        "a variable is declared or has a value where it is out of scope";
        "The scope of the code does not contain the variable's block, and is not inside it; or it contains the block, whose code \
         has ended. The variable is dead there, so that a debugger never shows the value, or shows it later in a block where it \
         is stale.";
        "A generated module: the value of a loop's variable in the block of another loop, or after the loop.";
        "The value in the variable's block, or in a scope around it.";
        "OpenCL.DebugInfo.100 section 4.7 and section 4.8."
    }
    DeadStorage "dead-storage" Error {
        "a variable is in storage whose lifetime has ended";
        "An `OpLifetimeStop` ends the storage before the debug instruction. Its contents are undefined there, and other \
         variables can have the same memory.";
        "A generated module: `DebugDeclare` of an `OpVariable` after its `OpLifetimeStop`.";
        "The debug instruction before the end of the lifetime; afterwards, a `DebugValue` with an `OpUndef`.";
        "SPIR-V section 3.52.8 (OpLifetimeStop); OpenCL.DebugInfo.100 section 4.8."
    }
    VectorAsStructure "vector-as-structure" Note {
        "a vector is described as a structure with a member for each element";
        "The code has a vector, and its debug type a structure. A debugger shows members, and evaluates no swizzles or vector \
         operations; indexes select members.";
        "A generated module: a vector with 3 elements, described as a structure with the members x, y and z.";
        "`DebugTypeVector` with the element type and the number of elements.";
        "OpenCL.DebugInfo.100 section 4.3 (DebugTypeVector)."
    }
    LanesNotWritten "lanes-not-written" Warning {
        "a location goes on after lanes are switched on in which its register was not written";
        "An instruction writes a vector register only in the lanes that are on in `exec`. The location begins there, and goes \
         on after an instruction that switches other lanes on, in which the register has an older result. In these lanes a \
         debugger shows that result.";
        "AMD's compiler (ROCm 10.0), a loop with a branch at -O2 for gfx1100: `x >> 1` is in v5 from 0x17fc to 0x1834. \
         `v_lshrrev_b32 v5` at 0x17f8 runs in the lanes of `else`. `s_or_b32 exec_lo` at 0x1800 switches the lanes of `then` \
         on, in which v5 has `3 * x + 1`.";
        "A range that ends where lanes are switched on that do not have the value.";
        "DWARF 5 section 2.6 (a location is valid at the pcs of its range); proposal of SIMT lanes, DW_OP_push_lane."
    }
    RuleOutlivesSave "rule-outlives-save" Error {
        "a frame rule reads a register after an instruction has overwritten it";
        "A rule says where the caller's register, or the canonical frame address, is at the rule's pcs. An instruction \
         within these pcs overwrites the register in which it is, and a debugger takes the new contents for the saved ones.";
        "AMD's compiler (ROCm 10.0) at -O2: the return address is in lanes 0 and 1 of v40 until the function's end; \
         `scratch_load_b32 v40` in the epilogue gives v40 back to the caller before.";
        "A row at the instruction that reads the saved value back, with the rule for the register that has it from there on.";
        "DWARF 5 section 6.4.1 (a row's rules are valid at the row's pcs)."
    }
    SavedWithoutRule "saved-without-rule" Error {
        "a register that the function changes, without a rule";
        "On AMD GPUs, a debugger takes a register without a rule as unchanged. The function has changed it, so that the \
         callee's contents are shown as the caller's, although they may be saved.";
        "AMD's compiler (ROCm 10.0), seven vector registers that are stored in a clause, of which the last has a rule; \
         s32, vcc, and s[30:31] after a call.";
        "The rule with the saved register, from the store on; `undefined` for a register that is not saved.";
        "DWARF 5 section 6.4.1 (rules of registers); docs/frames.md (registers without a rule)."
    }
    SavedInPart "saved-in-part" Error {
        "a vector register that is saved in some lanes, and that is said to be in memory whole";
        "A store writes the lanes that are on in `exec`. The rule says that all lanes are in memory, so that a debugger reads \
         memory for the others that was never written.";
        "AMD's compiler (ROCm 10.0) at -O2: `scratch_store_b32 v7` after `s_xor_saveexec_b32 s0, -1` stores the lanes that \
         are off at the entry, and the rule is `cfa+0`.";
        "The lanes in memory selected by the mask: `regx v7; ...; select_bit_piece`; the others in the register, or undefined.";
        "DWARF 5 section 6.4.1 (offset(N)); locations on the stack, DW_OP_select_bit_piece."
    }
    EntryExecUnknown "entry-exec-unknown" Error {
        "a frame rule selects lanes by `exec` at the function's entry, which no rule gives";
        "`call_frame_entry_reg exec` is the caller's `exec`. Without a rule for it, a debugger takes the current one, and the \
         function has switched lanes off since, whose registers are then read from the wrong place.";
        "AMD's compiler (ROCm 10.0) at -O2: `v46` is selected by `call_frame_entry_reg exec` in a loop that lanes have left.";
        "A rule for `exec` with the scalar register that has the mask, or the mask's register in the expression.";
        "Locations on the stack, DW_OP_call_frame_entry_reg; DWARF 5 section 6.4.1."
    }
}
