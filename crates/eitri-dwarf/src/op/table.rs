//! The operation table: one row for each operation. All lists of operations are generated from it.
//!
//! | column | meaning |
//! |---|---|
//! | variant, method, name | the variant of [`Op`](super::Op), the method of [`Encoder`](super::Encoder), the text form |
//! | operands | name and [kind](super::operand) of each operand, in encoding order |
//! | std | the opcode of DWARF 2 to 5, valid in every dialect |
//! | gnu | the GNU opcode of the same operation in DWARF 4 |
//! | user | the sub-operation after `DW_OP_LLVM_user` (0xe9) |
//! | legacy | the one-byte opcode for older AMD debuggers |
//! | six | the opcode in the DWARF 6 draft; `TBA` if accepted or proposed without a number |
//! | in => out | stack elements popped and pushed; `*` if the number varies |
//! | since | the DWARF version that introduced the operation; 0 if it is not part of the standard |
//! | cfi | `cfi` if call frame information may use the operation; `_` if A.6.4.2 excludes it, if it is an AMD operation that needs an object or a lane, or if it is a GNU operation that references an entry |
//!
//! A row is one *meaning*. Compact spellings (`lit5`, `reg3`, `const1u`, `dup`) are encodings of `constu`, `regx`,
//! `constu` and `pick`; [`compact`](super::compact) lists them.

/// Calls a macro with all rows.
macro_rules! for_each_op { ($use:ident) => { $use! {
    // variant            method               name                    operands                                     std   gnu  user  leg   six    stack   since cfi
    Addr                  addr                 "addr"                  { address: Address }                        [0x03  _    _     _     _   ]  (0 => 1) 2   cfi;
    Deref                 deref                "deref"                 {}                                          [0x06  _    _     _     _   ]  (1 => 1) 2   cfi;
    ConstU                constu               "constu"                { value: Uleb }                             [0x10  _    _     _     _   ]  (0 => 1) 2   cfi;
    ConstS                consts               "consts"                { value: Sleb }                             [0x11  _    _     _     _   ]  (0 => 1) 2   cfi;
    Drop                  drop_top             "drop"                  {}                                          [0x13  _    _     _     _   ]  (1 => 0) 2   cfi;
    Pick                  pick                 "pick"                  { index: U8 }                               [0x15  _    _     _     _   ]  (* => *) 2   cfi;
    Swap                  swap                 "swap"                  {}                                          [0x16  _    _     _     _   ]  (2 => 2) 2   cfi;
    Rot                   rot                  "rot"                   {}                                          [0x17  _    _     _     _   ]  (3 => 3) 2   cfi;
    Xderef                xderef               "xderef"                {}                                          [0x18  _    _     _     _   ]  (2 => 1) 2   cfi;
    Abs                   abs                  "abs"                   {}                                          [0x19  _    _     _     _   ]  (1 => 1) 2   cfi;
    And                   and                  "and"                   {}                                          [0x1a  _    _     _     _   ]  (2 => 1) 2   cfi;
    Div                   div                  "div"                   {}                                          [0x1b  _    _     _     _   ]  (2 => 1) 2   cfi;
    Minus                 minus                "minus"                 {}                                          [0x1c  _    _     _     _   ]  (2 => 1) 2   cfi;
    Mod                   modulo               "mod"                   {}                                          [0x1d  _    _     _     _   ]  (2 => 1) 2   cfi;
    Mul                   mul                  "mul"                   {}                                          [0x1e  _    _     _     _   ]  (2 => 1) 2   cfi;
    Neg                   neg                  "neg"                   {}                                          [0x1f  _    _     _     _   ]  (1 => 1) 2   cfi;
    Not                   not                  "not"                   {}                                          [0x20  _    _     _     _   ]  (1 => 1) 2   cfi;
    Or                    or                   "or"                    {}                                          [0x21  _    _     _     _   ]  (2 => 1) 2   cfi;
    Plus                  plus                 "plus"                  {}                                          [0x22  _    _     _     _   ]  (2 => 1) 2   cfi;
    PlusUconst            plus_uconst          "plus_uconst"           { value: Uleb }                             [0x23  _    _     _     _   ]  (1 => 1) 2   cfi;
    Shl                   shl                  "shl"                   {}                                          [0x24  _    _     _     _   ]  (2 => 1) 2   cfi;
    Shr                   shr                  "shr"                   {}                                          [0x25  _    _     _     _   ]  (2 => 1) 2   cfi;
    Shra                  shra                 "shra"                  {}                                          [0x26  _    _     _     _   ]  (2 => 1) 2   cfi;
    Xor                   xor                  "xor"                   {}                                          [0x27  _    _     _     _   ]  (2 => 1) 2   cfi;
    Bra                   bra                  "bra"                   { distance: Branch }                        [0x28  _    _     _     _   ]  (1 => 0) 2   cfi;
    Eq                    eq                   "eq"                    {}                                          [0x29  _    _     _     _   ]  (2 => 1) 2   cfi;
    Ge                    ge                   "ge"                    {}                                          [0x2a  _    _     _     _   ]  (2 => 1) 2   cfi;
    Gt                    gt                   "gt"                    {}                                          [0x2b  _    _     _     _   ]  (2 => 1) 2   cfi;
    Le                    le                   "le"                    {}                                          [0x2c  _    _     _     _   ]  (2 => 1) 2   cfi;
    Lt                    lt                   "lt"                    {}                                          [0x2d  _    _     _     _   ]  (2 => 1) 2   cfi;
    Ne                    ne                   "ne"                    {}                                          [0x2e  _    _     _     _   ]  (2 => 1) 2   cfi;
    Skip                  skip                 "skip"                  { distance: Branch }                        [0x2f  _    _     _     _   ]  (0 => 0) 2   cfi;
    RegX                  regx                 "regx"                  { reg: Register }                           [0x90  _    _     _     _   ]  (0 => 1) 2   cfi;
    FbReg                 fbreg                "fbreg"                 { offset: Sleb }                            [0x91  _    _     _     _   ]  (0 => 1) 2   _  ;
    BregX                 bregx                "bregx"                 { reg: Register, offset: Sleb }             [0x92  _    _     _     _   ]  (0 => 1) 2   cfi;
    Piece                 piece                "piece"                 { bytes: Uleb }                             [0x93  _    _     _     _   ]  (* => *) 2   cfi;
    DerefSize             deref_size           "deref_size"            { bytes: U8 }                               [0x94  _    _     _     _   ]  (1 => 1) 2   cfi;
    XderefSize            xderef_size          "xderef_size"           { bytes: U8 }                               [0x95  _    _     _     _   ]  (2 => 1) 2   cfi;
    Nop                   nop                  "nop"                   {}                                          [0x96  _    0x01  _     _   ]  (0 => 0) 2   cfi;
    PushObjectAddress     push_object_address  "push_object_address"   {}                                          [0x97  _    _     _     _   ]  (0 => 1) 3   _  ;
    Call2                 call2                "call2"                 { entry: Entry2 }                           [0x98  _    _     _     _   ]  (* => *) 3   _  ;
    Call4                 call4                "call4"                 { entry: Entry4 }                           [0x99  _    _     _     _   ]  (* => *) 3   _  ;
    CallRef               call_ref             "call_ref"              { entry: EntrySection }                     [0x9a  _    _     _     _   ]  (* => *) 3   _  ;
    FormTlsAddress        form_tls_address     "form_tls_address"      {}                                          [0x9b  0xe0 _     _     _   ]  (1 => 1) 3   cfi;
    CallFrameCfa          call_frame_cfa       "call_frame_cfa"        {}                                          [0x9c  _    _     _     _   ]  (0 => 1) 3   _  ;
    BitPiece              bit_piece            "bit_piece"             { bits: Uleb, offset: Uleb }                [0x9d  _    _     _     _   ]  (* => *) 3   cfi;
    ImplicitValue         implicit_value       "implicit_value"        { bytes: Block }                            [0x9e  _    _     _     _   ]  (0 => 1) 4   cfi;
    StackValue            stack_value          "stack_value"           {}                                          [0x9f  _    _     _     _   ]  (1 => 1) 4   cfi;
    ImplicitPointer       implicit_pointer     "implicit_pointer"      { entry: EntrySection, offset: Sleb }       [0xa0  0xf2 _     _     _   ]  (0 => 1) 5   _  ;
    Addrx                 addrx                "addrx"                 { index: Uleb }                             [0xa1  0xfb _     _     _   ]  (0 => 1) 5   _  ;
    Constx                constx               "constx"                { index: Uleb }                             [0xa2  0xfc _     _     _   ]  (0 => 1) 5   _  ;
    EntryValue            entry_value          "entry_value"           { expr: Expression }                        [0xa3  0xf3 _     _     _   ]  (0 => 1) 5   _  ;
    ConstType             const_type           "const_type"            { ty: TypeEntry, bytes: Block1 }            [0xa4  0xf4 _     _     _   ]  (0 => 1) 5   _  ;
    RegvalType            regval_type          "regval_type"           { reg: Register, ty: TypeEntry }            [0xa5  0xf5 _     _     _   ]  (0 => 1) 5   _  ;
    DerefType             deref_type           "deref_type"            { bytes: U8, ty: TypeEntry }                [0xa6  0xf6 _     _     _   ]  (1 => 1) 5   _  ;
    XderefType            xderef_type          "xderef_type"           { bytes: U8, ty: TypeEntry }                [0xa7  _    _     _     _   ]  (2 => 1) 5   _  ;
    Convert               convert              "convert"               { ty: TypeEntry }                           [0xa8  0xf7 _     _     _   ]  (1 => 1) 5   _  ;
    Reinterpret           reinterpret          "reinterpret"           { ty: TypeEntry }                           [0xa9  0xf9 _     _     _   ]  (1 => 1) 5   _  ;

    GnuUninit             gnu_uninit           "uninit"                {}                                          [_     0xf0 _     _     _   ]  (1 => 1) 0   cfi;
    GnuEncodedAddr        gnu_encoded_addr     "encoded_addr"          { address: Encoded }                        [_     0xf1 _     _     _   ]  (0 => 1) 0   cfi;
    GnuParameterRef       gnu_parameter_ref    "parameter_ref"         { entry: Entry4 }                           [_     0xfa _     _     _   ]  (0 => 1) 0   _  ;
    GnuVariableValue      gnu_variable_value   "variable_value"        { entry: EntrySection }                     [_     0xfd _     _     _   ]  (0 => 1) 0   _  ;

    FormAspaceAddress     form_aspace_address  "form_aspace_address"   {}                                          [_     _    0x02  0xe1  _   ]  (2 => 1) 0   cfi;
    PushLane              push_lane            "push_lane"             {}                                          [_     _    0x03  0xe2  0xab]  (0 => 1) 6   _  ;
    Offset                offset               "offset"                {}                                          [_     _    0x04  0xe3  TBA ]  (2 => 1) 6   cfi;
    OffsetUconst          offset_uconst        "offset_uconst"         { bytes: Uleb }                             [_     _    0x05  0xe4  _   ]  (1 => 1) 0   cfi;
    BitOffset             bit_offset           "bit_offset"            {}                                          [_     _    0x06  0xe5  TBA ]  (2 => 1) 6   cfi;
    CallFrameEntryReg     call_frame_entry_reg "call_frame_entry_reg"  { reg: Register }                           [_     _    0x07  0xe6  TBA ]  (0 => 1) 0   cfi;
    Undefined             undefined            "undefined"             {}                                          [_     _    0x08  0xe7  TBA ]  (0 => 1) 6   cfi;
    AspaceBregX           aspace_bregx         "aspace_bregx"          { reg: Register, offset: Sleb }             [_     _    0x09  0xe8  TBA ]  (1 => 1) 0   cfi;
    PieceEnd              piece_end            "piece_end"             {}                                          [_     _    0x0a  0xea  _   ]  (1 => 1) 0   cfi;
    Extend                extend               "extend"                { bits: Uleb, count: Uleb }                 [_     _    0x0b  0xeb  TBA ]  (1 => 1) 0   cfi;
    SelectBitPiece        select_bit_piece     "select_bit_piece"      { bits: Uleb, count: Uleb }                 [_     _    0x0c  0xec  TBA ]  (3 => 1) 0   cfi;
    NvidiaMux             nvidia_mux           "NVIDIA_mux"            { selector: Uleb }                          [_     _    0x0d  _     _   ]  (* => *) 0   cfi;
    AspaceImplicitPointer aspace_implicit_pointer "aspace_implicit_pointer" { entry: EntrySection, offset: Sleb }  [_     _    TBA   _     _   ]  (1 => 1) 0   _  ;
    PushIteration         push_iteration       "push_iteration"        {}                                          [_     _    TBA   _     _   ]  (0 => 1) 0   _  ;
    Overlay               overlay              "overlay"               {}                                          [_     _    TBA   _     TBA ]  (4 => 1) 0   cfi;
    BitOverlay            bit_overlay          "bit_overlay"           {}                                          [_     _    TBA   _     TBA ]  (4 => 1) 0   cfi;

    Composite             composite            "composite"             {}                                          [_     _    _     _     TBA ]  (0 => 1) 6   cfi;
    Mem                   mem                  "mem"                   {}                                          [_     _    _     _     TBA ]  (2 => 1) 0   cfi;
    ModFloor              mod_floor            "mod_floor"             {}                                          [_     _    _     _     TBA ]  (2 => 1) 6   cfi;
    Extended              extended             "extended"              { opcode: Uleb }                            [_     _    _     _     0xde]  (* => *) 6   cfi;
    UserExtended          user_extended        "user_extended"         { opcode: Uleb }                            [_     _    _     _     0xdf]  (* => *) 6   cfi;
} } }
pub(crate) use for_each_op;

/// Converts a cell in a code column to a [`Opcode`](super::Opcode).
macro_rules! code {
    (_) => {
        $crate::op::Opcode::None
    };
    (TBA) => {
        $crate::op::Opcode::Unassigned
    };
    ($code:literal) => {
        $crate::op::Opcode::Is($code)
    };
}
pub(crate) use code;
