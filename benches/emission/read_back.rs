//! Reads the written sections back as facts that do not depend on their encoding.

use std::fmt::Debug;

use eitri::emit::{RelocationTarget, Section};
use gimli::read::{
    AttributeValue, DebuggingInformationEntry, Dwarf, EndianRcSlice, EntriesTreeNode, Operation, Reader as _,
    Unit,
};
use gimli::{DwAt, LittleEndian, UnitOffset};

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

/// Name and size of a structure, and name, type and offset of each member.
type Structure = (String, u64, Vec<(String, String, u64)>);

#[derive(Debug, PartialEq)]
struct Function {
    name: String,
    code: Vec<(u64, u64)>,
    inner: Vec<Inner>,
}

/// An entry in a function.
#[derive(Debug, PartialEq)]
enum Inner {
    /// Pcs and contents of a block.
    Block(Vec<(u64, u64)>, Vec<Inner>),
    /// Whether it is a parameter; name, type, line of the declaration, and locations.
    Variable(bool, String, String, u64, Vec<Live>),
}

/// Addresses and operations; no addresses for a single location.
type Live = (Option<(u64, u64)>, Vec<Operation<Reader>>);

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
                    let (name, bytes) = (self.name(entry)?, number(entry, gimli::DW_AT_byte_size));
                    let mut members = Vec::new();
                    let mut children = node.children();
                    while let Some(child) = children.next()? {
                        let member = child.entry();
                        let offset = number(member, gimli::DW_AT_data_member_location);
                        members.push((self.name(member)?, self.ty(member)?, offset));
                    }
                    facts.structures.push((name, bytes, members));
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
        let (name, code) = (self.name(root.entry())?, self.code(root.entry())?);
        Ok(Function { name, code, inner: self.inner(root)? })
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
                _ => self.variable(entry)?,
            });
        }
        Ok(inner)
    }

    fn variable(&self, entry: &Entry) -> gimli::Result<Inner> {
        let location = entry.attr_value(gimli::DW_AT_location).expect("a location");
        let operations = |expression: gimli::Expression<Reader>| {
            let mut operations = Vec::new();
            let mut iter = expression.operations(self.unit.encoding());
            while let Some(operation) = iter.next()? {
                operations.push(operation);
            }
            Ok::<_, gimli::Error>(operations)
        };
        let mut live = Vec::new();
        if let AttributeValue::Exprloc(expression) = location {
            live.push((None, operations(expression)?));
        } else {
            let mut list = self.dwarf.attr_locations(self.unit, location)?.expect("a location list");
            while let Some(one) = list.next()? {
                live.push((Some((one.range.begin, one.range.end)), operations(one.data)?));
            }
        }
        let is_parameter = match entry.tag() {
            gimli::DW_TAG_formal_parameter => true,
            gimli::DW_TAG_variable => false,
            tag => panic!("{tag} in a function"),
        };
        let line = number(entry, gimli::DW_AT_decl_line);
        Ok(Inner::Variable(is_parameter, self.name(entry)?, self.ty(entry)?, line, live))
    }

    fn rows(&self) -> gimli::Result<Vec<Row>> {
        let program = self.unit.line_program.clone().expect("a line program");
        let mut rows = Vec::new();
        let mut iter = program.rows();
        while let Some((header, row)) = iter.next_row()? {
            let file = row.file(header).expect("a file").path_name();
            rows.push((
                row.address(),
                self.dwarf.attr_string(self.unit, file)?.to_string_lossy()?.into_owned(),
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
        let name = entry.attr_value(gimli::DW_AT_name).expect("a name");
        Ok(self.dwarf.attr_string(self.unit, name)?.to_string_lossy()?.into_owned())
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
