// Facts about kernel `uspill` in `uspill.o`: its line table, and the locations of its scalar variables. A pc is a byte
// offset from the first byte of `uspill`.

/// Size of the code of `uspill` in bytes.
pub const CODE_BYTES: u64 = 0x56c;

/// A row of the line table: the code from `pc` up to the next row's pc belongs to this line of `k14_spill.cl`.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Offset of an instruction from the first byte of `uspill`.
    pub pc: u64,
    /// Line, from 1; 0 for code without a line.
    pub line: u32,
    /// Column, from 1; 0 for none.
    pub column: u16,
    /// Whether `pc` is a recommended breakpoint for this line.
    pub is_stmt: bool,
    /// Whether `pc` is the recommended breakpoint for entry to the function.
    pub prologue_end: bool,
}

/// Location of a 32-bit value that is uniform across the wavefront.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// A scalar register, by its operand number in the machine code: 0 to 105 are `s0` to `s105`, followed by
    /// [`VCC_LO`] and [`VCC_HI`]. In DWARF the latter are not SGPRs, but VCC_32 (register 512) and VCC_64 (register
    /// 768).
    Sgpr(u16),
    /// One lane's dword of a vector register.
    Lane {
        /// Number of the vector register.
        vgpr: u16,
        /// Lane, below [`WAVE_SIZE`].
        lane: u16,
    },
}

/// Number of lanes in a wavefront of `uspill`.
pub const WAVE_SIZE: u16 = 32;

/// `vcc_lo`, used as one more scalar register. The low half of VCC.
pub const VCC_LO: u16 = 106;

/// `vcc_hi`, used as one more scalar register. The high half of VCC.
pub const VCC_HI: u16 = 107;

/// A range of code in which a variable's locations do not change.
#[derive(Clone, Copy, Debug)]
pub struct Stay {
    /// Valid before the instruction at this pc executes.
    pub start: u64,
    /// Valid up to, but not at, the instruction at this pc.
    pub end: u64,
    /// All locations of the value throughout the range. Never empty.
    pub places: &'static [Place],
    /// The instructions that begin and end the validity, by offset and text. `s0` to `s27` in an instruction are
    /// registers.
    pub because: &'static str,
}

/// A variable and its locations.
///
/// At pcs outside its stays, the value is in no [`Place`]: it is not loaded yet, or its register is overwritten and
/// the next value unfinished, or it was copied to every active lane of one of `v2` to `v21` on its way to `out` and is
/// only there or in `out`. These copies are not listed.
#[derive(Clone, Copy, Debug)]
pub struct Scalar {
    /// Name in the source.
    pub name: &'static str,
    /// Line of the declaration in `k14_spill.cl`.
    pub line: u32,
    /// Sorted and disjoint.
    pub stays: &'static [Stay],
}

/// The line table of `uspill`, sorted by pc. The table ends at [`CODE_BYTES`].
#[rustfmt::skip]
pub const LINES: &[Row] = &[
    Row { pc: 0x000, line: 3, column: 0, is_stmt: true, prologue_end: false },
    Row { pc: 0x00c, line: 4, column: 12, is_stmt: true, prologue_end: true },
    Row { pc: 0x07c, line: 33, column: 21, is_stmt: true, prologue_end: false },
    Row { pc: 0x080, line: 13, column: 12, is_stmt: true, prologue_end: false },
    Row { pc: 0x090, line: 14, column: 13, is_stmt: true, prologue_end: false },
    Row { pc: 0x0e8, line: 23, column: 13, is_stmt: true, prologue_end: false },
    Row { pc: 0x0fc, line: 24, column: 13, is_stmt: true, prologue_end: false },
    Row { pc: 0x110, line: 25, column: 13, is_stmt: true, prologue_end: false },
    Row { pc: 0x124, line: 26, column: 13, is_stmt: true, prologue_end: false },
    Row { pc: 0x138, line: 27, column: 13, is_stmt: true, prologue_end: false },
    Row { pc: 0x170, line: 30, column: 13, is_stmt: true, prologue_end: false },
    Row { pc: 0x180, line: 31, column: 13, is_stmt: true, prologue_end: false },
    Row { pc: 0x1a0, line: 33, column: 3, is_stmt: true, prologue_end: false },
    Row { pc: 0x1b4, line: 0, column: 3, is_stmt: false, prologue_end: false },
    Row { pc: 0x1fc, line: 34, column: 13, is_stmt: true, prologue_end: false },
    Row { pc: 0x200, line: 34, column: 23, is_stmt: false, prologue_end: false },
    Row { pc: 0x204, line: 34, column: 17, is_stmt: false, prologue_end: false },
    Row { pc: 0x208, line: 35, column: 13, is_stmt: true, prologue_end: false },
    Row { pc: 0x20c, line: 35, column: 23, is_stmt: false, prologue_end: false },
    Row { pc: 0x210, line: 62, column: 9, is_stmt: true, prologue_end: false },
    Row { pc: 0x214, line: 35, column: 17, is_stmt: true, prologue_end: false },
    Row { pc: 0x218, line: 36, column: 13, is_stmt: true, prologue_end: false },
    Row { pc: 0x21c, line: 36, column: 23, is_stmt: false, prologue_end: false },
    Row { pc: 0x220, line: 41, column: 13, is_stmt: true, prologue_end: false },
    Row { pc: 0x224, line: 36, column: 17, is_stmt: true, prologue_end: false },
    Row { pc: 0x228, line: 37, column: 13, is_stmt: true, prologue_end: false },
    Row { pc: 0x22c, line: 37, column: 23, is_stmt: false, prologue_end: false },
    Row { pc: 0x230, line: 37, column: 17, is_stmt: false, prologue_end: false },
    Row { pc: 0x234, line: 38, column: 13, is_stmt: true, prologue_end: false },
    Row { pc: 0x238, line: 38, column: 24, is_stmt: false, prologue_end: false },
    Row { pc: 0x23c, line: 38, column: 18, is_stmt: false, prologue_end: false },
    Row { pc: 0x240, line: 39, column: 13, is_stmt: true, prologue_end: false },
    Row { pc: 0x24c, line: 39, column: 25, is_stmt: false, prologue_end: false },
    Row { pc: 0x250, line: 44, column: 15, is_stmt: true, prologue_end: false },
    Row { pc: 0x254, line: 39, column: 18, is_stmt: true, prologue_end: false },
    Row { pc: 0x258, line: 40, column: 13, is_stmt: true, prologue_end: false },
    Row { pc: 0x25c, line: 40, column: 25, is_stmt: false, prologue_end: false },
    Row { pc: 0x260, line: 45, column: 15, is_stmt: true, prologue_end: false },
    Row { pc: 0x264, line: 40, column: 18, is_stmt: true, prologue_end: false },
    Row { pc: 0x268, line: 41, column: 25, is_stmt: true, prologue_end: false },
    Row { pc: 0x26c, line: 41, column: 18, is_stmt: false, prologue_end: false },
    Row { pc: 0x270, line: 42, column: 13, is_stmt: true, prologue_end: false },
    Row { pc: 0x274, line: 42, column: 25, is_stmt: false, prologue_end: false },
    Row { pc: 0x278, line: 42, column: 18, is_stmt: false, prologue_end: false },
    Row { pc: 0x27c, line: 43, column: 13, is_stmt: true, prologue_end: false },
    Row { pc: 0x280, line: 43, column: 25, is_stmt: false, prologue_end: false },
    Row { pc: 0x284, line: 43, column: 18, is_stmt: false, prologue_end: false },
    Row { pc: 0x288, line: 44, column: 27, is_stmt: true, prologue_end: false },
    Row { pc: 0x294, line: 44, column: 20, is_stmt: false, prologue_end: false },
    Row { pc: 0x298, line: 45, column: 27, is_stmt: true, prologue_end: false },
    Row { pc: 0x29c, line: 45, column: 20, is_stmt: false, prologue_end: false },
    Row { pc: 0x2a0, line: 46, column: 15, is_stmt: true, prologue_end: false },
    Row { pc: 0x2a4, line: 46, column: 27, is_stmt: false, prologue_end: false },
    Row { pc: 0x2a8, line: 46, column: 20, is_stmt: false, prologue_end: false },
    Row { pc: 0x2ac, line: 47, column: 15, is_stmt: true, prologue_end: false },
    Row { pc: 0x2b0, line: 47, column: 27, is_stmt: false, prologue_end: false },
    Row { pc: 0x2b4, line: 47, column: 20, is_stmt: false, prologue_end: false },
    Row { pc: 0x2b8, line: 48, column: 15, is_stmt: true, prologue_end: false },
    Row { pc: 0x2bc, line: 48, column: 27, is_stmt: false, prologue_end: false },
    Row { pc: 0x2c0, line: 48, column: 20, is_stmt: false, prologue_end: false },
    Row { pc: 0x2c4, line: 49, column: 15, is_stmt: true, prologue_end: false },
    Row { pc: 0x2c8, line: 49, column: 27, is_stmt: false, prologue_end: false },
    Row { pc: 0x2cc, line: 49, column: 20, is_stmt: false, prologue_end: false },
    Row { pc: 0x2d0, line: 50, column: 15, is_stmt: true, prologue_end: false },
    Row { pc: 0x2d4, line: 50, column: 27, is_stmt: false, prologue_end: false },
    Row { pc: 0x2d8, line: 50, column: 20, is_stmt: false, prologue_end: false },
    Row { pc: 0x2dc, line: 51, column: 15, is_stmt: true, prologue_end: false },
    Row { pc: 0x2e0, line: 51, column: 27, is_stmt: false, prologue_end: false },
    Row { pc: 0x2e4, line: 51, column: 20, is_stmt: false, prologue_end: false },
    Row { pc: 0x2e8, line: 52, column: 15, is_stmt: true, prologue_end: false },
    Row { pc: 0x2ec, line: 52, column: 27, is_stmt: false, prologue_end: false },
    Row { pc: 0x2f0, line: 52, column: 20, is_stmt: false, prologue_end: false },
    Row { pc: 0x2f4, line: 53, column: 15, is_stmt: true, prologue_end: false },
    Row { pc: 0x2f8, line: 53, column: 27, is_stmt: false, prologue_end: false },
    Row { pc: 0x2fc, line: 53, column: 20, is_stmt: false, prologue_end: false },
    Row { pc: 0x300, line: 54, column: 15, is_stmt: true, prologue_end: false },
    Row { pc: 0x304, line: 54, column: 27, is_stmt: false, prologue_end: false },
    Row { pc: 0x308, line: 54, column: 20, is_stmt: false, prologue_end: false },
    Row { pc: 0x30c, line: 55, column: 15, is_stmt: true, prologue_end: false },
    Row { pc: 0x310, line: 55, column: 27, is_stmt: false, prologue_end: false },
    Row { pc: 0x314, line: 55, column: 20, is_stmt: false, prologue_end: false },
    Row { pc: 0x318, line: 56, column: 15, is_stmt: true, prologue_end: false },
    Row { pc: 0x31c, line: 56, column: 27, is_stmt: false, prologue_end: false },
    Row { pc: 0x320, line: 56, column: 20, is_stmt: false, prologue_end: false },
    Row { pc: 0x324, line: 57, column: 15, is_stmt: true, prologue_end: false },
    Row { pc: 0x32c, line: 57, column: 26, is_stmt: false, prologue_end: false },
    Row { pc: 0x330, line: 57, column: 20, is_stmt: false, prologue_end: false },
    Row { pc: 0x334, line: 58, column: 15, is_stmt: true, prologue_end: false },
    Row { pc: 0x344, line: 58, column: 26, is_stmt: false, prologue_end: false },
    Row { pc: 0x348, line: 58, column: 20, is_stmt: false, prologue_end: false },
    Row { pc: 0x34c, line: 59, column: 15, is_stmt: true, prologue_end: false },
    Row { pc: 0x350, line: 59, column: 26, is_stmt: false, prologue_end: false },
    Row { pc: 0x354, line: 59, column: 20, is_stmt: false, prologue_end: false },
    Row { pc: 0x358, line: 60, column: 15, is_stmt: true, prologue_end: false },
    Row { pc: 0x360, line: 60, column: 26, is_stmt: false, prologue_end: false },
    Row { pc: 0x364, line: 60, column: 20, is_stmt: false, prologue_end: false },
    Row { pc: 0x368, line: 61, column: 15, is_stmt: true, prologue_end: false },
    Row { pc: 0x37c, line: 61, column: 26, is_stmt: false, prologue_end: false },
    Row { pc: 0x380, line: 33, column: 27, is_stmt: true, prologue_end: false },
    Row { pc: 0x384, line: 61, column: 20, is_stmt: true, prologue_end: false },
    Row { pc: 0x388, line: 33, column: 21, is_stmt: true, prologue_end: false },
    Row { pc: 0x394, line: 33, column: 3, is_stmt: false, prologue_end: false },
    Row { pc: 0x398, line: 0, column: 3, is_stmt: false, prologue_end: false },
    Row { pc: 0x3e0, line: 33, column: 3, is_stmt: false, prologue_end: false },
    Row { pc: 0x3e4, line: 0, column: 3, is_stmt: false, prologue_end: false },
    Row { pc: 0x3fc, line: 75, column: 11, is_stmt: true, prologue_end: false },
    Row { pc: 0x404, line: 67, column: 10, is_stmt: true, prologue_end: false },
    Row { pc: 0x40c, line: 75, column: 11, is_stmt: true, prologue_end: false },
    Row { pc: 0x41c, line: 67, column: 10, is_stmt: true, prologue_end: false },
    Row { pc: 0x424, line: 4, column: 12, is_stmt: true, prologue_end: false },
    Row { pc: 0x428, line: 75, column: 11, is_stmt: true, prologue_end: false },
    Row { pc: 0x42c, line: 92, column: 7, is_stmt: true, prologue_end: false },
    Row { pc: 0x44c, line: 71, column: 10, is_stmt: true, prologue_end: false },
    Row { pc: 0x454, line: 92, column: 7, is_stmt: true, prologue_end: false },
    Row { pc: 0x45c, line: 83, column: 11, is_stmt: true, prologue_end: false },
    Row { pc: 0x464, line: 71, column: 10, is_stmt: true, prologue_end: false },
    Row { pc: 0x46c, line: 75, column: 11, is_stmt: true, prologue_end: false },
    Row { pc: 0x474, line: 83, column: 11, is_stmt: true, prologue_end: false },
    Row { pc: 0x480, line: 79, column: 11, is_stmt: true, prologue_end: false },
    Row { pc: 0x490, line: 83, column: 11, is_stmt: true, prologue_end: false },
    Row { pc: 0x494, line: 87, column: 11, is_stmt: true, prologue_end: false },
    Row { pc: 0x49c, line: 83, column: 11, is_stmt: true, prologue_end: false },
    Row { pc: 0x4a4, line: 67, column: 10, is_stmt: true, prologue_end: false },
    Row { pc: 0x4ac, line: 71, column: 10, is_stmt: true, prologue_end: false },
    Row { pc: 0x4b4, line: 75, column: 11, is_stmt: true, prologue_end: false },
    Row { pc: 0x4bc, line: 79, column: 11, is_stmt: true, prologue_end: false },
    Row { pc: 0x4c4, line: 83, column: 11, is_stmt: true, prologue_end: false },
    Row { pc: 0x4cc, line: 91, column: 11, is_stmt: true, prologue_end: false },
    Row { pc: 0x4d4, line: 87, column: 11, is_stmt: true, prologue_end: false },
    Row { pc: 0x4e0, line: 92, column: 7, is_stmt: true, prologue_end: false },
    Row { pc: 0x4ec, line: 87, column: 11, is_stmt: true, prologue_end: false },
    Row { pc: 0x4f0, line: 91, column: 11, is_stmt: true, prologue_end: false },
    Row { pc: 0x4fc, line: 87, column: 11, is_stmt: true, prologue_end: false },
    Row { pc: 0x508, line: 91, column: 11, is_stmt: true, prologue_end: false },
    Row { pc: 0x510, line: 92, column: 7, is_stmt: true, prologue_end: false },
    Row { pc: 0x518, line: 87, column: 11, is_stmt: true, prologue_end: false },
    Row { pc: 0x51c, line: 91, column: 11, is_stmt: true, prologue_end: false },
    Row { pc: 0x528, line: 92, column: 3, is_stmt: true, prologue_end: false },
    Row { pc: 0x538, line: 91, column: 11, is_stmt: true, prologue_end: false },
    Row { pc: 0x53c, line: 92, column: 28, is_stmt: true, prologue_end: false },
    Row { pc: 0x544, line: 87, column: 11, is_stmt: true, prologue_end: false },
    Row { pc: 0x54c, line: 92, column: 28, is_stmt: true, prologue_end: false },
    Row { pc: 0x550, line: 92, column: 3, is_stmt: false, prologue_end: false },
    Row { pc: 0x558, line: 91, column: 11, is_stmt: true, prologue_end: false },
    Row { pc: 0x560, line: 92, column: 28, is_stmt: true, prologue_end: false },
    Row { pc: 0x568, line: 93, column: 1, is_stmt: true, prologue_end: false },
];

/// The variables of `uspill`, in the order `s0` to `s27`, `acc`, `i`, `n`.
///
/// A variable has the value of its last assignment whose final instruction has executed. `int`, 32 bits each. `i` is
/// in scope until 0x398. At a pc that is reached on several paths, a place is listed if it contains the value on every
/// path.
pub const SCALARS: &[Scalar] = &[
    Scalar {
        name: "s0",
        line: 4,
        stays: &[
            Stay {
                start: 0x094,
                end: 0x200,
                places: &[Place::Sgpr(106)],
                because: "from 0x02c s_load_dword vcc_lo, s[4:5], 0x4 and 0x090 s_waitcnt \
                    lgkmcnt(0); until 0x1fc s_mul_i32 vcc_lo, vcc_lo, 3",
            },
            Stay {
                start: 0x208,
                end: 0x56c,
                places: &[Place::Sgpr(106)],
                because: "from 0x204 s_add_i32 vcc_lo, s4, vcc_lo; until the end of the code",
            },
        ],
    },
    Scalar {
        name: "s1",
        line: 5,
        stays: &[
            Stay {
                start: 0x094,
                end: 0x210,
                places: &[Place::Sgpr(27)],
                because: "from 0x034 s_load_dword s27, s[4:5], 0x10 and 0x090 s_waitcnt \
                    lgkmcnt(0); until 0x20c s_xor_b32 s27, s8, vcc_hi",
            },
            Stay {
                start: 0x218,
                end: 0x56c,
                places: &[Place::Sgpr(27)],
                because: "from 0x214 s_add_i32 s27, s27, s4; until the end of the code",
            },
        ],
    },
    Scalar {
        name: "s2",
        line: 6,
        stays: &[
            Stay {
                start: 0x094,
                end: 0x220,
                places: &[Place::Sgpr(26)],
                because: "from 0x03c s_load_dword s26, s[4:5], 0x1c and 0x090 s_waitcnt \
                    lgkmcnt(0); until 0x21c s_xor_b32 s26, s8, s2",
            },
            Stay {
                start: 0x228,
                end: 0x56c,
                places: &[Place::Sgpr(26)],
                because: "from 0x224 s_add_i32 s26, s26, s4; until the end of the code",
            },
        ],
    },
    Scalar {
        name: "s3",
        line: 7,
        stays: &[
            Stay {
                start: 0x094,
                end: 0x230,
                places: &[Place::Sgpr(25)],
                because: "from 0x044 s_load_dword s25, s[4:5], 0x28 and 0x090 s_waitcnt \
                    lgkmcnt(0); until 0x22c s_xor_b32 s25, s8, s24",
            },
            Stay {
                start: 0x234,
                end: 0x56c,
                places: &[Place::Sgpr(25)],
                because: "from 0x230 s_add_i32 s25, s25, s4; until the end of the code",
            },
        ],
    },
    Scalar {
        name: "s4",
        line: 8,
        stays: &[
            Stay {
                start: 0x094,
                end: 0x23c,
                places: &[Place::Sgpr(15)],
                because: "from 0x04c s_load_dword s15, s[4:5], 0x34 and 0x090 s_waitcnt \
                    lgkmcnt(0); until 0x238 s_xor_b32 s15, s8, s5",
            },
            Stay {
                start: 0x240,
                end: 0x248,
                places: &[Place::Sgpr(4)],
                because: "from 0x23c s_add_i32 s4, s15, s4; until 0x240 v_writelane_b32 v1, s4, \
                    18",
            },
            Stay {
                start: 0x248,
                end: 0x24c,
                places: &[Place::Sgpr(4), Place::Lane { vgpr: 1, lane: 18 }],
                because: "from 0x240 v_writelane_b32 v1, s4, 18; until 0x248 s_mul_i32 s4, s14, \
                    13",
            },
            Stay {
                start: 0x24c,
                end: 0x37c,
                places: &[Place::Lane { vgpr: 1, lane: 18 }],
                because: "left by 0x248 s_mul_i32 s4, s14, 13; until 0x374 v_readlane_b32 s15, \
                    v1, 18",
            },
            Stay {
                start: 0x37c,
                end: 0x3e4,
                places: &[Place::Lane { vgpr: 1, lane: 18 }, Place::Sgpr(15)],
                because: "from 0x374 v_readlane_b32 s15, v1, 18; until 0x3e4, reached only from \
                    0x1b0 s_cbranch_scc1, around the loop, with lane 18 unwritten",
            },
            Stay {
                start: 0x3e4,
                end: 0x528,
                places: &[Place::Sgpr(15)],
                because: "left by 0x3e4, reached only from 0x1b0 s_cbranch_scc1, around the \
                    loop, with lane 18 unwritten; until 0x524 s_mov_b64 s[14:15], s[10:11]",
            },
        ],
    },
    Scalar {
        name: "s5",
        line: 9,
        stays: &[
            Stay {
                start: 0x094,
                end: 0x250,
                places: &[Place::Sgpr(14)],
                because: "from 0x054 s_load_dword s14, s[4:5], 0x40 and 0x090 s_waitcnt \
                    lgkmcnt(0); until 0x24c s_xor_b32 s14, s8, s1",
            },
            Stay {
                start: 0x258,
                end: 0x374,
                places: &[Place::Sgpr(15)],
                because: "from 0x254 s_add_i32 s15, s14, s4; until 0x370 s_mov_b32 s14, s15",
            },
            Stay {
                start: 0x374,
                end: 0x37c,
                places: &[Place::Sgpr(15), Place::Sgpr(14)],
                because: "from 0x370 s_mov_b32 s14, s15; until 0x374 v_readlane_b32 s15, v1, 18",
            },
            Stay {
                start: 0x37c,
                end: 0x528,
                places: &[Place::Sgpr(14)],
                because: "left by 0x374 v_readlane_b32 s15, v1, 18; until 0x524 s_mov_b64 \
                    s[14:15], s[10:11]",
            },
        ],
    },
    Scalar {
        name: "s6",
        line: 10,
        stays: &[
            Stay {
                start: 0x094,
                end: 0x260,
                places: &[Place::Sgpr(107)],
                because: "from 0x05c s_load_dword vcc_hi, s[4:5], 0x4c and 0x090 s_waitcnt \
                    lgkmcnt(0); until 0x25c s_xor_b32 vcc_hi, s8, s3",
            },
            Stay {
                start: 0x268,
                end: 0x56c,
                places: &[Place::Sgpr(107)],
                because: "from 0x264 s_add_i32 vcc_hi, vcc_hi, s4; until the end of the code",
            },
        ],
    },
    Scalar {
        name: "s7",
        line: 11,
        stays: &[
            Stay {
                start: 0x094,
                end: 0x224,
                places: &[Place::Sgpr(2)],
                because: "from 0x064 s_load_dword s2, s[4:5], 0x58 and 0x090 s_waitcnt \
                    lgkmcnt(0); until 0x220 s_mul_i32 s2, s2, 17",
            },
            Stay {
                start: 0x270,
                end: 0x4d4,
                places: &[Place::Sgpr(2)],
                because: "from 0x26c s_add_i32 s2, s4, s2; until 0x4cc v_readlane_b32 s2, v1, 17",
            },
        ],
    },
    Scalar {
        name: "s8",
        line: 12,
        stays: &[
            Stay {
                start: 0x094,
                end: 0x278,
                places: &[Place::Sgpr(24)],
                because: "from 0x06c s_load_dword s24, s[4:5], 0x64 and 0x090 s_waitcnt \
                    lgkmcnt(0); until 0x274 s_xor_b32 s24, s8, s22",
            },
            Stay {
                start: 0x27c,
                end: 0x56c,
                places: &[Place::Sgpr(24)],
                because: "from 0x278 s_add_i32 s24, s24, s4; until the end of the code",
            },
        ],
    },
    Scalar {
        name: "s9",
        line: 13,
        stays: &[
            Stay {
                start: 0x094,
                end: 0x09c,
                places: &[Place::Sgpr(0)],
                because: "from 0x080 s_load_dword s0, s[4:5], 0x70 and 0x090 s_waitcnt \
                    lgkmcnt(0); until 0x094 v_writelane_b32 v1, s0, 2",
            },
            Stay {
                start: 0x09c,
                end: 0x0e8,
                places: &[Place::Sgpr(0), Place::Lane { vgpr: 1, lane: 2 }],
                because: "from 0x094 v_writelane_b32 v1, s0, 2; until 0x0e0 s_load_dword s0, \
                    s[4:5], 0xdc",
            },
            Stay {
                start: 0x0e8,
                end: 0x1dc,
                places: &[Place::Lane { vgpr: 1, lane: 2 }],
                because: "left by 0x0e0 s_load_dword s0, s[4:5], 0xdc; until 0x1d4 \
                    v_readlane_b32 s5, v1, 2",
            },
            Stay {
                start: 0x1dc,
                end: 0x1fc,
                places: &[Place::Lane { vgpr: 1, lane: 2 }, Place::Sgpr(5)],
                because: "from 0x1d4 v_readlane_b32 s5, v1, 2; until the loop head 0x1fc, to \
                    which the back edge at 0x394 brings an old lane 2",
            },
            Stay {
                start: 0x1fc,
                end: 0x284,
                places: &[Place::Sgpr(5)],
                because: "left by the loop head 0x1fc, to which the back edge at 0x394 brings an \
                    old lane 2; until 0x280 s_xor_b32 s5, s8, s21",
            },
            Stay {
                start: 0x288,
                end: 0x370,
                places: &[Place::Sgpr(14)],
                because: "from 0x284 s_add_i32 s14, s5, s4; until 0x36c s_mov_b32 s5, s14",
            },
            Stay {
                start: 0x370,
                end: 0x374,
                places: &[Place::Sgpr(14), Place::Sgpr(5)],
                because: "from 0x36c s_mov_b32 s5, s14; until 0x370 s_mov_b32 s14, s15",
            },
            Stay {
                start: 0x374,
                end: 0x3c0,
                places: &[Place::Sgpr(5)],
                because: "left by 0x370 s_mov_b32 s14, s15; until 0x3b8 v_writelane_b32 v1, s5, \
                    2",
            },
            Stay {
                start: 0x3c0,
                end: 0x3e4,
                places: &[Place::Sgpr(5), Place::Lane { vgpr: 1, lane: 2 }],
                because: "from 0x3b8 v_writelane_b32 v1, s5, 2; until 0x3e4, reached only from \
                    0x1b0 s_cbranch_scc1, around the loop, with the high half of u in s5",
            },
            Stay {
                start: 0x3e4,
                end: 0x414,
                places: &[Place::Lane { vgpr: 1, lane: 2 }],
                because: "left by 0x3e4, reached only from 0x1b0 s_cbranch_scc1, around the \
                    loop, with the high half of u in s5; until 0x40c v_readlane_b32 s0, \
                    v1, 2",
            },
            Stay {
                start: 0x414,
                end: 0x434,
                places: &[Place::Lane { vgpr: 1, lane: 2 }, Place::Sgpr(0)],
                because: "from 0x40c v_readlane_b32 s0, v1, 2; until 0x42c v_readlane_b32 s0, \
                    v1, 13",
            },
            Stay {
                start: 0x434,
                end: 0x56c,
                places: &[Place::Lane { vgpr: 1, lane: 2 }],
                because: "left by 0x42c v_readlane_b32 s0, v1, 13; until the end of the code",
            },
        ],
    },
    Scalar {
        name: "s10",
        line: 14,
        stays: &[
            Stay {
                start: 0x0ec,
                end: 0x254,
                places: &[Place::Sgpr(1)],
                because: "from 0x0a0 s_load_dword s1, s[4:5], 0x7c and 0x0e8 s_waitcnt \
                    lgkmcnt(0); until 0x250 s_mul_i32 s1, s1, 23",
            },
            Stay {
                start: 0x298,
                end: 0x43c,
                places: &[Place::Sgpr(1)],
                because: "from 0x294 s_add_i32 s1, s4, s1; until 0x434 v_readlane_b32 s1, v1, 14",
            },
        ],
    },
    Scalar {
        name: "s11",
        line: 15,
        stays: &[
            Stay {
                start: 0x0ec,
                end: 0x264,
                places: &[Place::Sgpr(3)],
                because: "from 0x0a8 s_load_dword s3, s[4:5], 0x88 and 0x0e8 s_waitcnt \
                    lgkmcnt(0); until 0x260 s_mul_i32 s3, s3, 25",
            },
            Stay {
                start: 0x2a0,
                end: 0x514,
                places: &[Place::Sgpr(3)],
                because: "from 0x29c s_add_i32 s3, s4, s3; until 0x510 s_mul_hi_u32 s3, s1, s2",
            },
        ],
    },
    Scalar {
        name: "s12",
        line: 16,
        stays: &[
            Stay {
                start: 0x0ec,
                end: 0x2a8,
                places: &[Place::Sgpr(23)],
                because: "from 0x0b0 s_load_dword s23, s[4:5], 0x94 and 0x0e8 s_waitcnt \
                    lgkmcnt(0); until 0x2a4 s_xor_b32 s23, s8, s18",
            },
            Stay {
                start: 0x2ac,
                end: 0x56c,
                places: &[Place::Sgpr(23)],
                because: "from 0x2a8 s_add_i32 s23, s23, s4; until the end of the code",
            },
        ],
    },
    Scalar {
        name: "s13",
        line: 17,
        stays: &[
            Stay {
                start: 0x0ec,
                end: 0x2b4,
                places: &[Place::Sgpr(22)],
                because: "from 0x0b8 s_load_dword s22, s[4:5], 0xa0 and 0x0e8 s_waitcnt \
                    lgkmcnt(0); until 0x2b0 s_xor_b32 s22, s8, s17",
            },
            Stay {
                start: 0x2b8,
                end: 0x56c,
                places: &[Place::Sgpr(22)],
                because: "from 0x2b4 s_add_i32 s22, s22, s4; until the end of the code",
            },
        ],
    },
    Scalar {
        name: "s14",
        line: 18,
        stays: &[
            Stay {
                start: 0x0ec,
                end: 0x2c0,
                places: &[Place::Sgpr(21)],
                because: "from 0x0c0 s_load_dword s21, s[4:5], 0xac and 0x0e8 s_waitcnt \
                    lgkmcnt(0); until 0x2bc s_xor_b32 s21, s8, s16",
            },
            Stay {
                start: 0x2c4,
                end: 0x56c,
                places: &[Place::Sgpr(21)],
                because: "from 0x2c0 s_add_i32 s21, s21, s4; until the end of the code",
            },
        ],
    },
    Scalar {
        name: "s15",
        line: 19,
        stays: &[
            Stay {
                start: 0x0ec,
                end: 0x2cc,
                places: &[Place::Sgpr(20)],
                because: "from 0x0c8 s_load_dword s20, s[4:5], 0xb8 and 0x0e8 s_waitcnt \
                    lgkmcnt(0); until 0x2c8 s_xor_b32 s20, s8, s13",
            },
            Stay {
                start: 0x2d0,
                end: 0x56c,
                places: &[Place::Sgpr(20)],
                because: "from 0x2cc s_add_i32 s20, s20, s4; until the end of the code",
            },
        ],
    },
    Scalar {
        name: "s16",
        line: 20,
        stays: &[
            Stay {
                start: 0x0ec,
                end: 0x2d8,
                places: &[Place::Sgpr(19)],
                because: "from 0x0d0 s_load_dword s19, s[4:5], 0xc4 and 0x0e8 s_waitcnt \
                    lgkmcnt(0); until 0x2d4 s_xor_b32 s19, s8, s12",
            },
            Stay {
                start: 0x2dc,
                end: 0x56c,
                places: &[Place::Sgpr(19)],
                because: "from 0x2d8 s_add_i32 s19, s19, s4; until the end of the code",
            },
        ],
    },
    Scalar {
        name: "s17",
        line: 21,
        stays: &[
            Stay {
                start: 0x0ec,
                end: 0x2e4,
                places: &[Place::Sgpr(18)],
                because: "from 0x0d8 s_load_dword s18, s[4:5], 0xd0 and 0x0e8 s_waitcnt \
                    lgkmcnt(0); until 0x2e0 s_xor_b32 s18, s8, s11",
            },
            Stay {
                start: 0x2e8,
                end: 0x56c,
                places: &[Place::Sgpr(18)],
                because: "from 0x2e4 s_add_i32 s18, s18, s4; until the end of the code",
            },
        ],
    },
    Scalar {
        name: "s18",
        line: 22,
        stays: &[
            Stay {
                start: 0x0ec,
                end: 0x0f4,
                places: &[Place::Sgpr(0)],
                because: "from 0x0e0 s_load_dword s0, s[4:5], 0xdc and 0x0e8 s_waitcnt \
                    lgkmcnt(0); until 0x0ec v_writelane_b32 v1, s0, 3",
            },
            Stay {
                start: 0x0f4,
                end: 0x0fc,
                places: &[Place::Sgpr(0), Place::Lane { vgpr: 1, lane: 3 }],
                because: "from 0x0ec v_writelane_b32 v1, s0, 3; until 0x0f4 s_load_dword s0, \
                    s[4:5], 0xe8",
            },
            Stay {
                start: 0x0fc,
                end: 0x1fc,
                places: &[Place::Lane { vgpr: 1, lane: 3 }],
                because: "left by 0x0f4 s_load_dword s0, s[4:5], 0xe8; until the loop head \
                    0x1fc, to which the back edge at 0x394 brings an old lane 3",
            },
            Stay {
                start: 0x1fc,
                end: 0x2f0,
                places: &[Place::Sgpr(17)],
                because: "from 0x1f4 v_readlane_b32 s17, v1, 3; until 0x2ec s_xor_b32 s17, s8, \
                    s5",
            },
            Stay {
                start: 0x2f4,
                end: 0x3a0,
                places: &[Place::Sgpr(17)],
                because: "from 0x2f0 s_add_i32 s17, s17, s4; until 0x398 v_writelane_b32 v1, \
                    s17, 3",
            },
            Stay {
                start: 0x3a0,
                end: 0x3e4,
                places: &[Place::Sgpr(17), Place::Lane { vgpr: 1, lane: 3 }],
                because: "from 0x398 v_writelane_b32 v1, s17, 3; until 0x3e4, reached only from \
                    0x1b0 s_cbranch_scc1, around the loop, with variable s24 in s17",
            },
            Stay {
                start: 0x3e4,
                end: 0x464,
                places: &[Place::Lane { vgpr: 1, lane: 3 }],
                because: "left by 0x3e4, reached only from 0x1b0 s_cbranch_scc1, around the \
                    loop, with variable s24 in s17; until 0x45c v_readlane_b32 s0, v1, 3",
            },
            Stay {
                start: 0x464,
                end: 0x480,
                places: &[Place::Lane { vgpr: 1, lane: 3 }, Place::Sgpr(0)],
                because: "from 0x45c v_readlane_b32 s0, v1, 3; until 0x478 v_readlane_b32 s0, \
                    v1, 4",
            },
            Stay {
                start: 0x480,
                end: 0x56c,
                places: &[Place::Lane { vgpr: 1, lane: 3 }],
                because: "left by 0x478 v_readlane_b32 s0, v1, 4; until the end of the code",
            },
        ],
    },
    Scalar {
        name: "s19",
        line: 23,
        stays: &[
            Stay {
                start: 0x100,
                end: 0x108,
                places: &[Place::Sgpr(0)],
                because: "from 0x0f4 s_load_dword s0, s[4:5], 0xe8 and 0x0fc s_waitcnt \
                    lgkmcnt(0); until 0x100 v_writelane_b32 v1, s0, 4",
            },
            Stay {
                start: 0x108,
                end: 0x110,
                places: &[Place::Sgpr(0), Place::Lane { vgpr: 1, lane: 4 }],
                because: "from 0x100 v_writelane_b32 v1, s0, 4; until 0x108 s_load_dword s0, \
                    s[4:5], 0xf4",
            },
            Stay {
                start: 0x110,
                end: 0x1f4,
                places: &[Place::Lane { vgpr: 1, lane: 4 }],
                because: "left by 0x108 s_load_dword s0, s[4:5], 0xf4; until 0x1ec \
                    v_readlane_b32 s16, v1, 4",
            },
            Stay {
                start: 0x1f4,
                end: 0x1fc,
                places: &[Place::Lane { vgpr: 1, lane: 4 }, Place::Sgpr(16)],
                because: "from 0x1ec v_readlane_b32 s16, v1, 4; until the loop head 0x1fc, to \
                    which the back edge at 0x394 brings an old lane 4",
            },
            Stay {
                start: 0x1fc,
                end: 0x2fc,
                places: &[Place::Sgpr(16)],
                because: "left by the loop head 0x1fc, to which the back edge at 0x394 brings an \
                    old lane 4; until 0x2f8 s_xor_b32 s16, s8, s10",
            },
            Stay {
                start: 0x300,
                end: 0x3a8,
                places: &[Place::Sgpr(16)],
                because: "from 0x2fc s_add_i32 s16, s16, s4; until 0x3a0 v_writelane_b32 v1, \
                    s16, 4",
            },
            Stay {
                start: 0x3a8,
                end: 0x3e4,
                places: &[Place::Sgpr(16), Place::Lane { vgpr: 1, lane: 4 }],
                because: "from 0x3a0 v_writelane_b32 v1, s16, 4; until 0x3e4, reached only from \
                    0x1b0 s_cbranch_scc1, around the loop, with variable s23 in s16",
            },
            Stay {
                start: 0x3e4,
                end: 0x480,
                places: &[Place::Lane { vgpr: 1, lane: 4 }],
                because: "left by 0x3e4, reached only from 0x1b0 s_cbranch_scc1, around the \
                    loop, with variable s23 in s16; until 0x478 v_readlane_b32 s0, v1, 4",
            },
            Stay {
                start: 0x480,
                end: 0x49c,
                places: &[Place::Lane { vgpr: 1, lane: 4 }, Place::Sgpr(0)],
                because: "from 0x478 v_readlane_b32 s0, v1, 4; until 0x494 v_readlane_b32 s0, \
                    v1, 5",
            },
            Stay {
                start: 0x49c,
                end: 0x56c,
                places: &[Place::Lane { vgpr: 1, lane: 4 }],
                because: "left by 0x494 v_readlane_b32 s0, v1, 5; until the end of the code",
            },
        ],
    },
    Scalar {
        name: "s20",
        line: 24,
        stays: &[
            Stay {
                start: 0x114,
                end: 0x11c,
                places: &[Place::Sgpr(0)],
                because: "from 0x108 s_load_dword s0, s[4:5], 0xf4 and 0x110 s_waitcnt \
                    lgkmcnt(0); until 0x114 v_writelane_b32 v1, s0, 5",
            },
            Stay {
                start: 0x11c,
                end: 0x124,
                places: &[Place::Sgpr(0), Place::Lane { vgpr: 1, lane: 5 }],
                because: "from 0x114 v_writelane_b32 v1, s0, 5; until 0x11c s_load_dword s0, \
                    s[4:5], 0x100",
            },
            Stay {
                start: 0x124,
                end: 0x1ec,
                places: &[Place::Lane { vgpr: 1, lane: 5 }],
                because: "left by 0x11c s_load_dword s0, s[4:5], 0x100; until 0x1e4 \
                    v_readlane_b32 s13, v1, 5",
            },
            Stay {
                start: 0x1ec,
                end: 0x1fc,
                places: &[Place::Lane { vgpr: 1, lane: 5 }, Place::Sgpr(13)],
                because: "from 0x1e4 v_readlane_b32 s13, v1, 5; until the loop head 0x1fc, to \
                    which the back edge at 0x394 brings an old lane 5",
            },
            Stay {
                start: 0x1fc,
                end: 0x308,
                places: &[Place::Sgpr(13)],
                because: "left by the loop head 0x1fc, to which the back edge at 0x394 brings an \
                    old lane 5; until 0x304 s_xor_b32 s13, s8, s7",
            },
            Stay {
                start: 0x30c,
                end: 0x3b0,
                places: &[Place::Sgpr(13)],
                because: "from 0x308 s_add_i32 s13, s13, s4; until 0x3a8 v_writelane_b32 v1, \
                    s13, 5",
            },
            Stay {
                start: 0x3b0,
                end: 0x3e4,
                places: &[Place::Sgpr(13), Place::Lane { vgpr: 1, lane: 5 }],
                because: "from 0x3a8 v_writelane_b32 v1, s13, 5; until 0x3e4, reached only from \
                    0x1b0 s_cbranch_scc1, around the loop, with the high half of the \
                    dispatch pointer in s13",
            },
            Stay {
                start: 0x3e4,
                end: 0x49c,
                places: &[Place::Lane { vgpr: 1, lane: 5 }],
                because: "left by 0x3e4, reached only from 0x1b0 s_cbranch_scc1, around the \
                    loop, with the high half of the dispatch pointer in s13; until 0x494 \
                    v_readlane_b32 s0, v1, 5",
            },
            Stay {
                start: 0x49c,
                end: 0x4e0,
                places: &[Place::Lane { vgpr: 1, lane: 5 }, Place::Sgpr(0)],
                because: "from 0x494 v_readlane_b32 s0, v1, 5; until 0x4d8 v_readlane_b32 s0, \
                    v1, 6",
            },
            Stay {
                start: 0x4e0,
                end: 0x56c,
                places: &[Place::Lane { vgpr: 1, lane: 5 }],
                because: "left by 0x4d8 v_readlane_b32 s0, v1, 6; until the end of the code",
            },
        ],
    },
    Scalar {
        name: "s21",
        line: 25,
        stays: &[
            Stay {
                start: 0x128,
                end: 0x130,
                places: &[Place::Sgpr(0)],
                because: "from 0x11c s_load_dword s0, s[4:5], 0x100 and 0x124 s_waitcnt \
                    lgkmcnt(0); until 0x128 v_writelane_b32 v1, s0, 6",
            },
            Stay {
                start: 0x130,
                end: 0x138,
                places: &[Place::Sgpr(0), Place::Lane { vgpr: 1, lane: 6 }],
                because: "from 0x128 v_writelane_b32 v1, s0, 6; until 0x130 s_load_dword s0, \
                    s[4:5], 0x10c",
            },
            Stay {
                start: 0x138,
                end: 0x1e4,
                places: &[Place::Lane { vgpr: 1, lane: 6 }],
                because: "left by 0x130 s_load_dword s0, s[4:5], 0x10c; until 0x1dc \
                    v_readlane_b32 s12, v1, 6",
            },
            Stay {
                start: 0x1e4,
                end: 0x1fc,
                places: &[Place::Lane { vgpr: 1, lane: 6 }, Place::Sgpr(12)],
                because: "from 0x1dc v_readlane_b32 s12, v1, 6; until the loop head 0x1fc, to \
                    which the back edge at 0x394 brings an old lane 6",
            },
            Stay {
                start: 0x1fc,
                end: 0x314,
                places: &[Place::Sgpr(12)],
                because: "left by the loop head 0x1fc, to which the back edge at 0x394 brings an \
                    old lane 6; until 0x310 s_xor_b32 s12, s8, s9",
            },
            Stay {
                start: 0x318,
                end: 0x3b8,
                places: &[Place::Sgpr(12)],
                because: "from 0x314 s_add_i32 s12, s12, s4; until 0x3b0 v_writelane_b32 v1, \
                    s12, 6",
            },
            Stay {
                start: 0x3b8,
                end: 0x3e4,
                places: &[Place::Sgpr(12), Place::Lane { vgpr: 1, lane: 6 }],
                because: "from 0x3b0 v_writelane_b32 v1, s12, 6; until 0x3e4, reached only from \
                    0x1b0 s_cbranch_scc1, around the loop, with the low half of the \
                    dispatch pointer in s12",
            },
            Stay {
                start: 0x3e4,
                end: 0x4e0,
                places: &[Place::Lane { vgpr: 1, lane: 6 }],
                because: "left by 0x3e4, reached only from 0x1b0 s_cbranch_scc1, around the \
                    loop, with the low half of the dispatch pointer in s12; until 0x4d8 \
                    v_readlane_b32 s0, v1, 6",
            },
            Stay {
                start: 0x4e0,
                end: 0x508,
                places: &[Place::Lane { vgpr: 1, lane: 6 }, Place::Sgpr(0)],
                because: "from 0x4d8 v_readlane_b32 s0, v1, 6; until 0x500 v_readlane_b32 s0, \
                    v1, 7",
            },
            Stay {
                start: 0x508,
                end: 0x56c,
                places: &[Place::Lane { vgpr: 1, lane: 6 }],
                because: "left by 0x500 v_readlane_b32 s0, v1, 7; until the end of the code",
            },
        ],
    },
    Scalar {
        name: "s22",
        line: 26,
        stays: &[
            Stay {
                start: 0x13c,
                end: 0x144,
                places: &[Place::Sgpr(0)],
                because: "from 0x130 s_load_dword s0, s[4:5], 0x10c and 0x138 s_waitcnt \
                    lgkmcnt(0); until 0x13c v_writelane_b32 v1, s0, 7",
            },
            Stay {
                start: 0x144,
                end: 0x160,
                places: &[Place::Sgpr(0), Place::Lane { vgpr: 1, lane: 7 }],
                because: "from 0x13c v_writelane_b32 v1, s0, 7; until 0x158 s_load_dword s0, \
                    s[4:5], 0x130",
            },
            Stay {
                start: 0x160,
                end: 0x1cc,
                places: &[Place::Lane { vgpr: 1, lane: 7 }],
                because: "left by 0x158 s_load_dword s0, s[4:5], 0x130; until 0x1c4 \
                    v_readlane_b32 s11, v1, 7",
            },
            Stay {
                start: 0x1cc,
                end: 0x1fc,
                places: &[Place::Lane { vgpr: 1, lane: 7 }, Place::Sgpr(11)],
                because: "from 0x1c4 v_readlane_b32 s11, v1, 7; until the loop head 0x1fc, to \
                    which the back edge at 0x394 brings an old lane 7",
            },
            Stay {
                start: 0x1fc,
                end: 0x320,
                places: &[Place::Sgpr(11)],
                because: "left by the loop head 0x1fc, to which the back edge at 0x394 brings an \
                    old lane 7; until 0x31c s_xor_b32 s11, s8, s6",
            },
            Stay {
                start: 0x324,
                end: 0x3d8,
                places: &[Place::Sgpr(11)],
                because: "from 0x320 s_add_i32 s11, s11, s4; until 0x3d0 v_writelane_b32 v1, \
                    s11, 7",
            },
            Stay {
                start: 0x3d8,
                end: 0x3e4,
                places: &[Place::Sgpr(11), Place::Lane { vgpr: 1, lane: 7 }],
                because: "from 0x3d0 v_writelane_b32 v1, s11, 7; until 0x3e4, reached only from \
                    0x1b0 s_cbranch_scc1, around the loop, with the high half of out in \
                    s11",
            },
            Stay {
                start: 0x3e4,
                end: 0x508,
                places: &[Place::Lane { vgpr: 1, lane: 7 }],
                because: "left by 0x3e4, reached only from 0x1b0 s_cbranch_scc1, around the \
                    loop, with the high half of out in s11; until 0x500 v_readlane_b32 s0, \
                    v1, 7",
            },
            Stay {
                start: 0x508,
                end: 0x524,
                places: &[Place::Lane { vgpr: 1, lane: 7 }, Place::Sgpr(0)],
                because: "from 0x500 v_readlane_b32 s0, v1, 7; until 0x51c v_readlane_b32 s0, \
                    v1, 8",
            },
            Stay {
                start: 0x524,
                end: 0x56c,
                places: &[Place::Lane { vgpr: 1, lane: 7 }],
                because: "left by 0x51c v_readlane_b32 s0, v1, 8; until the end of the code",
            },
        ],
    },
    Scalar {
        name: "s23",
        line: 27,
        stays: &[
            Stay {
                start: 0x174,
                end: 0x1bc,
                places: &[Place::Sgpr(16)],
                because: "from 0x148 s_load_dword s16, s[4:5], 0x118 and 0x170 s_waitcnt \
                    lgkmcnt(0); until 0x1b4 v_writelane_b32 v1, s16, 16",
            },
            Stay {
                start: 0x1bc,
                end: 0x1f4,
                places: &[Place::Sgpr(16), Place::Lane { vgpr: 1, lane: 16 }],
                because: "from 0x1b4 v_writelane_b32 v1, s16, 16; until 0x1ec v_readlane_b32 \
                    s16, v1, 4",
            },
            Stay {
                start: 0x1f4,
                end: 0x294,
                places: &[Place::Lane { vgpr: 1, lane: 16 }],
                because: "left by 0x1ec v_readlane_b32 s16, v1, 4; until 0x28c v_readlane_b32 \
                    s5, v1, 16",
            },
            Stay {
                start: 0x294,
                end: 0x32c,
                places: &[Place::Lane { vgpr: 1, lane: 16 }, Place::Sgpr(5)],
                because: "from 0x28c v_readlane_b32 s5, v1, 16; until 0x328 s_mov_b32 s5, s10",
            },
            Stay {
                start: 0x32c,
                end: 0x334,
                places: &[Place::Lane { vgpr: 1, lane: 16 }],
                because: "left by 0x328 s_mov_b32 s5, s10; until 0x330 s_add_i32 s4, s10, s4, \
                    which leaves lane 16 the value before",
            },
            Stay {
                start: 0x334,
                end: 0x33c,
                places: &[Place::Sgpr(4)],
                because: "from 0x330 s_add_i32 s4, s10, s4; until 0x334 v_writelane_b32 v1, s4, \
                    16",
            },
            Stay {
                start: 0x33c,
                end: 0x340,
                places: &[Place::Sgpr(4), Place::Lane { vgpr: 1, lane: 16 }],
                because: "from 0x334 v_writelane_b32 v1, s4, 16; until 0x33c s_mul_i32 s4, s5, \
                    51",
            },
            Stay {
                start: 0x340,
                end: 0x3e0,
                places: &[Place::Lane { vgpr: 1, lane: 16 }],
                because: "left by 0x33c s_mul_i32 s4, s5, 51; until 0x3d8 v_readlane_b32 s4, v1, \
                    16",
            },
            Stay {
                start: 0x3e0,
                end: 0x3e4,
                places: &[Place::Lane { vgpr: 1, lane: 16 }, Place::Sgpr(4)],
                because: "from 0x3d8 v_readlane_b32 s4, v1, 16; until 0x3e4, reached only from \
                    0x1b0 s_cbranch_scc1, around the loop, with lane 16 unwritten and the \
                    low half of u in s4",
            },
            Stay {
                start: 0x3e4,
                end: 0x3f4,
                places: &[Place::Sgpr(16)],
                because: "from 0x3e4, reached only from 0x1b0 s_cbranch_scc1, around the loop, \
                    with s16 as loaded by 0x148; until 0x3f4, reached also from 0x3e0 \
                    s_branch, after the loop, with variable s19 in s16",
            },
            Stay {
                start: 0x3f4,
                end: 0x56c,
                places: &[Place::Sgpr(4)],
                because: "from 0x3f0 s_mov_b32 s4, s16; until the end of the code",
            },
        ],
    },
    Scalar {
        name: "s24",
        line: 28,
        stays: &[
            Stay {
                start: 0x174,
                end: 0x1c0,
                places: &[Place::Sgpr(17)],
                because: "from 0x150 s_load_dword s17, s[4:5], 0x124 and 0x170 s_waitcnt \
                    lgkmcnt(0); until 0x1bc s_mov_b32 s10, s17",
            },
            Stay {
                start: 0x1c0,
                end: 0x1fc,
                places: &[Place::Sgpr(17), Place::Sgpr(10)],
                because: "from 0x1bc s_mov_b32 s10, s17; until 0x1f4 v_readlane_b32 s17, v1, 3",
            },
            Stay {
                start: 0x1fc,
                end: 0x32c,
                places: &[Place::Sgpr(10)],
                because: "left by 0x1f4 v_readlane_b32 s17, v1, 3; until 0x328 s_mov_b32 s5, s10",
            },
            Stay {
                start: 0x32c,
                end: 0x330,
                places: &[Place::Sgpr(10), Place::Sgpr(5)],
                because: "from 0x328 s_mov_b32 s5, s10; until 0x32c s_xor_b32 s10, vcc_lo, s8",
            },
            Stay {
                start: 0x330,
                end: 0x344,
                places: &[Place::Sgpr(5)],
                because: "left by 0x32c s_xor_b32 s10, vcc_lo, s8; until 0x340 s_mov_b32 s5, s9",
            },
            Stay {
                start: 0x34c,
                end: 0x3e4,
                places: &[Place::Sgpr(10)],
                because: "from 0x348 s_add_i32 s10, s9, s4; until 0x3e4, reached only from 0x1b0 \
                    s_cbranch_scc1, around the loop, with the low half of out in s10",
            },
            Stay {
                start: 0x3e4,
                end: 0x3f0,
                places: &[Place::Sgpr(17)],
                because: "from 0x3e4, reached only from 0x1b0 s_cbranch_scc1, around the loop, \
                    with s17 as loaded by 0x150; until 0x3ec s_mov_b32 s10, s17",
            },
            Stay {
                start: 0x3f0,
                end: 0x3f4,
                places: &[Place::Sgpr(17), Place::Sgpr(10)],
                because: "from 0x3ec s_mov_b32 s10, s17; until 0x3f4, reached also from 0x3e0 \
                    s_branch, after the loop, with variable s18 in s17",
            },
            Stay {
                start: 0x3f4,
                end: 0x404,
                places: &[Place::Sgpr(10)],
                because: "left by 0x3f4, reached also from 0x3e0 s_branch, after the loop, with \
                    variable s18 in s17; until 0x400 s_mov_b32 s5, s10",
            },
            Stay {
                start: 0x404,
                end: 0x444,
                places: &[Place::Sgpr(10), Place::Sgpr(5)],
                because: "from 0x400 s_mov_b32 s5, s10; until 0x43c v_readlane_b32 s10, v1, 11",
            },
            Stay {
                start: 0x444,
                end: 0x56c,
                places: &[Place::Sgpr(5)],
                because: "left by 0x43c v_readlane_b32 s10, v1, 11; until the end of the code",
            },
        ],
    },
    Scalar {
        name: "s25",
        line: 29,
        stays: &[
            Stay {
                start: 0x174,
                end: 0x17c,
                places: &[Place::Sgpr(0)],
                because: "from 0x158 s_load_dword s0, s[4:5], 0x130 and 0x170 s_waitcnt \
                    lgkmcnt(0); until 0x174 v_writelane_b32 v1, s0, 8",
            },
            Stay {
                start: 0x17c,
                end: 0x180,
                places: &[Place::Sgpr(0), Place::Lane { vgpr: 1, lane: 8 }],
                because: "from 0x174 v_writelane_b32 v1, s0, 8; until 0x17c s_mov_b32 s0, 1",
            },
            Stay {
                start: 0x180,
                end: 0x1d4,
                places: &[Place::Lane { vgpr: 1, lane: 8 }],
                because: "left by 0x17c s_mov_b32 s0, 1; until 0x1cc v_readlane_b32 s7, v1, 8",
            },
            Stay {
                start: 0x1d4,
                end: 0x1fc,
                places: &[Place::Lane { vgpr: 1, lane: 8 }, Place::Sgpr(7)],
                because: "from 0x1cc v_readlane_b32 s7, v1, 8; until the loop head 0x1fc, to \
                    which the back edge at 0x394 brings an old lane 8",
            },
            Stay {
                start: 0x1fc,
                end: 0x354,
                places: &[Place::Sgpr(7)],
                because: "left by the loop head 0x1fc, to which the back edge at 0x394 brings an \
                    old lane 8; until 0x350 s_xor_b32 s7, s26, s8",
            },
            Stay {
                start: 0x358,
                end: 0x3c8,
                places: &[Place::Sgpr(7)],
                because: "from 0x354 s_add_i32 s7, s7, s4; until 0x3c0 v_writelane_b32 v1, s7, 8",
            },
            Stay {
                start: 0x3c8,
                end: 0x3e4,
                places: &[Place::Sgpr(7), Place::Lane { vgpr: 1, lane: 8 }],
                because: "from 0x3c0 v_writelane_b32 v1, s7, 8; until 0x3e4, reached only from \
                    0x1b0 s_cbranch_scc1, around the loop, with the high half of out in s7",
            },
            Stay {
                start: 0x3e4,
                end: 0x524,
                places: &[Place::Lane { vgpr: 1, lane: 8 }],
                because: "left by 0x3e4, reached only from 0x1b0 s_cbranch_scc1, around the \
                    loop, with the high half of out in s7; until 0x51c v_readlane_b32 s0, \
                    v1, 8",
            },
            Stay {
                start: 0x524,
                end: 0x544,
                places: &[Place::Lane { vgpr: 1, lane: 8 }, Place::Sgpr(0)],
                because: "from 0x51c v_readlane_b32 s0, v1, 8; until 0x53c v_readlane_b32 s0, \
                    v1, 15",
            },
            Stay {
                start: 0x544,
                end: 0x56c,
                places: &[Place::Lane { vgpr: 1, lane: 8 }],
                because: "left by 0x53c v_readlane_b32 s0, v1, 15; until the end of the code",
            },
        ],
    },
    Scalar {
        name: "s26",
        line: 30,
        stays: &[
            Stay {
                start: 0x174,
                end: 0x190,
                places: &[Place::Sgpr(9)],
                because: "from 0x160 s_load_dword s9, s[4:5], 0x13c and 0x170 s_waitcnt \
                    lgkmcnt(0); until 0x188 v_writelane_b32 v1, s9, 10",
            },
            Stay {
                start: 0x190,
                end: 0x1fc,
                places: &[Place::Sgpr(9), Place::Lane { vgpr: 1, lane: 10 }],
                because: "from 0x188 v_writelane_b32 v1, s9, 10; until the loop head 0x1fc, to \
                    which the back edge at 0x394 brings an old lane 10",
            },
            Stay {
                start: 0x1fc,
                end: 0x344,
                places: &[Place::Sgpr(9)],
                because: "left by the loop head 0x1fc, to which the back edge at 0x394 brings an \
                    old lane 10; until 0x340 s_mov_b32 s5, s9",
            },
            Stay {
                start: 0x344,
                end: 0x348,
                places: &[Place::Sgpr(9), Place::Sgpr(5)],
                because: "from 0x340 s_mov_b32 s5, s9; until 0x344 s_xor_b32 s9, s27, s8",
            },
            Stay {
                start: 0x348,
                end: 0x360,
                places: &[Place::Sgpr(5)],
                because: "left by 0x344 s_xor_b32 s9, s27, s8; until 0x35c s_mov_b32 s5, s6",
            },
            Stay {
                start: 0x368,
                end: 0x3e4,
                places: &[Place::Sgpr(9)],
                because: "from 0x364 s_add_i32 s9, s6, s4; until 0x3e4, reached only from 0x1b0 \
                    s_cbranch_scc1, around the loop, with lane 10 as written by 0x188",
            },
            Stay {
                start: 0x3e4,
                end: 0x3f4,
                places: &[Place::Sgpr(9), Place::Lane { vgpr: 1, lane: 10 }],
                because: "from 0x3e4, reached only from 0x1b0 s_cbranch_scc1, around the loop, \
                    with lane 10 as written by 0x188; until 0x3f4, reached also from 0x3e0 \
                    s_branch, after the loop, with an old lane 10",
            },
            Stay {
                start: 0x3f4,
                end: 0x3fc,
                places: &[Place::Sgpr(9)],
                because: "left by 0x3f4, reached also from 0x3e0 s_branch, after the loop, with \
                    an old lane 10; until 0x3f4 v_writelane_b32 v1, s9, 17",
            },
            Stay {
                start: 0x3fc,
                end: 0x4d4,
                places: &[Place::Sgpr(9), Place::Lane { vgpr: 1, lane: 17 }],
                because: "from 0x3f4 v_writelane_b32 v1, s9, 17; until 0x4cc v_readlane_b32 s2, \
                    v1, 17",
            },
            Stay {
                start: 0x4d4,
                end: 0x4fc,
                places: &[Place::Sgpr(9), Place::Lane { vgpr: 1, lane: 17 }, Place::Sgpr(2)],
                because: "from 0x4cc v_readlane_b32 s2, v1, 17; until 0x4f4 v_readlane_b32 s2, \
                    v1, 0",
            },
            Stay {
                start: 0x4fc,
                end: 0x538,
                places: &[Place::Sgpr(9), Place::Lane { vgpr: 1, lane: 17 }],
                because: "left by 0x4f4 v_readlane_b32 s2, v1, 0; until 0x530 v_readlane_b32 s9, \
                    v1, 10",
            },
            Stay {
                start: 0x538,
                end: 0x56c,
                places: &[Place::Lane { vgpr: 1, lane: 17 }],
                because: "left by 0x530 v_readlane_b32 s9, v1, 10; until the end of the code",
            },
        ],
    },
    Scalar {
        name: "s27",
        line: 31,
        stays: &[
            Stay {
                start: 0x174,
                end: 0x360,
                places: &[Place::Sgpr(6)],
                because: "from 0x168 s_load_dword s6, s[4:5], 0x148 and 0x170 s_waitcnt \
                    lgkmcnt(0); until 0x35c s_mov_b32 s5, s6",
            },
            Stay {
                start: 0x360,
                end: 0x364,
                places: &[Place::Sgpr(6), Place::Sgpr(5)],
                because: "from 0x35c s_mov_b32 s5, s6; until 0x360 s_xor_b32 s6, s25, s8",
            },
            Stay {
                start: 0x364,
                end: 0x370,
                places: &[Place::Sgpr(5)],
                because: "left by 0x360 s_xor_b32 s6, s25, s8; until 0x36c s_mov_b32 s5, s14",
            },
            Stay {
                start: 0x388,
                end: 0x56c,
                places: &[Place::Sgpr(6)],
                because: "from 0x384 s_add_i32 s6, s6, s4; until the end of the code",
            },
        ],
    },
    Scalar {
        name: "acc",
        line: 32,
        stays: &[
            Stay {
                start: 0x180,
                end: 0x3d0,
                places: &[Place::Sgpr(0)],
                because: "from 0x17c s_mov_b32 s0, 1; until 0x3c8 v_writelane_b32 v1, s0, 15",
            },
            Stay {
                start: 0x3d0,
                end: 0x3e4,
                places: &[Place::Sgpr(0), Place::Lane { vgpr: 1, lane: 15 }],
                because: "from 0x3c8 v_writelane_b32 v1, s0, 15; until 0x3e4, reached only from \
                    0x1b0 s_cbranch_scc1, around the loop, with lane 15 unwritten",
            },
            Stay {
                start: 0x3e4,
                end: 0x3ec,
                places: &[Place::Sgpr(0)],
                because: "left by 0x3e4, reached only from 0x1b0 s_cbranch_scc1, around the \
                    loop, with lane 15 unwritten; until 0x3e4 v_writelane_b32 v1, s0, 15",
            },
            Stay {
                start: 0x3ec,
                end: 0x414,
                places: &[Place::Sgpr(0), Place::Lane { vgpr: 1, lane: 15 }],
                because: "from 0x3e4 v_writelane_b32 v1, s0, 15; until 0x40c v_readlane_b32 s0, \
                    v1, 2",
            },
            Stay {
                start: 0x414,
                end: 0x544,
                places: &[Place::Lane { vgpr: 1, lane: 15 }],
                because: "left by 0x40c v_readlane_b32 s0, v1, 2; until 0x53c v_readlane_b32 s0, \
                    v1, 15",
            },
            Stay {
                start: 0x544,
                end: 0x554,
                places: &[Place::Lane { vgpr: 1, lane: 15 }, Place::Sgpr(0)],
                because: "from 0x53c v_readlane_b32 s0, v1, 15; until 0x550 s_add_u32 s0, s14, \
                    s2",
            },
            Stay {
                start: 0x554,
                end: 0x56c,
                places: &[Place::Lane { vgpr: 1, lane: 15 }],
                because: "left by 0x550 s_add_u32 s0, s14, s2; until the end of the code",
            },
        ],
    },
    Scalar {
        name: "i",
        line: 33,
        stays: &[Stay {
            start: 0x1c4,
            end: 0x398,
            places: &[Place::Sgpr(8)],
            because: "from 0x1c0 s_mov_b32 s8, 0; until 0x394 s_cbranch_scc0, out of the \
                    scope of i",
        }],
    },
    Scalar {
        name: "n",
        line: 3,
        stays: &[
            Stay {
                start: 0x024,
                end: 0x07c,
                places: &[Place::Sgpr(0)],
                because: "from 0x018 s_load_dword s0, s[6:7], 0x10 and 0x020 s_waitcnt \
                    lgkmcnt(0); until 0x074 v_writelane_b32 v1, s0, 1",
            },
            Stay {
                start: 0x07c,
                end: 0x088,
                places: &[Place::Sgpr(0), Place::Lane { vgpr: 1, lane: 1 }],
                because: "from 0x074 v_writelane_b32 v1, s0, 1; until 0x080 s_load_dword s0, \
                    s[4:5], 0x70",
            },
            Stay {
                start: 0x088,
                end: 0x390,
                places: &[Place::Lane { vgpr: 1, lane: 1 }],
                because: "left by 0x080 s_load_dword s0, s[4:5], 0x70; until 0x388 \
                    v_readlane_b32 s4, v1, 1",
            },
            Stay {
                start: 0x390,
                end: 0x398,
                places: &[Place::Lane { vgpr: 1, lane: 1 }, Place::Sgpr(4)],
                because: "from 0x388 v_readlane_b32 s4, v1, 1; until 0x394 s_cbranch_scc0 not \
                    taken, 0x390 s_cmp_eq_u32 s4, s8 having found i in s8 equal",
            },
            Stay {
                start: 0x398,
                end: 0x3e0,
                places: &[Place::Lane { vgpr: 1, lane: 1 }, Place::Sgpr(4), Place::Sgpr(8)],
                because: "from 0x394 s_cbranch_scc0 not taken, 0x390 s_cmp_eq_u32 s4, s8 having \
                    found i in s8 equal; until 0x3d8 v_readlane_b32 s4, v1, 16",
            },
            Stay {
                start: 0x3e0,
                end: 0x3e4,
                places: &[Place::Lane { vgpr: 1, lane: 1 }, Place::Sgpr(8)],
                because: "left by 0x3d8 v_readlane_b32 s4, v1, 16; until 0x3e4, reached only \
                    from 0x1b0 s_cbranch_scc1, around the loop, with the workgroup number \
                    in s8",
            },
            Stay {
                start: 0x3e4,
                end: 0x56c,
                places: &[Place::Lane { vgpr: 1, lane: 1 }],
                because: "left by 0x3e4, reached only from 0x1b0 s_cbranch_scc1, around the \
                    loop, with the workgroup number in s8; until the end of the code",
            },
        ],
    },
];
