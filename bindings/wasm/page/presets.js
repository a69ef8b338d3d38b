// Examples: those of "Allow Location Descriptions on the DWARF Expression Stack", by its sections, on machines that show
// them; and operations of the DWARF 6 draft.

import { EMPTY, printed } from "./state.js";

const hexadecimal = (number) => (number & 255).toString(16).padStart(2, "0");
const dword = (number) => [0, 8, 16, 24].map((shift) => hexadecimal(number >> shift)).join(" ");
/// Bytes of a vector register for 32 lanes: a number in each lane.
const each = (number) => Array.from({ length: 32 }, (_, lane) => dword(number + lane)).join(" ");
/// Consecutive bytes.
const count = (first, bytes) => Array.from({ length: bytes }, (_, index) => hexadecimal(first + index)).join(" ");

const U64 = { "0x23": { encoding: "unsigned", bits: 64, name: "u64" } };
const U32 = { "0x23": { encoding: "unsigned", bits: 32, name: "u32" } };
const I64 = { "0x23": { encoding: "signed", bits: 64, name: "i64" } };
const memory = (address, bytes, more = {}) => ({ space: 0, ...more, address, bytes });
const wave = (registers, more = {}) => ({ lane: 3, lanes: 32, registers, ...more });

const cpu = (expression, machine, more = {}) => ({ expression, dialect: "dwarf5", target: "x86_64", machine, ...more });
const gpu = (expression, machine, more = {}) => ({ expression, dialect: "llvm", target: "amdgpu-gfx1030-wave32", machine, ...more });
const draft = (expression, machine, more = {}) => gpu(expression, machine, { dialect: "dwarf6", ...more });

const SPREAD = "regx rbx; piece 4; piece 2; bregx rax 0x10; piece 2";
const spread = { registers: { rax: "00 10 00 00 00 00 00 00", rbx: count(0x30, 8) }, memory: [memory("0x1010", count(0x50, 8))] };
const member = (object) => ({
  registers: { rdi: "00 00 00 00 01 00 00 00" },
  memory: [memory("0xff00", "07 00 00 00 09 00 00 00")],
  initial_stack: [{ value: "0x4" }, { location: object }],
});
// The table of a class's virtual functions: eight bytes at 0x3000 say where the base begins.
const table = (object) => ({
  memory: [memory("0x2000", "18 30 00 00 00 00 00 00 2b"), memory("0x3000", "08 00 00 00 00 00 00 00")],
  initial_stack: [{ location: object }],
});
const VECTOR = (register) => `regx ${register}; push_lane; constu 4; mul; offset; piece 4`;
const vectors = { v0: each(100), v1: each(200) };

const EXAMPLES = {
  "DWARF 5 (section 3.2)": [
    ["3.2.1 Size of an array", "rax has the address of a descriptor; its first word is the number of elements.",
      cpu("regval_type rax @0x23; convert @0; deref",
        { registers: { rax: "00 10 00 00 00 00 00 00" }, memory: [memory("0x1000", "2a 00 00 00 00 00 00 00")], types: U64 }, { kind: "value" })],
    ["3.2.2 In a register", "A variable of 32 bits in the lower half of rax.", cpu("regx rax", { registers: { rax: count(0x30, 8) } })],
    ["3.2.3 In memory", "rax is the frame pointer; the variable is 0x10 bytes above.",
      cpu("regval_type rax @0x23; convert @0; plus_uconst 0x10",
        { registers: { rax: "08 10 00 00 00 00 00 00" }, memory: [memory("0x1018", "58 59 5a 5b")], types: U64 })],
    ["3.2.4 In several locations", "Four bytes in rbx, two nowhere, two in memory.", cpu(SPREAD, spread, { read: 64 })],
    ["3.2.5 An offset into those", "DWARF 5 has no operation that moves into a composite: this one is for addresses.",
      cpu(`${SPREAD}; plus_uconst 5`, spread, { read: 24 })],
    ["3.2.6 Pointer to member", "The stack begins with the pointer, 4, and the object in memory.", cpu("plus", member("mem:0:0xff00"))],
    ["3.2.6 Pointer to member, in a register", "The object is in rdi, which has no address to add to.", cpu("plus", member("reg:rdi"))],
    ["3.2.7 Virtual base class", "The object at 0x2000 has a pointer to a table, which has the offset of the base.",
      cpu("dup; deref; lit24; minus; deref; plus", table("mem:0:0x2000"), { read: 8 })],
  ],
  "Locations on the stack (section 4.3)": [
    ["4.3.1 Spilled to a lane", "A scalar that is kept in lane 5 of v0, whichever lane is in focus.", gpu("regx v0; offset_uconst 20", wave({ v0: each(100) }))],
    ["4.3.2 In two vector registers", "64 bits in each lane: the lower half in v0, the upper half in v1.",
      gpu(`${VECTOR("v0")}; ${VECTOR("v1")}`, wave(vectors), { read: 64 })],
    ["4.3.3 In several kinds of locations", "Four bytes in v0, two in memory, and two that are known.",
      gpu(`${VECTOR("v0")}; addr 0xbeef; piece 2; constu 0xf00d; stack_value; piece 2; piece_end`,
        wave({ v0: each(100) }, { memory: [memory("0xbeef", "5a 5b")] }), { read: 64 })],
    ["4.3.4 Address spaces", "s0 is an offset in memory that each lane has for itself; four lanes of it are known.",
      gpu("regval_type s0 @0x23; lit5; form_aspace_address; offset_uconst 0x10",
        wave({ s0: "00 02 00 00" }, {
          memory: [0, 1, 2, 3].map((lane) => memory("0x210", count(0x40 + 4 * lane, 4), { space: 5, lane })), lanes: 4, types: U32,
        }))],
    ["4.3.5 Bit offsets", "Twelve bits of s3, from bit 20 on.", gpu("regx s3; constu 20; bit_offset", wave({ s3: "10 32 54 76" }), { read: 12 })],
    ["3.2.5 again, with locations on the stack", "The composite ends, and any location can be moved into.",
      cpu(`${SPREAD}; piece_end; offset_uconst 5`, spread, { read: 24, dialect: "llvm" })],
    ["3.2.6 again: the object in a register", "An offset has no need of an address.", cpu("swap; offset", member("reg:rdi"), { dialect: "llvm" })],
    ["3.2.7 again: an object that is not there", "The object is only known: its table's address, and one byte.",
      cpu("dup; deref; lit24; minus; deref; offset", table("[implicit:1830000000000000/64, implicit:2a/8, undefined/56]"), { read: 8, dialect: "llvm" })],
    ["4.6 Selected by a mask", "Lanes that run have the new value, in v1; the others still have the old value, in v0.",
      gpu("regx v0; regx v1; regx exec; deref_size 4; select_bit_piece 32 32; push_lane; lit4; mul; offset",
        wave({ ...vectors, exec: "0f 00 00 00" }))],
    ["4.7 In two places at once", "The object is in s3 and in memory; both move.",
      gpu("offset_uconst 2",
        wave({ s3: "10 32 54 76" }, { memory: [memory("0x1000", "10 32 54 76")], initial_stack: [{ location: "reg:s3 | mem:0:0x1000" }] }), { read: 16 })],
  ],
  "DWARF 6 draft": [
    ["push_lane", "An element of v0 in the lane in focus.", draft("regx v0; push_lane; lit4; mul; offset", wave({ v0: each(100) }))],
    ["overlay", "Sixteen bytes in memory; a loop keeps eight of them, from the fourth on, in v0.",
      draft("addr 0x1000; regx v0; lit4; lit8; overlay", wave({ v0: each(100) }, { memory: [memory("0x1000", count(0x40, 16))] }), { read: 128 })],
    ["composite", "A composite that begins empty, above another location.",
      draft("regx s3; composite; regx s0; piece 2; regx s1; piece 2", wave({ s0: count(0x10, 4), s1: count(0x20, 4), s3: count(0x30, 4) }))],
    ["mem", "Four bytes at 0x40 in memory that the lanes of a group share.",
      draft("lit3; const1u 0x40; mem; lit4; offset", wave({}, { memory: [memory("0x40", count(0x70, 8), { space: 3 })] }))],
    ["mod_floor", "-7 modulo 2, rounded towards minus infinity.",
      draft("const_type @0x23 {f9 ff ff ff ff ff ff ff}; const_type @0x23 {02 00 00 00 00 00 00 00}; mod_floor", { types: I64 }, { kind: "value" })],
  ],
};

/// The examples, each with its group, its name, what it shows, and its state.
export const PRESETS = Object.entries(EXAMPLES).flatMap(([group, examples]) => examples.map(([name, about, state]) => ({
  group, name, about, state: { ...EMPTY, ...state, machine: printed(state.machine) },
})));
