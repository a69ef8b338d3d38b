//! The instructions of gfx1100 that this compiler writes: one row each, and their encoding (RDNA 3 ISA, chapter 15).

/// Layout of an instruction's bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Scalar: one source, two sources, a comparison, a 16-bit constant, control.
    Sop1,
    Sop2,
    Sopc,
    Sopp,
    Sopk,
    /// Scalar load: base pair, offset register, offset.
    Smem,
    /// Vector, one source of any kind.
    Vop1,
    /// The same with a scalar register as destination.
    Vop1s,
    /// Vector, up to three sources of any kind; the destination is a vector register.
    Vop3,
    /// Vector, the destination is a scalar register: comparisons, and reads of a lane.
    Vop3s,
    /// Local memory, global memory, scratch memory.
    Ds,
    Global,
    Scratch,
}

macro_rules! ops {
    ($($op:ident $name:literal $format:ident $code:literal;)*) => {
        /// An instruction.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Op { $($op),* }

        impl Op {
            /// All instructions.
            pub const ALL: &[Self] = &[$(Self::$op),*];

            /// Name in AMD's manual, format, and number there.
            pub fn row(self) -> (&'static str, Format, u32) {
                match self { $(Self::$op => ($name, Format::$format, $code)),* }
            }
        }
    };
}

ops! {
    SMov "s_mov_b32" Sop1 0x00;
    SNot "s_not_b32" Sop1 0x1e;
    SAndSaveexec "s_and_saveexec_b32" Sop1 0x20;
    SOrSaveexec "s_or_saveexec_b32" Sop1 0x22;
    SAndNotSaveexec "s_and_not1_saveexec_b32" Sop1 0x30;
    SBitCount "s_bcnt1_i32_b32" Sop1 0x18;
    SFindFirst "s_ctz_i32_b32" Sop1 0x08;
    SGetPc "s_getpc_b64" Sop1 0x47;
    SSetPc "s_setpc_b64" Sop1 0x48;
    SSwapPc "s_swappc_b64" Sop1 0x49;
    SAddU "s_add_u32" Sop2 0x00;
    SAddCarry "s_addc_u32" Sop2 0x04;
    SAdd "s_add_i32" Sop2 0x02;
    SSub "s_sub_i32" Sop2 0x03;
    SMul "s_mul_i32" Sop2 0x2c;
    SAnd "s_and_b32" Sop2 0x16;
    SOr "s_or_b32" Sop2 0x18;
    SXor "s_xor_b32" Sop2 0x1a;
    SAndNot "s_and_not1_b32" Sop2 0x22;
    SShl "s_lshl_b32" Sop2 0x08;
    SShr "s_lshr_b32" Sop2 0x0a;
    SAshr "s_ashr_i32" Sop2 0x0c;
    SSelect "s_cselect_b32" Sop2 0x30;
    SMinI "s_min_i32" Sop2 0x12;
    SMinU "s_min_u32" Sop2 0x13;
    SMaxI "s_max_i32" Sop2 0x14;
    SMaxU "s_max_u32" Sop2 0x15;
    SEq "s_cmp_eq_u32" Sopc 0x06;
    SNe "s_cmp_lg_u32" Sopc 0x07;
    SLtI "s_cmp_lt_i32" Sopc 0x04;
    SLeI "s_cmp_le_i32" Sopc 0x05;
    SGtI "s_cmp_gt_i32" Sopc 0x02;
    SGeI "s_cmp_ge_i32" Sopc 0x03;
    SLtU "s_cmp_lt_u32" Sopc 0x0a;
    SLeU "s_cmp_le_u32" Sopc 0x0b;
    SGtU "s_cmp_gt_u32" Sopc 0x08;
    SGeU "s_cmp_ge_u32" Sopc 0x09;
    Nop "s_nop" Sopp 0x00;
    WaitCount "s_waitcnt" Sopp 0x09;
    WaitStores "s_waitcnt_vscnt" Sopk 0x18;
    Branch "s_branch" Sopp 0x20;
    BranchScc0 "s_cbranch_scc0" Sopp 0x21;
    BranchScc1 "s_cbranch_scc1" Sopp 0x22;
    BranchExecz "s_cbranch_execz" Sopp 0x25;
    BranchExecnz "s_cbranch_execnz" Sopp 0x26;
    EndProgram "s_endpgm" Sopp 0x30;
    Barrier "s_barrier" Sopp 0x3d;
    SLoad "s_load_b32" Smem 0x00;
    SLoad2 "s_load_b64" Smem 0x01;
    VMov "v_mov_b32" Vop1 0x01;
    ReadFirstLane "v_readfirstlane_b32" Vop1s 0x02;
    ReadLane "v_readlane_b32" Vop3s 0x360;
    WriteLane "v_writelane_b32" Vop3 0x361;
    VEq "v_cmp_eq_u32" Vop3s 0x04a;
    VNe "v_cmp_ne_u32" Vop3s 0x04d;
    VLtI "v_cmp_lt_i32" Vop3s 0x041;
    VLeI "v_cmp_le_i32" Vop3s 0x043;
    VGtI "v_cmp_gt_i32" Vop3s 0x044;
    VGeI "v_cmp_ge_i32" Vop3s 0x046;
    VLtU "v_cmp_lt_u32" Vop3s 0x049;
    VLeU "v_cmp_le_u32" Vop3s 0x04b;
    VGtU "v_cmp_gt_u32" Vop3s 0x04c;
    VGeU "v_cmp_ge_u32" Vop3s 0x04e;
    VLtF "v_cmp_lt_f32" Vop3s 0x011;
    VEqF "v_cmp_eq_f32" Vop3s 0x012;
    VLeF "v_cmp_le_f32" Vop3s 0x013;
    VGtF "v_cmp_gt_f32" Vop3s 0x014;
    VGeF "v_cmp_ge_f32" Vop3s 0x016;
    VNeF "v_cmp_neq_f32" Vop3s 0x01d;
    VSelect "v_cndmask_b32" Vop3 0x101;
    VAdd "v_add_nc_u32" Vop3 0x125;
    VSub "v_sub_nc_u32" Vop3 0x126;
    VMul "v_mul_lo_u32" Vop3 0x32c;
    VMulHi "v_mul_hi_u32" Vop3 0x32d;
    VAnd "v_and_b32" Vop3 0x11b;
    VOr "v_or_b32" Vop3 0x11c;
    VXor "v_xor_b32" Vop3 0x11d;
    VNot "v_not_b32" Vop3 0x1b7;
    VShl "v_lshlrev_b32" Vop3 0x118;
    VShr "v_lshrrev_b32" Vop3 0x119;
    VAshr "v_ashrrev_i32" Vop3 0x11a;
    VBfe "v_bfe_u32" Vop3 0x210;
    VBitCount "v_bcnt_u32_b32" Vop3 0x31e;
    VMinI "v_min_i32" Vop3 0x111;
    VMaxI "v_max_i32" Vop3 0x112;
    VMinU "v_min_u32" Vop3 0x113;
    VMaxU "v_max_u32" Vop3 0x114;
    VAddF "v_add_f32" Vop3 0x103;
    VSubF "v_sub_f32" Vop3 0x104;
    VMulF "v_mul_f32" Vop3 0x108;
    VFmaF "v_fma_f32" Vop3 0x213;
    VMinF "v_min_f32" Vop3 0x10f;
    VMaxF "v_max_f32" Vop3 0x110;
    VRcp "v_rcp_f32" Vop3 0x1aa;
    VSqrt "v_sqrt_f32" Vop3 0x1b3;
    VFromI "v_cvt_f32_i32" Vop3 0x185;
    VFromU "v_cvt_f32_u32" Vop3 0x186;
    VToU "v_cvt_u32_f32" Vop3 0x187;
    VToI "v_cvt_i32_f32" Vop3 0x188;
    VTrunc "v_trunc_f32" Vop3 0x1a1;
    VCeil "v_ceil_f32" Vop3 0x1a2;
    VRound "v_rndne_f32" Vop3 0x1a3;
    VFloor "v_floor_f32" Vop3 0x1a4;
    LaneCount "v_mbcnt_lo_u32_b32" Vop3 0x31f;
    DsLoad "ds_load_b32" Ds 0x36;
    DsStore "ds_store_b32" Ds 0x0d;
    DsAdd "ds_add_rtn_u32" Ds 0x20;
    DsSub "ds_sub_rtn_u32" Ds 0x21;
    DsMinI "ds_min_rtn_i32" Ds 0x25;
    DsMaxI "ds_max_rtn_i32" Ds 0x26;
    DsMinU "ds_min_rtn_u32" Ds 0x27;
    DsMaxU "ds_max_rtn_u32" Ds 0x28;
    DsAnd "ds_and_rtn_b32" Ds 0x29;
    DsOr "ds_or_rtn_b32" Ds 0x2a;
    DsXor "ds_xor_rtn_b32" Ds 0x2b;
    DsSwap "ds_storexchg_rtn_b32" Ds 0x2d;
    DsPermute "ds_bpermute_b32" Ds 0xb3;
    GlobalLoad "global_load_b32" Global 0x14;
    GlobalStore "global_store_b32" Global 0x1a;
    GlobalSwap "global_atomic_swap_b32" Global 0x33;
    GlobalAdd "global_atomic_add_u32" Global 0x35;
    GlobalSub "global_atomic_sub_u32" Global 0x36;
    GlobalMinI "global_atomic_min_i32" Global 0x38;
    GlobalMinU "global_atomic_min_u32" Global 0x39;
    GlobalMaxI "global_atomic_max_i32" Global 0x3a;
    GlobalMaxU "global_atomic_max_u32" Global 0x3b;
    GlobalAnd "global_atomic_and_b32" Global 0x3c;
    GlobalOr "global_atomic_or_b32" Global 0x3d;
    GlobalXor "global_atomic_xor_b32" Global 0x3e;
    ScratchLoad "scratch_load_b32" Scratch 0x14;
    ScratchStore "scratch_store_b32" Scratch 0x1a;
}

impl Op {
    /// Whether it changes local memory, and returns the previous contents.
    pub fn is_local_atomic(self) -> bool {
        matches!(self.row(), (_, Format::Ds, 0x20..=0x2d))
    }

    /// Whether a global operation returns the previous contents of memory.
    pub fn is_atomic(self) -> bool {
        matches!(self.row(), (_, Format::Global, 0x33..=0x3e))
    }
}

/// An operand after register allocation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reg {
    /// A scalar register; also the first of a pair.
    S(u32),
    /// A vector register.
    V(u32),
    /// The low half of EXEC: all 32 lanes.
    Exec,
    /// Absence of a register.
    Null,
    /// A constant of 32 bits.
    Const(u32),
}

impl Reg {
    /// The number of the operand in nine bits; 255 is a literal, which follows the instruction.
    fn code(self) -> u32 {
        match self {
            Self::S(n) => n,
            Self::V(n) => 256 + n,
            Self::Exec => 126,
            Self::Null => 124,
            Self::Const(value) => match value as i32 {
                n @ 0..=64 => 128 + n as u32,
                n @ -16..=-1 => (192 - n) as u32,
                _ => match FLOATS.iter().position(|&bits| bits == value) {
                    Some(n) => 240 + n as u32,
                    None => 255,
                },
            },
        }
    }

    /// The number of a register in its file.
    pub fn number(self) -> u32 {
        self.code() & 0xff
    }
}

/// ±0.5, ±1, ±2, ±4: constants without a literal, from operand 240 on.
pub const FLOATS: [u32; 8] =
    [0x3f00_0000, 0xbf00_0000, 0x3f80_0000, 0xbf80_0000, 0x4000_0000, 0xc000_0000, 0x4080_0000, 0xc080_0000];

/// Words of an instruction. `offset` is in bytes for memory, and the field itself for [`Format::Sopp`].
pub fn encode(op: Op, dst: Reg, src: &[Reg], offset: i32, into: &mut Vec<u8>) {
    let (_, format, code) = op.row();
    let at = |n: usize| src.get(n).copied();
    let field = |n: usize| at(n).map_or(0, Reg::code);
    let number = |n: usize| at(n).map_or(0, Reg::number);
    let offset = offset as u32;
    let words: &[u32] = match format {
        Format::Sop1 => &[0xbe80_0000 | dst.code() << 16 | code << 8 | field(0)],
        Format::Sop2 => &[0x8000_0000 | code << 23 | dst.code() << 16 | field(1) << 8 | field(0)],
        Format::Sopc => &[0xbf00_0000 | code << 16 | field(1) << 8 | field(0)],
        Format::Sopp => &[0xbf80_0000 | code << 16 | offset & 0xffff],
        Format::Sopk => &[0xb000_0000 | code << 23 | dst.code() << 16 | offset & 0xffff],
        Format::Smem => {
            let by = at(1).unwrap_or(Reg::Null).code();
            &[0xf400_0000 | code << 18 | dst.code() << 6 | field(0) >> 1, offset & 0x1f_ffff | by << 25]
        }
        Format::Vop1 | Format::Vop1s => &[0x7e00_0000 | dst.number() << 17 | code << 9 | field(0)],
        Format::Vop3 | Format::Vop3s => {
            &[0xd400_0000 | code << 16 | dst.number(), field(2) << 18 | field(1) << 9 | field(0)]
        }
        // Sources are the address, and the data of a store.
        Format::Ds => {
            &[0xd800_0000 | code << 18 | offset & 0xffff, dst_or_0(dst) << 24 | number(1) << 8 | number(0)]
        }
        // Sources are the base pair, the offset register, and the data of a store.
        Format::Global => {
            let returns = u32::from(op.is_atomic()) << 14;
            &[
                0xdc02_0000 | code << 18 | returns | offset & 0x1fff,
                dst_or_0(dst) << 24 | number(0) << 16 | number(2) << 8 | number(1),
            ]
        }
        // Sources are the base, the address in a vector register, if any, and the data of a store.
        Format::Scratch => {
            let (has, by) = match at(1) {
                Some(Reg::V(n)) => (1 << 7, n),
                _ => (0, 0),
            };
            &[
                0xdc01_0000 | code << 18 | offset & 0x1fff,
                dst_or_0(dst) << 24 | (field(0) | has) << 16 | number(2) << 8 | by,
            ]
        }
    };
    into.extend(words.iter().flat_map(|word| word.to_le_bytes()));
    let literal = src.iter().find(|reg| reg.code() == 255);
    if let Some(Reg::Const(value)) = literal {
        into.extend(value.to_le_bytes());
    }
}

fn dst_or_0(dst: Reg) -> u32 {
    if dst == Reg::Null { 0 } else { dst.number() }
}

/// Bytes of [`put_address`].
pub const ADDRESS: usize = 16;

/// Register pair for the address of a jump or call.
pub const TARGET: u32 = 102;

/// Writes the address of code into [`TARGET`]: `distance` bytes from the end of the first instruction, which has the
/// pc.
pub fn put_address(distance: i64, into: &mut Vec<u8>) {
    let low = Reg::S(TARGET);
    let high = Reg::S(TARGET + 1);
    encode(Op::SGetPc, low, &[Reg::S(0)], 0, into);
    // The literal that this number needs is replaced by one of any size.
    encode(Op::SAddU, low, &[low, Reg::Const(i32::MAX as u32)], 0, into);
    let at = into.len() - 4;
    into[at..].copy_from_slice(&(distance as u32).to_le_bytes());
    encode(Op::SAddCarry, high, &[high, Reg::Const((distance >> 32) as u32)], 0, into);
}
