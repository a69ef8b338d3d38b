//! A relocatable cubin typed by hand, section by section as ptxas lays them out, and its dump to the character. Cubins
//! of ptxas differ from run to run and are compared with other tools in `tests/programs`.

use eitri::dump::{DumpOptions, print, print_to};
use eitri::emit::elf::{
    CodeContents, CodeSection, CodeSymbol, CodeSymbolKind, ObjectCode, SymbolBinding, SymbolLocation,
    Visibility,
};
use eitri::emit::{Relocation, RelocationTarget, Section};
use eitri::op::Dialect;

use crate::common::cubin::typed;
use crate::reader::bytes::Bytes;
use crate::reader::common::check_golden;
use crate::reader::tools::{Folder, Tool};

fn section(name: &'static str, bytes: &Bytes, relocations: Vec<Relocation>) -> Section {
    Section { name, bytes: bytes.bytes.clone(), relocations, is_strings: false, group: None }
}

fn address(offset: u64, symbol: &'static str, addend: u64) -> Relocation {
    Relocation { offset, bytes: 8, target: RelocationTarget::Symbol(symbol.into()), addend }
}

fn offset_in(offset: u64, name: &'static str, addend: u64) -> Relocation {
    Relocation { offset, bytes: 4, target: RelocationTarget::Section(name), addend }
}

/// Sizes of the kernel and of a second function, in bytes.
const SIZES: [(&str, u64); 2] = [("k", 1536), ("_Z3barf", 256)];

const STRINGS: &str = "bar(float)";

fn abbreviations() -> Bytes {
    let mut out = Bytes::default();
    let mut one = |code: u64, tag: u64, has_children: bool, pairs: &[(u64, u64)]| {
        out.uleb(code).uleb(tag).u8s([u8::from(has_children)]);
        for &(attribute, form) in pairs {
            out.uleb(attribute).uleb(form);
        }
        out.u8s([0, 0]);
    };
    // producer, language, name, comp_dir, low_pc, stmt_list.
    one(1, 0x11, true, &[(0x25, 8), (0x13, 0xb), (3, 8), (0x1b, 8), (0x11, 1), (0x10, 6)]);
    // name, encoding, byte_size.
    one(2, 0x24, false, &[(3, 8), (0x3e, 0xb), (0xb, 0xb)]);
    // MIPS_linkage_name, name, type, external, low_pc, high_pc, frame_base.
    one(3, 0x2e, true, &[(0x2007, 8), (3, 8), (0x49, 0x13), (0x3f, 0xc), (0x11, 1), (0x12, 1), (0x40, 0xa)]);
    // name, type, location in a block, address_class.
    one(4, 0x05, false, &[(3, 8), (0x49, 0x13), (2, 0xa), (0x33, 0xb)]);
    // name, type, location in a list.
    one(5, 0x34, false, &[(3, 8), (0x49, 0x13), (2, 6)]);
    // type, address_class.
    one(6, 0x0f, false, &[(0x49, 0x13), (0x33, 6)]);
    // name, type, location in a list, address_class.
    one(7, 0x34, false, &[(3, 8), (0x49, 0x13), (2, 6), (0x33, 0xb)]);
    // name, NV_general_flags, GNU_pubnames, PGI_lbase as a block.
    one(8, 0x34, false, &[(3, 8), (0x2703, 6), (0x2134, 0xc), (0x3a00, 0xa)]);
    out.u8s([0]);
    out
}

/// Entries, whose lists start at these offsets. DWARF 2.
fn entries(lists: [u64; 3]) -> Section {
    let mut out = Bytes::default();
    let mut relocations = Vec::new();
    // Offsets count from the length, whose 4 bytes come first; the rest of the header has 7.
    out.u32(0).u16(2);
    relocations.push(offset_in(out.len(), ".debug_abbrev", 0));
    out.u32(0).u8s([8]);
    out.uleb(1).string("typed by hand").u8s([4]).string("k.cu").string("/src").u64(0);
    relocations.push(offset_in(out.len(), ".debug_line", 0));
    out.u32(0);
    let float = out.len() as u32;
    out.uleb(2).string("float").u8s([4, 4]);
    let pointer = out.len() as u32;
    out.uleb(6).u32(float).u32(12);
    out.uleb(3).string("k").string("k").u32(float).u8s([1]);
    relocations.push(address(out.len(), "k", 0));
    out.u64(0);
    relocations.push(address(out.len(), "k", 1536));
    // call_frame_cfa.
    out.u64(0).u8s([1, 0x9c]);
    // The constant bank.
    out.uleb(4).string("data").u32(pointer).u8s([9, 0x03]).u64(0x160).u8s([7]);
    // fbreg -16 in place of a symbol in local memory, with the rest filled by nop.
    out.uleb(4).string("slot").u32(float).u8s([9, 0x91, 0x70]).u8s([0x96; 7]).u8s([6]);
    // R4 as a plain number.
    out.uleb(4).string("four").u32(float).u8s([2, 0x90, 4, 12]);
    for (name, list) in [("i", lists[0]), ("pair", lists[1])] {
        out.uleb(5).string(name).u32(float);
        relocations.push(offset_in(out.len(), ".debug_loc", list));
        out.u32(0);
    }
    out.uleb(7).string("element").u32(float);
    relocations.push(offset_in(out.len(), ".debug_loc", lists[2]));
    out.u32(0).u8s([5]);
    out.uleb(8).string("vendor").u32(0x1f).u8s([1, 2, 0x70, 8]);
    out.u8s([0, 0]);
    let length = out.len() as u32 - 4;
    out.bytes[..4].copy_from_slice(&length.to_le_bytes());
    section(".debug_info", &out, relocations)
}

/// Packed name of a register: its ASCII, the first character most significant.
fn packed(name: &str) -> u64 {
    name.bytes().fold(0, |number, byte| number << 8 | u64::from(byte))
}

/// Location lists. DWARF 2 section 7.7.3.
fn lists() -> (Section, [u64; 3]) {
    let mut out = Bytes::default();
    let mut relocations = Vec::new();
    let mut starts = [0; 3];
    let register = |name: &str| {
        let mut expression = Bytes::default();
        expression.u8s([0x90]).uleb(packed(name));
        expression
    };
    // bregx %rd3 4.
    let mut element = Bytes::default();
    element.u8s([0x92]).uleb(packed("%rd3")).sleb(4);
    // %r1 and %r2, 4 bytes each.
    let mut pair = register("%r1");
    pair.u8s([0x93, 4]).u8s(register("%r2").bytes).u8s([0x93, 4]);
    let lists = [
        vec![(0x80, 0x120, register("%rd12")), (0x120, 0x180, register("%f1"))],
        vec![(0x100, 0x600, pair)],
        vec![(0x380, 0x430, element)],
    ];
    for (start, list) in starts.iter_mut().zip(lists) {
        *start = out.len();
        for (low, high, expression) in list {
            for bound in [low, high] {
                relocations.push(address(out.len(), "k", bound));
                out.u64(0);
            }
            out.u16(expression.len() as u16).u8s(&expression.bytes);
        }
        out.u64(0).u64(0);
    }
    (section(".debug_loc", &out, relocations), starts)
}

/// The line table of the source, with the extended header and the operations of ptxas, or that of the PTX: without
/// files.
fn lines(is_of_ptx: bool) -> (Bytes, Vec<Relocation>) {
    let mut relocations = Vec::new();
    let mut header = Bytes::default();
    header.u8s([1, 1, 0xfb, 14, 13, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1]);
    let names = if is_of_ptx {
        header.u8s([0, 0]);
        None
    } else {
        header.string("/src").u8s([0]).string("k.cu").uleb(1).u8s([0, 0]).u8s([0]);
        Some(header.len())
    };
    if names.is_some() {
        header.u32(0);
    }
    let mut program = Bytes::default();
    program.u8s([0, 9, 2]);
    let at_address = program.len();
    program.u64(0);
    if is_of_ptx {
        // advance_line 6, copy; advance_pc 0x80, advance_line 1, copy; to the end.
        program.u8s([3, 6, 1, 2]).uleb(0x80).u8s([3, 1, 1, 2]).uleb(0x580).u8s([0, 1, 1]);
    } else {
        // Lines 9, 10, 12 with a prologue, then line 4 of the function inlined at row 3, and line 12 again.
        program.u8s([0, 2, 0x92, 1, 3, 8, 1]).u8s([0, 2, 0x92, 0]);
        program.u8s([2]).uleb(0x80).u8s([3, 1, 1, 2]).uleb(0x80).u8s([3, 2, 5, 7, 1]);
        program.u8s([2]).uleb(0x20).u8s([0, 3, 0x90, 3, 0, 3]).sleb(-8).u8s([1]);
        program.u8s([2]).uleb(0x30).u8s([0, 3, 0x90, 0, 0, 3, 8, 1]);
        program.u8s([2]).uleb(0x4b0).u8s([0, 1, 1]);
    }
    let mut rest = Bytes::default();
    rest.u16(3).u32(header.len() as u32).u8s(&header.bytes).u8s(&program.bytes);
    if let Some(names) = names {
        relocations.push(offset_in(4 + 6 + names, ".debug_str", 0));
    }
    relocations.push(address(4 + 6 + header.len() + at_address, "k", 0));
    let mut out = Bytes::default();
    out.unit(&rest);
    (out, relocations)
}

/// Frames as ptxas writes them: the 64-bit format, version 3, registers as class times 2²⁴ plus number.
fn frames() -> Section {
    let register = |class: u64, number: u64| class << 24 | number;
    let style = Bytes::new(false, true);
    let mut cie = style.empty();
    // Alignments 4 and -4; the return address is in R20.
    cie.u64(u64::MAX).u8s([3]).string("").uleb(4).sleb(-4).uleb(register(5, 20));
    cie.u8s([0x0c]).uleb(register(5, 1)).uleb(0);
    for number in 2..16 {
        cie.u8s([7]).uleb(register(5, number));
    }
    for number in 16..20 {
        cie.u8s([8]).uleb(register(5, number));
    }
    for (class, numbers) in [(2, 0..7), (11, 0..4)] {
        for number in numbers {
            cie.u8s([7]).uleb(register(class, number));
        }
    }
    let mut fde = style.empty();
    fde.u64(0).u64(0).u64(1536);
    // advance_loc4 of 32 units; def_cfa R1 32; R16 at 8 below.
    fde.u8s([4]).u32(0x20).u8s([0x0c]).uleb(register(5, 1)).uleb(32).u8s([5]).uleb(register(5, 16)).uleb(2);
    let mut out = style.empty();
    out.unit(&cie);
    let at = out.len() + 12 + 8;
    out.unit(&fde);
    section(".debug_frame", &out, vec![address(at, "k", 0)])
}

/// The map of registers, or their types.
fn registers() -> [Bytes; 2] {
    let homes = [
        (0, "%rd1", 0x0500_0004, 0x380, 0x420),
        (1, "%rd1", 0x0500_0005, 0x380, 0x420),
        (0, "%r7", 0x0701_00a8, 0x120, 0x290),
        (0, "%rs3", 0x0400_0008, 0x10, 0x40),
        (0, "%rs4", 0x0400_0009, 0x10, 0x50),
        (0, "%p1", 0x0200_0000, 0x60, 0x60),
    ];
    let [mut map, mut types] = [Bytes::default(), Bytes::default()];
    map.string("k").u32(homes.len() as u32);
    for (word, register, home, start, end) in homes {
        map.u32(word).string(register).u32(home).u32(start).u32(end);
    }
    // b64 twice, b32, b16 twice, pred.
    types.string("k").u32(6).u8s([3, 3, 2, 1, 1, 16]);
    [map, types]
}

/// The whole cubin.
fn cubin() -> Vec<u8> {
    let mut code = ObjectCode::default();
    for (name, size) in SIZES {
        code.sections.push(CodeSection::new(
            format!(".text.{name}"),
            CodeContents::Code,
            vec![0; size as usize],
            128,
        ));
        let index = code.sections.len() as u32;
        code.symbols.push(CodeSymbol {
            name: name.into(),
            place: SymbolLocation::Section { index, offset: 0 },
            size,
            kind: CodeSymbolKind::Function,
            binding: SymbolBinding::Global,
            visibility: Visibility::Default,
        });
    }
    let mut note = |name: &str, bytes: Vec<u8>| {
        code.sections.push(CodeSection::new(name, CodeContents::Note, bytes, 1));
    };
    let [map, types] = registers();
    note(".nv_debug_info_reg_sass", map.bytes);
    note(".nv_debug_info_reg_type", types.bytes);
    let text = ".version 9.0\0.target sm_80, debug\0\0.visible .entry k(\0.param .u64 k_param_0)\0{\0ld.param.u64 %rd1, [k_param_0];\0ret;\0}\0";
    note(".nv_debug_ptx_txt.1270142632", text.into());
    let (of_ptx, relocations) = lines(true);
    let at = &relocations[0];
    let mut second = CodeSection::new(".nv_debug_line_sass", CodeContents::Note, of_ptx.bytes, 1);
    second.relocations.push(eitri::emit::elf::CodeRelocation {
        offset: at.offset,
        kind: 2,
        symbol: "k".into(),
        addend: 0,
    });
    code.sections.push(second);
    // A copy that equals its original, and one that does not.
    let abbreviations = abbreviations();
    for (name, bytes) in [("debug_abbrev", abbreviations.bytes.clone()), ("debug_str", b"other".to_vec())] {
        code.sections.push(CodeSection::new(format!(".nv.merc.{name}"), CodeContents::Note, bytes, 1));
    }
    let mut strings = Bytes::default();
    strings.string(STRINGS);
    let (of_source, relocations) = lines(false);
    let (lists, starts) = lists();
    let sections = [
        section(".debug_abbrev", &abbreviations, Vec::new()),
        entries(starts),
        lists,
        section(".debug_line", &of_source, relocations),
        section(".debug_str", &strings, Vec::new()),
        frames(),
    ];
    typed("nvptx-sm_80", &code, &sections)
}

/// `tests/damaged_cubin.rs` damages the committed file where there is no ptxas.
#[test]
fn the_committed_cubin_is_the_typed_one() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/objects/typed.cubin");
    if std::env::var_os("EITRI_BLESS").is_some() {
        std::fs::write(path, cubin()).expect("the file is written");
    }
    assert!(std::fs::read(path).expect("a file") == cubin(), "`EITRI_BLESS=1` rewrites the file");
}

#[test]
fn a_cubin_is_printed_to_the_character() {
    let bytes = cubin();
    check_golden("cubin/plain.txt", &print(&bytes, None).expect("a dump"));
    let mut verbose = Vec::new();
    let options = {
        let mut options = DumpOptions::default();
        options.verbose = true;
        options
    };
    print_to(&mut verbose, &bytes, None, None, Dialect::Dwarf5, options).expect("a dump");
    check_golden("cubin/verbose.txt", &String::from_utf8(verbose).expect("text"));
}

/// `cuobjdump` prints the entries and lists of the bytes above. `cuobjdump` stops at the line table: its fields are 0,
/// as the relocations have the addends.
#[test]
fn a_tool_reads_the_same_entries_and_lists() {
    const CUOBJDUMP: Tool = Tool::new("cuobjdump", "nvidia-cuda-cuobjdump of PyPI");
    let folder = Folder::new();
    let path = folder.path().join("k.cubin");
    std::fs::write(&path, cubin()).expect("a file");
    let Some(ran) = CUOBJDUMP.run(&["-elf", path.to_str().expect("a path")]) else { return };
    // Every number of a register is printed as ASCII, and pieces in lists not at all.
    for part in [
        "DW_AT_producer   \ttyped by hand\n",
        "DW_AT_location   \t  9 byte block:  3 60  1  0  0  0  0  0  0 (DW_OP_addr: 0x160)\n",
        "(DW_OP_fbreg: -16; DW_OP_nop; DW_OP_nop; DW_OP_nop; DW_OP_nop; DW_OP_nop; DW_OP_nop; DW_OP_nop)\n",
        "  2 byte block: 90  4 (DW_OP_regx: \u{4})\n",
        "DW_AT_NV_general_flags   \t0x1f\n",
        "DW_AT_PGI_lbase   \t  2 byte block: 70  8 (DW_OP_breg0 8)\n",
        ".debug_loc + 0:\n\t0x0\t\t0x0\t\tDW_OP_regx: %rd12\n\t0x0\t\t0x0\t\tDW_OP_regx: %f1\n",
        "\tDW_OP_regx: %r1; ; DW_OP_regx: %r2; \n",
        "\tDW_OP_bregx: %rd3 0x4\n",
    ] {
        assert!(ran.out.contains(part), "{part}: {ran}");
    }
    let relocation = |line: &str| ran.out.lines().any(|one| one.split_whitespace().eq(line.split(' ')));
    for line in ["0x0 k R_CUDA_64 0x80", "0x8 k R_CUDA_64 0x120", "0x78 k R_CUDA_64 0x430"] {
        assert!(relocation(line), "{line}: {ran}");
    }
}
