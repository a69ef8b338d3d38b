//! Describes the same content with each side's interface.

use std::convert::Infallible;

use eitri::build::Builder;
use eitri::emit::Section;
use eitri::lower::{Consumer, LoweredUnit, Policy, Units, lower};
use eitri::model::{self, Address, BaseEncoding, Loc, SourceLine, Val};
use eitri::op::Reg;
use eitri::target::{SpaceId, Target};
use gimli::write::{self, AttributeValue, Expression, Location, LocationList};

use crate::content::{BLOCK, CODE_BYTES, Content, Function, Kind, Place, Unit};

const DIRECTORY: &str = "/src";
const PRODUCER: &str = "a compiler";
/// Names and byte offsets of a structure's members.
const MEMBERS: [(&str, u64); 3] = [("value", 0), ("count", 8), ("next", 16)];
const STRUCTURE_BYTES: u64 = 24;

/// Sections written by eitri.
pub fn eitri(content: &Content, consumer: &Consumer) -> Vec<Section> {
    let lowered = describe(content).and_then(|module| lower(&module, consumer, Policy::Strict));
    lowered.expect("the content is expressible").sections
}

/// Sections written by eitri, with two threads that write units.
pub fn eitri_threads(content: &Content) -> Vec<Section> {
    let module = describe(content).expect("the content is expressible");
    let consumer = Consumer::dwarf5();
    on_two_threads(&module, &consumer).expect("the content is expressible")
}

fn on_two_threads(module: &model::Module, consumer: &Consumer) -> eitri::Result<Vec<Section>> {
    let units = &Units::new(module, consumer, Policy::Strict)?;
    let of_thread = |first| -> eitri::Result<Vec<LoweredUnit>> {
        module.units().skip(first).step_by(2).map(|(id, _)| units.lower(id)).collect()
    };
    let written = std::thread::scope(|scope| -> eitri::Result<_> {
        let other = scope.spawn(|| of_thread(1));
        let mut written = of_thread(0)?;
        written.extend(other.join().expect("a thread that ends")?);
        Ok(written)
    })?;
    Ok(units.link(written)?.sections)
}

fn describe(content: &Content) -> eitri::Result<model::Module> {
    let mut m = Builder::new(Target::x86_64());
    for unit in content.units() {
        describe_unit(&mut m, &unit)?;
    }
    m.finish()
}

fn describe_unit(m: &mut Builder, content: &Unit<'_>) -> eitri::Result<()> {
    let unit = m.unit(content.name);
    m.describe_unit(unit)?.directory(DIRECTORY).producer(PRODUCER).language(gimli::DW_LANG_OpenCL.0);
    let file = m.primary_file(unit)?;
    let long = m.base_type(unit, "long", BaseEncoding::Signed, 64)?;
    let mut pointers = Vec::new();
    for name in content.structures() {
        let structure = m.structure(unit, Some(name), STRUCTURE_BYTES)?;
        let pointer = m.pointer(unit, Some(structure))?;
        for ((name, offset), ty) in MEMBERS.into_iter().zip([long, long, pointer]) {
            m.member(structure, name, ty, offset)?;
        }
        pointers.push(pointer);
    }
    let memory = |Place { register, offset }| {
        Loc::memory(SpaceId::DEFAULT, Val::register(Reg(register.into())).plus(offset))
    };
    for function in content.functions() {
        let id = m
            .function(unit, function.name)?
            .address(Address::Constant(function.address), CODE_BYTES)
            .external()
            .id();
        let block = if function.has_block() { Some(m.block(id, &[BLOCK])?) } else { None };
        for variable in function.variables() {
            let (name, ty) = (variable.name, pointers[variable.structure]);
            let mut described = match (variable.kind, block) {
                (Kind::Parameter, _) => m.parameter(id, name, ty)?,
                (Kind::InBlock, Some(block)) => m.variable(block, name, ty)?,
                _ => m.variable(id, name, ty)?,
            };
            described.declared(SourceLine::new(file, variable.line));
            if !variable.has_ranges() {
                described.always(memory(variable.home))?;
            }
            for entry in variable.ranges() {
                let number = memory(entry.at).read(64).plus(entry.add as i64).xor(Val::constant(entry.flip));
                described.live(entry.start..entry.end, Loc::value(number))?;
            }
        }
        for row in function.rows() {
            m.row(id, model::LineTableRow::new(row.pc, file, row.line).column(row.column))?;
        }
    }
    Ok(())
}

/// Sections written by `gimli::write`, with typed operations. The sections refer to each other without relocations.
pub fn gimli(content: &Content) -> Vec<Section> {
    let mut dwarf = write::Dwarf::new();
    for unit in content.units() {
        gimli_unit(&mut dwarf, &unit);
    }
    gimli_sections(&mut dwarf)
}

/// Writes the units and returns the sections.
pub fn gimli_sections(dwarf: &mut write::Dwarf) -> Vec<Section> {
    let mut sections = write::Sections::new(write::EndianVec::new(gimli::LittleEndian));
    dwarf.write(&mut sections).expect("the content is expressible");
    let mut written = Vec::new();
    let each: Result<(), Infallible> = sections.for_each_mut(|id, section| {
        let (name, bytes) = (id.name(), section.take());
        written.push(Section { name, bytes, relocations: Vec::new(), is_strings: false, group: None });
        Ok(())
    });
    each.expect("never fails");
    written
}

fn gimli_unit(dwarf: &mut write::Dwarf, content: &Unit<'_>) {
    let encoding = gimli::Encoding { format: gimli::Format::Dwarf32, version: 5, address_size: 8 };
    let directory = write::LineString::new(DIRECTORY, encoding, &mut dwarf.line_strings);
    let file = write::LineString::new(content.name, encoding, &mut dwarf.line_strings);
    let mut program = write::LineProgram::new(
        encoding,
        gimli::LineEncoding::default(),
        directory,
        None,
        file.clone(),
        None,
    );
    let file = program.add_file(file, program.default_directory(), None);

    let mut unit = write::Unit::new(encoding, write::LineProgram::none());
    let root = unit.root();
    let producer = dwarf.strings.add(PRODUCER);
    let name = dwarf.strings.add(content.name);
    let directory = dwarf.strings.add(DIRECTORY);
    let entry = unit.get_mut(root);
    entry.set(gimli::DW_AT_producer, AttributeValue::StringRef(producer));
    entry.set(gimli::DW_AT_language, AttributeValue::Language(gimli::DW_LANG_OpenCL));
    entry.set(gimli::DW_AT_name, AttributeValue::StringRef(name));
    entry.set(gimli::DW_AT_comp_dir, AttributeValue::StringRef(directory));

    let long = unit.add(root, gimli::DW_TAG_base_type);
    let name = dwarf.strings.add("long");
    let entry = unit.get_mut(long);
    entry.set(gimli::DW_AT_name, AttributeValue::StringRef(name));
    entry.set(gimli::DW_AT_encoding, AttributeValue::Encoding(gimli::DW_ATE_signed));
    entry.set(gimli::DW_AT_byte_size, AttributeValue::Data1(8));
    let mut pointers = Vec::new();
    for name in content.structures() {
        let structure = unit.add(root, gimli::DW_TAG_structure_type);
        let name = dwarf.strings.add(name);
        let entry = unit.get_mut(structure);
        entry.set(gimli::DW_AT_name, AttributeValue::StringRef(name));
        entry.set(gimli::DW_AT_byte_size, AttributeValue::Data1(STRUCTURE_BYTES as u8));
        let pointer = unit.add(root, gimli::DW_TAG_pointer_type);
        unit.get_mut(pointer).set(gimli::DW_AT_type, AttributeValue::UnitRef(structure));
        for ((name, offset), ty) in MEMBERS.into_iter().zip([long, long, pointer]) {
            let member = unit.add(structure, gimli::DW_TAG_member);
            let name = dwarf.strings.add(name);
            let entry = unit.get_mut(member);
            entry.set(gimli::DW_AT_name, AttributeValue::StringRef(name));
            entry.set(gimli::DW_AT_type, AttributeValue::UnitRef(ty));
            entry.set(gimli::DW_AT_data_member_location, AttributeValue::Data1(offset as u8));
        }
        pointers.push(pointer);
    }
    let mut all = write::RangeList(Vec::new());
    for function in content.functions() {
        let address = write::Address::Constant(function.address);
        all.0.push(write::Range::StartLength { begin: address, length: CODE_BYTES });
        let id = unit.add(root, gimli::DW_TAG_subprogram);
        let name = dwarf.strings.add(function.name);
        let entry = unit.get_mut(id);
        entry.set(gimli::DW_AT_name, AttributeValue::StringRef(name));
        entry.set(gimli::DW_AT_prototyped, AttributeValue::FlagPresent);
        entry.set(gimli::DW_AT_external, AttributeValue::FlagPresent);
        entry.set(gimli::DW_AT_low_pc, AttributeValue::Address(address));
        entry.set(gimli::DW_AT_high_pc, AttributeValue::Data2(CODE_BYTES as u16));
        let mut block = None;
        for variable in function.variables() {
            let place = if variable.has_ranges() {
                let mut list = Vec::new();
                list.push(Location::BaseAddress { address });
                for entry in variable.ranges() {
                    let mut data = memory(entry.at);
                    data.op_deref();
                    data.op_plus_uconst(entry.add);
                    data.op_constu(entry.flip);
                    data.op(gimli::DW_OP_xor);
                    data.op(gimli::DW_OP_stack_value);
                    list.push(Location::OffsetPair { begin: entry.start, end: entry.end, data });
                }
                AttributeValue::LocationListRef(unit.locations.add(LocationList(list)))
            } else {
                AttributeValue::Exprloc(memory(variable.home))
            };
            let child = match variable.kind {
                Kind::Parameter => unit.add(id, gimli::DW_TAG_formal_parameter),
                Kind::Local => unit.add(id, gimli::DW_TAG_variable),
                Kind::InBlock => {
                    let block = *block.get_or_insert_with(|| gimli_block(&mut unit, id, &function));
                    unit.add(block, gimli::DW_TAG_variable)
                }
            };
            let name = dwarf.strings.add(variable.name);
            let entry = unit.get_mut(child);
            entry.set(gimli::DW_AT_name, AttributeValue::StringRef(name));
            entry.set(gimli::DW_AT_decl_file, AttributeValue::FileIndex(Some(file)));
            entry.set(gimli::DW_AT_decl_line, AttributeValue::Data2(variable.line as u16));
            entry.set(gimli::DW_AT_type, AttributeValue::UnitRef(pointers[variable.structure]));
            entry.set(gimli::DW_AT_location, place);
        }
        let mut rows = function.rows().peekable();
        if rows.peek().is_some() {
            program.begin_sequence(Some(address));
            for row in rows {
                let next = program.row();
                next.address_offset = row.pc;
                next.file = file;
                next.line = row.line.into();
                next.column = row.column.into();
                program.generate_row();
            }
            program.end_sequence(CODE_BYTES);
        }
    }
    let all = unit.ranges.add(all);
    unit.get_mut(root).set(gimli::DW_AT_ranges, AttributeValue::RangeListRef(all));
    unit.line_program = program;
    dwarf.units.add(unit);
}

fn gimli_block(
    unit: &mut write::Unit,
    parent: write::UnitEntryId,
    function: &Function<'_>,
) -> write::UnitEntryId {
    let block = unit.add(parent, gimli::DW_TAG_lexical_block);
    let entry = unit.get_mut(block);
    let low_pc = write::Address::Constant(function.address + BLOCK.start);
    entry.set(gimli::DW_AT_low_pc, AttributeValue::Address(low_pc));
    entry.set(gimli::DW_AT_high_pc, AttributeValue::Data2((BLOCK.end - BLOCK.start) as u16));
    block
}

fn memory(Place { register, offset }: Place) -> Expression {
    let mut expression = Expression::new();
    expression.op_breg(gimli::Register(register), offset);
    expression
}
