//! The promise: the registers that an instruction writes are those that LLVM's disassembler prints as its destinations,
//! and its length is the same. An opcode that is not in the table has unknown destinations.

use crate::common::tools;

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use eitri::read::Object;
use eitri::target::code::{InstructionSet, RegisterKind};
use eitri::target::{Gfx, Target, Wave};
use tools::Tool;

/// Objects for AMD GPUs in the tests, and in the folder that the variable `EITRI_OBJECTS` names.
fn objects() -> Vec<PathBuf> {
    let own = Path::new(crate::common::ROOT).join("tests/objects");
    let mut folders = vec![own];
    folders.extend(std::env::var_os("EITRI_OBJECTS").map(PathBuf::from));
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path())
        {
            match entry.extension().and_then(|end| end.to_str()) {
                _ if entry.is_dir() => folders.push(entry),
                Some("hsaco" | "o") => files.push(entry),
                _ => {}
            }
        }
    }
    files.sort();
    files
}

/// The operands of these are all sources.
fn has_no_destination(name: &str) -> bool {
    let starts = [
        "s_cmp",
        "s_bitcmp",
        "s_waitcnt",
        "s_branch",
        "s_cbranch",
        "s_endpgm",
        "s_barrier",
        "s_nop",
        "s_setpc",
        "s_setreg",
        "s_sleep",
        "s_wakeup_barrier",
        "s_prefetch",
        "s_buffer_prefetch",
        "s_clause",
        "s_delay_alu",
        "s_inst_prefetch",
        "s_code_end",
        "s_sendmsg",
        "s_setprio",
        "s_dcache",
        "s_set_",
        "s_trap",
        "s_sethalt",
        "s_icache",
        "s_rfe_",
        "s_setvskip",
        "ds_write",
        "ds_store",
        "exp",
        "buffer_wb",
        "buffer_inv",
        "buffer_gl",
        "v_nop",
        "s_wait_idle",
        "s_round",
        "s_denorm",
        "s_version",
        "s_endpgm",
    ];
    starts.iter().any(|start| name.starts_with(start)) || name.contains("_store_")
}

/// Registers of a printed operand, as kind, first and count.
fn register(text: &str) -> Option<(RegisterKind, u16, u16)> {
    let text = text.trim().trim_end_matches(".l").trim_end_matches(".h");
    match text {
        "vcc" => return Some((RegisterKind::Scalar, 106, 2)),
        "vcc_lo" => return Some((RegisterKind::Scalar, 106, 1)),
        "vcc_hi" => return Some((RegisterKind::Scalar, 107, 1)),
        "exec" => return Some((RegisterKind::Scalar, 126, 2)),
        "exec_lo" => return Some((RegisterKind::Scalar, 126, 1)),
        "exec_hi" => return Some((RegisterKind::Scalar, 127, 1)),
        "flat_scratch" => return Some((RegisterKind::Scalar, 102, 2)),
        "flat_scratch_lo" => return Some((RegisterKind::Scalar, 102, 1)),
        "flat_scratch_hi" => return Some((RegisterKind::Scalar, 103, 1)),
        "xnack_mask" => return Some((RegisterKind::Scalar, 104, 2)),
        "xnack_mask_lo" => return Some((RegisterKind::Scalar, 104, 1)),
        "xnack_mask_hi" => return Some((RegisterKind::Scalar, 105, 1)),
        _ => {}
    }
    if let Some(number) = text.strip_prefix("ttmp") {
        let (kind, first, count) = register(&format!("s{number}"))?;
        return Some((kind, first + 108, count));
    }
    let kind = match text.as_bytes().first()? {
        b's' => RegisterKind::Scalar,
        b'v' => RegisterKind::Vector,
        b'a' => RegisterKind::Accumulator,
        _ => return None,
    };
    let rest = &text[1..];
    if let Ok(number) = rest.parse() {
        return Some((kind, number, 1));
    }
    let (first, last) = rest.strip_prefix('[')?.strip_suffix(']')?.split_once(':')?;
    let first: u16 = first.parse().ok()?;
    let last: u16 = last.parse().ok()?;
    Some((kind, first, last - first + 1))
}

/// Whether a printed atomic operation returns the old value.
fn returns(gfx: &str, name: &str, operands: &str) -> bool {
    if !gfx.starts_with("gfx12") {
        return operands.contains("glc") || operands.contains("sc0");
    }
    // The hint that is printed can hide the bit, but then the operand itself is printed: beside address, data and base.
    let count = operands.split(',').count();
    match name.split('_').next() {
        Some("flat") => count == 3,
        Some("global") => count == 4,
        _ => ["_RETURN", "0x5", "0x7"].iter().any(|hint| operands.contains(hint)),
    }
}

/// Destinations of a printed instruction.
fn printed(gfx: &str, name: &str, operands: &str) -> Vec<(RegisterKind, u16, u16)> {
    if let Some((x, y)) = operands.split_once("::") {
        let (other, operands) = y.trim().split_once(' ').expect("an instruction");
        return [printed(gfx, name, x), printed(gfx, other, operands)].concat();
    }
    if name.starts_with("s_sendmsg_rtn") || name.starts_with("ds_storexchg") && name.contains("_rtn_") {
        return register(operands.split(',').next().unwrap_or_default()).into_iter().collect();
    }
    // From gfx10 on, these write `exec` alone.
    let is_to_exec = name.starts_with("v_cmpx") && !gfx.starts_with("gfx9");
    if has_no_destination(name) || is_to_exec {
        return Vec::new();
    }
    // Data for LDS, whose address is in M0.
    if name.contains("_load_lds_") {
        return Vec::new();
    }
    // An atomic operation has a destination only if it returns the old value.
    if name.contains("_atomic_") && !returns(gfx, name, operands) {
        return Vec::new();
    }
    if name.starts_with("ds_")
        && !["rtn", "read", "load", "permute", "swizzle", "append", "consume"]
            .iter()
            .any(|part| name.contains(part))
    {
        return Vec::new();
    }
    // `cmpswap` is printed with its new and old data; only the first half has the result.
    let is_pair = name.contains("cmpswap") && (name.starts_with("buffer_") || name.starts_with("s_"));
    let operands: Vec<&str> = operands.split(',').collect();
    let has_mask =
        ["v_div_scale", "v_mad_u64_u32", "v_mad_i64_i32"].iter().any(|start| name.starts_with(start))
            || name.starts_with("v_") && name.contains("_co_")
            || ["v_addc_u32", "v_subb_u32", "v_subbrev_u32"].iter().any(|start| name.starts_with(start));
    let count = if has_mask { 2 } else { 1 };
    let half = |(kind, first, count)| (kind, first, if is_pair { count / 2 } else { count });
    operands.iter().take(count).filter_map(|operand| register(operand)).map(half).collect()
}

/// Registers that an instruction writes without printing them as a destination.
fn is_implied(name: &str, register: (RegisterKind, u16, u16)) -> bool {
    let (kind, first, _) = register;
    kind == RegisterKind::Scalar
        && match first {
            126 => name.contains("exec") || name.starts_with("v_cmpx") || name.starts_with("s_subvector"),
            106 => name.starts_with("v_cmp"),
            _ => false,
        }
}

/// Whether the text says too little, or the processor has no such instruction, although it is printed: a literal where no
/// literal is allowed.
fn is_invalid(text: &str, words: &[u32]) -> bool {
    let has_literal = words.contains(&LITERAL) || text.contains(&format!("{NOP:#x}"));
    let is_without = text.starts_with("buffer_") || text.contains("_dpp");
    let is_short = words.len() == 1
        && [("v_nop", 0x1ff), ("v_clrexcp", 0x1ff), ("s_getpc", 0xff), ("s_set_gpr_idx_on", 0)]
            .iter()
            .any(|(name, source)| text.trim().starts_with(name) && words[0] & source == 0xff & source);
    // Whether a buffer operation of gfx12 returns is not printed beside this hint.
    let is_hidden = text.starts_with("buffer_atomic_") && text.contains("TH_ATOMIC_CASCADE");
    is_hidden || text.contains("/*Invalid") || has_literal && is_without || is_short
}

/// Comparison of decoded instructions with a listing.
#[derive(Default)]
struct Compared {
    /// Whether the bytes are random.
    is_random: bool,
    known: u32,
    unknown: BTreeMap<String, u32>,
    wrong: Vec<String>,
}

impl Compared {
    fn listing(&mut self, of: &str, gfx: Gfx, wave: Wave, listing: &str) {
        let set = InstructionSet::of(gfx, wave).expect("gfx9 to gfx12");
        for line in listing.lines() {
            let Some((text, comment)) = line.strip_prefix('\t').and_then(|line| line.split_once("//")) else {
                continue;
            };
            let Some((at, words)) = comment.trim().split_once(": ") else { continue };
            let words: Vec<u32> = words
                .split_whitespace()
                .map_while(|word| (word.len() == 8).then(|| u32::from_str_radix(word, 16).ok()).flatten())
                .collect();
            let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            let (name, operands) = text.trim().split_once(' ').unwrap_or((text.trim(), ""));
            // Padding is printed as a number of instructions, or data.
            let is_instruction = !words.is_empty() && !name.starts_with('.');
            if is_instruction && !is_invalid(text, &words) {
                self.instruction(&format!("{of}: {at}: {text}"), (gfx, &set), &bytes, (name, operands));
            }
        }
    }

    fn instruction(
        &mut self,
        place: &str,
        (gfx, set): (Gfx, &InstructionSet),
        bytes: &[u8],
        (name, operands): (&str, &str),
    ) {
        let Some(found) = set.decode(bytes) else {
            return self.wrong.push(format!("{place}: not decoded"));
        };
        if usize::from(found.bytes) != bytes.len() {
            self.wrong.push(format!("{place}: {} bytes", found.bytes));
        }
        // Newer processors spell some names with more underscores.
        if let Some(found) =
            found.name.filter(|found| !name.replace('_', "").starts_with(&found.replace('_', "")))
        {
            self.wrong.push(format!("{place}: name {found}"));
        }
        let Some(writes) = found.writes() else {
            *self.unknown.entry(format!("{} {name}", gfx.name())).or_default() += 1;
            return;
        };
        self.known += 1;
        let mut writes: Vec<_> = writes.iter().map(|one| (one.kind, one.first, one.count)).collect();
        let mut expected = printed(gfx.name(), name, operands);
        // Random numbers of several scalar registers: the processor ignores low bits, and they are not printed.
        if self.is_random {
            for (kind, first, count) in &mut writes {
                let count = if name.contains("cmpswap") { *count * 2 } else { *count };
                if *kind == RegisterKind::Scalar && !(106..108).contains(first) && *first < 124 {
                    *first &= !(count.next_power_of_two().min(4) - 1);
                }
            }
        }
        // Null and M0 are not registers of the program.
        writes.retain(|one| !(one.0 == RegisterKind::Scalar && matches!(one.1, 124 | 125)));
        let missing: Vec<_> = expected.iter().filter(|one| !writes.contains(one)).copied().collect();
        expected.retain(|one| writes.contains(one));
        let more: Vec<_> =
            writes.iter().filter(|one| !expected.contains(one) && !is_implied(name, **one)).collect();
        if !missing.is_empty() || !more.is_empty() {
            self.wrong.push(format!("{place}: missing {missing:?}, more {more:?}"));
        }
    }

    fn assert(&self) {
        let wrong = &self.wrong;
        let unknown = &self.unknown;
        assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong[..wrong.len().min(40)].join("\n"));
        let count: u32 = unknown.values().sum();
        assert!(count * 100 < self.known, "{count} of {} are not known: {unknown:?}", self.known);
    }
}

const OBJDUMP: Tool = Tool::new("llvm-objdump-19", "llvm-19");

#[test]
fn destinations_are_those_of_the_disassembler() {
    let mut all = Compared::default();
    for file in objects() {
        let bytes = std::fs::read(&file).expect("an object");
        let Ok(object) = Object::read(&bytes) else { continue };
        let Some(gfx) = object.gfx() else { continue };
        let wave = if Target::amdgpu(gfx, Wave::W32).is_ok() { Wave::W32 } else { Wave::W64 };
        let Some(listing) = OBJDUMP.run(&[OsStr::new("-d"), file.as_os_str()]) else { return };
        all.listing(&file.display().to_string(), gfx, wave, &listing.out);
    }
    all.assert();
    assert!(all.known > 5_000, "{}", all.known);
}

/// Instructions that are rare in compiled code, with their bytes, as llvm-mc-19 prints them.
#[test]
fn destinations_are_those_of_printed_instructions() {
    let mut all = Compared::default();
    for line in include_str!("instructions.txt").lines() {
        let [processor, words, text] = line.split(" | ").collect::<Vec<_>>()[..] else { panic!("{line}") };
        let (name, lanes) = processor.split_once(' ').expect("a processor and its lanes");
        let (gfx, wave) = processor_of(name, lanes);
        let set = InstructionSet::of(gfx, wave).expect("gfx9 to gfx12");
        let word = |text| u32::from_str_radix(text, 16).expect("a number");
        let bytes: Vec<u8> = words.split(' ').map(word).flat_map(u32::to_le_bytes).collect();
        all.instruction(line, (gfx, &set), &bytes, text.split_once(' ').expect("operands"));
    }
    assert!(all.wrong.is_empty(), "{}", all.wrong.join("\n"));
    // A status follows the data.
    assert_eq!(all.unknown.keys().collect::<Vec<_>>(), ["gfx900 buffer_load_dwordx2"]);
}

fn processor_of(name: &str, lanes: &str) -> (Gfx, Wave) {
    let target = Target::named(&format!("amdgpu-{name}-wave{lanes}")).expect("a target");
    (target.gfx().expect("a processor"), if lanes == "32" { Wave::W32 } else { Wave::W64 })
}

/// Bits of a format that are fixed, and place and number of its opcodes.
type Format = (u32, u32, u32);

/// Formats of a generation.
fn formats(generation: u32) -> Vec<Format> {
    let (ds, mubuf) = if generation == 9 { (17, 128) } else { (18, 256) };
    let mut all = vec![
        (0b10 << 30, 23, 96),
        (0b1011 << 28, 23, 32),
        (0b1_0111_1101 << 23, 8, 256),
        (0b1_0111_1110 << 23, 16, 128),
        (0b1_0111_1111 << 23, 16, 64),
        (0, 25, 62),
        (0b111111 << 25, 9, 256),
        (0b111110 << 25, 17, 256),
        (0b110110 << 26, ds, 256),
    ];
    all.extend(match generation {
        12 => [
            (0b110001 << 26, 14, 256),
            (0b111011 << 26, 14, 128),
            (0b1110_1101 << 24, 14, 128),
            (0b1110_1110 << 24, 14, 128),
        ]
        .to_vec(),
        _ => [(0b110111 << 26, 18, 128), (0b111000 << 26, 18, mubuf)].to_vec(),
    });
    all.extend(match generation {
        12 => [(0b110101 << 26, 16, 1024), (0b1_1001_1000 << 23, 16, 128), (0b111101 << 26, 13, 64)],
        9 => [(0b110100 << 26, 16, 1024), (0b1_1010_0111 << 23, 16, 128), (0b110000 << 26, 18, 256)],
        _ => [(0b110101 << 26, 16, 1024), (0b1_1001_1000 << 23, 16, 128), (0b111101 << 26, 18, 256)],
    });
    if generation >= 11 {
        all.push((0b110010 << 26, 22, 16));
    }
    all
}

/// Every opcode of the formats, with other bits at random.
#[test]
fn opcodes_are_those_of_the_disassembler() {
    const MC: Tool = Tool::new("llvm-mc-19", "llvm-19");
    let folder = tools::Folder::new();
    let object = folder.path().join("a.o");
    let mut seed = 1_u64;
    let mut random = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 32) as u32
    };
    for (name, lanes, generation) in [
        ("gfx900", "64", 9),
        ("gfx906", "64", 9),
        ("gfx908", "64", 9),
        ("gfx90a", "64", 9),
        ("gfx942", "64", 9),
        ("gfx1010", "32", 10),
        ("gfx1030", "64", 10),
        ("gfx1100", "32", 11),
        ("gfx1100", "64", 11),
        ("gfx1200", "32", 12),
        ("gfx1201", "64", 12),
    ] {
        let mut text = String::new();
        for (fixed, shift, count) in formats(generation) {
            for opcode in 0..count {
                for _ in 0..4 {
                    let first = fixed | opcode << shift | random() & ((1 << shift) - 1);
                    let second = random();
                    text += &format!(".long {first:#x}, {second:#x}, {LITERAL:#x}, {NOP:#x}, {NOP:#x}\n");
                }
            }
        }
        let source = folder.file("a.s", &text);
        let of = |argument: &str| OsStr::new(argument).to_owned();
        let cpu = of(&format!("-mcpu={name}"));
        let format = of("-filetype=obj");
        let triple = of("-triple=amdgcn-amd-amdhsa");
        let source = source.as_os_str().to_owned();
        let to = of("-o");
        let object = object.as_os_str().to_owned();
        let Some(ran) = MC.run(&[triple, cpu, format, source, to, object.clone()]) else { return };
        assert!(ran.succeeded, "{ran}");
        let features = match (generation, lanes) {
            (9, _) => "",
            (_, "64") => "+wavefrontsize64,-wavefrontsize32",
            _ => "+wavefrontsize32",
        };
        let features = of(&format!("--mattr={features}"));
        let Some(listing) = OBJDUMP.run(&[of("-d"), of(&format!("--mcpu={name}")), features, object]) else {
            return;
        };
        let (gfx, wave) = processor_of(name, lanes);
        let mut all = Compared { is_random: true, ..Compared::default() };
        all.listing(name, gfx, wave, &listing.out);
        let wrong = &all.wrong;
        assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong[..wrong.len().min(40)].join("\n"));
        assert!(all.known > 10_000, "{name}: {}", all.known);
    }
}

const LITERAL: u32 = 0x0102_0304;
/// `s_nop 0`
const NOP: u32 = 0xbf80_0000;

/// `llvm-mc-19 -show-encoding`: stores to scratch, by generation, and a load.
#[test]
fn stores_to_scratch_have_the_first_register_of_their_data() {
    let vector = |number| Some((RegisterKind::Vector, number));
    let accumulator = Some((RegisterKind::Accumulator, 32));
    for (gfx, wave, words, stored) in [
        // buffer_store_dword v40, off, s[0:3], s32 offset:4; then buffer_load_dword
        ("gfx900", Wave::W64, [0xe070_0004, 0x2000_2800, 0], vector(40)),
        ("gfx900", Wave::W64, [0xe050_0004, 0x2000_2800, 0], None),
        ("gfx1030", Wave::W32, [0xe070_0004, 0x2000_2800, 0], vector(40)),
        // buffer_store_b32 v40, off, s[0:3], s32 offset:4
        ("gfx1100", Wave::W32, [0xe068_0004, 0x2000_2800, 0], vector(40)),
        ("gfx1200", Wave::W32, [0xc406_8020, 0x0080_0028, 0x400], vector(40)),
        // scratch_store_dword off, a32, s33 offset:124; scratch_store_dwordx4 off, v[40:43], s33 offset:188
        ("gfx942", Wave::W64, [0xdc70_407c, 0x00a1_2000, 0], accumulator),
        ("gfx942", Wave::W64, [0xdc7c_40bc, 0x0021_2800, 0], vector(40)),
        // scratch_store_b32 off, v47, s33 offset:28; scratch_store_b32 off, v40, s33 offset:24
        ("gfx1100", Wave::W32, [0xdc69_001c, 0x0021_2f00, 0], vector(47)),
        ("gfx1200", Wave::W32, [0xed06_8021, 0x1400_0000, 0x1800], vector(40)),
    ] {
        let bytes = words.map(u32::to_le_bytes).concat();
        let set = InstructionSet::of(Gfx::named(gfx).expect("a processor"), wave).expect("instructions");
        let instruction = set.decode(&bytes).expect("an instruction");
        assert_eq!(instruction.stored, stored, "{gfx} {instruction}");
    }
}
