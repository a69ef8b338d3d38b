//! Form of call frame information.

/// Form of call frame information.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FrameForm {
    /// Whether `.debug_frame` is emitted.
    pub debug_frame: bool,
    /// Whether `.eh_frame` is emitted, on targets whose ABI has it: it is loaded with the program, for exceptions too.
    pub eh_frame: bool,
    /// Instructions that name the address space of a frame. Without them an expression does.
    pub aspace_cfa: AspaceCfa,
    /// Whether `DW_CFA_def_cfa` means the default space, as the specification has it (A.6.4.2.2), and not the space
    /// named last.
    pub def_cfa_resets_space: bool,
    /// Augmentation string of `.debug_frame`.
    pub augmentation: &'static str,
}

/// Instructions that name the address space of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AspaceCfa {
    /// None.
    None,
    /// `DW_CFA_LLVM_def_aspace_cfa`, whose offset is unsigned.
    Unsigned,
    /// `DW_CFA_LLVM_def_aspace_cfa` and `DW_CFA_LLVM_def_aspace_cfa_sf`.
    Signed,
}

impl FrameForm {
    /// `.debug_frame` without an augmentation, by the standard's instructions.
    pub const STANDARD: Self = Self {
        debug_frame: true,
        eh_frame: false,
        aspace_cfa: AspaceCfa::None,
        def_cfa_resets_space: true,
        augmentation: "",
    };
}
