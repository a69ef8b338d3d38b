//! Parser for locations in golden rows: the calls that build them, without quotes and prefixes.

use std::collections::BTreeMap;

use eitri::build::Builder;
use eitri::model::{BaseEncoding, Half, Loc, ProcedureId, Symbol, UnitId, Val, VariableId};
use eitri::op::{Expr, Reg};
use eitri::target::SpaceId;

/// Parses locations, and adds the entities that they refer to.
pub struct Parser<'b> {
    pub builder: &'b mut Builder,
    pub unit: UnitId,
    /// Text of each procedure.
    pub lets: &'b BTreeMap<String, String>,
    /// Procedures that were referred to.
    pub procedures: BTreeMap<String, ProcedureId>,
    /// Whether the location refers to another entity.
    pub refers: bool,
}

impl Parser<'_> {
    pub fn loc(&mut self, text: &str) -> Loc {
        let (name, arguments, mut rest) = call(text);
        let mut loc = self.first(name, &arguments);
        while let Some(next) = rest.strip_prefix('.') {
            let (name, arguments, after) = call(next);
            loc = self.moved(loc, name, &arguments);
            rest = after;
        }
        assert_eq!(rest, "", "{text}");
        loc
    }

    fn first(&mut self, name: &str, arguments: &[&str]) -> Loc {
        match (name, arguments) {
            ("register", [reg]) => Loc::register(self.reg(reg)),
            ("lane", [reg, lane]) => Loc::lane(self.reg(reg), number(lane) as u32),
            ("lanes", lanes) => Loc::lanes(lanes.iter().map(|lane| {
                let (reg, lane) = lane.split_once(' ').expect("a register and a lane");
                (self.reg(reg), number(lane) as u32)
            })),
            ("per_lane", [reg]) => Loc::per_lane(self.reg(reg)),
            ("per_lane_over", regs) => Loc::per_lane_over(regs.iter().map(|reg| self.reg(reg))),
            ("low", [reg]) => Loc::per_lane_half(self.reg(reg), Half::Low),
            ("high", [reg]) => Loc::per_lane_half(self.reg(reg), Half::High),
            ("over", regs) => Loc::over(regs.iter().map(|reg| self.reg(reg))),
            ("stack_slot", [offset]) => Loc::stack_slot(number(offset)),
            ("memory", [space, address]) => Loc::memory(SpaceId(number(space) as u32), self.val(address)),
            ("kernel_argument", [low, high, offset]) => {
                Loc::kernel_argument(self.reg(low), self.reg(high), number(offset))
            }
            ("parts", parts) => {
                let parts = parts.iter().map(|part| {
                    let (part, bits) = part.rsplit_once(':').expect("a part has bits");
                    (self.loc(part), number(bits) as u64)
                });
                Loc::parts(parts.collect::<Vec<_>>())
            }
            ("select", [mask, zero, one, bits, count]) => {
                let zero = self.loc(zero);
                let one = self.loc(one);
                Loc::select(self.val(mask), zero, one, number(bits) as u64, number(count) as u64)
            }
            ("implicit", [bytes]) => Loc::implicit(&hex(bytes)),
            ("value", [value]) => Loc::value(self.val(value)),
            ("pointer_to", [_, offset]) => Loc::pointer_to(self.variable(), number(offset)),
            ("call", [name]) => Loc::call(self.procedure(name)),
            ("cfa", [""]) => Loc::cfa(),
            ("undefined", [""]) => Loc::undefined(),
            ("expr", [bytes]) => {
                self.refers = true;
                Loc::expr(self.builder.expr(Expr::raw(hex(bytes)), &[]).expect("refers to nothing"))
            }
            _ => panic!("no location: {name}({arguments:?})"),
        }
    }

    fn moved(&mut self, loc: Loc, name: &str, arguments: &[&str]) -> Loc {
        match (name, arguments) {
            ("offset", [bytes]) => loc.offset(number(bytes)),
            ("bit_offset", [bits]) => loc.bit_offset(number(bits)),
            ("offset_by", [bytes]) => loc.offset_by(self.val(bytes)),
            ("bit_offset_by", [bits]) => loc.bit_offset_by(self.val(bits)),
            ("overlay", [above, offset, bits]) => {
                let above = self.loc(above);
                loc.overlay(above, self.val(offset), self.val(bits))
            }
            ("extend", [bits, count]) => loc.extend(number(bits) as u64, number(count) as u64),
            _ => panic!("no such thing of a location: {name}({arguments:?})"),
        }
    }

    fn val(&mut self, text: &str) -> Val {
        let (name, arguments, rest) = call(text);
        assert_eq!(rest, "", "{text}");
        match (name, &arguments[..]) {
            ("const", [value]) => Val::constant(number(value) as u64),
            ("address", [name, offset]) => Val::address(self.symbol(name), number(offset)),
            ("register", [reg]) => Val::register(self.reg(reg)),
            ("entry_value", [reg]) => Val::entry_value(self.reg(reg)),
            ("pair", [low, high]) => Val::pair(self.reg(low), self.reg(high)),
            ("read", [loc, bits]) => self.loc(loc).read(number(bits) as u32),
            ("stack_address", [offset]) => Val::stack_address(number(offset)),
            ("lane_index", [""]) => Val::lane_index(),
            ("plus", [value, by]) => self.val(value).plus(number(by)),
            ("neg", [value]) => self.val(value).neg(),
            ("not", [value]) => self.val(value).not(),
            (_, [first, second]) => {
                let first = self.val(first);
                let second = self.val(second);
                match name {
                    "add" => first.add(second),
                    "sub" => first.sub(second),
                    "mul" => first.mul(second),
                    "and" => first.and(second),
                    "or" => first.or(second),
                    "xor" => first.xor(second),
                    "shl" => first.shl(second),
                    "shr" => first.shr(second),
                    "shra" => first.shra(second),
                    _ => panic!("no number: {text}"),
                }
            }
            _ => panic!("no number: {text}"),
        }
    }

    pub fn reg(&self, name: &str) -> Reg {
        self.builder.target().register_named(name).expect("a register of the target")
    }

    fn symbol(&mut self, name: &str) -> Symbol {
        self.refers = true;
        self.builder.symbol(name)
    }

    fn variable(&mut self) -> VariableId {
        self.refers = true;
        let int = self.builder.base_type(self.unit, "int", BaseEncoding::Signed, 32).expect("a type");
        let mut x = self.builder.variable(self.unit, "x", int).expect("a variable");
        x.always(Loc::value(Val::constant(7))).expect("a place").id()
    }

    fn procedure(&mut self, name: &str) -> ProcedureId {
        self.refers = true;
        if let Some(&id) = self.procedures.get(name) {
            return id;
        }
        let text = self.lets.get(name).unwrap_or_else(|| panic!("`let {name}` is missing"));
        let loc = self.loc(text);
        let id = self.builder.procedure(self.unit, &loc).expect("a procedure");
        self.procedures.insert(name.to_owned(), id);
        id
    }
}

/// Splits `name(a, b)rest`.
fn call(text: &str) -> (&str, Vec<&str>, &str) {
    let (name, after) = text.split_once('(').unwrap_or_else(|| panic!("no call: {text}"));
    let mut depth = 0;
    let mut start = 0;
    let mut arguments = Vec::new();
    for (at, char) in after.char_indices() {
        match char {
            ')' if depth == 0 => {
                arguments.push(after[start..at].trim());
                return (name, arguments, &after[at + 1..]);
            }
            ',' if depth == 0 => {
                arguments.push(after[start..at].trim());
                start = at + 1;
            }
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
    }
    panic!("`)` is missing: {text}");
}

pub fn number(text: &str) -> i64 {
    text.parse().unwrap_or_else(|_| panic!("no number: {text}"))
}

fn hex(text: &str) -> Vec<u8> {
    text.split(' ').map(|byte| u8::from_str_radix(byte, 16).expect("hexadecimal")).collect()
}
