//! Random contents of scopes: declarations, member functions, imports, labels, calls.

use core::ops::Range;

use eitri::build::{InScope, Template};
use eitri::model::{
    Accessibility, Defaulted, DescribedCalls, FunctionId, Imported, Loc, SourceLine, TypeId, Val, VariableId,
    Virtuality,
};

use crate::agreement::modules::Maker;

impl Maker<'_, '_> {
    /// Sets random optional properties of a function.
    pub fn describe(&mut self, id: FunctionId) {
        let access = self.c.of(&[
            None,
            Some(Accessibility::Public),
            Some(Accessibility::Protected),
            Some(Accessibility::Private),
        ]);
        let virtuality = self.c.of(&[None, Some(Virtuality::Virtual), Some(Virtuality::Pure)]);
        let defaulted = self.c.of(&[None, Some(Defaulted::InClass), Some(Defaulted::OutOfClass)]);
        let calls = self.c.of(&[
            None,
            Some(DescribedCalls::Tail),
            Some(DescribedCalls::All),
            Some(DescribedCalls::Source),
        ]);
        let convention = self.c.of(&[None, Some(3), Some(0xc6)]);
        let frame = self.names.loc(self.c, 64, 2);
        let link = self.names.loc(self.c, 64, 1);
        let argument = self.c.of(&self.types).0;
        let mut f = self.m.describe_function(id).unwrap();
        if self.c.is(3) {
            f.variadic();
        }
        if self.c.is(4) {
            f.noreturn();
        }
        if self.c.is(4) {
            f.main();
        }
        if self.c.is(3) {
            f.declared_inline();
        }
        if self.c.is(4) {
            f.explicit();
        }
        if self.c.is(4) {
            f.deleted();
        }
        if let Some(access) = access {
            f.accessibility(access);
        }
        if let Some(virtuality) = virtuality {
            f.virtuality(virtuality);
        }
        if let Some(defaulted) = defaulted {
            f.defaulted(defaulted);
        }
        if let Some(calls) = calls {
            f.describes(calls);
        }
        if let Some(convention) = convention {
            f.convention(convention);
        }
        if self.c.is(4) {
            f.template(Template::ty("T", Some(argument))).unwrap();
            f.template(Template::pack("Rest", [Template::named("C", "box")])).unwrap();
        }
        // Refusals of the builder are ignored.
        if self.c.is(3) {
            let _ = f.frame_base(&frame);
        }
        if self.c.is(5) {
            let _ = f.static_link(&link);
        }
    }

    /// A function's declaration, in a type or not, and perhaps its definition elsewhere.
    pub fn declared_function(&mut self) {
        let unit = self.unit;
        let name = self.c.of(&["f", "method"]);
        let composites = self.composites.clone();
        let returns = self.c.of(&self.types).0;
        let mut f = if composites.is_empty() || self.c.is(3) {
            self.m.function_declaration(unit, name)
        } else {
            let ty = self.c.of(&composites);
            self.m.function_declaration(ty, name)
        }
        .unwrap();
        if self.c.is(2) {
            f.returns(returns).unwrap();
        }
        if self.c.is(2) {
            f.external();
        }
        if self.c.is(2) {
            f.linkage_name("_ZNf");
        }
        let declaration = f.id();
        self.describe(declaration);
        self.parameters(declaration);
        self.functions_to_call.push(declaration);
        if self.c.is(3) {
            return;
        }
        let id = self.m.function_definition(unit, declaration).unwrap().id();
        self.describe(id);
        if self.c.is(2) {
            let line = self.line();
            self.m.describe_function(id).unwrap().declared(line);
        }
        self.parameters(id);
        let (symbol, bytes) = self.code_for();
        if !self.c.is(4) {
            self.m.describe_function(id).unwrap().code(&symbol, bytes).stack_at_zero();
            self.calls(id, &[], bytes);
        }
        self.functions.push((id, Vec::new()));
    }

    fn parameters(&mut self, function: FunctionId) {
        let mut all = Vec::new();
        for _ in 0..self.c.below(3) {
            let name = self.c.of(&["this", "x"]);
            let ty = self.c.of(&self.types).0;
            all.push(self.m.parameter(function, name, ty).unwrap().artificial().id());
        }
        if let (Some(&first), true) = (all.first(), self.c.is(2)) {
            self.m.describe_function(function).unwrap().object_pointer(first).unwrap();
        }
        self.parameters_of.push((function, all));
    }

    /// A variable's declaration, and perhaps its definition.
    pub fn declared_variable(&mut self) -> VariableId {
        let unit = self.unit;
        let ty = self.c.of(&self.types).0;
        let name = self.c.of(&["x", "y", "shared"]);
        let line = self.line();
        let mut v = self.m.extern_variable(unit, name, ty).unwrap();
        if self.c.is(2) {
            v.declared(line);
        }
        if self.c.is(2) {
            v.linkage_name("_Zshared");
        }
        let id = v.id();
        let bits = self.m_bits(ty);
        let place = self.names.loc(self.c, bits, 2);
        if self.c.is(2) {
            let mut definition = self.m.definition(unit, id).unwrap();
            let _ = definition.always(place);
            if self.c.is(3) {
                definition.declared(SourceLine { line: line.line + 1, ..line });
            }
        }
        id
    }

    pub fn line(&mut self) -> SourceLine {
        let file = self.c.of(&self.files);
        SourceLine::new(file, self.c.between(1, 99) as u32).column(self.c.of(&[0, 0, 7]))
    }

    /// An import in a scope.
    pub fn import(&mut self, scope: impl InScope) {
        let mut all: Vec<Imported> = self.namespaces.iter().map(|&id| Imported::Namespace(id)).collect();
        all.extend(self.namespaces.iter().map(|&id| Imported::AllOf(id)));
        all.extend(self.functions.iter().map(|(id, _)| Imported::Function(*id)));
        all.extend(self.globals.iter().map(|&id| Imported::Variable(id)));
        all.extend(self.types.iter().map(|&(id, _)| Imported::Type(id)));
        let what = all[self.c.below(all.len())];
        let line = self.line();
        let mut import = self.m.import(scope, what).unwrap();
        if self.c.is(2) {
            import.declared(line).unwrap();
        }
        if self.c.is(2) {
            // An import of all names of a namespace has no name.
            let _ = import.name("alias");
        }
    }

    /// Calls, labels, imports and the entry pc of a scope.
    pub fn calls(&mut self, scope: impl InScope + Copy, own: &[Range<u64>], bytes: u64) {
        if self.c.is(4) {
            self.import(scope);
        }
        let pc = 4 * self.c.between(0, (bytes / 4).saturating_sub(1));
        if self.c.is(4) {
            let _ = self.m.entry_pc(scope, own.last().map_or(pc, |range| range.end - 1));
        }
        if bytes == 0 {
            return;
        }
        if self.c.is(4) {
            let line = self.line();
            let name = self.c.of(&["out", "again"]);
            let mut label = self.m.label(scope, name).unwrap();
            if self.c.is(2) {
                label.declared(line).unwrap();
            }
            if !self.c.is(3) {
                label.at(pc).unwrap();
            }
        }
        for _ in 0..self.c.below(3) {
            self.one_call(scope, pc);
        }
    }

    fn one_call(&mut self, scope: impl InScope, pc: u64) {
        let line = self.line();
        let mut callees = self.functions_to_call.clone();
        callees.extend(self.functions.iter().map(|(id, _)| *id));
        let callee = Some(callees).filter(|all| !all.is_empty()).map(|all| self.c.of(&all));
        let known = self.parameters_of.iter().filter(|(function, _)| Some(*function) == callee);
        let parameters: Vec<VariableId> = known.flat_map(|(_, all)| all.clone()).collect();
        let numbers: Vec<Val> = (0..6).map(|_| self.names.val(self.c, 2)).collect();
        let places: Vec<Loc> = (0..4).map(|_| self.names.loc(self.c, 64, 1)).collect();
        let mut call = self.m.call(scope).unwrap();
        match self.c.below(3) {
            0 => call.returns_to(pc + 4).unwrap(),
            1 => call.at(pc).unwrap(),
            _ => call.at(pc).unwrap().returns_to(pc + 4).unwrap(),
        };
        let callee = callee.filter(|_| self.c.is(2));
        if let Some(callee) = callee {
            call.calls(callee).unwrap();
        }
        if self.c.is(3) {
            call.tail();
        }
        if self.c.is(3) {
            call.line(line).unwrap();
        }
        // Refusals of the builder are ignored.
        if self.c.is(3) {
            let _ = call.target(numbers[0].clone());
        }
        if self.c.is(3) {
            let _ = call.clobbered_target(numbers[1].clone());
        }
        for index in 0..self.c.below(3) {
            let Ok(mut argument) = call.argument(&places[2 * index]) else { continue };
            if self.c.is(2) {
                let _ = argument.value(numbers[2 * index + 2].clone());
            }
            if self.c.is(2) {
                let _ = argument.points_to(&places[2 * index + 1], numbers[2 * index + 3].clone());
            }
            if let (Some(&parameter), Some(_)) = (parameters.get(index), callee) {
                argument.parameter(parameter).unwrap();
            }
        }
    }

    fn m_bits(&self, ty: TypeId) -> u64 {
        self.types.iter().find(|(id, _)| *id == ty).map_or(8, |(_, bits)| (*bits).max(8))
    }
}
