//! Reads instructions from disassembler output: GNU and LLVM objdump, nvdisasm, cuobjdump.

use std::collections::{BTreeMap, HashMap};

/// Instructions with pcs.
#[derive(Debug, Default)]
pub(super) struct Disassembly<'t> {
    sections: Vec<Listing<'t>>,
    /// Symbol names with their section numbers, by address.
    symbols: HashMap<u64, Vec<(usize, &'t str)>>,
    /// Section numbers by symbol address and name. If a name recurs, the first counts.
    named: HashMap<(u64, &'t str), usize>,
}

/// Limit on symbols at an address whose names are compared in demangled form: in an unlinked file, all functions in
/// separate sections are at 0.
const MOST_SYMBOLS: usize = 1 << 8;

/// A section's instructions.
#[derive(Debug, Default)]
struct Listing<'t> {
    has_symbols: bool,
    /// Texts by address, which in an unlinked file is the offset in the section.
    instructions: BTreeMap<u64, &'t str>,
}

/// Function whose instructions are sought.
#[derive(Debug)]
pub(super) struct Sought<'f> {
    /// Names to look for: symbols at its start, linkage name, and name.
    pub(super) names: Vec<&'f str>,
    pub(super) start: u64,
    /// Start offset in its section.
    pub(super) offset: u64,
    pub(super) size: u64,
}

impl Sought<'_> {
    /// Whether a disassembler's symbol, which can be demangled, belongs to the function.
    fn is_named(&self, symbol: &str) -> bool {
        self.names.iter().filter(|name| !name.is_empty()).any(|name| {
            symbol.match_indices(name).any(|(offset, _)| {
                let before = &symbol[..offset];
                let after = &symbol[offset + name.len()..];
                (before.is_empty() || before.ends_with("::") || before.ends_with(' '))
                    && (after.is_empty() || after.starts_with('('))
            })
        })
    }
}

impl<'t> Disassembly<'t> {
    pub(super) fn parse(text: &'t str) -> Self {
        let mut disassembly = Self { sections: vec![Listing::default()], ..Self::default() };
        for line in text.lines() {
            if let Some((address, name)) = header(line) {
                // Functions in output from NVIDIA's tools are at address 0, and so is the first function in an unlinked
                // section.
                if disassembly.last().instructions.last_key_value().is_some_and(|last| *last.0 >= address) {
                    disassembly.sections.push(Listing::default());
                }
                disassembly.last().has_symbols = true;
                let number = disassembly.sections.len() - 1;
                disassembly.symbols.entry(address).or_default().push((number, name));
                disassembly.named.entry((address, name)).or_insert(number);
            } else if let Some((pc, text)) = instruction(line) {
                disassembly.last().instructions.insert(pc, text);
            }
        }
        disassembly
    }

    fn last(&mut self) -> &mut Listing<'t> {
        self.sections.last_mut().expect("there is a section")
    }

    /// Returns the number of instructions.
    pub(super) fn count(&self) -> usize {
        self.sections.iter().map(|section| section.instructions.len()).sum()
    }

    /// Returns a function's instructions, with offsets from its start: those at its symbol, or at its pcs if the text
    /// has no symbols.
    pub(super) fn function(&self, sought: &Sought<'_>) -> Vec<(u64, &'t str)> {
        let in_section = |section: &Listing<'t>, start: u64| -> Vec<_> {
            let instructions = section.instructions.range(start..start.saturating_add(sought.size));
            instructions.map(|(pc, text)| (pc - start, *text)).collect()
        };
        for start in [sought.start, sought.offset] {
            let named = sought.names.iter().find_map(|name| self.named.get(&(start, *name)).copied());
            let Some(number) = named.or_else(|| self.demangled(start, sought)) else { continue };
            let instructions = in_section(&self.sections[number], start);
            if !instructions.is_empty() {
                return instructions;
            }
        }
        let mut nameless = self.sections.iter().filter(|section| !section.has_symbols);
        nameless.next().map_or_else(Vec::new, |section| in_section(section, sought.start))
    }

    /// Returns the section that contains the function's demangled symbols at an address, if they are all in the same
    /// section.
    fn demangled(&self, start: u64, sought: &Sought<'_>) -> Option<usize> {
        let symbols = self.symbols.get(&start).filter(|symbols| symbols.len() <= MOST_SYMBOLS)?;
        let mut sections = symbols.iter().filter(|symbol| sought.is_named(symbol.1)).map(|symbol| symbol.0);
        let first = sections.next()?;
        sections.all(|other| other == first).then_some(first)
    }
}

/// Returns a symbol's address and name.
fn header(line: &str) -> Option<(u64, &str)> {
    let line = line.trim();
    // cuobjdump and nvdisasm count from the function's start.
    if let Some(name) = line.strip_prefix("Function : ") {
        return Some((0, name));
    }
    if let Some(name) = line.strip_prefix(".text.").and_then(|rest| rest.strip_suffix(':')) {
        return Some((0, name));
    }
    let (address, name) = line.split_once(' ')?;
    let name = name.strip_prefix('<')?.strip_suffix(">:")?;
    Some((u64::from_str_radix(address, 16).ok()?, name))
}

fn instruction(line: &str) -> Option<(u64, &str)> {
    let line = line.trim();
    // nvdisasm: `/*0010*/  MOV R1, R2 ;  /* 0x… */`
    if let Some(rest) = line.strip_prefix("/*") {
        let (pc, rest) = rest.split_once("*/")?;
        let text = rest.split("/*").next()?.trim().trim_end_matches(';').trim_end();
        return Some((u64::from_str_radix(pc, 16).ok()?, text))
            .filter(|instruction| !instruction.1.is_empty());
    }
    // llvm-objdump for AMD GPUs: `s_nop 0  // 000000001000: BF800000`
    if let Some((text, comment)) = line.rsplit_once("// ")
        && let Some((pc, _)) = comment.split_once(':')
        && let Ok(pc) = u64::from_str_radix(pc, 16)
    {
        return Some((pc, text.trim_end()));
    }
    // objdump: `1000: 48 89 e5  movq %rsp, %rbp`
    let (pc, rest) = line.split_once(':')?;
    let pc = u64::from_str_radix(pc.trim(), 16).ok()?;
    let is_byte = |word: &str| word.len() == 2 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    let mut rest = rest.trim_start();
    while let Some((word, after)) = rest.split_once(char::is_whitespace).filter(|(word, _)| is_byte(word)) {
        rest = after.trim_start();
        let _ = word;
    }
    (!rest.is_empty() && !is_byte(rest)).then_some((pc, rest))
}

#[cfg(test)]
mod tests {
    use super::{Disassembly, Sought};

    #[test]
    fn each_disassembler_is_understood() {
        let text = "
0000000000001700 <saxpy>:
	s_load_dword s0, s[4:5], 0x4                               // 000000001700: C0020002 00000004
	s_waitcnt lgkmcnt(0)                                       // 000000001708: BF8CC07F
0000000000002000 <main>:
    2000:	55                   	pushq	%rbp
    2001: 48 89 e5                     	movq	%rsp, %rbp
.text.add:
        /*0000*/                   LDC R1, c[0x0][0x28] ;  /* 0x00000a00ff017b82 */
                                                           /* 0x000fe20000000800 */
        /*0010*/                   EXIT ;
";
        let disassembly = Disassembly::parse(text);
        let instructions =
            |name, start, size| disassembly.function(&Sought { names: vec![name], start, offset: 0, size });
        assert_eq!(
            instructions("saxpy", 0x1700, 0x10),
            [(0, "s_load_dword s0, s[4:5], 0x4"), (8, "s_waitcnt lgkmcnt(0)")]
        );
        assert_eq!(instructions("main", 0x2000, 4), [(0, "pushq\t%rbp"), (1, "movq\t%rsp, %rbp")]);
        assert_eq!(instructions("add", 0x5000, 0x20), [(0, "LDC R1, c[0x0][0x28]"), (0x10, "EXIT")]);
        // Two functions at an address, and two addresses for a function.
        assert_eq!(instructions("ma", 0x2000, 4), []);
        assert_eq!(instructions("main", 0x2004, 4), []);
        assert_eq!(disassembly.count(), 6);
    }

    /// In an unlinked file, addresses are offsets in a section, which has several functions, and local labels in them.
    #[test]
    fn addresses_of_unlinked_files_are_offsets() {
        let text = "
Disassembly of section .text.f:

0000000000000000 <_ZN1A3getEv>:
       0: 31 c0                        	xorl	%eax, %eax
0000000000000002 <.Llocal>:
       2: c3                           	retq

Disassembly of section .text.g:

0000000000000000 <B::get(int)>:
       0: 90                           	nop
0000000000000001 <h>:
       1: c3                           	retq
";
        let disassembly = Disassembly::parse(text);
        let instructions = |names: &[&'static str], offset| {
            disassembly.function(&Sought { names: names.to_vec(), start: 0x10000 + offset, offset, size: 3 })
        };
        assert_eq!(instructions(&["_ZN1A3getEv", "get"], 0), [(0, "xorl\t%eax, %eax"), (2, "retq")]);
        assert_eq!(instructions(&["_ZN1B3getEv", "get"], 0), [(0, "nop"), (1, "retq")]);
        assert_eq!(instructions(&["h"], 1), [(0, "retq")]);
        // Two methods with the same name, each at its section's start: nothing decides.
        let text = text.replace("_ZN1A3getEv", "A::get(int)");
        let both = Disassembly::parse(&text);
        let instructions = |names: &[&'static str]| {
            both.function(&Sought { names: names.to_vec(), start: 0x10000, offset: 0, size: 3 })
        };
        assert_eq!(instructions(&["_ZN1B3getEi", "get"]), []);
        assert_eq!(instructions(&["B::get(int)"]), [(0, "nop"), (1, "retq")]);
        let bare = Disassembly::parse("10000: 90 nop\n10001: c3 retq\n");
        assert_eq!(
            bare.function(&Sought { names: vec!["h"], start: 0x10001, offset: 1, size: 3 }),
            [(0, "retq")]
        );
    }
}
