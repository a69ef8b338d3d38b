//! The evaluated expressions.

/// An expression, and the request for its result.
pub struct Case {
    /// Name of the case in the ratios.
    pub name: &'static str,
    /// Text form of the expression.
    pub text: &'static str,
    /// Whether a value is requested rather than a location.
    pub wants_value: bool,
    /// Number of executed operations, including those of the frame base.
    pub operations: usize,
}

pub const CASES: [Case; 6] = [
    Case { name: "register", text: "reg3", wants_value: false, operations: 1 },
    Case { name: "fbreg", text: "fbreg -24", wants_value: false, operations: 2 },
    Case {
        name: "derefs",
        text: "breg5 8; deref; plus_uconst 16; deref; plus_uconst 24; deref; plus_uconst 4",
        wants_value: false,
        operations: 7,
    },
    Case {
        name: "pieces",
        text: "reg0; piece 4; breg7 16; piece 4; lit7; stack_value; piece 4; reg1; piece 4",
        wants_value: false,
        operations: 9,
    },
    // Twenty arithmetic operations, on numbers of one byte and more.
    Case {
        name: "arithmetic",
        text: "breg5 0; lit3; plus; const1u 200; mul; const2u 0x1234; xor; lit5; shl; const1s -3; and; \
               const4u 0x12345678; or; lit2; shr; lit7; minus; const1u 9; div; constu 100000; plus; neg; not; \
               plus_uconst 300; lit1; shra; lit11; mul; abs; consts -1000; plus; lit9; mod; lit4; plus; lit1; shl",
        wants_value: true,
        operations: 37,
    },
    // A sum of squares: two operations, 45 rounds of eleven, and three.
    Case {
        name: "loop",
        text: "lit0; const1u 45; dup; dup; mul; rot; rot; plus; swap; lit1; minus; dup; bra -13; drop; lit0; plus",
        wants_value: true,
        operations: 500,
    },
];
