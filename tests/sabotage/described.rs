//! Faults in declarations: the object is written from a module with one difference.

use eitri::build::Builder;
use eitri::check::FindingKind::{
    self, Attribute, Code, Evaluation, Extra, Line, Location, MissingEntry, Type,
};
use eitri::lower::{Consumer, Policy, lower};
use eitri::model::{BaseEncoding, Loc, Qualifier};
use eitri::target::{SpaceId, Target};

use crate::sabotage::spec::Spec;
use crate::sabotage::{Expected, all_found, missed, sections};

type Change = fn(&mut Spec);

/// Fault, change, kind of finding, variable, pc.
type Fault = (&'static str, Change, FindingKind, Option<&'static str>, Option<u64>);

#[rustfmt::skip]
const FAULTS: &[Fault] = &[
    // Units.
    ("another unit", |s| s.unit = "b.cl", MissingEntry, None, None),
    ("one unit too many", |s| s.second_unit = Some("b.cl"), Extra, None, None),
    ("a second unit of the same name", |s| s.second_unit = Some("a.cl"), Extra, None, None),
    ("another directory", |s| s.directory = "/tmp", Attribute, None, None),
    ("another producer", |s| s.producer = "another", Attribute, None, None),
    ("another language", |s| s.language = gimli::DW_LANG_C99.0, Attribute, None, None),
    ("one procedure missing", |s| s.two_procedures = false, MissingEntry, None, None),

    // Types.
    ("another encoding", |s| s.int.1 = BaseEncoding::Unsigned, Type, Some("x"), None),
    ("another size", |s| s.int.2 = 24, Type, Some("x"), None),
    ("another name of a type", |s| s.int.0 = "uint", Type, Some("x"), None),
    ("another type", |s| s.variable_is_long = true, Type, Some("x"), None),
    ("another name of a structure", |s| s.struct_name = "t", Type, Some("st"), None),
    ("another size of a structure", |s| s.struct_bytes = 24, Type, Some("st"), None),
    ("another name of a member", |s| s.member = "n", Type, Some("st"), None),
    ("another offset of a member", |s| s.member_offset = 0, Type, Some("st"), None),
    ("a member missing", |s| s.has_member = false, Type, Some("st"), None),
    ("another offset of a bit field", |s| s.field.0 = 66, Type, Some("st"), None),
    ("the offset of a bit field from the other end", |s| s.field.0 = 64 + 32 - 3 - 5, Type, Some("st"), None),
    ("another size of a bit field", |s| s.field.1 = 6, Type, Some("st"), None),
    ("another count", |s| s.count = Some(4), Type, Some("ar"), None),
    ("a count missing", |s| s.count = None, Type, Some("ar"), None),
    ("dimensions swapped", |s| (s.count, s.second_count) = (Some(2), Some(3)), Type, Some("ar"), None),
    ("another number of elements", |s| s.elements = 2, Type, Some("ve"), None),
    ("another number of columns", |s| s.columns = 3, Type, Some("ma"), None),
    ("another stride of columns", |s| s.column_stride = Some(448), Type, Some("ma"), None),
    ("no stride of columns", |s| s.column_stride = None, Type, Some("ma"), None),
    ("three elements for four", |s| s.elements = 3, Type, Some("ve"), None),
    ("another value of an enumerator", |s| s.enumerators[1].1 = 2, Type, Some("en"), None),
    ("another name of an enumerator", |s| s.enumerators[1].0 = "yes", Type, Some("en"), None),
    ("an enumerator missing", |s| s.enumerators.truncate(1), Type, Some("en"), None),
    ("an enumerator too many", |s| s.enumerators.push(("all", 3)), Type, Some("en"), None),
    ("enumerators in another order", |s| s.enumerators.reverse(), Type, Some("en"), None),
    ("another address space of a pointer", |s| s.space = SpaceId::PRIVATE_LANE, Type, Some("lo"), None),
    ("no address space of a pointer", |s| s.space = SpaceId::DEFAULT, Type, Some("lo"), None),
    ("a number for a pointer", |s| s.is_pointer = false, Type, Some("lo"), None),
    ("another qualifier", |s| s.qualifier = Qualifier::Const, Type, Some("ty"), None),
    ("no qualifier", |s| s.is_const = false, Type, Some("ty"), None),
    ("another name of a typedef", |s| s.typedef = "names", Type, Some("ty"), None),
    ("a parameter of a function type missing", |s| s.parameters = 1, Type, Some("ca"), None),
    ("a parameter of a function type too many", |s| s.parameters = 3, Type, Some("ca"), None),
    ("another name of a type that nothing has", |s| s.unused = "used", Type, None, None),

    // Functions.
    ("another name of a namespace", |s| s.namespace = "xs", MissingEntry, None, None),
    ("another name of a function", |s| s.function = "kk", MissingEntry, None, None),
    ("another linkage name", |s| s.linkage = "_Zkk", Attribute, None, None),
    ("no linkage name", |s| s.linkage = "", Attribute, None, None),
    ("not seen outside", |s| (s.is_external, s.is_kernel) = (false, false), Attribute, None, None),
    ("no kernel", |s| s.is_kernel = false, Attribute, None, None),
    ("no result", |s| s.returns = false, Type, None, None),
    ("another line of a function", |s| s.function_line = 4, Attribute, None, None),
    ("another file of a function", |s| s.function_file = 1, Attribute, None, None),
    ("another function's code", |s| s.symbol = "other", Code, None, None),
    ("less code", |s| s.bytes = 0x3c, Code, None, None),
    ("more code", |s| s.bytes = 0x44, Code, None, None),
    ("the lanes of another wave size", |s| s.target = "amdgpu-gfx1030-wave64", Attribute, None, None),

    // Scopes.
    ("no block", |s| s.has_block = false, MissingEntry, None, None),
    ("a variable outside of its block", |s| s.in_block = false, MissingEntry, Some("x"), None),
    ("a block in other code", |s| s.block[1].end = 0x24, Code, None, None),
    ("a range of a block missing", |s| s.block.truncate(1), Code, None, None),
    ("a block with the whole function's code", |s| s.block.clear(), Code, None, None),
    ("no inlined call", |s| s.has_inlined = false, MissingEntry, None, None),
    ("an inlined call in other code", |s| s.inlined = 0x14..0x18, Code, None, None),
    ("a call of another function", |s| s.inlined_is_other = true, Attribute, None, None),
    ("another variable of the inlined function", |s| s.inlined_variable_is_other = true, Attribute, Some("i"), None),
    ("another line of a call", |s| s.call_line = 10, Attribute, None, None),
    ("another column of a call", |s| s.call_column = 5, Attribute, None, None),
    ("another file of a call", |s| s.call_file = 1, Attribute, None, None),

    // Variables.
    ("a variable missing", |s| s.is_there = false, MissingEntry, Some("x"), None),
    ("another name", |s| s.variable = "y", MissingEntry, Some("x"), None),
    ("a name that nothing has", |s| s.variable = "y", Extra, Some("y"), None),
    ("a variable twice", |s| s.is_twice = true, Extra, Some("x"), None),
    ("another line of a variable", |s| s.variable_line = 6, Attribute, Some("x"), None),
    ("made by the compiler", |s| s.variable_is_artificial = true, Attribute, Some("x"), None),
    ("seen outside of the unit", |s| s.variable_is_external = true, Attribute, Some("x"), None),
    ("parameters in another order", |s| s.parameter_order = ["q", "p"], Attribute, Some("q"), None),
    ("variables for parameters", |s| s.is_parameter = false, MissingEntry, Some("p"), None),
    ("another value of a constant", |s| s.constant[1] = 1, Location, Some("c"), None),
    ("another name of a global variable", |s| s.global = "h", MissingEntry, Some("g"), None),

    // Lines.
    ("another line", |s| s.row.line = 5, Line, None, Some(8)),
    ("another column", |s| s.row.column = 3, Line, None, Some(8)),
    ("another file", |s| s.row.file = 1, Line, None, Some(8)),
    ("another discriminator", |s| s.row.discriminator = 0, Line, None, Some(8)),
    ("a row one instruction later", |s| s.row.pc = 12, Line, None, Some(8)),
    ("no statement", |s| s.row.is_stmt = false, Line, None, Some(8)),
    ("the end of the prologue", |s| s.row.is_prologue_end = true, Line, None, Some(8)),
    ("the begin of the epilogue", |s| s.row.is_epilogue_begin = true, Line, None, Some(8)),
    ("a row missing", |s| s.last_row = false, Line, None, Some(0x30)),
];

#[test]
fn wrong_declarations_are_found() {
    let consumer = Consumer::llvm();
    let truth = Spec::truth().module();
    let all = FAULTS.iter().map(|&(fault, change, kind, variable, pc)| {
        let mut spec = Spec::truth();
        change(&mut spec);
        let expected = Expected { kind, variable, pc, lane: None };
        (fault, missed(&truth, &consumer, &sections(&spec.module(), &consumer), &expected))
    });
    all_found("declarations", all.collect());
}

/// Wrong files are found where they are used: here a row and the function use the second one.
#[test]
fn wrong_files_are_found() {
    let consumer = Consumer::llvm();
    let mut truth = Spec::truth();
    (truth.row.file, truth.function_file) = (1, 1);
    let faults: [(&str, Change); 3] = [
        ("another name of a file", |s| s.file.0 = "c.h"),
        ("another directory of a file", |s| s.file.1 = None),
        ("another MD5 sum of a file", |s| s.md5 = 2),
    ];
    let all = faults.into_iter().flat_map(|(fault, change)| {
        let mut spec = truth.clone();
        change(&mut spec);
        let sections = sections(&spec.module(), &consumer);
        [(Line, Some(8)), (Attribute, None)].map(|(kind, pc)| {
            let expected = Expected { kind, variable: None, pc, lane: None };
            (fault, missed(&truth.module(), &consumer, &sections, &expected))
        })
    });
    all_found("files", all.collect());
}

/// Attributes with the numbers of another consumer are faults.
#[test]
fn attributes_of_other_consumers_are_found() {
    let of = |change: fn(&mut Consumer)| {
        let mut consumer = Consumer::llvm();
        change(&mut consumer);
        consumer
    };
    type Row = (&'static str, Consumer, FindingKind, Option<&'static str>);
    let rows: [Row; 7] = [
        // LLVM uses other numbers than the extension's text.
        ("lanes by another number", of(|c| c.attributes.lanes = Some(gimli::DwAt(0x3e0a))), Attribute, None),
        ("no lanes", of(|c| c.attributes.lanes = None), Attribute, None),
        // Without lanes there is only one: all others are out of range.
        ("no lanes, as places see it", of(|c| c.attributes.lanes = None), Evaluation, Some("la")),
        (
            "an address space by another number",
            of(|c| c.attributes.address_space = Some(gimli::DW_AT_address_class)),
            Type,
            Some("lo"),
        ),
        ("no address space", of(|c| c.attributes.address_space = None), Type, Some("lo")),
        ("no convention of kernels", of(|c| c.entries.kernel_convention = None), Attribute, None),
        ("another convention", of(|c| c.entries.kernel_convention = Some(1)), Attribute, None),
    ];
    let mut m = Builder::new(Target::named("amdgpu-gfx1030-wave32").unwrap());
    let unit = m.unit("a.cl");
    let int = m.base_type(unit, "int", BaseEncoding::Signed, 32).unwrap();
    let local = m.pointer_into(unit, Some(int), SpaceId::LOCAL).unwrap();
    let kernel = m.function(unit, "k").unwrap().code("k", 0x40).kernel().id();
    let v3 = m.target().vgpr(3).unwrap();
    m.variable(kernel, "la", int).unwrap().live(0..0x40, Loc::per_lane(v3)).unwrap();
    m.variable(kernel, "lo", local).unwrap();
    let truth = m.finish().unwrap();
    let all = rows.into_iter().map(|(fault, consumer, kind, variable)| {
        let expected = Expected { kind, variable, pc: None, lane: None };
        // The other consumer may lack an attribute.
        let written = lower(&truth, &consumer, Policy::Partial).unwrap();
        (fault, missed(&truth, &Consumer::llvm(), &written.sections, &expected))
    });
    all_found("consumers", all.collect());
}
