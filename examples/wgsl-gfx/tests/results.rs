//! The result of each instruction that computes, as LLVM folds the same operation of the same constants.
//!
//! The instruction is encoded, decoded and run by the simulator; LLVM's intrinsics of AMDGPU stand for instructions that
//! other targets lack.

use std::collections::BTreeMap;
use std::io::Write;
use std::process::{Command, Stdio};

use wgsl_gfx::isa::{Format, Op, Reg, encode};
use wgsl_gfx::sim::{Cell, Group, Program, Wave};

/// Operands at the edges of all formats, and others.
const EDGES: [u32; 20] = [
    0,
    1,
    2,
    31,
    32,
    33,
    0x7f,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_ffff,
    0xffff_fffe,
    0x3f80_0000,
    0xbf80_0000,
    0x4f00_0000,
    0xcf00_0000,
    0x7f80_0000,
    0x7fc0_0000,
    0x3f00_0000,
    0x4020_0000,
    0xc020_0000,
];

fn operands(op: usize) -> Vec<[u32; 3]> {
    let mut state = 0x9e37_79b9_7f4a_7c15u64 ^ op as u64;
    let mut next = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 24) as u32
    };
    let mut all = Vec::new();
    for n in 0..64usize {
        let edge = |at: usize| EDGES[at % EDGES.len()];
        all.push(match n {
            0..40 => [edge(n), edge(7 * n + 3), edge(3 * n + n / 20)],
            // Floats of usual size, and any bits.
            40..52 => [0, 1, 2].map(|_| ((next() % 4096) as f32 / 16.0 - 128.0).to_bits()),
            _ => [next(), next(), next()],
        });
    }
    all
}

/// LLVM's text of an operation: of `i32` operands `%a`, `%b`, `%c`, and of floats `%x`, `%y`, `%z` with the same bits. The
/// result is `%r`, or `%f` if it is a float.
fn text(op: Op) -> Option<String> {
    let int = |name: &str| Some(format!("%r = {name} i32 %a, %b"));
    let call = |name: &str| Some(format!("%r = call i32 @llvm.{name}.i32(i32 %a, i32 %b)"));
    let float = |name: &str| Some(format!("%f = {name} float %x, %y"));
    let of_float = |name: &str| Some(format!("%f = call float @llvm.{name}.f32(float %x)"));
    // The vector unit has the distance first.
    let shift = |name: &str, value: &str, by: &str| {
        Some(format!("%n = and i32 {by}, 31\n%r = {name} i32 {value}, %n"))
    };
    let icmp = |how: &str| Some(format!("%t = icmp {how} i32 %a, %b\n%r = zext i1 %t to i32"));
    let fcmp = |how: &str| Some(format!("%t = fcmp {how} float %x, %y\n%r = zext i1 %t to i32"));
    // A number beats none; -0 is below 0.
    let choice = |numbers: &str, one: &str| {
        Some(format!(
            "%u = fcmp uno float %x, %y\n%p = call float @llvm.{one}.f32(float %x, float %y)\n\
             %q = call float @llvm.{numbers}.f32(float %x, float %y)\n%f = select i1 %u, float %p, float %q"
        ))
    };
    match op {
        Op::SMov | Op::VMov => Some("%r = add i32 %a, 0".into()),
        Op::SNot | Op::VNot => Some("%r = xor i32 %a, -1".into()),
        Op::SBitCount => Some("%r = call i32 @llvm.ctpop.i32(i32 %a)".into()),
        Op::SFindFirst => Some(
            "%n = call i32 @llvm.cttz.i32(i32 %a, i1 false)\n%z0 = icmp eq i32 %a, 0\n\
             %r = select i1 %z0, i32 -1, i32 %n"
                .into(),
        ),
        Op::SAdd | Op::SAddU | Op::VAdd => int("add"),
        // The condition code is the lowest bit of the third operand.
        Op::SAddCarry => Some("%cin = and i32 %c, 1\n%n = add i32 %a, %b\n%r = add i32 %n, %cin".into()),
        Op::SSub | Op::VSub => int("sub"),
        Op::SMul | Op::VMul => int("mul"),
        Op::SAnd | Op::VAnd => int("and"),
        Op::SOr | Op::VOr => int("or"),
        Op::SXor | Op::VXor => int("xor"),
        Op::SAndNot => Some("%n = xor i32 %b, -1\n%r = and i32 %a, %n".into()),
        Op::SShl => shift("shl", "%a", "%b"),
        Op::SShr => shift("lshr", "%a", "%b"),
        Op::SAshr => shift("ashr", "%a", "%b"),
        Op::VShl => shift("shl", "%b", "%a"),
        Op::VShr => shift("lshr", "%b", "%a"),
        Op::VAshr => shift("ashr", "%b", "%a"),
        Op::SMinI | Op::VMinI => call("smin"),
        Op::SMinU | Op::VMinU => call("umin"),
        Op::SMaxI | Op::VMaxI => call("smax"),
        Op::SMaxU | Op::VMaxU => call("umax"),
        Op::SEq | Op::VEq => icmp("eq"),
        Op::SNe | Op::VNe => icmp("ne"),
        Op::SLtI | Op::VLtI => icmp("slt"),
        Op::SLeI | Op::VLeI => icmp("sle"),
        Op::SGtI | Op::VGtI => icmp("sgt"),
        Op::SGeI | Op::VGeI => icmp("sge"),
        Op::SLtU | Op::VLtU => icmp("ult"),
        Op::SLeU | Op::VLeU => icmp("ule"),
        Op::SGtU | Op::VGtU => icmp("ugt"),
        Op::SGeU | Op::VGeU => icmp("uge"),
        Op::VLtF => fcmp("olt"),
        Op::VEqF => fcmp("oeq"),
        Op::VLeF => fcmp("ole"),
        Op::VGtF => fcmp("ogt"),
        Op::VGeF => fcmp("oge"),
        Op::VNeF => fcmp("une"),
        // The lane's bit is that of the third operand.
        Op::VSelect => Some("%n = trunc i32 %c to i1\n%r = select i1 %n, i32 %b, i32 %a".into()),
        Op::VMulHi => Some(
            "%m = zext i32 %a to i64\n%n = zext i32 %b to i64\n%o = mul i64 %m, %n\n%p = lshr i64 %o, 32\n\
             %r = trunc i64 %p to i32"
                .into(),
        ),
        Op::VBfe => Some("%r = call i32 @llvm.amdgcn.ubfe.i32(i32 %a, i32 %b, i32 %c)".into()),
        Op::VBitCount => Some("%n = call i32 @llvm.ctpop.i32(i32 %a)\n%r = add i32 %n, %b".into()),
        Op::LaneCount => Some(
            "%l = shl i32 1, %lane\n%m = sub i32 %l, 1\n%n = and i32 %a, %m\n\
             %p = call i32 @llvm.ctpop.i32(i32 %n)\n%r = add i32 %p, %b"
                .into(),
        ),
        Op::VAddF => float("fadd"),
        Op::VSubF => float("fsub"),
        Op::VMulF => float("fmul"),
        Op::VFmaF => Some("%f = call float @llvm.fma.f32(float %x, float %y, float %z)".into()),
        Op::VMinF => choice("minimum", "minnum"),
        Op::VMaxF => choice("maximum", "maxnum"),
        Op::VRcp => of_float("amdgcn.rcp"),
        Op::VSqrt => of_float("sqrt"),
        Op::VTrunc => of_float("trunc"),
        Op::VCeil => of_float("ceil"),
        Op::VFloor => of_float("floor"),
        Op::VRound => of_float("roundeven"),
        Op::VFromI => Some("%f = sitofp i32 %a to float".into()),
        Op::VFromU => Some("%f = uitofp i32 %a to float".into()),
        Op::VToU => Some("%r = call i32 @llvm.fptoui.sat.i32.f32(float %x)".into()),
        Op::VToI => Some("%r = call i32 @llvm.fptosi.sat.i32.f32(float %x)".into()),
        op => atomic(op).map(|name| {
            // The contents of memory afterwards.
            format!(
                "%m = alloca i32, addrspace(5)\nstore i32 %a, ptr addrspace(5) %m\n\
                 %o = atomicrmw {name} ptr addrspace(5) %m, i32 %b seq_cst\n%r = load i32, ptr addrspace(5) %m"
            )
        }),
    }
}

fn atomic(op: Op) -> Option<&'static str> {
    Some(match op {
        Op::DsAdd | Op::GlobalAdd => "add",
        Op::DsSub | Op::GlobalSub => "sub",
        Op::DsMinI | Op::GlobalMinI => "min",
        Op::DsMaxI | Op::GlobalMaxI => "max",
        Op::DsMinU | Op::GlobalMinU => "umin",
        Op::DsMaxU | Op::GlobalMaxU => "umax",
        Op::DsAnd | Op::GlobalAnd => "and",
        Op::DsOr | Op::GlobalOr => "or",
        Op::DsXor | Op::GlobalXor => "xor",
        Op::DsSwap | Op::GlobalSwap => "xchg",
        _ => return None,
    })
}

/// The scalar condition code behind an operation, in terms of its operands and of the result `%r`.
fn condition(op: Op) -> Option<String> {
    let overflow = |name: &str| {
        Some(format!(
            "%ov = call {{i32, i1}} @llvm.{name}.with.overflow.i32(i32 %a, i32 %b)\n%t = extractvalue {{i32, i1}} %ov, 1"
        ))
    };
    let compare = |how: &str| Some(format!("%t = icmp {how} i32 %a, %b"));
    match op {
        Op::SAdd => overflow("sadd"),
        Op::SAddU => overflow("uadd"),
        Op::SAddCarry => Some(
            "%wa = zext i32 %a to i64\n%wb = zext i32 %b to i64\n%wc = zext i32 %cin to i64\n%w1 = add i64 %wa, %wb\n\
             %w2 = add i64 %w1, %wc\n%t = icmp ugt i64 %w2, 4294967295"
                .into(),
        ),
        Op::SSub => overflow("ssub"),
        Op::SMinI => compare("slt"),
        Op::SMinU => compare("ult"),
        Op::SMaxI => compare("sge"),
        Op::SMaxU => compare("uge"),
        Op::SNot
        | Op::SBitCount
        | Op::SAnd
        | Op::SOr
        | Op::SXor
        | Op::SAndNot
        | Op::SShl
        | Op::SShr
        | Op::SAshr => Some("%t = icmp ne i32 %r, 0".into()),
        _ => None,
    }
}

/// Runs one instruction with the operands in the registers that it reads, in each lane those of one set.
fn run(op: Op, sets: &[[u32; 3]]) -> Vec<(u32, Option<bool>)> {
    let s = Reg::S;
    let v = Reg::V;
    let mut shared = Group::new(vec![vec![0; 32]], &[0], [1, 1, 1], 128);
    let mut wave = Wave::new(&[[0; 3]; 32], [0; 3], &mut shared);
    wave.scalars[12].bits = 0;
    for (lane, set) in sets.iter().enumerate() {
        for (n, &bits) in set.iter().enumerate() {
            wave.vectors[n + 1][lane] = Cell { bits, tag: 1 };
        }
        wave.scalars[12].bits |= (set[2] & 1) << lane;
        // The address of each lane's dword, which has the first operand.
        wave.vectors[9][lane] = Cell { bits: 4 * lane as u32, tag: 1 };
        (shared.local[lane].bits, shared.buffers[0][lane]) = (set[0], set[0]);
    }
    (wave.scalars[84].bits, wave.scalars[85].bits) = (0, 1);
    let (_, format, _) = op.row();
    let mut step = |wave: &mut Wave, dst: Reg, src: &[Reg]| {
        let mut bytes = Vec::new();
        encode(op, dst, src, 0, &mut bytes);
        wave.pc = 0;
        let program = Program::new(&bytes, 0).expect("it is decoded");
        wave.step(&program, &mut shared).expect("an instruction");
    };
    match format {
        Format::Sop1 | Format::Sop2 | Format::Sopc => {
            let mut found = Vec::new();
            for set in sets {
                (wave.scalars[10].bits, wave.scalars[11].bits) = (set[0], set[1]);
                wave.scc = set[2] & 1 == 1;
                let src = if format == Format::Sop1 { vec![s(10)] } else { vec![s(10), s(11)] };
                step(&mut wave, s(13), &src);
                let scc = condition(op).map(|_| wave.scc);
                let result = if format == Format::Sopc { u32::from(wave.scc) } else { wave.scalars[13].bits };
                found.push((result, scc));
            }
            found
        }
        Format::Vop3s => {
            step(&mut wave, s(13), &[v(1), v(2)]);
            (0..sets.len()).map(|lane| (wave.scalars[13].bits >> lane & 1, None)).collect()
        }
        Format::Ds => {
            step(&mut wave, v(4), &[v(9), v(2)]);
            let old = (0..sets.len()).all(|lane| wave.vectors[4][lane].bits == sets[lane][0]);
            assert!(old, "{op:?} returns what memory had");
            (0..sets.len()).map(|lane| (shared.local[lane].bits, None)).collect()
        }
        Format::Global => {
            step(&mut wave, v(4), &[s(84), v(9), v(2)]);
            let old = (0..sets.len()).all(|lane| wave.vectors[4][lane].bits == sets[lane][0]);
            assert!(old, "{op:?} returns what memory had");
            (0..sets.len()).map(|lane| (shared.buffers[0][lane], None)).collect()
        }
        _ => {
            let third = if op == Op::VSelect { s(12) } else { v(3) };
            let all = [v(1), v(2), third];
            step(&mut wave, v(4), if format == Format::Vop1 { &all[..1] } else { &all });
            (0..sets.len()).map(|lane| (wave.vectors[4][lane].bits, None)).collect()
        }
    }
}

/// Functions that return the result, and the condition code if there is one, of each set of operands.
fn functions(name: &str, op: Op, text: &str, sets: &[[u32; 3]]) -> String {
    let mut all = String::new();
    for (n, set) in sets.iter().enumerate() {
        let [a, b, c] = set.map(|bits| bits as i32);
        let mut body = text.to_string();
        if text.contains("%f = ") {
            body += "\n%r = bitcast float %f to i32";
        }
        let inputs = format!(
            "%a = bitcast i32 {a} to i32\n%b = bitcast i32 {b} to i32\n%c = bitcast i32 {c} to i32\n\
             %lane = bitcast i32 {lane} to i32\n%x = bitcast i32 {a} to float\n%y = bitcast i32 {b} to float\n\
             %z = bitcast i32 {c} to float",
            lane = n % 32
        );
        all += &format!("define i32 @{name}_{n}() {{\n{inputs}\n{body}\nret i32 %r\n}}\n");
        if let Some(condition) = condition(op) {
            all += &format!(
                "define i32 @{name}_scc_{n}() {{\n{inputs}\n{body}\n{condition}\n%s = zext i1 %t to i32\nret i32 %s\n}}\n"
            );
        }
    }
    all
}

/// Constants to which LLVM folds the functions.
fn folded(text: &str) -> Option<BTreeMap<String, u32>> {
    let passes = "--passes=lower-atomic,sroa,instcombine<no-verify-fixpoint>,instsimplify";
    let arguments = ["-mtriple=amdgcn-amd-amdhsa", "-mcpu=gfx1100", passes, "-S"];
    let started = Command::new("opt-19").args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let mut child = started.ok()?;
    let mut pipe = child.stdin.take().expect("a pipe");
    let text = text.to_string();
    let writer = std::thread::spawn(move || pipe.write_all(text.as_bytes()).expect("it reads"));
    let output = child.wait_with_output().expect("it ends");
    writer.join().expect("all is written");
    let text = String::from_utf8(output.stdout).expect("text");
    let mut found = BTreeMap::new();
    let mut name = "";
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("define ") {
            name = rest.split(['@', '(']).nth(1).expect("a name");
        }
        if let Some(value) = line.trim().strip_prefix("ret i32 ") {
            // Without folding, a register is returned.
            if let Ok(value) = value.parse::<i64>() {
                found.insert(name.to_string(), value as u32);
            }
        }
    }
    Some(found)
}

#[test]
fn results_are_what_llvm_folds() {
    let mut input = String::new();
    let mut expected = Vec::new();
    let mut others = Vec::new();
    for (at, &op) in Op::ALL.iter().enumerate() {
        let Some(text) = text(op) else {
            others.push(op.row().0);
            continue;
        };
        let sets = operands(at);
        input += &functions(&format!("f{at}"), op, &text, &sets);
        expected.extend(sets.chunks(32).enumerate().flat_map(|(part, sets)| {
            let found = run(op, sets).into_iter().zip(sets.to_vec()).enumerate();
            found.map(move |(n, (found, set))| (op, at, 32 * part + n, set, found))
        }));
    }
    // Moves between lanes and memory, control, and EXEC: what they do is compared by whole programs.
    let listed = "s_and_saveexec_b32 s_or_saveexec_b32 s_and_not1_saveexec_b32 s_getpc_b64 s_setpc_b64 s_swappc_b64 s_cselect_b32 s_nop s_waitcnt \
        s_waitcnt_vscnt s_branch s_cbranch_scc0 s_cbranch_scc1 s_cbranch_execz s_cbranch_execnz s_endpgm s_barrier \
        s_load_b32 s_load_b64 v_readfirstlane_b32 v_readlane_b32 v_writelane_b32 ds_load_b32 ds_store_b32 \
        ds_bpermute_b32 global_load_b32 global_store_b32 scratch_load_b32 scratch_store_b32";
    assert_eq!(others.join(" "), listed.split_whitespace().collect::<Vec<_>>().join(" "));
    let Some(folded) = folded(&input) else {
        println!("opt-19 is not there: not compared");
        assert!(std::env::var_os("CI").is_none_or(|value| value != "true"), "opt-19 is missing");
        return;
    };
    let mut compared = 0;
    let mut wrong = Vec::new();
    let mut unfolded = 0;
    for (op, at, n, set, (result, scc)) in expected {
        let of = |name: String| folded.get(&name).copied();
        let Some(llvm) = of(format!("f{at}_{n}")) else {
            // LLVM leaves numbers without a real root, infinity, and NaNs.
            let x = f32::from_bits(set[0]);
            let is_root = op == Op::VSqrt && (x.is_nan() || x < 0.0 || x.is_infinite());
            let is_other = text(op).is_some_and(|text| text.contains("%f = ")) && x.is_nan();
            assert!(is_root || is_other, "{op:?} {set:x?} is not folded");
            let is_infinite = op == Op::VSqrt && x == f32::INFINITY;
            let is_right = if is_infinite { result == set[0] } else { f32::from_bits(result).is_nan() };
            assert!(is_right, "{op:?} {set:x?}: {result:#x}");
            unfolded += 1;
            continue;
        };
        let is_float = text(op).is_some_and(|text| text.contains("%f = "));
        // The payload of a NaN is the implementation's.
        let is_nan = is_float && f32::from_bits(llvm).is_nan() && f32::from_bits(result).is_nan();
        if llvm != result && !is_nan {
            wrong.push(format!("{op:?} {set:x?}: {result:#x}, LLVM has {llvm:#x}"));
        }
        if let Some(scc) = scc
            && of(format!("f{at}_scc_{n}")) != Some(u32::from(scc))
        {
            wrong.push(format!("{op:?} {set:x?}: condition {scc}"));
        }
        compared += 1;
    }
    assert!(wrong.is_empty(), "{} of {compared}: {:#?}", wrong.len(), &wrong[..wrong.len().min(30)]);
    println!("{compared} results of {} instructions", Op::ALL.len() - others.len());
    assert!(compared >= 64 * 80 && unfolded < 100, "{compared}, {unfolded}");
}
