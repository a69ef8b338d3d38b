//! Reads the written sections back as facts that do not depend on their encoding.

use std::fmt::Debug;

use eitri::emit::{RelocationTarget, Section};
use gimli::read::{
    AttributeValue, DebuggingInformationEntry, Dwarf, EndianRcSlice, EntriesTreeNode, Operation, Reader as _,
    Unit,
};
use gimli::{DwAt, DwInl, LittleEndian, UnitOffset};

type Reader = EndianRcSlice<LittleEndian>;
type Entry = DebuggingInformationEntry<Reader>;

/// Written sections. Functions are decoded during the comparison, to limit memory.
pub struct Written {
    dwarf: Dwarf<Reader>,
    units: Vec<Unit<Reader>>,
}

/// Facts of a unit.
struct Facts {
    name: String,
    structures: Vec<Structure>,
    /// Offsets of the functions' entries.
    functions: Vec<UnitOffset>,
    rows: Vec<Row>,
}

/// Name, line and size of a structure, and name, line, type and offset of each member.
type Structure = (String, Option<u64>, u64, Vec<(String, Option<u64>, String, u64)>);

#[derive(Debug, PartialEq)]
struct Function {
    name: String,
    line: Option<u64>,
    returns: Option<String>,
    is_external: bool,
    /// `DW_AT_inline`.
    inline: Option<DwInl>,
    frame: Option<Operations>,
    code: Vec<(u64, u64)>,
    inner: Vec<Inner>,
}

/// An entry in a function.
#[derive(Debug, PartialEq)]
enum Inner {
    /// Pcs and contents of a block.
    Block(Vec<(u64, u64)>, Vec<Inner>),
    /// An inlined call: name of the function, pcs, file, line and column of the call, and contents.
    Call(String, Vec<(u64, u64)>, (String, u64, u64), Vec<Inner>),
    /// Whether it is a parameter, whether it has an abstract origin; name, type, line of the declaration, and
    /// locations.
    Variable(bool, bool, String, String, u64, Vec<Live>),
}

/// Addresses and operations; no addresses for a single location.
type Live = (Option<(u64, u64)>, Operations);

#[derive(Debug, PartialEq)]
enum Operations {
    Known(Vec<Operation<Reader>>),
    /// Bytes of an expression with a vendor operation, which gimli cannot decode.
    Bytes(Vec<u8>),
    /// `DW_AT_const_value`.
    Constant(u64),
}

/// Address, file, line, column, `is_stmt`, `end_sequence`.
type Row = (u64, String, u64, u64, bool, bool);

/// Reads the sections.
pub fn read(sections: Vec<Section>) -> Written {
    let mut sections = sections;
    sections.iter_mut().for_each(relocate);
    let section = |id: gimli::SectionId| -> Result<Reader, gimli::Error> {
        let found = sections.iter().find(|section| section.name == id.name());
        Ok(Reader::new(found.map_or(&[][..], |section| &section.bytes).into(), LittleEndian))
    };
    let dwarf = Dwarf::load(section).expect("sections");
    let mut units = Vec::new();
    let mut headers = dwarf.units();
    while let Some(header) = headers.next().expect("a unit's header") {
        units.push(dwarf.unit(header).expect("a unit"));
    }
    Written { dwarf, units }
}

/// Applies relocations like a linker: each section is the only one of its name.
fn relocate(section: &mut Section) {
    for relocation in &section.relocations {
        let RelocationTarget::Section(_) = relocation.target else { panic!("there are no symbols") };
        let (at, bytes) = (relocation.offset as usize, usize::from(relocation.bytes));
        section.bytes[at..at + bytes].copy_from_slice(&relocation.addend.to_le_bytes()[..bytes]);
    }
}

/// Panics unless both have the same facts.
pub fn assert_same((a, ours): (&str, &Written), (b, theirs): (&str, &Written)) {
    let names = (a, b);
    assert_eq!(ours.units.len(), theirs.units.len(), "units of {a} and {b}");
    for (our_unit, their_unit) in ours.units.iter().zip(&theirs.units) {
        let our_unit = One { dwarf: &ours.dwarf, unit: our_unit };
        let their_unit = One { dwarf: &theirs.dwarf, unit: their_unit };
        let [ours, theirs] = [&our_unit, &their_unit].map(|unit| unit.facts().expect("entries"));
        assert_eq!(ours.name, theirs.name, "units of {a} and {b}");
        same(names, "structures", &ours.structures, &theirs.structures);
        same(names, "rows", &ours.rows, &theirs.rows);
        assert_eq!(ours.functions.len(), theirs.functions.len(), "functions of {a} and {b}");
        for (&ours, &theirs) in ours.functions.iter().zip(&theirs.functions) {
            let ours = our_unit.function(ours).expect("a function");
            let theirs = their_unit.function(theirs).expect("a function");
            let what = format!("what is in {}", ours.name);
            same(names, &what, &ours.inner, &theirs.inner);
            same(names, "functions", &[ours], &[theirs]);
        }
    }
}

fn same<T: PartialEq + Debug>((a, b): (&str, &str), what: &str, ours: &[T], theirs: &[T]) {
    assert_eq!(ours.len(), theirs.len(), "{what}: how many {a} and {b} have");
    for (ours, theirs) in ours.iter().zip(theirs) {
        assert!(ours == theirs, "{what} differ\n{a}: {ours:#?}\n{b}: {theirs:#?}");
    }
}

struct One<'d> {
    dwarf: &'d Dwarf<Reader>,
    unit: &'d Unit<Reader>,
}

impl One<'_> {
    fn facts(&self) -> gimli::Result<Facts> {
        let mut tree = self.unit.entries_tree(None)?;
        let root = tree.root()?;
        let name = self.name(root.entry())?;
        let mut facts = Facts { name, structures: Vec::new(), functions: Vec::new(), rows: self.rows()? };
        let mut entries = root.children();
        while let Some(node) = entries.next()? {
            let entry = node.entry();
            match entry.tag() {
                gimli::DW_TAG_structure_type => {
                    let (name, line_of) = (self.name(entry)?, line(entry));
                    let bytes = number(entry, gimli::DW_AT_byte_size);
                    let mut members = Vec::new();
                    let mut children = node.children();
                    while let Some(child) = children.next()? {
                        let member = child.entry();
                        let offset = number(member, gimli::DW_AT_data_member_location);
                        members.push((self.name(member)?, line(member), self.ty(member)?, offset));
                    }
                    facts.structures.push((name, line_of, bytes, members));
                }
                gimli::DW_TAG_subprogram => facts.functions.push(entry.offset()),
                _ => {}
            }
        }
        Ok(facts)
    }

    fn function(&self, at: UnitOffset) -> gimli::Result<Function> {
        let mut tree = self.unit.entries_tree(Some(at))?;
        let root = tree.root()?;
        let entry = root.entry();
        let frame = match entry.attr_value(gimli::DW_AT_frame_base) {
            Some(AttributeValue::Exprloc(expression)) => Some(self.operations(expression)?),
            _ => None,
        };
        Ok(Function {
            name: self.name(entry)?,
            line: line(entry),
            returns: entry.attr_value(gimli::DW_AT_type).map(|_| self.ty(entry)).transpose()?,
            is_external: entry.attr_value(gimli::DW_AT_external).is_some(),
            inline: match entry.attr_value(gimli::DW_AT_inline) {
                Some(AttributeValue::Inline(inline)) => Some(inline),
                _ => None,
            },
            frame,
            code: self.code(entry)?,
            inner: self.inner(root)?,
        })
    }

    /// Pcs of a function or block.
    fn code(&self, entry: &Entry) -> gimli::Result<Vec<(u64, u64)>> {
        let mut code = Vec::new();
        let mut ranges = self.dwarf.die_ranges(self.unit, entry)?;
        while let Some(range) = ranges.next()? {
            code.push((range.begin, range.end));
        }
        Ok(code)
    }

    fn inner(&self, node: EntriesTreeNode<'_, '_, Reader>) -> gimli::Result<Vec<Inner>> {
        let mut inner = Vec::new();
        let mut children = node.children();
        while let Some(child) = children.next()? {
            let entry = child.entry();
            inner.push(match entry.tag() {
                gimli::DW_TAG_lexical_block => Inner::Block(self.code(entry)?, self.inner(child)?),
                gimli::DW_TAG_inlined_subroutine => {
                    let origin = self.origin(entry)?.expect("the function that is inlined");
                    let [line, column] =
                        [gimli::DW_AT_call_line, gimli::DW_AT_call_column].map(|at| number(entry, at));
                    let call = (self.file(entry, gimli::DW_AT_call_file)?, line, column);
                    Inner::Call(self.name(&origin)?, self.code(entry)?, call, self.inner(child)?)
                }
                _ => self.variable(entry)?,
            });
        }
        Ok(inner)
    }

    /// Entry of the abstract instance.
    fn origin(&self, entry: &Entry) -> gimli::Result<Option<Entry>> {
        match entry.attr_value(gimli::DW_AT_abstract_origin) {
            Some(AttributeValue::UnitRef(at)) => self.unit.entry(at).map(Some),
            _ => Ok(None),
        }
    }

    fn operations(&self, expression: gimli::Expression<Reader>) -> gimli::Result<Operations> {
        let mut operations = Vec::new();
        let mut iter = expression.clone().operations(self.unit.encoding());
        loop {
            match iter.next() {
                Ok(Some(operation)) => operations.push(operation),
                Ok(None) => return Ok(Operations::Known(operations)),
                Err(gimli::Error::InvalidExpression(_)) => {
                    return Ok(Operations::Bytes(expression.0.to_slice()?.into_owned()));
                }
                Err(error) => return Err(error),
            }
        }
    }

    fn variable(&self, entry: &Entry) -> gimli::Result<Inner> {
        let mut live = Vec::new();
        if let Some(value) = entry.attr_value(gimli::DW_AT_const_value) {
            live.push((None, Operations::Constant(value.udata_value().expect("a number"))));
        }
        match entry.attr_value(gimli::DW_AT_location) {
            None => {}
            Some(AttributeValue::Exprloc(expression)) => live.push((None, self.operations(expression)?)),
            Some(location) => {
                let mut list = self.dwarf.attr_locations(self.unit, location)?.expect("a location list");
                while let Some(one) = list.next()? {
                    live.push((Some((one.range.begin, one.range.end)), self.operations(one.data)?));
                }
            }
        }
        let is_parameter = match entry.tag() {
            gimli::DW_TAG_formal_parameter => true,
            gimli::DW_TAG_variable => false,
            tag => panic!("{tag} in a function"),
        };
        let origin = self.origin(entry)?;
        let is = origin.as_ref().unwrap_or(entry);
        let line = number(is, gimli::DW_AT_decl_line);
        Ok(Inner::Variable(is_parameter, origin.is_some(), self.name(is)?, self.ty(is)?, line, live))
    }

    fn rows(&self) -> gimli::Result<Vec<Row>> {
        let program = self.unit.line_program.clone().expect("a line program");
        let mut rows = Vec::new();
        let mut iter = program.rows();
        while let Some((header, row)) = iter.next_row()? {
            let file = row.file(header).expect("a file").path_name();
            rows.push((
                row.address(),
                self.text(file)?,
                row.line().map_or(0, |line| line.get()),
                match row.column() {
                    gimli::ColumnType::LeftEdge => 0,
                    gimli::ColumnType::Column(column) => column.get(),
                },
                row.is_stmt(),
                row.end_sequence(),
            ));
        }
        Ok(rows)
    }

    fn name(&self, entry: &Entry) -> gimli::Result<String> {
        self.text(entry.attr_value(gimli::DW_AT_name).expect("a name"))
    }

    fn text(&self, string: AttributeValue<Reader>) -> gimli::Result<String> {
        Ok(self.dwarf.attr_string(self.unit, string)?.to_string_lossy()?.into_owned())
    }

    /// Name of a file.
    fn file(&self, entry: &Entry, at: DwAt) -> gimli::Result<String> {
        let Some(AttributeValue::FileIndex(index)) = entry.attr_value(at) else { panic!("no file") };
        let program = self.unit.line_program.as_ref().expect("a line program");
        self.text(program.header().file(index).expect("a file").path_name())
    }

    /// Type of an entry, in source notation.
    fn ty(&self, entry: &Entry) -> gimli::Result<String> {
        let Some(AttributeValue::UnitRef(at)) = entry.attr_value(gimli::DW_AT_type) else {
            panic!("no type");
        };
        self.type_at(at)
    }

    fn type_at(&self, at: UnitOffset) -> gimli::Result<String> {
        let entry = self.unit.entry(at)?;
        match entry.tag() {
            gimli::DW_TAG_pointer_type => Ok(format!("{} *", self.ty(&entry)?)),
            _ => self.name(&entry),
        }
    }
}

fn number(entry: &Entry, at: DwAt) -> u64 {
    entry.attr_value(at).and_then(|value| value.udata_value()).expect("a number")
}

/// Line of the declaration, if any.
fn line(entry: &Entry) -> Option<u64> {
    entry.attr_value(gimli::DW_AT_decl_line).and_then(|value| value.udata_value())
}
