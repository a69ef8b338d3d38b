//! Homes of PTX registers: machine registers or memory, by which the location entries of a cubin are cut.

use super::kind::{Kind, Words};
use crate::lint::shape::{Place, Shape};
use crate::read::nvidia::{Home, INSTRUCTION_BYTES, MappedFunction};
use crate::target::Target;

/// Maximum number of words of a register.
const MOST_WORDS: u32 = 4;

/// Pcs in bytes from the start of the function, with the homes of the words of a register, the lower one first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Homes {
    pub(super) pcs: (u32, u32),
    /// The home of each word: `None` without one, or with two that differ. Empty where no word has a home.
    words: Vec<Option<Home>>,
}

/// Returns the name of the PTX register that has all of a value. Names of machine registers have no percent sign.
pub(super) fn register(shape: &Shape, target: Option<&Target>) -> Option<String> {
    let [part] = &shape.parts[..] else { return None };
    let Place::Register(reg, _) = part.place else { return None };
    let name = target?.register(reg)?.name().to_string();
    name.starts_with('%').then_some(name)
}

/// Cuts pcs where a home of a register begins or ends. The last pc of a home is that of an instruction that reads it.
pub(super) fn cut(map: &MappedFunction<'_>, register: &str, pcs: (u32, u32)) -> Vec<Homes> {
    // Pc, word, home, whether it begins there.
    let mut events = Vec::new();
    for word in 0..MOST_WORDS {
        for one in map.homes_of(register.as_bytes(), word) {
            let end = one.end.saturating_add(INSTRUCTION_BYTES).min(pcs.1);
            let start = one.start.max(pcs.0);
            if start < end {
                events.extend([(start, word, one.home, true), (end, word, one.home, false)]);
            }
        }
    }
    events.sort_unstable_by_key(|&(pc, word, home, begins)| (pc, word, home.0, begins));
    let count = events.iter().map(|event| event.1 as usize + 1).max().unwrap_or(0);
    let mut current: Vec<Vec<Home>> = vec![Vec::new(); count];
    let mut all: Vec<Homes> = Vec::new();
    let (mut from, mut rest) = (pcs.0, &events[..]);
    loop {
        let here = rest.iter().take_while(|event| event.0 == from).count();
        for &(_, word, home, begins) in &rest[..here] {
            let current = &mut current[word as usize];
            if begins {
                current.push(home);
            } else if let Some(at) = current.iter().position(|one| *one == home) {
                current.swap_remove(at);
            }
        }
        rest = &rest[here..];
        let end = rest.first().map_or(pcs.1, |event| event.0);
        let is_none = current.iter().all(Vec::is_empty);
        let words = current.iter().take(if is_none { 0 } else { current.len() });
        let only =
            |homes: &Vec<Home>| homes.first().copied().filter(|first| homes.iter().all(|home| home == first));
        let words: Vec<_> = words.map(only).collect();
        match all.last_mut() {
            Some(last) if last.words == words => last.pcs.1 = end,
            _ if from < end => all.push(Homes { pcs: (from, end), words }),
            _ => {}
        }
        if end >= pcs.1 {
            return all;
        }
        from = end;
    }
}

impl Homes {
    /// Describes the place of the register's value.
    pub(super) fn words(&self, register: &str) -> Words {
        if self.words.is_empty() {
            let meaning = format!("the PTX register {register}, which no machine register has at these pcs");
            return Words::new(Kind::Nowhere, "", meaning);
        }
        let texts = self.words.iter().map(|home| home.map_or_else(|| "–".into(), |home| home.to_string()));
        let texts: Vec<String> = texts.collect();
        let is_memory = self.words.iter().flatten().any(|home| home.is_memory());
        let kind = if is_memory { Kind::Scratch } else { Kind::Scalar };
        let meaning = format!("the PTX register {register}, which is in {}", texts.join(" and "));
        Words::new(kind, texts.join(" "), meaning)
    }
}

#[cfg(test)]
mod tests {
    use super::{Homes, cut};
    use crate::read::nvidia::{Home, MappedFunction, RegisterHome};

    const R4: Home = Home(0x0400_0004);
    const R5: Home = Home(0x0400_0005);

    fn home(word: u32, home: Home, start: u32, end: u32) -> RegisterHome<'static> {
        RegisterHome { register: b"%rd1", word, home, start, end }
    }

    #[test]
    fn pcs_are_cut_where_a_home_begins_or_ends() {
        let homes = vec![
            home(1, R5, 0x24, 0x30),
            home(1, R5, 0x30, 0x40),
            home(0, R4, 0x20, 0x30),
            home(0, R5, 0x30, 0x30),
        ];
        let map = MappedFunction::new(b"f", Some(0), homes);
        let all = cut(&map, "%rd1", (0, 0x100));
        let one = |pcs, words: &[Option<Home>]| Homes { pcs, words: words.to_vec() };
        // Two different homes of a word at once are not a place. Equal ones are joined.
        let expected = [
            one((0, 0x20), &[]),
            one((0x20, 0x24), &[Some(R4), None]),
            one((0x24, 0x30), &[Some(R4), Some(R5)]),
            one((0x30, 0x50), &[None, Some(R5)]),
            one((0x50, 0x100), &[]),
        ];
        assert_eq!(all, expected);
        assert_eq!(cut(&map, "%rd1", (0x28, 0x2c)), [one((0x28, 0x2c), &[Some(R4), Some(R5)])]);
        assert_eq!(cut(&map, "%rd2", (0, 0x10)), [one((0, 0x10), &[])]);
    }
}
