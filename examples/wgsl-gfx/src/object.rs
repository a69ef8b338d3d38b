//! The code object: code, kernel descriptor, and metadata, as AMD's loader expects them (code object version 5).

use eitri::emit::elf::{
    CodeContents, CodeRelocation, CodeSection, CodeSymbol, CodeSymbolKind, ObjectCode, SymbolBinding,
    SymbolLocation, Visibility,
};

use crate::emit::Machine;
use crate::front::Source;
use crate::lower::Lowered;

/// Relocation: the distance of a symbol, 64 bits.
const R_AMDGPU_REL64: u32 = 5;

/// Registers and scratch memory of a kernel with all that it calls.
struct Needs {
    scratch: u32,
    vectors: u32,
}

/// Returns the sections and symbols of a kernel.
pub fn object(source: &Source, all: &[Lowered<'_>], machines: &[Machine]) -> ObjectCode {
    let name = &source.module.entry_points[0].name;
    let mut code = ObjectCode::text(
        machines.iter().flat_map(|machine| machine.bytes.iter().copied()).collect::<Vec<u8>>(),
    );
    for (lowered, machine) in all.iter().zip(machines) {
        code = code.with_function(&lowered.name, machine.start, machine.bytes.len() as u64);
    }
    let lowered = &all[0];
    let vectors = machines.iter().map(|machine| machine.vectors).max().unwrap_or(0);
    let machine = &Needs { scratch: stack(all, machines), vectors };
    let mut descriptor =
        CodeSection::new(".rodata", CodeContents::ReadOnly, descriptor(lowered, machine), 64);
    // The field has the distance from the descriptor's start.
    let kind = R_AMDGPU_REL64;
    let symbol = name.clone();
    descriptor.relocations.push(CodeRelocation { offset: 16, kind, symbol, addend: 16 });
    code.sections.push(descriptor);
    code.sections.push(CodeSection::new(".note", CodeContents::Note, note(source, lowered, machine), 4));
    code.symbols.push(CodeSymbol {
        name: format!("{name}.kd"),
        place: SymbolLocation::Section { index: 2, offset: 0 },
        size: 64,
        kind: CodeSymbolKind::Object,
        binding: SymbolBinding::Global,
        visibility: Visibility::Protected,
    });
    code
}

/// Bytes of the deepest stack: each function begins where the frame of its farthest caller ends.
pub fn stack(all: &[Lowered<'_>], machines: &[Machine]) -> u32 {
    let mut begins = vec![0; machines.len()];
    for (n, machine) in machines.iter().enumerate() {
        for (_, function) in &machine.calls {
            let callee = all.iter().position(|of| of.function == Some(*function)).unwrap_or(0);
            begins[callee] = begins[callee].max(begins[n] + machine.scratch);
        }
    }
    begins.iter().zip(machines).map(|(begin, machine)| begin + machine.scratch).max().unwrap_or(0)
}

/// Bytes of the kernel's arguments: addresses of buffers, lengths of their arrays, the number of groups.
pub fn argument_bytes(lowered: &Lowered<'_>) -> u32 {
    12 * lowered.buffers.len() as u32 + 12
}

/// The kernel descriptor (LLVM's AMDGPUUsage, "Code Object V3 Kernel Descriptor").
fn descriptor(lowered: &Lowered<'_>, machine: &Needs) -> Vec<u8> {
    let vectors = machine.vectors.div_ceil(8) - 1;
    // Round to nearest; denormals stay; IEEE; memory in order.
    let rsrc1 = vectors | 0xf << 16 | 1 << 21 | 1 << 23 | 1 << 29 | 1 << 30;
    let private = u32::from(machine.scratch > 0);
    // Two user registers, the number of the group in three, and of the item in three dimensions.
    let rsrc2 = private | 2 << 1 | 0b111 << 7 | 2 << 11;
    // The address of the arguments; waves of 32 lanes.
    let properties: u16 = 1 << 3 | 1 << 10;
    let mut bytes = Vec::new();
    for word in [lowered.local, machine.scratch, argument_bytes(lowered), 0] {
        bytes.extend(word.to_le_bytes());
    }
    bytes.resize(44, 0);
    for word in [0, rsrc1, rsrc2] {
        bytes.extend(word.to_le_bytes());
    }
    bytes.extend(properties.to_le_bytes());
    bytes.resize(64, 0);
    bytes
}

/// The metadata as MessagePack in a note of the name `AMDGPU`.
fn note(source: &Source, lowered: &Lowered<'_>, machine: &Needs) -> Vec<u8> {
    let entry = &source.module.entry_points[0];
    let number = |n: u32| Item::Number(n);
    let text = |of: &str| Item::Text(of.into());
    let argument = |kind: &str, offset: u32, size: u32, space: Option<&str>| {
        let mut fields =
            vec![(".offset", number(offset)), (".size", number(size)), (".value_kind", text(kind))];
        fields.extend(space.map(|space| (".address_space", text(space))));
        Item::Map(fields)
    };
    let buffers = lowered.buffers.len() as u32;
    let mut arguments: Vec<Item> =
        (0..buffers).map(|n| argument("global_buffer", 8 * n, 8, Some("global"))).collect();
    arguments.extend((0..buffers + 3).map(|n| argument("by_value", 8 * buffers + 4 * n, 4, None)));
    let kernel = Item::Map(vec![
        (".args", Item::List(arguments)),
        (".group_segment_fixed_size", number(lowered.local)),
        (".kernarg_segment_align", number(8)),
        (".kernarg_segment_size", number(argument_bytes(lowered))),
        (".max_flat_workgroup_size", number(entry.workgroup_size.iter().product())),
        (".name", text(&entry.name)),
        (".private_segment_fixed_size", number(machine.scratch)),
        (".reqd_workgroup_size", Item::List(entry.workgroup_size.map(Item::Number).into())),
        (".sgpr_count", number(104)),
        (".symbol", text(&format!("{}.kd", entry.name))),
        (".vgpr_count", number(machine.vectors)),
        (".wavefront_size", number(32)),
    ]);
    let all = Item::Map(vec![
        ("amdhsa.kernels", Item::List(vec![kernel])),
        ("amdhsa.target", text("amdgcn-amd-amdhsa--gfx1100")),
        ("amdhsa.version", Item::List(vec![number(1), number(2)])),
    ]);
    let mut packed = Vec::new();
    all.pack(&mut packed);
    let mut note = Vec::new();
    for word in [7, packed.len() as u32, 32] {
        note.extend(word.to_le_bytes());
    }
    note.extend(b"AMDGPU\0\0");
    note.extend(packed);
    note.resize(note.len().next_multiple_of(4), 0);
    note
}

/// A value in MessagePack.
enum Item {
    Number(u32),
    Text(String),
    List(Vec<Item>),
    Map(Vec<(&'static str, Item)>),
}

impl Item {
    fn pack(&self, into: &mut Vec<u8>) {
        let text = |text: &str, into: &mut Vec<u8>| {
            into.push(0xda);
            into.extend((text.len() as u16).to_be_bytes());
            into.extend(text.as_bytes());
        };
        match self {
            Self::Number(n) => {
                into.push(0xce);
                into.extend(n.to_be_bytes());
            }
            Self::Text(of) => text(of, into),
            Self::List(items) => {
                into.push(0xdc);
                into.extend((items.len() as u16).to_be_bytes());
                items.iter().for_each(|item| item.pack(into));
            }
            Self::Map(items) => {
                into.push(0xde);
                into.extend((items.len() as u16).to_be_bytes());
                for (key, item) in items {
                    text(key, into);
                    item.pack(into);
                }
            }
        }
    }
}
