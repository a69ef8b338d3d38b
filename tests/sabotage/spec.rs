//! Module in which faults can change every part.

use core::ops::Range;

use eitri::build::{Builder, Major};
use eitri::model::{BaseEncoding, LineTableRow as LineRow, Loc, Module, Qualifier, SourceLine};
use eitri::target::{SpaceId, Target};

/// Contents of the module that faults change.
#[derive(Clone)]
pub struct Spec {
    pub target: &'static str,
    pub unit: &'static str,
    pub second_unit: Option<&'static str>,
    pub directory: &'static str,
    pub producer: &'static str,
    pub language: u16,
    pub int: (&'static str, BaseEncoding, u64),
    pub struct_name: &'static str,
    pub struct_bytes: u64,
    pub member: &'static str,
    pub member_offset: u64,
    pub has_member: bool,
    pub field: (u64, u64),
    pub count: Option<u64>,
    pub second_count: Option<u64>,
    pub elements: u64,
    pub columns: u64,
    pub column_stride: Option<u64>,
    pub enumerators: Vec<(&'static str, i128)>,
    pub space: SpaceId,
    pub is_pointer: bool,
    pub is_const: bool,
    pub qualifier: Qualifier,
    pub typedef: &'static str,
    pub parameters: usize,
    pub unused: &'static str,
    pub namespace: &'static str,
    pub function: &'static str,
    pub linkage: &'static str,
    pub is_external: bool,
    pub is_kernel: bool,
    pub returns: bool,
    pub function_line: u32,
    pub function_file: usize,
    pub symbol: &'static str,
    pub bytes: u64,
    pub parameter_order: [&'static str; 2],
    pub is_parameter: bool,
    pub variable: &'static str,
    pub variable_line: u32,
    pub variable_is_long: bool,
    pub variable_is_artificial: bool,
    pub variable_is_external: bool,
    pub is_twice: bool,
    pub is_there: bool,
    pub in_block: bool,
    pub block: Vec<Range<u64>>,
    pub has_block: bool,
    pub inlined: Range<u64>,
    pub has_inlined: bool,
    pub inlined_is_other: bool,
    pub inlined_variable_is_other: bool,
    pub call_line: u32,
    pub call_column: u32,
    pub call_file: usize,
    pub constant: [u8; 4],
    pub global: &'static str,
    pub row: LineSpec,
    pub last_row: bool,
    pub file: (&'static str, Option<&'static str>),
    pub md5: u8,
    pub two_procedures: bool,
}

#[derive(Clone)]
pub struct LineSpec {
    pub pc: u64,
    pub file: usize,
    pub line: u32,
    pub column: u32,
    pub discriminator: u32,
    pub is_stmt: bool,
    pub is_prologue_end: bool,
    pub is_epilogue_begin: bool,
}

impl Spec {
    pub fn truth() -> Self {
        Self {
            target: "amdgpu-gfx1030-wave32",
            unit: "a.cl",
            second_unit: None,
            directory: "/src",
            producer: "a compiler",
            language: gimli::DW_LANG_OpenCL.0,
            int: ("int", BaseEncoding::Signed, 32),
            struct_name: "s",
            struct_bytes: 16,
            member: "m",
            member_offset: 4,
            has_member: true,
            field: (67, 5),
            count: Some(3),
            second_count: Some(2),
            elements: 4,
            columns: 2,
            column_stride: Some(384),
            enumerators: vec![("off", 0), ("on", 1)],
            space: SpaceId::LOCAL,
            is_pointer: true,
            is_const: true,
            qualifier: Qualifier::Volatile,
            typedef: "name",
            parameters: 2,
            unused: "unused",
            namespace: "ns",
            function: "k",
            linkage: "_Zk",
            is_external: true,
            is_kernel: true,
            returns: true,
            function_line: 3,
            function_file: 0,
            symbol: "k",
            bytes: 0x40,
            parameter_order: ["p", "q"],
            is_parameter: true,
            variable: "x",
            variable_line: 5,
            variable_is_long: false,
            variable_is_artificial: false,
            variable_is_external: false,
            is_twice: false,
            is_there: true,
            in_block: true,
            block: vec![4..8, 0x10..0x20],
            has_block: true,
            inlined: 0x10..0x18,
            has_inlined: true,
            inlined_is_other: false,
            inlined_variable_is_other: false,
            call_line: 9,
            call_column: 4,
            call_file: 0,
            constant: [7, 0, 0, 0],
            global: "g",
            row: LineSpec {
                pc: 8,
                file: 0,
                line: 6,
                column: 2,
                discriminator: 1,
                is_stmt: true,
                is_prologue_end: false,
                is_epilogue_begin: false,
            },
            last_row: true,
            file: ("b.h", Some("inc")),
            md5: 1,
            two_procedures: true,
        }
    }

    pub fn module(&self) -> Module {
        let mut m = Builder::new(Target::named(self.target).unwrap());
        let unit = m.unit(self.unit);
        m.describe_unit(unit)
            .unwrap()
            .directory(self.directory)
            .producer(self.producer)
            .language(self.language);
        let files = [m.primary_file(unit).unwrap(), m.file(unit, self.file.0, self.file.1).unwrap()];
        m.file_md5(files[0], [0; 16]).unwrap();
        m.file_md5(files[1], [self.md5; 16]).unwrap();
        let (name, encoding, bits) = self.int;
        let int = m.base_type(unit, name, encoding, bits).unwrap();
        let long = m.base_type(unit, "long", BaseEncoding::Signed, 64).unwrap();
        let structure = m.structure(unit, Some(self.struct_name), self.struct_bytes).unwrap();
        if self.has_member {
            m.member(structure, self.member, int, self.member_offset).unwrap();
        }
        m.bit_field(structure, "f", int, self.field.0, self.field.1).unwrap();
        // Elements are whole bytes.
        let element = if bits % 8 == 0 { int } else { long };
        let array = m.array(unit, element, &[self.count, self.second_count]).unwrap();
        let vector = m.vector(unit, element, self.elements).unwrap();
        let matrix = m.matrix_of(unit, vector, self.columns, Major::Column, self.column_stride).unwrap();
        let enumeration = m.enumeration(unit, Some("e"), int, &self.enumerators).unwrap();
        let local = m.pointer_into(unit, Some(structure), self.space).unwrap();
        let takes = vec![int; self.parameters];
        let subroutine = m.subroutine(unit, Some(int), &takes).unwrap();
        let callback = m.pointer(unit, Some(subroutine)).unwrap();
        let qualified = m.qualified(unit, self.qualifier, Some(int)).unwrap();
        let typedef = m.typedef(unit, self.typedef, Some(qualified)).unwrap();
        // No entity uses this type.
        m.typedef(unit, self.unused, Some(long)).unwrap();
        let s4 = Loc::register(m.target().sgpr(4).unwrap());
        for _ in 0..if self.two_procedures { 2 } else { 1 } {
            m.procedure(unit, &s4).unwrap();
        }
        let global = m.symbol("data");
        m.variable(unit, self.global, int).unwrap().always(Loc::global_symbol(global)).unwrap();
        m.constant(unit, "c", int, &self.constant[..(bits as usize).div_ceil(8).min(4)]).unwrap();
        let namespace = m.namespace(unit, self.namespace).unwrap();

        let mut inlined = [None; 2];
        for (index, name) in ["in", "in_too"].into_iter().enumerate() {
            let function = m.function(unit, name).unwrap().id();
            let first = m.variable(function, "i", int).unwrap().id();
            let second = m.variable(function, "i", int).unwrap().id();
            inlined[index] = Some((function, first, second));
        }
        let (callee, first, second) = inlined[usize::from(self.inlined_is_other)].unwrap();
        let origin = if self.inlined_variable_is_other { second } else { first };

        let mut f = m.function(namespace, self.function).unwrap();
        f.code(self.symbol, self.bytes)
            .declared(SourceLine::new(files[self.function_file], self.function_line));
        if !self.linkage.is_empty() {
            f.linkage_name(self.linkage);
        }
        if self.is_kernel {
            f.kernel();
        }
        if self.is_external {
            f.external();
        }
        if self.returns {
            f.returns(int).unwrap();
        }
        let kernel = f.id();
        for name in self.parameter_order {
            let mut p = if self.is_parameter {
                m.parameter(kernel, name, int).unwrap()
            } else {
                m.variable(kernel, name, int).unwrap()
            };
            p.live(0..0x20, s4.clone()).unwrap();
        }
        for (name, ty) in [
            ("st", structure),
            ("ar", array),
            ("ve", vector),
            ("ma", matrix),
            ("en", enumeration),
            ("lo", if self.is_pointer { local } else { long }),
            ("ca", callback),
            ("ty", if self.is_const { typedef } else { int }),
        ] {
            m.variable(kernel, name, ty).unwrap();
        }
        let block = self.has_block.then(|| m.block(kernel, &self.block).unwrap());
        let ty = if self.variable_is_long { long } else { int };
        for _ in 0..if self.is_twice { 2 } else { usize::from(self.is_there) } {
            let mut x = match block.filter(|_| self.in_block) {
                Some(block) => m.variable(block, self.variable, ty).unwrap(),
                None => m.variable(kernel, self.variable, ty).unwrap(),
            };
            x.declared(SourceLine::new(files[0], self.variable_line));
            if self.variable_is_artificial {
                x.artificial();
            }
            if self.variable_is_external {
                x.external();
            }
        }
        if self.has_inlined {
            let call = SourceLine::new(files[self.call_file], self.call_line).column(self.call_column);
            let scope = m.inlined(kernel, callee, core::slice::from_ref(&self.inlined), call).unwrap();
            m.inlined_variable(scope, origin).unwrap().live(0x10..0x18, s4).unwrap();
        }
        let row = &self.row;
        m.row(kernel, LineRow::new(0, files[0], 3)).unwrap();
        let mut middle = LineRow::new(row.pc, files[row.file], row.line);
        middle.column = row.column;
        middle.discriminator = row.discriminator;
        middle.is_stmt = row.is_stmt;
        middle.is_prologue_end = row.is_prologue_end;
        middle.is_epilogue_begin = row.is_epilogue_begin;
        m.row(kernel, middle).unwrap();
        if self.last_row {
            m.row(kernel, LineRow::new(0x30, files[0], 7)).unwrap();
        }
        if let Some(name) = self.second_unit {
            m.unit(name);
        }
        m.finish().unwrap()
    }
}
