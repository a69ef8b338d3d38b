//! SPIR-V entry points and their invariants for random words. The fuzz target `spirv` and the bounded run in
//! `tests/fuzz` share this code.

use eitri::spirv::{
    HEADER, MAGIC, Mode, ModuleSource, Set, TextOptions, attach, check, describe, from_bytes, import,
    is_module, print, read, strip, validate,
};
use eitri::target::Target;

/// Treats bytes as a file and as words. Readable modules are encoded again, printed and validated.
pub fn spirv(data: &[u8]) {
    if is_module(data) {
        match from_bytes(data) {
            Ok(module) => words(&module),
            Err(error) => assert!(error.at().word.is_some(), "{error}"),
        }
    }
    // Most bytes are not a module: prepend a header.
    let mut module = vec![MAGIC, 0x0001_0600, 0, 200, 0];
    module.extend(data.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word)));
    words(&module);
    words(&made(data));
}

/// Makes instructions of all sets and others from bytes, in any order, with operands that are often valid ids.
fn made(data: &[u8]) -> Vec<u32> {
    let mut module = vec![MAGIC, 0x0001_0600, 0, 60, 0];
    for (id, set) in (1..).zip(Set::ALL) {
        let mut name = set.name().as_bytes().to_vec();
        name.resize(name.len() / 4 * 4 + 4, 0);
        let name = name.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word));
        instruction(&mut module, 11, [id].into_iter().chain(name));
    }
    instruction(&mut module, 19, [5]); // OpTypeVoid
    instruction(&mut module, 21, [6, 32, 0]); // OpTypeInt
    instruction(&mut module, 7, [7, 0x61]); // OpString
    let mut bytes = data.iter().map(|&byte| u32::from(byte));
    for id in 8.. {
        let (Some(what), Some(count)) = (bytes.next(), bytes.next()) else { break };
        let operands: Vec<u32> = bytes.by_ref().take(count as usize % 16).collect();
        match what {
            // Numbers of debug instructions are 0 to 35, and from 101 and from 200 on.
            0..=79 => {
                let number = match what / 2 {
                    number @ ..36 => number,
                    number if count % 3 == 2 => number + 164,
                    number => number + 65,
                };
                let set = if number > 100 { 2 + count % 3 } else { 1 + what % 4 };
                instruction(&mut module, 12, [5, id, set, number].into_iter().chain(operands));
            }
            80..=99 => instruction(&mut module, 43, [6, id, what - 80]),
            100..=109 => instruction(&mut module, 54, [5, id, 0, 5]),
            110..=119 => instruction(&mut module, 248, [id]),
            120..=129 => instruction(&mut module, 56, []),
            130..=139 => instruction(&mut module, 7, [id, 0x400a_6120 + what, 0]),
            // Instructions of all lengths, the shortest without operands.
            _ => instruction(
                &mut module,
                what as u16,
                [id, 6].into_iter().chain(operands).take(count as usize),
            ),
        }
    }
    module
}

/// Imports, strips, describes, attaches to and compares a module, which need not be valid. Returns whether
/// the imported description could be attached again.
#[allow(dead_code, reason = "the bounded run alone uses it")]
pub fn whole(module: &[u32]) -> bool {
    words(module);
    let Ok(facts) = read(module) else { return false };
    let stripped = strip(module).expect("words that can be read can be stripped");
    assert_eq!(strip(&stripped).as_deref(), Ok(&stripped[..]));
    let plain = read(&stripped).expect("is a module");
    assert_eq!(plain.iter().count(), 0);
    let mode = Mode::exact(facts.iter().next().map_or(Set::Shader, |fact| fact.set));
    if let Ok(described) = describe(module, &ModuleSource::default()) {
        assert_eq!(described.words, stripped);
        if let Ok(attached) = attach(&stripped, &described.module, &described.binding, &mode) {
            assert_eq!(attached.detach().as_deref(), Ok(&stripped[..]));
            drop(attached.check(&described.module, &described.binding, &mode));
        }
    }
    let Ok(imported) = import(&facts, &Target::shader()) else { return false };
    drop(check(&imported.module, &imported.binding, &mode, &imported.omissions, module));
    if let Ok(text) = imported.binding.to_json(&imported.module) {
        let (described, binding) = eitri::spirv::Binding::from_json(&text, module).expect("was written");
        assert!((&described, &binding) == (&imported.module, &imported.binding), "{text}");
    }
    match attach(&stripped, &imported.module, &imported.binding, &mode) {
        Ok(attached) => attached.check(&imported.module, &imported.binding, &mode).is_ok(),
        Err(_) => false,
    }
}

fn instruction(module: &mut Vec<u32>, opcode: u16, words: impl IntoIterator<Item = u32>) {
    let start = module.len();
    module.push(0);
    module.extend(words);
    module[start] = ((module.len() - start) as u32) << 16 | u32::from(opcode);
}

/// Reads, prints and validates words.
pub fn words(module: &[u32]) {
    let facts = match read(module) {
        Ok(facts) => facts,
        Err(error) => {
            assert!(error.at().word.is_some() || module.first() != Some(&MAGIC), "{error}");
            return;
        }
    };
    assert_eq!(facts.encode(), module, "what was read is written as it was");
    let report = validate(&facts);
    assert_eq!(report.instructions, facts.iter().count());
    for finding in report.findings.iter().chain(&report.notes) {
        let at = finding.at.word.expect("a finding has a word");
        assert!((HEADER..module.len()).contains(&at), "{finding}");
    }
    // At most one finding per word, and two for a result.
    assert!(report.findings.len() + report.notes.len() <= 2 * module.len(), "{}", module.len());
    for verbose in [false, true] {
        let text = print(&facts, {
            let mut options = TextOptions::default();
            options.verbose = verbose;
            options
        });
        let lines = text.lines().filter(|line| line.contains(" = ")).count();
        assert!(lines >= report.instructions, "a line for each instruction");
    }
}
