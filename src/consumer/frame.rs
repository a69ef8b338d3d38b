//! Form of call frame information.

/// Form of call frame information.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FrameForm {
    /// Whether `.debug_frame` is emitted.
    pub debug_frame: bool,
    /// Whether `.eh_frame`, which is loaded with the program and also used by exceptions, is emitted on targets whose
    /// ABI has it.
    pub eh_frame: bool,
    /// Instructions that name the address space of a frame. Without them an expression names it.
    pub aspace_cfa: AspaceCfa,
    /// Whether `DW_CFA_def_cfa` resets the address space to the default, as specified (A.6.4.2.2), instead of keeping
    /// the space named last.
    pub def_cfa_resets_space: bool,
    /// Augmentation string of `.debug_frame`.
    pub augmentation: &'static str,
}

/// Instructions that name the address space of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AspaceCfa {
    /// No such instruction.
    None,
    /// `DW_CFA_LLVM_def_aspace_cfa`, whose offset is unsigned.
    Unsigned,
    /// `DW_CFA_LLVM_def_aspace_cfa` and `DW_CFA_LLVM_def_aspace_cfa_sf`.
    Signed,
}

impl FrameForm {
    /// `.debug_frame` with the standard's instructions, without an augmentation.
    pub const STANDARD: Self = Self {
        debug_frame: true,
        eh_frame: false,
        aspace_cfa: AspaceCfa::None,
        def_cfa_resets_space: true,
        augmentation: "",
    };
}
