//! Presets: a consumer for each reader, and their names. Facts about NVIDIA's readers concern ptxas, cuobjdump and
//! nvdisasm 13.5, and cuda-gdb.

use gimli::{DwAt, Format};

use super::{
    Additions, AspaceCfa, AttributeNumbers, Consumer, DW_AT_LLVM_ACTIVE_LANE_AMD, DW_AT_LLVM_ADDRESS_SPACE,
    DW_AT_LLVM_LANE_PC, DW_AT_LLVM_LANE_PC_AMD, DW_AT_LLVM_LANES, DW_AT_LLVM_LANES_AMD,
    DW_AT_LLVM_MEMORY_SPACE, DW_CC_LLVM_DEVICE_KERNEL, EntryForm, ExpressionForm, FrameForm, ListForm,
    Operations, Tables,
};
use crate::error::{ErrorKind, Named, Result};
use crate::near::nearest;
use crate::op::Dialect;
use crate::target::Target;

/// AMD's debuggers read one instruction that names a space, and keep the space for later instructions.
const ROCGDB_FRAMES: FrameForm =
    FrameForm { aspace_cfa: AspaceCfa::Unsigned, def_cfa_resets_space: false, ..FrameForm::STANDARD };

/// Attributes that cuobjdump names. It prints a warning for any other attribute.
#[rustfmt::skip]
const NVIDIA_ATTRIBUTES: &[DwAt] = &{
    let numbers: [u16; 83] = [
        0x01, 0x02, 0x03, 0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x0f, 0x10, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18,
        0x19, 0x1a, 0x1b, 0x1c, 0x1d, 0x1e, 0x20, 0x21, 0x22, 0x25, 0x27, 0x2a, 0x2c, 0x2e, 0x2f, 0x31, 0x32, 0x33,
        0x34, 0x35, 0x36, 0x37, 0x38, 0x39, 0x3a, 0x3b, 0x3c, 0x3d, 0x3e, 0x3f, 0x40, 0x41, 0x42, 0x43, 0x44, 0x45,
        0x46, 0x47, 0x48, 0x49, 0x4a, 0x4b, 0x4c, 0x4d, 0x4e, 0x4f, 0x50, 0x51, 0x52, 0x53, 0x54, 0x55, 0x56, 0x57,
        0x58, 0x59, 0x5a, 0x6a, 0x2007, 0x2134, 0x2703, 0x3a00, 0x3a01,
        0x3a02, 0x3fff,
    ];
    // A `for` loop and `map` are not possible in a constant.
    let mut attributes = [DwAt(0); 83];
    let mut index = 0;
    while index < attributes.len() {
        attributes[index] = DwAt(numbers[index]);
        index += 1;
    }
    attributes
};

/// Entries as NVIDIA's readers know them: `DW_FORM_strp` is read as a string in the entry, and cuobjdump diagnoses a
/// tag from 0x43 on as an error. nvcc writes every C++ as `DW_LANG_C_plus_plus`, because an older debugger does not
/// take later standards for C++.
const NVIDIA_ENTRIES: EntryForm = EntryForm {
    has_inline_strings: true,
    has_fixed_forms: true,
    has_linkage_name_first: true,
    attributes: Some(NVIDIA_ATTRIBUTES),
    last_tag: Some(gimli::DW_TAG_rvalue_reference_type),
    last_language: Some(gimli::DW_LANG_D),
    ..EntryForm::STANDARD
};

/// Operations that ptxas and cuobjdump step over as over DWARF's: both read any other operation's operand as
/// operations. Reads from memory are omitted, because an address belongs to the variable's space.
#[rustfmt::skip]
const NVIDIA_OPERATIONS: Operations = Operations::Only(&[
    // addr, constu, dup, drop, over, swap, rot, abs, and, div, minus, mod, mul, neg, not, or, plus, plus_uconst.
    0x03, 0x10, 0x12, 0x13, 0x14, 0x16, 0x17, 0x19, 0x1a, 0x1b, 0x1c, 0x1d, 0x1e, 0x1f, 0x20, 0x21, 0x22, 0x23,
    // shl, shr, shra, xor, eq, ge, gt, le, lt, ne.
    0x24, 0x25, 0x26, 0x27, 0x29, 0x2a, 0x2b, 0x2c, 0x2d, 0x2e,
    // lit0 to lit31.
    0x30, 0x31, 0x32, 0x33, 0x34, 0x35, 0x36, 0x37, 0x38, 0x39, 0x3a, 0x3b, 0x3c, 0x3d, 0x3e, 0x3f,
    0x40, 0x41, 0x42, 0x43, 0x44, 0x45, 0x46, 0x47, 0x48, 0x49, 0x4a, 0x4b, 0x4c, 0x4d, 0x4e, 0x4f,
    // reg0 to reg31.
    0x50, 0x51, 0x52, 0x53, 0x54, 0x55, 0x56, 0x57, 0x58, 0x59, 0x5a, 0x5b, 0x5c, 0x5d, 0x5e, 0x5f,
    0x60, 0x61, 0x62, 0x63, 0x64, 0x65, 0x66, 0x67, 0x68, 0x69, 0x6a, 0x6b, 0x6c, 0x6d, 0x6e, 0x6f,
    // breg0 to breg31.
    0x70, 0x71, 0x72, 0x73, 0x74, 0x75, 0x76, 0x77, 0x78, 0x79, 0x7a, 0x7b, 0x7c, 0x7d, 0x7e, 0x7f,
    0x80, 0x81, 0x82, 0x83, 0x84, 0x85, 0x86, 0x87, 0x88, 0x89, 0x8a, 0x8b, 0x8c, 0x8d, 0x8e, 0x8f,
    // regx, fbreg, bregx, piece, nop, call_frame_cfa, stack_value.
    0x90, 0x91, 0x92, 0x93, 0x96, 0x9c, 0x9f,
]);

impl Consumer {
    /// Current LLVM tools, and readers of the AMD compiler's output.
    ///
    /// ```
    /// # use eitri::Consumer;
    /// // LLVM and ROCgdb read the same operations, and the pc of each lane under different
    /// // attributes.
    /// let [llvm, rocgdb] = [Consumer::llvm(), Consumer::rocgdb()];
    /// assert_eq!(llvm.expressions.dialect, rocgdb.expressions.dialect);
    /// assert_ne!(llvm.attributes.lane_pc, rocgdb.attributes.lane_pc);
    /// ```
    pub fn llvm() -> Self {
        Self {
            name: "LLVM",
            expressions: ExpressionForm {
                dialect: Dialect::Llvm,
                shared_from_bytes: Some(16),
                ..ExpressionForm::STANDARD
            },
            attributes: AttributeNumbers {
                address_space: Some(DW_AT_LLVM_ADDRESS_SPACE),
                memory_space: Some(DW_AT_LLVM_MEMORY_SPACE),
                lanes: Some(DW_AT_LLVM_LANES),
                lane_pc: Some(DW_AT_LLVM_LANE_PC),
                ..AttributeNumbers::STANDARD
            },
            entries: EntryForm { kernel_convention: Some(DW_CC_LLVM_DEVICE_KERNEL), ..EntryForm::STANDARD },
            // LLVM's readers take offsets in split units' lists as specified.
            lists: ListForm { has_split_offsets: true, ..ListForm::STANDARD },
            frames: FrameForm { aspace_cfa: AspaceCfa::Signed, ..FrameForm::STANDARD },
            ..Self::dwarf5()
        }
    }

    /// AMD's current debugger.
    pub fn rocgdb() -> Self {
        let llvm = Self::llvm();
        Self {
            name: "ROCgdb",
            attributes: AttributeNumbers {
                lane_pc: Some(DW_AT_LLVM_LANE_PC_AMD),
                active_lane: Some(DW_AT_LLVM_ACTIVE_LANE_AMD),
                ..llvm.attributes
            },
            lists: ListForm::STANDARD,
            frames: ROCGDB_FRAMES,
            ..llvm
        }
    }

    /// AMD's debuggers from before `DW_OP_LLVM_user`.
    pub fn rocgdb_legacy() -> Self {
        Self {
            name: "ROCgdb (legacy)",
            expressions: ExpressionForm {
                dialect: Dialect::Legacy,
                shared_from_bytes: Some(16),
                ..ExpressionForm::STANDARD
            },
            attributes: AttributeNumbers {
                lanes: Some(DW_AT_LLVM_LANES_AMD),
                lane_pc: Some(DW_AT_LLVM_LANE_PC_AMD),
                active_lane: Some(DW_AT_LLVM_ACTIVE_LANE_AMD),
                ..AttributeNumbers::STANDARD
            },
            frames: ROCGDB_FRAMES,
            ..Self::dwarf5()
        }
    }

    /// Readers of standard DWARF 5, in the 32-bit format. For another version, change the field.
    ///
    /// ```
    /// # use eitri::Consumer;
    /// // For a debugger that reads DWARF 4 at most, and finds functions by `.debug_aranges`.
    /// let mut consumer = Consumer::dwarf5();
    /// consumer.version = 4;
    /// consumer.tables.aranges = true;
    /// ```
    pub fn dwarf5() -> Self {
        Self {
            name: "DWARF 5",
            version: 5,
            format: Format::Dwarf32,
            expressions: ExpressionForm::STANDARD,
            attributes: AttributeNumbers::STANDARD,
            entries: EntryForm::STANDARD,
            lists: ListForm::STANDARD,
            has_line_directives: false,
            has_inlined_rows: false,
            frames: FrameForm::STANDARD,
            tables: Tables::default(),
            has_type_units: false,
            is_split: false,
            forms: Vec::new(),
        }
    }

    /// NVIDIA's debugger, through [PTX](crate::emit::ptx): ptxas relocates the entries and keeps them as they are.
    pub fn cuda_gdb() -> Self {
        Self {
            name: "CUDA-GDB",
            version: 2,
            expressions: ExpressionForm {
                operations: NVIDIA_OPERATIONS,
                has_registers_at_all_pcs: false,
                ..ExpressionForm::STANDARD
            },
            attributes: AttributeNumbers {
                variable_space: Some(gimli::DW_AT_address_class),
                ..AttributeNumbers::STANDARD
            },
            entries: NVIDIA_ENTRIES,
            lists: ListForm { has_absolute_bounds: true, ..ListForm::STANDARD },
            has_line_directives: true,
            // ptxas makes the frames.
            frames: FrameForm { debug_frame: false, ..FrameForm::STANDARD },
            ..Self::dwarf5()
        }
    }

    /// NVIDIA's debugger, through a cubin: the machine code SASS with its line table, frames and register map. Pcs are
    /// bytes, and registers are the processor's.
    ///
    /// ```
    /// # use eitri::Consumer;
    /// // The entries are those that the debugger reads from PTX.
    /// let [ptx, sass] = [Consumer::cuda_gdb(), Consumer::cuda_gdb_sass()];
    /// assert_eq!(ptx.entries, sass.entries);
    /// assert!(ptx.has_line_directives && !sass.has_line_directives);
    /// ```
    pub fn cuda_gdb_sass() -> Self {
        let ptx = Self::cuda_gdb();
        Self {
            name: "CUDA-GDB (SASS)",
            // nvlink and nvdisasm read line tables of version 3, and frames of this version in the 64-bit format.
            version: 3,
            expressions: ExpressionForm { has_register_map: true, ..ptx.expressions },
            has_line_directives: false,
            has_inlined_rows: true,
            frames: FrameForm { format: Some(Format::Dwarf64), are_separate: true, ..FrameForm::STANDARD },
            tables: Tables { pubs: true, has_public_linkage_names: true, ..Tables::default() },
            ..ptx
        }
    }

    /// Names that [`named`](Self::named) takes.
    pub const NAMES: [&str; 9] = [
        "llvm",
        "rocgdb",
        "rocgdb-legacy",
        "cuda-gdb",
        "cuda-gdb-sass",
        "dwarf2",
        "dwarf3",
        "dwarf4",
        "dwarf5",
    ];

    /// Returns the consumer with a name in [`NAMES`](Self::NAMES): `dwarf2` to `dwarf5` are readers of that version of
    /// the standard.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownName`].
    ///
    /// # Example
    ///
    /// ```
    /// # use eitri::Consumer;
    /// assert_eq!(Consumer::named("llvm")?, Consumer::llvm());
    /// // The readers of standard DWARF have no consumer with their name.
    /// let error = Consumer::named("gdb").unwrap_err();
    /// assert_eq!(error.to_string(), "no consumer has the name `gdb`; did you mean `dwarf5`?");
    /// # Ok::<(), eitri::Error>(())
    /// ```
    pub fn named(name: &str) -> Result<Self> {
        let dwarf = |name, version| Self { name, version, ..Self::dwarf5() };
        Ok(match name {
            "llvm" => Self::llvm(),
            "rocgdb" => Self::rocgdb(),
            "rocgdb-legacy" => Self::rocgdb_legacy(),
            "cuda-gdb" => Self::cuda_gdb(),
            "cuda-gdb-sass" => Self::cuda_gdb_sass(),
            "dwarf2" => dwarf("DWARF 2", 2),
            "dwarf3" => dwarf("DWARF 3", 3),
            "dwarf4" => dwarf("DWARF 4", 4),
            "dwarf5" => Self::dwarf5(),
            _ => {
                let nearest = match name {
                    "gdb" | "lldb" => vec!["dwarf5".into()],
                    _ => nearest(name, Self::NAMES),
                };
                return Err(
                    ErrorKind::UnknownName { kind: Named::Consumer, name: name.into(), nearest }.into()
                );
            }
        })
    }

    /// Returns the consumer that a target's objects are written for unless another is chosen: `cuda-gdb` on NVIDIA's
    /// targets, `dwarf5` on CPUs, and `llvm` on all other targets.
    ///
    /// ```
    /// use eitri::{Consumer, target::Target};
    ///
    /// assert_eq!(Consumer::for_target(&Target::x86_64()), Consumer::dwarf5());
    /// assert_eq!(Consumer::for_target(&Target::named("amdgpu-gfx1100-wave32")?), Consumer::llvm());
    /// # Ok::<(), eitri::Error>(())
    /// ```
    pub fn for_target(target: &Target) -> Self {
        match target.elf().machine {
            machine if machine == object::elf::EM_CUDA.0 => Self::cuda_gdb(),
            // gdb and lldb read no vendor's operations on a CPU.
            _ if target.lanes() == 1 => Self::dwarf5(),
            _ => Self::llvm(),
        }
    }

    /// Returns the consumer with a name or, without a name, the consumer [for the target](Self::for_target).
    ///
    /// # Errors
    /// The errors that [`named`](Self::named) returns.
    pub fn chosen(name: Option<&str>, target: &Target) -> Result<Self> {
        name.map_or_else(|| Ok(Self::for_target(target)), Self::named)
    }

    /// Adds what a user asks for beside a consumer's name.
    ///
    /// ```
    /// use eitri::consumer::{Additions, Consumer};
    ///
    /// let consumer = Consumer::dwarf5().with(Additions { names: true, ..Additions::default() });
    /// assert!(consumer.tables.names && !consumer.tables.aranges);
    /// ```
    #[must_use]
    pub fn with(mut self, additions: Additions) -> Self {
        if additions.dwarf64 {
            self.format = Format::Dwarf64;
        }
        self.tables.names |= additions.names;
        self.tables.pubs |= additions.pubnames;
        self.tables.aranges |= additions.aranges;
        self.has_type_units |= additions.type_units;
        self.is_split |= additions.split;
        self
    }
}
