//! The call frame instruction table: one row for each opcode. Reader, writer and printer are generated from it.
//!
//! | column | meaning |
//! |---|---|
//! | kind | the variant of [`CallFrameInstruction`](crate::read::CallFrameInstruction), which instructions share if they differ only in operand encodings |
//! | constant, name | the name in code, and in text |
//! | code | the opcode; in the three with a high bit set, the low six bits are an operand |
//! | operands | the variant's field and its [encoding](super::CfiOperand) |
//! | since | the DWARF version that introduced the instruction; 0 if it is not part of the standard |
//! | dialects | `all`, or `amd` for dialects in which AMD's extension has a number for the instruction |

/// Calls a macro with all rows.
macro_rules! for_each_instruction { ($use:ident) => { $use! {
    // kind           constant                     name                                    code  operands                                               since dialects
    AdvanceLoc        ADVANCE_LOC                  "DW_CFA_advance_loc"                    0x40  { bytes: LowSteps }                                    2 all;
    Offset            OFFSET                       "DW_CFA_offset"                         0x80  { register: LowRegister, offset: Factored }            2 all;
    Restore           RESTORE                      "DW_CFA_restore"                        0xc0  { register: LowRegister }                              2 all;
    Nop               NOP                          "DW_CFA_nop"                            0x00  {}                                                     2 all;
    SetLoc            SET_LOC                      "DW_CFA_set_loc"                        0x01  { address: Address }                                   2 all;
    AdvanceLoc        ADVANCE_LOC1                 "DW_CFA_advance_loc1"                   0x02  { bytes: Steps1 }                                      2 all;
    AdvanceLoc        ADVANCE_LOC2                 "DW_CFA_advance_loc2"                   0x03  { bytes: Steps2 }                                      2 all;
    AdvanceLoc        ADVANCE_LOC4                 "DW_CFA_advance_loc4"                   0x04  { bytes: Steps4 }                                      2 all;
    Offset            OFFSET_EXTENDED              "DW_CFA_offset_extended"                0x05  { register: Register, offset: Factored }               2 all;
    Restore           RESTORE_EXTENDED             "DW_CFA_restore_extended"               0x06  { register: Register }                                 2 all;
    Undefined         UNDEFINED                    "DW_CFA_undefined"                      0x07  { register: Register }                                 2 all;
    SameValue         SAME_VALUE                   "DW_CFA_same_value"                     0x08  { register: Register }                                 2 all;
    Register          REGISTER                     "DW_CFA_register"                       0x09  { register: Register, from: Register }                 2 all;
    RememberState     REMEMBER_STATE               "DW_CFA_remember_state"                 0x0a  {}                                                     2 all;
    RestoreState      RESTORE_STATE                "DW_CFA_restore_state"                  0x0b  {}                                                     2 all;
    DefCfa            DEF_CFA                      "DW_CFA_def_cfa"                        0x0c  { register: Register, offset: Bytes }                  2 all;
    DefCfaRegister    DEF_CFA_REGISTER             "DW_CFA_def_cfa_register"               0x0d  { register: Register }                                 2 all;
    DefCfaOffset      DEF_CFA_OFFSET               "DW_CFA_def_cfa_offset"                 0x0e  { offset: Bytes }                                      2 all;
    DefCfaExpression  DEF_CFA_EXPRESSION           "DW_CFA_def_cfa_expression"             0x0f  { expr: Expression }                                   3 all;
    Expression        EXPRESSION                   "DW_CFA_expression"                     0x10  { register: Register, expr: Expression }               3 all;
    Offset            OFFSET_EXTENDED_SF           "DW_CFA_offset_extended_sf"             0x11  { register: Register, offset: SignedFactored }         3 all;
    DefCfa            DEF_CFA_SF                   "DW_CFA_def_cfa_sf"                     0x12  { register: Register, offset: SignedFactored }         3 all;
    DefCfaOffset      DEF_CFA_OFFSET_SF            "DW_CFA_def_cfa_offset_sf"              0x13  { offset: SignedFactored }                             3 all;
    ValOffset         VAL_OFFSET                   "DW_CFA_val_offset"                     0x14  { register: Register, offset: Factored }               3 all;
    ValOffset         VAL_OFFSET_SF                "DW_CFA_val_offset_sf"                  0x15  { register: Register, offset: SignedFactored }         3 all;
    ValExpression     VAL_EXPRESSION               "DW_CFA_val_expression"                 0x16  { register: Register, expr: Expression }               3 all;

    AdvanceLoc        MIPS_ADVANCE_LOC8            "DW_CFA_MIPS_advance_loc8"              0x1d  { bytes: Steps8 }                                      0 all;
    // GNU's SPARC instruction and LLVM's AArch64 instruction share this number.
    NegateRaState     GNU_WINDOW_SAVE              "DW_CFA_GNU_window_save"                0x2d  {}                                                     0 all;
    ArgsSize          GNU_ARGS_SIZE                "DW_CFA_GNU_args_size"                  0x2e  { bytes: Size }                                        0 all;
    Offset            GNU_NEGATIVE_OFFSET_EXTENDED "DW_CFA_GNU_negative_offset_extended"   0x2f  { register: Register, offset: NegatedFactored }        0 all;
    DefAspaceCfa      LLVM_DEF_ASPACE_CFA          "DW_CFA_LLVM_def_aspace_cfa"            0x30  { register: Register, offset: Bytes, space: Space }    0 amd;
    DefAspaceCfa      LLVM_DEF_ASPACE_CFA_SF       "DW_CFA_LLVM_def_aspace_cfa_sf"         0x31  { register: Register, offset: SignedFactored, space: Space } 0 amd;
} } }
pub(crate) use for_each_instruction;

/// Whether a dialect has the instruction.
macro_rules! is_in_dialect {
    (all $dialect:expr) => {
        true
    };
    (amd $dialect:expr) => {
        matches!($dialect, $crate::op::Dialect::Llvm | $crate::op::Dialect::Legacy)
    };
}
pub(crate) use is_in_dialect;
