//! Instructions in the output of disassemblers: GNU and LLVM objdump, nvdisasm, cuobjdump.

use std::collections::BTreeMap;

/// Instructions with pcs.
#[derive(Debug, Default)]
pub(super) struct Disassembly<'t> {
    /// Instructions at addresses of the file.
    absolute: BTreeMap<u64, &'t str>,
    /// Instructions of functions whose offsets the text has.
    relative: BTreeMap<&'t str, Vec<(u64, &'t str)>>,
}

impl<'t> Disassembly<'t> {
    pub(super) fn parse(text: &'t str) -> Self {
        let mut found = Self::default();
        let mut function = None;
        for line in text.lines() {
            if let Some(name) = header(line) {
                function = name;
            } else if let Some((pc, text)) = instruction(line) {
                match function {
                    Some(name) => found.relative.entry(name).or_default().push((pc, text)),
                    None => drop(found.absolute.insert(pc, text)),
                }
            }
        }
        found
    }

    /// Returns the instructions of a function, with offsets from its start.
    pub(super) fn of(&self, name: &str, start: u64, size: u64) -> Vec<(u64, &'t str)> {
        if let Some(own) = self.relative.get(name) {
            return own.iter().copied().filter(|(pc, _)| *pc < size).collect();
        }
        let all = self.absolute.range(start..start.saturating_add(size));
        all.map(|(pc, text)| (pc - start, *text)).collect()
    }
}

/// Returns the function of a line that begins one: `None` inside if its instructions have addresses.
fn header(line: &str) -> Option<Option<&str>> {
    let line = line.trim();
    // cuobjdump and nvdisasm count from the start of the function.
    if let Some(name) = line.strip_prefix("Function : ") {
        return Some(Some(name));
    }
    if let Some(name) = line.strip_prefix(".text.").and_then(|rest| rest.strip_suffix(':')) {
        return Some(Some(name));
    }
    let (address, name) = line.split_once(' ')?;
    let is_address = !address.is_empty() && address.bytes().all(|byte| byte.is_ascii_hexdigit());
    (is_address && name.starts_with('<') && name.ends_with(">:")).then_some(None)
}

fn instruction(line: &str) -> Option<(u64, &str)> {
    let line = line.trim();
    // nvdisasm: `/*0010*/  MOV R1, R2 ;  /* 0x… */`
    if let Some(rest) = line.strip_prefix("/*") {
        let (pc, rest) = rest.split_once("*/")?;
        let text = rest.split("/*").next()?.trim().trim_end_matches(';').trim_end();
        return Some((u64::from_str_radix(pc, 16).ok()?, text)).filter(|one| !one.1.is_empty());
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
    use super::Disassembly;

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
        let found = Disassembly::parse(text);
        assert_eq!(
            found.of("saxpy", 0x1700, 0x10),
            [(0, "s_load_dword s0, s[4:5], 0x4"), (8, "s_waitcnt lgkmcnt(0)")]
        );
        assert_eq!(found.of("main", 0x2000, 4), [(0, "pushq\t%rbp"), (1, "movq\t%rsp, %rbp")]);
        assert_eq!(found.of("add", 0x5000, 0x20), [(0, "LDC R1, c[0x0][0x28]"), (0x10, "EXIT")]);
    }
}
