//! PTX register homes: the machine registers or memory by which a cubin's location entries are cut.

use super::file::File;
use super::shape::{LocationShape, Number, Shape};
use crate::ranges::CodeRanges;
use eitri_dwarf::op::Reg;
use eitri_dwarf::read::nvidia::{Home, INSTRUCTION_BYTES, MappedFunction};
use eitri_dwarf::target::Target;
use std::ops::Range;

/// Limit on words in a register.
const MOST_WORDS: usize = 4;
/// Limit on registers in an expression by whose homes its pcs are cut.
const MOST_REGISTERS: usize = 16;

/// The homes of each register word, the lower word first: a copied value has two. Empty where no word has a home.
pub(crate) type HomesByWord = Vec<Vec<Home>>;

/// PTX registers in an expression.
pub(crate) type Registers = Vec<(Reg, String)>;

/// Pcs in bytes from the function's start, with register homes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Homes {
    pub(crate) pcs: (u32, u32),
    pub(crate) registers: Vec<HomesByWord>,
}

impl Homes {
    /// Whether no register has a home at these pcs.
    pub(crate) fn is_empty(&self) -> bool {
        self.registers.iter().all(Vec::is_empty)
    }
}

/// Returns an expression's PTX registers, each once. Machine register names have no percent sign.
pub(crate) fn registers(shape: &Shape, target: Option<&Target>) -> Registers {
    let mut registers = Registers::new();
    let mut add = |reg: Reg| {
        let name = target.and_then(|target| target.register(reg)).map(|register| register.name().to_string());
        if let Some(name) = name.filter(|name| name.starts_with('%'))
            && registers.len() < MOST_REGISTERS
            && registers.iter().all(|known| known.0 != reg)
        {
            registers.push((reg, name));
        }
    };
    for part in &shape.parts {
        match &part.place {
            LocationShape::Register(reg, _) => add(*reg),
            LocationShape::Memory { address: number, .. } | LocationShape::Value(number) => {
                add_registers(number, &mut add)
            }
            _ => {}
        }
    }
    registers
}

/// Calls a function for each register in a number.
fn add_registers(number: &Number, add: &mut impl FnMut(Reg)) {
    match number {
        Number::Register(reg, _) => add(*reg),
        Number::Loaded { from, .. } => add_registers(from, add),
        Number::Computed(operands) => operands.iter().for_each(|operand| add_registers(operand, add)),
        _ => {}
    }
}

/// Cuts pcs where a register home begins or ends. A home's last pc is an instruction that reads it.
pub(crate) fn cut(map: &MappedFunction<'_>, registers: &Registers, pcs: (u32, u32)) -> Vec<Homes> {
    // Pc, register and word, home, whether it begins there.
    let mut events = Vec::new();
    for (number, (_, name)) in registers.iter().enumerate() {
        for word in 0..MOST_WORDS {
            for home in map.homes_of(name.as_bytes(), word as u32) {
                let end = home.end.saturating_add(INSTRUCTION_BYTES).min(pcs.1);
                let start = home.start.max(pcs.0);
                if start < end {
                    let place = number * MOST_WORDS + word;
                    events.extend([(start, place, home.home, true), (end, place, home.home, false)]);
                }
            }
        }
    }
    events.sort_unstable_by_key(|&(pc, place, home, begins)| (pc, place, home.0, begins));
    let mut counts = vec![0; registers.len()];
    for event in &events {
        let count = &mut counts[event.1 / MOST_WORDS];
        *count = (*count).max(event.1 % MOST_WORDS + 1);
    }
    let mut current: Vec<Vec<Home>> = vec![Vec::new(); registers.len() * MOST_WORDS];
    let mut homes: Vec<Homes> = Vec::new();
    let mut from = pcs.0;
    let mut rest = &events[..];
    loop {
        let here = rest.iter().take_while(|event| event.0 == from).count();
        for &(_, place, home, begins) in &rest[..here] {
            let current = &mut current[place];
            if begins {
                current.push(home);
            } else if let Some(index) = current.iter().position(|known| *known == home) {
                current.swap_remove(index);
            }
        }
        rest = &rest[here..];
        let end = rest.first().map_or(pcs.1, |event| event.0);
        let different = |homes: &Vec<Home>| {
            let mut homes = homes.clone();
            homes.sort_unstable_by_key(|home| home.0);
            homes.dedup();
            homes
        };
        let words = |(current, count): (&[Vec<Home>], &usize)| {
            if current.iter().all(Vec::is_empty) {
                HomesByWord::new()
            } else {
                current[..*count].iter().map(different).collect()
            }
        };
        let registers: Vec<HomesByWord> = current.chunks(MOST_WORDS).zip(&counts).map(words).collect();
        match homes.last_mut() {
            Some(last) if last.registers == registers => last.pcs.1 = end,
            _ if from < end => homes.push(Homes { pcs: (from, end), registers }),
            _ => {}
        }
        if end >= pcs.1 {
            return homes;
        }
        from = end;
    }
}

/// Returns the number of bytes, in a function's code ranges and within other pcs, at which none of an expression's PTX
/// registers has a home: a debugger finds no value there.
pub(crate) fn bytes_without(
    file: &File<'_, '_>,
    function: u64,
    shape: &Shape,
    (ranges, pcs): (&CodeRanges, &Range<u64>),
) -> u64 {
    let Some(map) = file.registers.function_at(function) else { return 0 };
    let registers = registers(shape, file.target.as_ref());
    if registers.is_empty() {
        return 0;
    }
    let offset = |pc: u64| u32::try_from(pc.saturating_sub(function)).unwrap_or(u32::MAX);
    let parts =
        ranges.iter().map(|range| (offset(range.start.max(pcs.start)), offset(range.end.min(pcs.end))));
    let cuts = parts.filter(|part| part.0 < part.1).flat_map(|part| cut(map, &registers, part));
    cuts.filter(Homes::is_empty).map(|homes| u64::from(homes.pcs.1 - homes.pcs.0)).sum()
}

/// Describes the homes of a register's words. `None` if no word has a home.
pub(crate) fn texts(words: &HomesByWord) -> Option<Vec<String>> {
    let text = |homes: &Vec<Home>| match &homes[..] {
        [] => "–".into(),
        homes => homes.iter().map(Home::to_string).collect::<Vec<_>>().join("/"),
    };
    (!words.is_empty()).then(|| words.iter().map(text).collect())
}

#[cfg(test)]
mod tests {
    use super::{Homes, cut};
    use eitri_dwarf::op::Reg;
    use eitri_dwarf::read::nvidia::{Home, MappedFunction, RegisterHome};

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
        let named = |name: &str| vec![(Reg(0), name.to_owned())];
        let homes = cut(&map, &named("%rd1"), (0, 0x100));
        let expected_homes = |pcs, words: &[&[Home]]| Homes {
            pcs,
            registers: vec![words.iter().map(|homes| homes.to_vec()).collect()],
        };
        // Equal homes are joined.
        let expected = [
            expected_homes((0, 0x20), &[]),
            expected_homes((0x20, 0x24), &[&[R4], &[]]),
            expected_homes((0x24, 0x30), &[&[R4], &[R5]]),
            expected_homes((0x30, 0x40), &[&[R4, R5], &[R5]]),
            expected_homes((0x40, 0x50), &[&[], &[R5]]),
            expected_homes((0x50, 0x100), &[]),
        ];
        assert_eq!(homes, expected);
        assert_eq!(cut(&map, &named("%rd1"), (0x28, 0x2c)), [expected_homes((0x28, 0x2c), &[&[R4], &[R5]])]);
        assert_eq!(cut(&map, &named("%rd2"), (0, 0x10)), [expected_homes((0, 0x10), &[])]);
    }

    #[test]
    fn pcs_of_pieces_are_cut_by_the_homes_of_each_register() {
        let home = |register, home, start, end| RegisterHome { register, word: 0, home, start, end };
        let homes = vec![home(b"%r1", R4, 0x10, 0x30), home(b"%r2", R5, 0x20, 0x20)];
        let map = MappedFunction::new(b"f", Some(0), homes);
        let registers = vec![(Reg(1), "%r1".to_owned()), (Reg(2), "%r2".to_owned())];
        let expected_homes = |pcs, first: &[Home], second: &[Home]| {
            let words = |homes: &[Home]| homes.iter().map(|home| vec![*home]).collect();
            Homes { pcs, registers: vec![words(first), words(second)] }
        };
        // The last instruction has 16 bytes, which all belong to the range.
        let expected = [
            expected_homes((0, 0x10), &[], &[]),
            expected_homes((0x10, 0x20), &[R4], &[]),
            expected_homes((0x20, 0x30), &[R4], &[R5]),
            expected_homes((0x30, 0x40), &[R4], &[]),
            expected_homes((0x40, 0x50), &[], &[]),
        ];
        assert_eq!(cut(&map, &registers, (0, 0x50)), expected);
    }
}
