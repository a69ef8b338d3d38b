//! Which attributes an entry has, and what those say that many kinds of entries have.
//!
//! An attribute that the module does not ask for can change what an entry means: a lower bound, a byte
//! order, a declaration. So each kind of entry has a list of those it may have, and no other.

use gimli::{DwAt, DwTag, constants as dw};

use super::compare::Compare;
use super::report::Kind;
use super::words::Words;
use crate::consumer::{Consumer, DW_AT_LLVM_LANES, DW_AT_LLVM_LANES_AMD};
use crate::error::At;
use crate::model::{File, FileId, Module, SourceLine};
use crate::op::Dialect;
use crate::read::{Entry, LineProgram, Value};

/// Expected and found.
pub(super) type Difference = (String, String);

/// Of a unit's language: the last two are `DW_AT_language_name` and `DW_AT_language_version`, of DWARF 6.
pub(super) const LANGUAGE: [DwAt; 3] = [dw::DW_AT_language, DwAt(0x90), DwAt(0x91)];

/// The attributes of a unit that locate the tables of its indices, by offsets in sections.
pub(super) const BASES: [DwAt; 4] =
    [dw::DW_AT_addr_base, dw::DW_AT_str_offsets_base, dw::DW_AT_rnglists_base, dw::DW_AT_loclists_base];

/// Of a unit's entry.
pub(super) const UNIT: &[DwAt] = &[
    dw::DW_AT_producer,
    LANGUAGE[0],
    LANGUAGE[1],
    LANGUAGE[2],
    dw::DW_AT_name,
    dw::DW_AT_comp_dir,
    dw::DW_AT_stmt_list,
    dw::DW_AT_addr_base,
    dw::DW_AT_str_offsets_base,
    dw::DW_AT_rnglists_base,
    dw::DW_AT_loclists_base,
    dw::DW_AT_low_pc,
    dw::DW_AT_high_pc,
    dw::DW_AT_ranges,
];
/// Of a skeleton, for all of its unit. What a split unit has is none of these.
pub(super) const SKELETON: &[DwAt] = &[
    dw::DW_AT_dwo_name,
    dw::DW_AT_comp_dir,
    dw::DW_AT_stmt_list,
    dw::DW_AT_addr_base,
    dw::DW_AT_str_offsets_base,
    dw::DW_AT_rnglists_base,
    dw::DW_AT_low_pc,
    dw::DW_AT_high_pc,
    dw::DW_AT_ranges,
];
/// Of anything that is declared somewhere.
const DECLARED: &[DwAt] = &[
    dw::DW_AT_name,
    dw::DW_AT_decl_file,
    dw::DW_AT_decl_line,
    dw::DW_AT_decl_column,
    dw::DW_AT_type,
    dw::DW_AT_external,
];
/// Where something is declared.
const LINE: &[DwAt] = &[dw::DW_AT_decl_file, dw::DW_AT_decl_line, dw::DW_AT_decl_column];
const FUNCTION: &[DwAt] = &[
    dw::DW_AT_prototyped,
    dw::DW_AT_noreturn,
    dw::DW_AT_main_subprogram,
    dw::DW_AT_calling_convention,
    dw::DW_AT_inline,
    dw::DW_AT_accessibility,
    dw::DW_AT_virtuality,
    dw::DW_AT_explicit,
    dw::DW_AT_deleted,
    dw::DW_AT_defaulted,
    dw::DW_AT_object_pointer,
];
/// Of a function that has code.
const BODY: &[DwAt] = &[
    dw::DW_AT_abstract_origin,
    dw::DW_AT_frame_base,
    dw::DW_AT_static_link,
    dw::DW_AT_call_all_calls,
    dw::DW_AT_call_all_tail_calls,
    dw::DW_AT_call_all_source_calls,
    dw::DW_AT_GNU_all_call_sites,
    dw::DW_AT_GNU_all_tail_call_sites,
    dw::DW_AT_GNU_all_source_call_sites,
];
/// Of what has code.
const CODE: &[DwAt] = &[dw::DW_AT_low_pc, dw::DW_AT_high_pc, dw::DW_AT_ranges, dw::DW_AT_entry_pc];
const CALL: &[DwAt] = &[
    dw::DW_AT_abstract_origin,
    dw::DW_AT_call_file,
    dw::DW_AT_call_line,
    dw::DW_AT_call_column,
    dw::DW_AT_GNU_discriminator,
];
/// Of a static member.
const STATIC: &[DwAt] = &[dw::DW_AT_artificial, dw::DW_AT_declaration, dw::DW_AT_accessibility];
const PLACE: &[DwAt] = &[dw::DW_AT_location, dw::DW_AT_const_value];

/// The attribute for the name that a linker knows: of the standard, or of everyone before there was one.
pub(super) fn linkage_name(version: u16) -> DwAt {
    if version >= 4 { dw::DW_AT_linkage_name } else { DwAt(0x2007) }
}

/// The attributes that an entry of a scope or variable may have. `is_abstract` says that it is in an
/// abstract instance, which has no code and no places.
fn allowed(tag: DwTag, is_abstract: bool, consumer: &Consumer, name: DwAt) -> bool {
    let lanes = [consumer.lane_pc, consumer.active_lane].contains(&Some(name));
    // Of what can be declared in one place and defined in another.
    let defined = [linkage_name(consumer.version), dw::DW_AT_specification];
    let is_in = |lists: &[&[DwAt]]| lists.iter().any(|list| list.contains(&name));
    match tag {
        dw::DW_TAG_namespace => is_in(&[LINE, &[dw::DW_AT_name, dw::DW_AT_export_symbols]]),
        dw::DW_TAG_imported_declaration | dw::DW_TAG_imported_module => {
            is_in(&[LINE, &[dw::DW_AT_name, dw::DW_AT_import]])
        }
        dw::DW_TAG_label => is_in(&[LINE, &[dw::DW_AT_name, dw::DW_AT_low_pc]]),
        dw::DW_TAG_unspecified_parameters => false,
        dw::DW_TAG_subprogram if is_abstract => {
            is_in(&[DECLARED, &defined, FUNCTION, &[dw::DW_AT_declaration]])
        }
        dw::DW_TAG_subprogram => {
            is_in(&[DECLARED, &defined, FUNCTION, CODE, BODY]) || lanes || consumer.lanes == Some(name)
        }
        dw::DW_TAG_lexical_block => name == dw::DW_AT_abstract_origin || !is_abstract && is_in(&[CODE]),
        dw::DW_TAG_inlined_subroutine => is_in(&[CALL]) || !is_abstract && (is_in(&[CODE]) || lanes),
        _ => {
            let more = [dw::DW_AT_artificial, dw::DW_AT_abstract_origin, dw::DW_AT_declaration];
            is_in(&[DECLARED, &defined, &more])
                || consumer.memory_space == Some(name)
                || !is_abstract && is_in(&[PLACE])
        }
    }
}

impl<'a, 'o> Compare<'a, 'o> {
    /// Looks for attributes that an entry of a scope or variable should not have.
    pub(super) fn attributes(&mut self, entry: Entry<'a, 'o>, is_abstract: bool, at: &At) {
        let consumer = self.consumer;
        let is_allowed = |name| allowed(entry.tag(), is_abstract, consumer, name);
        if let Err((expected, found)) = only(entry, is_allowed) {
            self.find(Kind::Attribute, at.clone(), expected, found);
        }
    }

    /// Looks for attributes that a static member should not have.
    pub(super) fn static_attributes(&mut self, entry: Entry<'a, 'o>, at: &At) {
        let is_allowed = |name| {
            let lists = [DECLARED, STATIC, &[dw::DW_AT_const_value]];
            self.consumer.memory_space == Some(name) || lists.iter().any(|list| list.contains(&name))
        };
        if let Err((expected, found)) = only(entry, is_allowed) {
            self.find(Kind::Attribute, at.clone(), expected, found);
        }
    }

    /// Compares where in the source something is declared.
    pub(super) fn declared(&mut self, entry: Entry<'a, 'o>, at: &At, line: Option<SourceLine>) {
        let names = [dw::DW_AT_decl_file, dw::DW_AT_decl_line, dw::DW_AT_decl_column];
        self.source_line(entry, at, line, names);
    }

    /// Compares a place in the source, given by three attributes.
    pub(super) fn source_line(
        &mut self,
        entry: Entry<'a, 'o>,
        at: &At,
        line: Option<SourceLine>,
        names: [DwAt; 3],
    ) {
        for (expected, found) in self.line_differs(entry, line, names) {
            self.find(Kind::Attribute, at.clone(), expected, found);
        }
    }

    /// What is different, where a type or member is declared.
    pub(super) fn line(&self, line: Option<SourceLine>, entry: Entry<'a, 'o>) -> Result<(), Difference> {
        let names = [dw::DW_AT_decl_file, dw::DW_AT_decl_line, dw::DW_AT_decl_column];
        self.line_differs(entry, line, names).into_iter().next().map_or(Ok(()), Err)
    }

    fn line_differs(
        &self,
        entry: Entry<'a, 'o>,
        line: Option<SourceLine>,
        names: [DwAt; 3],
    ) -> Vec<Difference> {
        let module = self.module;
        let number = |name| entry.inherited(name).and_then(Value::unsigned);
        let [file, row, column] = names.map(number);
        let mut all = Vec::new();
        let mut same = |what: &str, expected: String, found: String| {
            if expected != found {
                all.push((format!("{what} {expected}"), found));
            }
        };
        let Some(line) = line else {
            let is_there = names.iter().any(|&name| entry.inherited(name).is_some());
            same("a place in the source", false.words(), is_there.words());
            return all;
        };
        same("the line", line.line.words(), row.words());
        same("the column", line.column.to_string(), column.unwrap_or(0).to_string());
        let program = self.program_of(entry);
        let found = program.zip(file).and_then(|(program, file)| source(program, file));
        let version = program.map_or(5, |program| program.version);
        same("the file", described(module, line.file, version).words(), found.words());
        all
    }
}

/// A source file: directory, name, MD5 sum.
pub(super) type Source = (String, String, Option<[u8; 16]>);

/// A file as the module has it. Before DWARF 5 a line program does not say which the unit's directory is, nor
/// sums, and an empty name ends the list of directories: in place of one there is `.`, the same directory.
pub(super) fn described(module: &Module, id: FileId, version: u16) -> Source {
    let File { unit, name, directory, md5, source: _ } = module.file(id);
    let unit = module.unit(*unit).directory.filter(|_| version >= 5);
    let directory = directory.or(unit).map(|directory| module.string(directory));
    let directory = match directory {
        Some("") if version < 5 => ".",
        directory => directory.unwrap_or_default(),
    };
    (directory.into(), module.string(*name).into(), md5.filter(|_| version >= 5))
}

/// A file as a line program has it. `None` where the file or its directory is not listed.
pub(super) fn source(program: &LineProgram<'_>, file: u64) -> Option<Source> {
    let file = program.file(file)?;
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    let directory = match program.directory(file.directory) {
        None if program.version < 5 && file.directory == 0 => &[],
        directory => directory?,
    };
    Some((text(directory), text(file.path), file.md5))
}

/// An error unless all attributes of an entry are allowed, and each is there once. Names are those that the dialect of
/// the unit gives the numbers.
pub(super) fn only(entry: Entry<'_, '_>, is_allowed: impl Fn(DwAt) -> bool) -> Result<(), Difference> {
    let attributes = entry.attributes();
    for (index, attribute) in attributes.iter().enumerate() {
        let name = attribute.name;
        let is_again = attributes[..index].iter().any(|other| other.name == name);
        if is_again || !is_allowed(name) {
            let is_lanes = name == DW_AT_LLVM_LANES_AMD && entry.unit().encoding.dialect == Dialect::Legacy;
            let name = if is_lanes { DW_AT_LLVM_LANES } else { name };
            let name = crate::dump::names::attribute(name, &attribute.value);
            let expected = if is_again { format!("{name} once") } else { format!("no {name}") };
            return Err((expected, attribute.value.words()));
        }
    }
    Ok(())
}
