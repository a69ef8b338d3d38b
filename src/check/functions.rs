//! Functions: what is said of them besides their bodies.

use gimli::{DwAt, constants as dw};

use super::attributes::linkage_name;
use super::compare::{Compare, Origin};
use super::entries::{Children, flag};
use super::expressions::Said;
use super::report::Kind;
use super::types::{accessibility, is_template};
use super::words::Words;
use crate::error::At;
use crate::lower::Whose;
use crate::model::{Defaulted, DescribedCalls, Function, FunctionId, LocId, Virtuality};
use crate::read::{Entry, Value};

/// An attribute, and what a function has to say in it.
type Flag = (DwAt, fn(&Function) -> bool);
type Number = (DwAt, fn(&Function) -> Option<u64>);

/// What is said of a function or is not.
const FLAGS: [Flag; 5] = [
    (dw::DW_AT_external, |function| function.is_external),
    (dw::DW_AT_noreturn, |function| function.is_noreturn),
    (dw::DW_AT_main_subprogram, |function| function.is_main),
    (dw::DW_AT_explicit, |function| function.member.is_explicit),
    (dw::DW_AT_deleted, |function| function.member.is_deleted),
];

/// What is numbered: DWARF 5 tables 7.15, 7.16 and 7.24.
const NUMBERS: [Number; 3] = [
    (dw::DW_AT_accessibility, |function| function.member.accessibility.map(accessibility)),
    (dw::DW_AT_virtuality, |function| {
        function.member.virtuality.map(|virtuality| match virtuality {
            Virtuality::Virtual => 1,
            Virtuality::Pure => 2,
        })
    }),
    (dw::DW_AT_defaulted, |function| {
        function.member.defaulted.map(|defaulted| match defaulted {
            Defaulted::InClass => 1,
            Defaulted::OutOfClass => 2,
        })
    }),
];

/// Which calls are described, and the attribute that says so: in DWARF 5, and before.
const CALLS: [(DescribedCalls, [DwAt; 2]); 3] = [
    (DescribedCalls::Tail, [dw::DW_AT_call_all_tail_calls, dw::DW_AT_GNU_all_tail_call_sites]),
    (DescribedCalls::All, [dw::DW_AT_call_all_calls, dw::DW_AT_GNU_all_call_sites]),
    (DescribedCalls::Source, [dw::DW_AT_call_all_source_calls, dw::DW_AT_GNU_all_source_call_sites]),
];

impl<'a, 'o> Compare<'a, 'o> {
    pub(super) fn function(&mut self, id: FunctionId, children: &mut Children<'a, 'o>) {
        let module = self.module;
        let data = module.function(id);
        let name = module.string(data.name);
        let at = module.at_scope(data.scope);
        let is_inlined = self.index.inlined[id];
        if is_inlined || data.address.is_none() {
            match children.take(dw::DW_TAG_subprogram, name, false) {
                Some(found) => {
                    self.report.entries += 1;
                    self.function_origins[id] = Some(found.offset());
                    self.attributes(found, true, &at);
                    self.same(
                        &at,
                        "DW_AT_declaration",
                        &data.is_declaration,
                        &flag(found, dw::DW_AT_declaration),
                    );
                    let inline = inline(is_inlined, data.is_declared_inline);
                    let inline = (!data.is_declaration).then_some(inline);
                    self.same(&at, "DW_AT_inline", &inline, &found.number(dw::DW_AT_inline));
                    self.function_attributes(id, found, None, &at);
                    let object = data.object_pointer.map_or(Origin::Nothing, Origin::Variable);
                    self.refers(found, dw::DW_AT_object_pointer, object, &at);
                    self.function_templates(id, found, &at);
                    self.scope(data.scope, found, None);
                }
                None => self.find(Kind::MissingEntry, at.clone(), "an abstract instance", "none"),
            }
        }
        if data.address.is_none() {
            return;
        }
        let Some(found) = children.take(dw::DW_TAG_subprogram, name, true) else {
            return self.find(Kind::MissingEntry, at, format!("function `{name}`"), "none");
        };
        self.report.entries += 1;
        self.attributes(found, false, &at);
        self.instance_of(found, if is_inlined { Origin::Function(id) } else { Origin::Nothing }, &at);
        if !is_inlined {
            self.function_origins[id] = Some(found.offset());
        }
        let own = (!is_inlined && data.is_declared_inline).then(|| inline(false, true));
        self.same(&at, "DW_AT_inline", &own, &found.number(dw::DW_AT_inline));
        let kernel = self.consumer.kernel_convention.filter(|_| data.is_kernel).map(u64::from);
        self.function_attributes(id, found, kernel, &at);
        if let Err(error) = super::code::is_there(module, self.object, id) {
            let at = At { section: error.at().section.clone(), ..at.clone() };
            self.find(Kind::Code, at, "code that is in the object", error.kind().to_string());
        }
        // Where there is none, that was found already.
        if let Some(start) = self.address(id) {
            self.code(found, core::slice::from_ref(&(start..start.wrapping_add(data.bytes))), &at);
        }
        self.entry_pc(data.scope, found, Some(id), &at);
        if let Some(attribute) = self.consumer.lanes {
            let lanes = module.target.lanes();
            let expected = (lanes > 1).then_some(u64::from(lanes));
            self.same(&at, "the number of lanes", &expected, &found.number(attribute));
        }
        let object = data.object_pointer.map_or(Origin::Nothing, Origin::Place);
        self.refers(found, dw::DW_AT_object_pointer, object, &at);
        for (calls, names) in CALLS {
            for (is_gnu, name) in [false, true].into_iter().zip(names) {
                let expected = data.calls == Some(calls) && is_gnu == self.has_gnu_calls();
                self.same(&at, &name.words(), &expected, &flag(found, name));
            }
        }
        self.frames.push((id, found));
        self.lanes.push((data.scope, found));
        if !is_inlined {
            self.function_templates(id, found, &at);
        } else if found.children().any(|child| is_template(child.tag())) {
            self.find(Kind::Type, at.clone(), "template parameters in the abstract instance", "some");
        }
        self.scope(data.scope, found, Some(id));
    }

    /// What a function is, by itself or by what it is an instance or definition of. `kernel` is the convention
    /// that this instance has if it says nothing else.
    fn function_attributes(&mut self, id: FunctionId, entry: Entry<'a, 'o>, kernel: Option<u64>, at: &At) {
        let module = self.module;
        let data = module.function(id);
        let declaration = data.specification.map(|id| module.function(id));
        // An instance has that of its origin, which is compared there.
        if entry.attr(dw::DW_AT_abstract_origin).is_none() {
            let of = data.specification.map_or(Origin::Nothing, Origin::Function);
            self.refers(entry, dw::DW_AT_specification, of, at);
        } else if entry.attr(dw::DW_AT_specification).is_some() {
            self.find(Kind::Attribute, at.clone(), "no DW_AT_specification", "one");
        }
        let linkage = data.linkage_name.or(declaration.and_then(|declaration| declaration.linkage_name));
        let linkage = linkage.map(|name| module.string(name).to_owned());
        let found =
            entry.inherited(linkage_name(self.consumer.version)).and_then(Value::text).map(Into::into);
        self.same(at, "the linkage name", &linkage, &found);
        for (name, is) in FLAGS {
            let expected = is(data) || declaration.is_some_and(is);
            let found = matches!(entry.inherited(name), Some(Value::Flag(true)));
            self.same(at, &name.words(), &expected, &found);
        }
        for (name, number) in NUMBERS {
            let expected = number(data).or_else(|| declaration.and_then(number));
            let found = entry.inherited(name).and_then(Value::unsigned);
            self.same(at, &name.words(), &expected, &found);
        }
        let own = data.convention.map(u64::from).or(kernel);
        let convention =
            own.or_else(|| declaration.and_then(|declaration| declaration.convention).map(u64::from));
        let found = entry.inherited(dw::DW_AT_calling_convention).and_then(Value::unsigned);
        self.same(at, "DW_AT_calling_convention", &convention, &found);
        // A prototype is said of where a function can be without one: C and OpenCL C (DWARF 5, table 7.17, and
        // the standards of C that came after).
        let unit = module.scope(data.scope).unit;
        let language = module.unit(unit).language.map(|language| language.0);
        let has_prototype = matches!(language, Some(0x01 | 0x02 | 0x0c | 0x15 | 0x1d | 0x2c | 0x3e));
        let found = matches!(entry.inherited(dw::DW_AT_prototyped), Some(Value::Flag(true)));
        self.same(at, "DW_AT_prototyped", &has_prototype, &found);
        self.declared(entry, at, data.line.or(declaration.and_then(|declaration| declaration.line)));
        self.ty(data.returns, entry.ty(), at);
    }

    /// The entry that stands for more arguments than there are parameters: after those.
    pub(super) fn more_arguments(
        &mut self,
        id: FunctionId,
        children: &mut Children<'a, 'o>,
        is_first: bool,
        last_parameter: usize,
    ) {
        let data = self.module.function(id);
        if !data.is_variadic || !is_first {
            return;
        }
        let at = self.module.at_scope(data.scope);
        let Some(found) = children.take(dw::DW_TAG_unspecified_parameters, "", false) else {
            return self.find(Kind::MissingEntry, at, "an entry for more arguments", "none");
        };
        self.report.entries += 1;
        self.attributes(found, false, &at);
        self.same(&at, "the entry for more arguments last", &true, &(found.index() > last_parameter));
    }

    /// Where a function's frame is.
    pub(super) fn frame(&mut self, id: FunctionId, entry: Entry<'a, 'o>) {
        let data = self.module.function(id);
        let at = self.module.at_scope(data.scope);
        let mut left = self.left_out_of(Whose::Function(id));
        let said: [(DwAt, Option<LocId>); 2] =
            [(dw::DW_AT_frame_base, data.frame_base), (dw::DW_AT_static_link, data.static_link)];
        for (name, loc) in said {
            match loc {
                None => {
                    let is_there = entry.attr(name).is_some();
                    self.same(&at, &name.words(), &false, &is_there);
                }
                Some(_) if left > 0 && entry.attr(name).is_none() => left -= 1,
                Some(loc) => {
                    let said = Said { function: Some(id), pc: 0, loc, is_number: false };
                    self.said_of_function(said, entry, name, &at);
                }
            }
        }
    }
}

/// DWARF 5 table 7.20.
fn inline(is_inlined: bool, is_declared: bool) -> u64 {
    u64::from(is_inlined) + 2 * u64::from(is_declared)
}
