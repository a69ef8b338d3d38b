//! Stopped waves in the functions of `k06_calls.cl`: state of the processor, and registers of the callers. States and
//! registers are derived from the instructions.

use super::stopped::Case;
use super::stopped::Found::{InScratch, Is, Undefined};
use super::stopped::Holds::{self, Code, Number};

/// Values of the kernel in s33, in lane 25 of v7, and in lane 0; return addresses in `mid` and `leaf`.
const S33: u32 = 0xa500_0021;
const LANE_25: u32 = 0xb000_0719;
const LANE_0: u32 = 0xb000_0700;
const TO_CALLS: Holds = Code(("calls", 0xa4));
const TO_MID: Holds = Code(("mid", 0x78));

/// `gid < n` holds in 20 of 32 lanes.
#[rustfmt::skip]
pub const CASES: [Case; 14] = [
    // Before anything is saved; then s33 is saved in s7.
    Case {
        at: ("mid", 0x00), exec: 0xf_ffff, active: 0xf_ffff, scratch: &[],
        holds: &[("s30", TO_CALLS), ("s31", Number(0)), ("s32", Number(0)), ("s33", Number(S33))],
        cfa: 0, callers: &[(("calls", 0xa4), 0)],
        finds: &[(1, "s33", Is(S33)), (1, "s32", Is(0)), (1, "exec", Is(0xf_ffff)), (1, "v7[0]", Is(LANE_0))],
    },
    Case {
        at: ("mid", 0x0c), exec: 0xf_ffff, active: 0xf_ffff, scratch: &[],
        holds: &[
            ("s30", TO_CALLS), ("s31", Number(0)), ("s32", Number(0)), ("s33", Number(0)),
            ("s7", Number(S33)),
        ],
        cfa: 0, callers: &[(("calls", 0xa4), 0)],
        finds: &[(1, "s33", Is(S33)), (1, "s7", Undefined)],
    },
    // EXEC has the inactive lanes.
    Case {
        at: ("mid", 0x10), exec: 0xfff0_0000, active: 0xf_ffff, scratch: &[],
        holds: &[
            ("s30", TO_CALLS), ("s31", Number(0)), ("s32", Number(0)), ("s33", Number(0)),
            ("s7", Number(S33)),
            ("s4", Number(0xf_ffff)),
        ],
        cfa: 0, callers: &[(("calls", 0xa4), 0)],
        finds: &[(1, "exec", Is(0xf_ffff)), (1, "s4", Undefined), (1, "s33", Is(S33))],
    },
    // The return address is in v7, whose other lanes are in memory.
    Case {
        at: ("mid", 0x54), exec: 0xf_ffff, active: 0xf_ffff, scratch: &[(0x64, LANE_25)],
        holds: &[
            ("s30", TO_CALLS), ("s31", Number(0)), ("s32", Number(0x200)), ("s33", Number(0)),
            ("s7", Number(S33)),
            ("v7[0]", TO_CALLS), ("v7[1]", Number(0)),
        ],
        cfa: 0, callers: &[(("calls", 0xa4), 0)],
        finds: &[(1, "s32", Is(0)), (1, "v7[25]", InScratch(0x64, LANE_25)), (1, "v7[5]", Undefined)],
    },
    // The first call of `leaf`.
    Case {
        at: ("leaf", 0x30), exec: 0xf_ffff, active: 0xf_ffff, scratch: &[(0x64, LANE_25)],
        holds: &[
            ("s30", TO_MID), ("s31", Number(0)), ("s32", Number(0x200)), ("s33", Number(0)),
            ("s7", Number(S33)),
            ("s4", Number(0xf_ffff)), ("v7[0]", TO_CALLS), ("v7[1]", Number(0)),
            ("v2[5]", Number(0)), ("v2[25]", Number(25)),
        ],
        cfa: 0x200, callers: &[(("mid", 0x78), 0), (("calls", 0xa4), 0)],
        finds: &[
            (1, "s32", Is(0x200)), (1, "s33", Is(0)), (1, "s7", Is(S33)), (1, "s4", Undefined),
            (2, "s33", Is(S33)), (2, "s32", Is(0)),
            (2, "v7[25]", InScratch(0x64, LANE_25)), (2, "v7[5]", Undefined),
            (2, "v2[25]", Is(25)), (2, "v2[5]", Undefined),
            (2, "v8[5]", Is(0xb000_0805)), (2, "v9[5]", Is(0xb000_0905)), (2, "v10[25]", Is(0xb000_0a19)),
            (2, "s5", Undefined), (2, "s6", Undefined), (2, "vcc", Undefined), (2, "exec", Is(0xf_ffff)),
        ],
    },
    // The second call.
    Case {
        at: ("leaf", 0x30), exec: 0xf_ffff, active: 0xf_ffff, scratch: &[(0x64, LANE_25)],
        holds: &[
            ("s30", Code(("mid", 0x88))), ("s31", Number(0)), ("s32", Number(0x200)), ("s33", Number(0)),
            ("s7", Number(S33)), ("s4", Number(0xf_ffff)), ("v7[0]", TO_CALLS), ("v7[1]", Number(0)),
        ],
        cfa: 0x200, callers: &[(("mid", 0x88), 0), (("calls", 0xa4), 0)],
        finds: &[(1, "s4", Undefined), (2, "s33", Is(S33)), (2, "v7[25]", InScratch(0x64, LANE_25))],
    },
    // Called by the kernel: the frame of `mid` is gone.
    Case {
        at: ("leaf", 0x30), exec: 0xf_ffff, active: 0xf_ffff, scratch: &[],
        holds: &[
            ("s30", Code(("calls", 0xc4))), ("s31", Number(0)), ("s32", Number(0)), ("s33", Number(S33)),
            ("s4", Number(0xf_ffff)),
        ],
        cfa: 0, callers: &[(("calls", 0xc4), 0)],
        finds: &[(1, "v7[5]", Is(0xb000_0705)), (1, "s33", Is(S33))],
    },
    // After the return from `leaf`: the registers have its return address.
    Case {
        at: ("mid", 0x78), exec: 0xf_ffff, active: 0xf_ffff, scratch: &[(0x64, LANE_25)],
        holds: &[
            ("s30", TO_MID), ("s31", Number(0)), ("s32", Number(0x200)), ("s33", Number(0)),
            ("s7", Number(S33)),
            ("v7[0]", TO_CALLS), ("v7[1]", Number(0)),
        ],
        cfa: 0, callers: &[(("calls", 0xa4), 0)],
        finds: &[(1, "v7[25]", InScratch(0x64, LANE_25)), (1, "s33", Is(S33))],
    },
    Case {
        at: ("mid", 0x9c), exec: 0xf_ffff, active: 0xf_ffff, scratch: &[(0x64, LANE_25)],
        holds: &[
            ("s30", TO_CALLS), ("s31", Number(0)), ("s32", Number(0x200)), ("s33", Number(0)),
            ("s7", Number(S33)),
            ("v7[0]", TO_CALLS), ("v7[1]", Number(0)),
        ],
        cfa: 0, callers: &[(("calls", 0xa4), 0)],
        finds: &[(1, "s32", Is(0)), (1, "v7[25]", InScratch(0x64, LANE_25))],
    },
    Case {
        at: ("mid", 0xa4), exec: 0xfff0_0000, active: 0xf_ffff, scratch: &[(0x64, LANE_25)],
        holds: &[
            ("s30", TO_CALLS), ("s31", Number(0)), ("s32", Number(0x200)), ("s33", Number(0)),
            ("s7", Number(S33)),
            ("s4", Number(0xf_ffff)), ("v7[0]", TO_CALLS), ("v7[1]", Number(0)),
        ],
        cfa: 0, callers: &[(("calls", 0xa4), 0)],
        finds: &[(1, "v7[25]", InScratch(0x64, LANE_25)), (1, "v7[5]", Undefined), (1, "exec", Is(0xf_ffff))],
    },
    // s33 has the kernel's value again.
    Case {
        at: ("mid", 0xb8), exec: 0xf_ffff, active: 0xf_ffff, scratch: &[(0x64, LANE_25)],
        holds: &[("s30", TO_CALLS), ("s31", Number(0)), ("s32", Number(0)), ("s33", Number(S33))],
        cfa: 0, callers: &[(("calls", 0xa4), 0)],
        finds: &[(1, "s33", Is(S33)), (1, "s32", Is(0))],
    },
    // Lane 0 was inactive on entry: its part of v7 is stored and reloaded, that of lane 1 is not.
    Case {
        at: ("mid", 0xbc), exec: 0xf_fffe, active: 0xf_fffe, scratch: &[(0x00, LANE_0), (0x64, LANE_25)],
        holds: &[
            ("s30", TO_CALLS), ("s31", Number(0)), ("s32", Number(0)), ("s33", Number(S33)),
            ("v7[1]", Number(0)),
        ],
        cfa: 0, callers: &[(("calls", 0xa4), 0)],
        finds: &[(1, "v7[0]", Is(LANE_0)), (1, "v7[1]", Undefined)],
    },
    Case {
        at: ("mid", 0x78), exec: 0xf_fffe, active: 0xf_fffe, scratch: &[(0x00, LANE_0), (0x64, LANE_25)],
        holds: &[
            ("s30", TO_MID), ("s31", Number(0)), ("s32", Number(0x200)), ("s33", Number(0)),
            ("s7", Number(S33)),
            ("v7[0]", TO_CALLS), ("v7[1]", Number(0)),
        ],
        cfa: 0, callers: &[(("calls", 0xa4), 0)],
        finds: &[(1, "v7[0]", InScratch(0x00, LANE_0)), (1, "v7[1]", Undefined)],
    },
    // The kernel itself.
    Case {
        at: ("calls", 0xa0), exec: 0xf_ffff, active: 0xf_ffff, scratch: &[],
        holds: &[("s4", Number(0xffff_ffff)), ("s32", Number(0))],
        cfa: 0, callers: &[], finds: &[(0, "s4", Is(0xffff_ffff))],
    },
];

/// The same call of `leaf`, in the object that follows the convention.
#[rustfmt::skip]
pub const PLAIN: Case = Case {
    at: ("leaf", 0x30), exec: 0xf_ffff, active: 0xf_ffff,
    // v43 of lanes 5 and 25, v40 of lane 5; that of lane 25 was not stored.
    scratch: &[(0x194, 0x4020_0000), (0x1e4, 0xb000_2b19), (0x114, 0xb000_2805)],
    holds: &[
        ("s30", Code(("mid", 0xa8))), ("s31", Number(0)), ("s32", Number(0x400)), ("s33", Number(0)),
        ("s34", Code(("leaf", 0))), ("s35", Number(0)), ("s4", Number(0xf_ffff)),
        ("v43[0]", TO_CALLS), ("v43[1]", Number(0)), ("v43[2]", Number(0xa500_0022)),
        ("v43[3]", Number(0xa500_0023)), ("v43[4]", Number(S33)),
        ("v43[5]", Number(0)), ("v43[25]", Number(0)), ("v40[5]", Number(3)),
    ],
    cfa: 0x400, callers: &[(("mid", 0xa8), 0), (("calls", 0xa4), 0)],
    finds: &[
        (2, "s33", Is(S33)), (2, "s34", Is(0xa500_0022)), (2, "s35", Is(0xa500_0023)), (2, "s32", Is(0)),
        (2, "v43[5]", InScratch(0x194, 0x4020_0000)), (2, "v43[25]", InScratch(0x1e4, 0xb000_2b19)),
        (2, "v40[5]", InScratch(0x114, 0xb000_2805)), (2, "v40[25]", Is(0xb000_2819)),
    ],
};
