//! Random shaders: nested `if`, loops, `switch`, early exits, calls, vectors, arrays and what lanes exchange.

use std::fmt::Write;
use std::ops::Range;

use crate::alloc::Limits;
use crate::front::Source;
use crate::input::{Random, inputs};
use crate::prove::{Proof, prove};
use crate::{check, compile};

/// Largest number of names in scope that are used.
const NAMES: usize = 16;

struct Shader {
    random: Random,
    text: String,
    /// Variables that can be read, and how many of them can be written: the first ones.
    names: Vec<String>,
    fresh: u32,
    loops: u32,
    in_switch: bool,
    statements: u32,
}

/// Compiles, checks and runs the shaders of some seeds, every third with low limits, each on the inputs that are found
/// in `runs` runs.
///
/// # Errors
/// The seed of a shader that the compiler refuses, or whose debug information differs from the description.
pub fn prove_all(seeds: Range<u64>, runs: u64) -> Result<Proof, String> {
    let mut all = Proof::default();
    for seed in seeds {
        let wrong = |what: String| format!("shader {seed}: {what}");
        let source = Source::new(&format!("{seed}.wgsl"), &shader(seed, 8 + (seed % 12) as u32));
        let source = source.map_err(|error| wrong(error.to_string()))?;
        let few = Limits { scalar: 8, vector: 8, reach: 16 };
        let limits = if seed.is_multiple_of(3) { few } else { Limits::default() };
        let compiled = compile(&source, limits).map_err(|error| wrong(error.to_string()))?;
        let report = check(&compiled).map_err(|error| wrong(error.to_string()))?;
        if !report.is_clean() {
            return Err(wrong(report.to_string()));
        }
        let inputs = inputs(&source, &compiled, seed, runs).map_err(wrong)?;
        let mut proof = prove(&source, &compiled, &inputs);
        proof.missed.clear();
        proof.wrong = proof.wrong.into_iter().map(wrong).collect();
        all.add(proof);
    }
    Ok(all)
}

/// Returns a shader of about `size` statements. The shader ends on every input.
pub fn shader(seed: u64, size: u32) -> String {
    let mut made = Shader {
        random: Random::new(seed),
        text: String::new(),
        names: ["a", "b", "c", "n", "lane"].map(String::from).to_vec(),
        fresh: 0,
        loops: 0,
        in_switch: false,
        statements: size,
    };
    let mut text = String::from(
        "@group(0) @binding(0) var<storage, read> input: array<i32>;\n\
         @group(0) @binding(1) var<storage, read_write> output: array<i32>;\n\n\
         fn helper(x: i32, y: i32) -> i32 {\n    var r = x;\n    if (x > y) {\n        return y * 3;\n    }\n    \
         let d = y - x;\n    r = r + d;\n    return r;\n}\n\n\
         fn far(x: i32, y: i32) -> i32 {\n    var sum = x;\n    for (var k = 0; k < ((y ^ input[9]) & 3); k++) {\n        \
         if (((sum ^ input[k]) & 3) == 1) {\n            return sum - y;\n        }\n        sum = sum + k * y;\n    }\n    \
         let more = helper(sum, y);\n    return more ^ x;\n}\n\n\
         @compute @workgroup_size(32)\nfn main(@builtin(global_invocation_id) id: vec3<u32>) {\n    \
         let lane = i32(id.x);\n    let n = input[0];\n    var a = input[id.x & 15u];\n    var b = n;\n    \
         var c = 0;\n    var v = vec2<i32>(a, n);\n    var table: array<i32, 4>;\n",
    );
    while made.statements > 0 {
        made.statement(1);
        // Values are used near to where they are made.
        if made.names.len() > NAMES {
            made.names.remove(5);
        }
    }
    text += &made.text;
    text += "    output[id.x] = a + b * 3 + c * 5 + v.x + v.y + table[lane & 3];\n}\n";
    text
}

impl Shader {
    fn line(&mut self, depth: usize, line: &str) {
        _ = writeln!(self.text, "{:1$}{line}", "", 4 * depth);
    }

    fn operand(&mut self) -> String {
        match self.random.below(8) {
            0 => format!("{}", self.random.below(9)),
            1 => "v.x".into(),
            2 => "v.y".into(),
            3 => format!("table[{} & 3]", self.name()),
            _ => self.name(),
        }
    }

    fn name(&mut self) -> String {
        let at = self.random.below(self.names.len() as u32) as usize;
        self.names[at].clone()
    }

    fn value(&mut self) -> String {
        let a = self.operand();
        let b = self.operand();
        match self.random.below(12) {
            0 => a,
            // One function is inlined, the other is called if there are two calls.
            1 if self.random.below(2) == 0 => format!("far({a}, {b})"),
            1 => format!("helper({a}, {b})"),
            2 => format!("select({a}, {b}, {})", self.condition()),
            3 => format!("min({a}, {b})"),
            // WGSL refuses a divisor that is 0 by its constants; others can be 0.
            4 => format!("{a} / ({b} | (n & 8))"),
            5 => format!("i32(f32({a}) * 0.5 + f32({b}))"),
            6 => format!("subgroupAdd({a})"),
            _ => {
                let op = self.random.of(&["+", "-", "*", "&", "|", "^"]);
                format!("{a} {op} {b}")
            }
        }
    }

    /// A number of few bits that differs from run to run, and from place to place: of the wave, or of each lane. A
    /// condition that holds for every input would make code without a run to compare with.
    fn data(&mut self) -> String {
        let at = self.random.below(64);
        match self.random.below(3) {
            0 => format!("input[{at}]"),
            _ => format!("input[(id.x + {at}u) & 63u]"),
        }
    }

    fn condition(&mut self) -> String {
        let a = self.operand();
        let data = self.data();
        let op = self.random.of(&["<", ">", "==", "!=", "<="]);
        format!("(({a} ^ {data}) & 7) {op} {}", 1 + self.random.below(6))
    }

    fn target(&mut self) -> String {
        match self.random.below(6) {
            0 => "v.x".into(),
            1 => "v.y".into(),
            2 => format!("table[{} & 3]", self.name()),
            _ => self.random.of(&["a", "b", "c"]).into(),
        }
    }

    fn block(&mut self, depth: usize) {
        let known = self.names.len();
        for _ in 0..1 + self.random.below(3) {
            self.statement(depth);
        }
        self.names.truncate(known);
    }

    fn statement(&mut self, depth: usize) {
        self.statements = self.statements.saturating_sub(1);
        let kind = if depth > 5 { self.random.below(5) } else { self.random.below(13) };
        match kind {
            0..=2 => {
                let target = self.target();
                let value = self.value();
                self.line(depth, &format!("{target} = {value};"));
            }
            3 => {
                let value = self.value();
                let name = format!("t{}", self.fresh);
                self.fresh += 1;
                self.line(depth, &format!("let {name} = {value};"));
                self.names.push(name);
            }
            4 => {
                let value = self.value();
                self.line(depth, &format!("v = vec2<i32>(v.y, {value});"));
            }
            5..=7 => {
                let condition = self.condition();
                self.line(depth, &format!("if ({condition}) {{"));
                self.block(depth + 1);
                if self.random.below(2) == 0 {
                    self.line(depth, "} else {");
                    self.block(depth + 1);
                }
                self.line(depth, "}");
            }
            8 | 9 => {
                let i = format!("j{}", self.fresh);
                self.fresh += 1;
                let last = format!("({} & 3)", self.data());
                self.line(depth, &format!("for (var {i} = 0; {i} < {last}; {i}++) {{"));
                let switch = std::mem::replace(&mut self.in_switch, false);
                self.loops += 1;
                self.names.push(i);
                self.block(depth + 1);
                self.names.pop();
                self.loops -= 1;
                self.in_switch = switch;
                self.line(depth, "}");
            }
            10 => {
                let value = self.operand();
                let data = self.data();
                self.line(depth, &format!("switch (({value} ^ {data}) & 3) {{"));
                let switch = std::mem::replace(&mut self.in_switch, true);
                for case in ["case 0", "case 1, 2", "default"] {
                    self.line(depth + 1, &format!("{case}: {{"));
                    self.block(depth + 2);
                    self.line(depth + 1, "}");
                }
                self.in_switch = switch;
                self.line(depth, "}");
            }
            11 if self.loops > 0 => {
                let condition = self.condition();
                let exit = self.random.of(&["break", "continue"]);
                self.line(depth, &format!("if ({condition}) {{ {exit}; }}"));
            }
            12 if self.random.below(6) == 0 => {
                let condition = self.condition();
                self.line(depth, &format!("if ({condition}) {{ output[id.x] = c; return; }}"));
            }
            _ => {
                let target = self.target();
                let value = self.operand();
                self.line(depth, &format!("{target} = {value};"));
            }
        }
    }
}
