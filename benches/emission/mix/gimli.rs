//! The mix, written by `gimli::write`.
//!
//! Expressions consist of typed operations. An expression with a vendor operation is encoded by
//! [`expression::write`] and passed to `Expression::raw`, as gimli accepts raw bytes only at the head of an expression.
//! Offsets in other sections are written in place, without relocations.

use eitri::emit::Section;
use gimli::constants as dw;
use gimli::write::{
    self, Address, AttributeValue as Value, Expression, LineProgram, LineString, Location, LocationList,
    Range, RangeList, UnitEntryId,
};

use super::content::{
    At, BASES, Code, DEPTHS, DIRECTORY, Entry, Function, Kind, LANES, Machine, Mix, Name, PRODUCER, Place,
    Row, Scope, Type, Unit, Variable,
};
use super::hand::expression;

const ENCODING: gimli::Encoding =
    gimli::Encoding { format: gimli::Format::Dwarf32, version: 5, address_size: 8 };

/// Builds the mix and writes it.
pub fn gimli(mix: &Mix) -> Vec<Section> {
    let mut dwarf = write::Dwarf::new();
    for unit in &mix.units {
        OpenUnit::new(&mut dwarf, mix, unit).write();
    }
    crate::sides::gimli_sections(&mut dwarf)
}

/// A unit under construction.
struct OpenUnit<'d> {
    dwarf: &'d mut write::Dwarf,
    mix: &'d Mix,
    content: &'d Unit,
    unit: write::Unit,
    program: LineProgram,
    file: write::FileId,
    header: write::FileId,
    bases: Vec<UnitEntryId>,
    /// Structures, each with its pointer type.
    structures: Vec<(UnitEntryId, UnitEntryId)>,
    functions: Vec<UnitEntryId>,
    /// Abstract variables.
    origins: Vec<UnitEntryId>,
}

impl<'d> OpenUnit<'d> {
    fn new(dwarf: &'d mut write::Dwarf, mix: &'d Mix, content: &'d Unit) -> Self {
        let mut string = |name| LineString::new(mix.text(name), ENCODING, &mut dwarf.line_strings);
        let (directory, file, header) = (string(DIRECTORY), string(content.name), string(content.header));
        let line = gimli::LineEncoding {
            minimum_instruction_length: mix.shape.machine.step() as u8,
            ..gimli::LineEncoding::default()
        };
        let mut program = LineProgram::new(ENCODING, line, directory, None, file.clone(), None);
        let file = program.add_file(file, program.default_directory(), None);
        let header = program.add_file(header, program.default_directory(), None);
        Self {
            dwarf,
            mix,
            content,
            unit: write::Unit::new(ENCODING, LineProgram::none()),
            program,
            file,
            header,
            bases: Vec::new(),
            structures: Vec::new(),
            functions: Vec::new(),
            origins: Vec::new(),
        }
    }

    fn write(mut self) {
        let mix = self.mix;
        let root = self.unit.root();
        self.string(root, dw::DW_AT_producer, PRODUCER);
        self.string(root, dw::DW_AT_name, self.content.name);
        self.string(root, dw::DW_AT_comp_dir, DIRECTORY);
        self.set(root, dw::DW_AT_language, Value::Language(mix.shape.machine.language()));
        self.types();
        let mut all = RangeList(Vec::new());
        for function in &mix.functions[self.content.functions.clone()] {
            if let Some(Code { address, bytes }) = function.code {
                all.0.push(Range::StartLength { begin: Address::Constant(address), length: bytes.into() });
            }
            self.function(function);
        }
        let all = self.unit.ranges.add(all);
        self.set(root, dw::DW_AT_ranges, Value::RangeListRef(all));
        self.unit.line_program = self.program;
        self.dwarf.units.add(self.unit);
    }

    fn set(&mut self, entry: UnitEntryId, at: gimli::DwAt, value: Value) {
        self.unit.get_mut(entry).set(at, value);
    }

    fn string(&mut self, entry: UnitEntryId, at: gimli::DwAt, name: Name) {
        let string = self.dwarf.strings.add(self.mix.text(name));
        self.set(entry, at, Value::StringRef(string));
    }

    fn declared(&mut self, entry: UnitEntryId, line: u32) {
        self.set(entry, dw::DW_AT_decl_file, Value::FileIndex(Some(self.file)));
        self.set(entry, dw::DW_AT_decl_line, Value::Data2(line as u16));
    }

    fn ty(&self, ty: Type) -> UnitEntryId {
        match ty {
            Type::Base(base) => self.bases[usize::from(base)],
            Type::Structure(index) => self.structures[usize::from(index)].0,
            Type::Pointer(index) => self.structures[usize::from(index)].1,
        }
    }

    fn types(&mut self) {
        let (mix, root) = (self.mix, self.unit.root());
        for (name, (_, encoding, bits)) in BASES.into_iter().enumerate() {
            let base = self.unit.add(root, dw::DW_TAG_base_type);
            self.string(base, dw::DW_AT_name, name as _);
            self.set(base, dw::DW_AT_encoding, Value::Encoding(encoding));
            self.set(base, dw::DW_AT_byte_size, Value::Data1((bits / 8) as u8));
            self.bases.push(base);
        }
        for structure in &mix.structures[self.content.structures.clone()] {
            let entry = self.unit.add(root, dw::DW_TAG_structure_type);
            self.string(entry, dw::DW_AT_name, structure.name);
            self.set(entry, dw::DW_AT_byte_size, Value::Udata(structure.bytes.into()));
            self.declared(entry, structure.line);
            let pointer = self.unit.add(root, dw::DW_TAG_pointer_type);
            self.set(pointer, dw::DW_AT_type, Value::UnitRef(entry));
            self.structures.push((entry, pointer));
            for member in &mix.members[structure.members.clone()] {
                let ty = self.ty(member.ty);
                let entry = self.unit.add(entry, dw::DW_TAG_member);
                self.string(entry, dw::DW_AT_name, member.name);
                self.declared(entry, member.line);
                self.set(entry, dw::DW_AT_type, Value::UnitRef(ty));
                self.set(entry, dw::DW_AT_data_member_location, Value::Udata(member.offset.into()));
            }
        }
    }

    fn function(&mut self, function: &Function) {
        let (mix, machine) = (self.mix, self.mix.shape.machine);
        let id = self.unit.add(self.unit.root(), dw::DW_TAG_subprogram);
        self.functions.push(id);
        self.string(id, dw::DW_AT_name, function.name);
        self.declared(id, function.line);
        self.set(id, dw::DW_AT_prototyped, Value::FlagPresent);
        if let Some(ty) = function.returns {
            self.set(id, dw::DW_AT_type, Value::UnitRef(self.ty(ty)));
        }
        if function.is_external {
            self.set(id, dw::DW_AT_external, Value::FlagPresent);
        }
        match function.code {
            None => self.set(id, dw::DW_AT_inline, Value::Inline(dw::DW_INL_inlined)),
            Some(Code { address, bytes }) => {
                self.set(id, dw::DW_AT_low_pc, Value::Address(Address::Constant(address)));
                self.set(id, dw::DW_AT_high_pc, Value::Udata(bytes.into()));
                if machine == Machine::Gpu {
                    self.set(id, eitri::consumer::DW_AT_LLVM_LANES, Value::Data1(LANES));
                }
                let mut frame = Expression::new();
                frame.op_reg(gimli::Register(machine.frame()));
                self.set(id, dw::DW_AT_frame_base, Value::Exprloc(frame));
            }
        }
        let address = function.code.map_or(0, |code| code.address);
        let mut around = [id; DEPTHS];
        for scope in &mix.scopes[function.scopes.clone()] {
            if let Some(depth) = scope.depth.checked_sub(1) {
                around[scope.depth] = self.scope(around[depth], scope, address);
            }
            for variable in &mix.variables[scope.variables.clone()] {
                self.variable(around[scope.depth], variable, address);
            }
        }
        if let ([_, ..], Some(code)) = (&mix.rows[function.rows.clone()], function.code) {
            self.rows(&mix.rows[function.rows.clone()], code);
        }
    }

    fn scope(&mut self, parent: UnitEntryId, scope: &Scope, address: u64) -> UnitEntryId {
        let entry = match scope.kind {
            Kind::Call { of, line, column } => {
                let entry = self.unit.add(parent, dw::DW_TAG_inlined_subroutine);
                self.set(entry, dw::DW_AT_abstract_origin, Value::UnitRef(self.functions[of]));
                self.set(entry, dw::DW_AT_call_file, Value::FileIndex(Some(self.file)));
                self.set(entry, dw::DW_AT_call_line, Value::Data2(line as u16));
                self.set(entry, dw::DW_AT_call_column, Value::Data1(column as u8));
                entry
            }
            _ => self.unit.add(parent, dw::DW_TAG_lexical_block),
        };
        match &self.mix.ranges[scope.ranges.clone()] {
            [one] => {
                let start = Address::Constant(address + u64::from(one.start));
                self.set(entry, dw::DW_AT_low_pc, Value::Address(start));
                self.set(entry, dw::DW_AT_high_pc, Value::Udata((one.end - one.start).into()));
            }
            ranges => {
                let base = Range::BaseAddress { address: Address::Constant(address) };
                let pair = |one: &std::ops::Range<u32>| Range::OffsetPair {
                    begin: one.start.into(),
                    end: one.end.into(),
                };
                let list = RangeList([base].into_iter().chain(ranges.iter().map(pair)).collect());
                let list = self.unit.ranges.add(list);
                self.set(entry, dw::DW_AT_ranges, Value::RangeListRef(list));
            }
        }
        entry
    }

    fn variable(&mut self, parent: UnitEntryId, variable: &Variable, address: u64) {
        let (mix, machine) = (self.mix, self.mix.shape.machine);
        let bits = mix.bits(self.content, variable.ty);
        let place = match &variable.at {
            At::Nowhere => None,
            At::Constant(value) => Some((dw::DW_AT_const_value, Value::Data4(*value))),
            At::Always(place) => Some((dw::DW_AT_location, Value::Exprloc(place_of(machine, *place, bits)))),
            At::Entries(entries) => {
                let mut list = Vec::new();
                list.push(Location::BaseAddress { address: Address::Constant(address) });
                for &Entry { start, end, place, other } in &mix.entries[entries.clone()] {
                    for place in [Some(place), other].into_iter().flatten() {
                        let data = place_of(machine, place, bits);
                        list.push(Location::OffsetPair { begin: start.into(), end: end.into(), data });
                    }
                }
                let list = self.unit.locations.add(LocationList(list));
                Some((dw::DW_AT_location, Value::LocationListRef(list)))
            }
        };
        let tag = if variable.is_parameter { dw::DW_TAG_formal_parameter } else { dw::DW_TAG_variable };
        let entry = self.unit.add(parent, tag);
        match variable.origin {
            Some(origin) => self.set(entry, dw::DW_AT_abstract_origin, Value::UnitRef(self.origins[origin])),
            None => {
                self.string(entry, dw::DW_AT_name, variable.name);
                self.declared(entry, variable.line);
                self.set(entry, dw::DW_AT_type, Value::UnitRef(self.ty(variable.ty)));
            }
        }
        match place {
            None => self.origins.push(entry),
            Some((at, value)) => self.set(entry, at, value),
        }
    }

    fn rows(&mut self, rows: &[Row], code: Code) {
        let program = &mut self.program;
        program.begin_sequence(Some(Address::Constant(code.address)));
        for row in rows {
            let next = program.row();
            next.address_offset = row.pc.into();
            next.file = if row.is_in_header { self.header } else { self.file };
            next.line = row.line.into();
            next.column = row.column.into();
            next.is_statement = row.is_stmt;
            program.generate_row();
        }
        program.end_sequence(code.bytes.into());
    }
}

/// Expression of a location of a variable of size `bits`.
fn place_of(machine: Machine, place: Place, bits: u32) -> Expression {
    let register = gimli::Register;
    let mut expression = Expression::new();
    match place {
        Place::Register(number) => expression.op_reg(register(number)),
        Place::Slot(offset) if machine == Machine::Cpu => {
            expression.op_breg(register(machine.frame()), -i64::from(offset));
        }
        Place::Indirect(number, by) => expression.op_breg(register(number), by.into()),
        Place::Pointer(number, by, more) => {
            expression.op_breg(register(number), by.into());
            expression.op_deref();
            if more > 0 {
                expression.op_plus_uconst(more.into());
            }
        }
        Place::Argument(low, by) => {
            for number in [low, low + 1] {
                expression.op_reg(register(number));
                expression.op_deref_size(4);
            }
            expression.op_constu(32);
            expression.op(dw::DW_OP_shl);
            expression.op(dw::DW_OP_or);
            if by > 0 {
                expression.op_plus_uconst(by.into());
            }
        }
        Place::Pair(low) => {
            for number in [low, low + 1] {
                expression.op_reg(register(number));
                expression.op_piece(4);
            }
        }
        Place::Constant(value) if machine == Machine::Gpu && bits == 32 => {
            expression.op_implicit_value(value.to_le_bytes().into());
        }
        Place::Constant(value) => {
            expression.op_constu(value.into());
            expression.op(dw::DW_OP_stack_value);
        }
        Place::Sum(number, by) => {
            expression.op_breg(register(number), by.into());
            expression.op(dw::DW_OP_stack_value);
        }
        Place::Split(first, second) if machine == Machine::Cpu => {
            let word = machine.word();
            for number in [first, second] {
                expression.op_reg(register(number));
                expression.op_piece((word / 8).into());
            }
            if bits > 2 * word {
                expression.op_piece(((bits - 2 * word) / 8).into());
            }
        }
        Place::PerLane(_) | Place::Lane(..) | Place::Slot(_) | Place::PerLanePair(_) | Place::Split(..) => {
            let mut bytes = Vec::new();
            expression::write(&mut bytes, machine, place, bits);
            return Expression::raw(bytes);
        }
    }
    expression
}
