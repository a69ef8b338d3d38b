//! Presets: a consumer for each reader, and their names.

use gimli::Format;

use super::{
    AspaceCfa, AttributeNumbers, Consumer, DW_AT_LLVM_ACTIVE_LANE_AMD, DW_AT_LLVM_ADDRESS_SPACE,
    DW_AT_LLVM_LANE_PC, DW_AT_LLVM_LANE_PC_AMD, DW_AT_LLVM_LANES, DW_AT_LLVM_LANES_AMD,
    DW_AT_LLVM_MEMORY_SPACE, DW_CC_LLVM_DEVICE_KERNEL, EntryForm, ExpressionForm, FrameForm, ListForm,
    Tables, nvidia,
};
use crate::error::{ErrorKind, Named, Result};
use crate::near::nearest;
use crate::op::Dialect;

/// AMD's debuggers read one instruction that names a space, and keep the space for later instructions.
const ROCGDB_FRAMES: FrameForm =
    FrameForm { aspace_cfa: AspaceCfa::Unsigned, def_cfa_resets_space: false, ..FrameForm::STANDARD };

impl Consumer {
    /// Current LLVM tools, and readers of the AMD compiler's output.
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
            frames: FrameForm::STANDARD,
            tables: Tables::default(),
            has_type_units: false,
            is_split: false,
            forms: Vec::new(),
        }
    }

    /// NVIDIA's debugger, by way of [PTX](crate::emit::ptx): ptxas relocates the entries and keeps them as they are.
    pub fn cuda_gdb() -> Self {
        Self {
            name: "CUDA-GDB",
            version: 2,
            expressions: ExpressionForm {
                operations: nvidia::OPERATIONS,
                has_registers_at_all_pcs: false,
                ..ExpressionForm::STANDARD
            },
            attributes: AttributeNumbers {
                variable_space: Some(gimli::DW_AT_address_class),
                ..AttributeNumbers::STANDARD
            },
            entries: nvidia::ENTRIES,
            lists: ListForm { has_absolute_bounds: true, ..ListForm::STANDARD },
            has_line_directives: true,
            // ptxas makes the frames.
            frames: FrameForm { debug_frame: false, ..FrameForm::STANDARD },
            ..Self::dwarf5()
        }
    }

    /// Names that [`named`](Self::named) takes.
    pub const NAMES: [&str; 8] =
        ["llvm", "rocgdb", "rocgdb-legacy", "cuda-gdb", "dwarf2", "dwarf3", "dwarf4", "dwarf5"];

    /// The consumer with a name of [`NAMES`](Self::NAMES): `dwarf2` to `dwarf5` are readers of that version of the
    /// standard.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownName`].
    pub fn named(name: &str) -> Result<Self> {
        let dwarf = |name, version| Self { name, version, ..Self::dwarf5() };
        Ok(match name {
            "llvm" => Self::llvm(),
            "rocgdb" => Self::rocgdb(),
            "rocgdb-legacy" => Self::rocgdb_legacy(),
            "cuda-gdb" => Self::cuda_gdb(),
            "dwarf2" => dwarf("DWARF 2", 2),
            "dwarf3" => dwarf("DWARF 3", 3),
            "dwarf4" => dwarf("DWARF 4", 4),
            "dwarf5" => Self::dwarf5(),
            _ => {
                let nearest = nearest(name, Self::NAMES);
                return Err(
                    ErrorKind::UnknownName { kind: Named::Consumer, name: name.into(), nearest }.into()
                );
            }
        })
    }
}
