//! Checks on the complete module, and modules described one after the other.

use hashbrown::{HashSet, HashTable};

use super::blame::{Blame, Wrong};
use super::builder::Builder;
use super::ids::{check_line, check_line_of, known_symbol};
use super::variables::takes_parameters;
use super::{attributes, frame, lanes, macros, parts, slots};
use crate::error::{Aligned, At, Error, ErrorKind, Quantity, Ranges, Result};
use crate::model::{
    Address, AttributeOwner, Discriminant, EntryOrder, ExtraValue, Function, Imported, Lanes, Module,
    PrimaryMap, Scope, ScopeId, ScopeKind, SecondaryMap, TypeId, UnitId, Variable, VariableId, VariableKind,
    VariantPartId,
};

/// Variable count from which a module is large: it is handed over without unused memory, which is not kept. Nor is a
/// hash table with as many elements, because clearing it takes time for each of its slots.
const LARGE: usize = 1 << 10;

impl Builder {
    /// Returns the finished module.
    ///
    /// # Errors
    /// * [`ErrorKind::OverlappingRanges`]: two ranges of a variable, two rules for a column, or two whole-wave code
    ///   ranges have pcs in common.
    /// * [`ErrorKind::CyclicType`]: a type contains itself.
    /// * [`ErrorKind::UnknownId`]: a line is in another unit's file, or a function's symbol does not exist.
    /// * [`ErrorKind::OutsideFunction`]: a function's code became smaller than a range in it.
    /// * [`ErrorKind::BadArgument`]: a parameter outside a function; a variable with locations by pc that also has a
    ///   location for all pcs, or is in no function; a declaration with code or a location; a body's line without a
    ///   file; a static member with a location in its class; a call without a pc; an MD5 sum for only some files in a
    ///   unit; a function with rows that ends inside an instruction; a range in several parts of a function; an open file
    ///   among the macros; a stack slot in a function without a known base; lane regions that overlap without nesting; an
    ///   empty symbol name; a zero byte in an argument to a call that returns no error; an attribute of a part that does
    ///   not exist.
    ///
    /// # Example
    ///
    /// ```
    /// # use eitri::build::Builder;
    /// # use eitri::model::{BaseEncoding, Loc};
    /// # use eitri::target::Target;
    /// # let gpu = Target::named("amdgpu-gfx1030-wave32")?;
    /// # let (s4, v3, v40) = (gpu.sgpr(4)?, gpu.vgpr(3)?, gpu.vgpr(40)?);
    /// # let mut m = Builder::new(gpu);
    /// # let unit = m.unit("a.cl");
    /// # let int = m.base_type(unit, "int", BaseEncoding::Signed, 32)?;
    /// # let f = m.function(unit, "f")?.code("f", 0x40).id();
    /// // What only the whole module shows: these ranges overlap, and each call alone is right.
    /// m.variable(f, "x", int)?
    ///     .live(0x08..0x20, Loc::per_lane(v3))?
    ///     .live(0x10..0x40, Loc::register(s4))?;
    /// let error = m.finish().unwrap_err();
    /// assert_eq!(error.at().variable.as_deref(), Some("x"));
    /// # Ok::<(), eitri::Error>(())
    /// ```
    pub fn finish(self) -> Result<Module> {
        self.finish_or_blame().map_err(|wrong| wrong.error)
    }

    /// Returns the finished module, or an error with the call to blame.
    pub(crate) fn finish_or_blame(mut self) -> Result<Module, Wrong> {
        self.end()?;
        self.shrink();
        Ok(self.module)
    }

    /// Finishes the module, hands it over, and begins the next module of the program in the same memory.
    ///
    /// The next module has the same target, and its names keep their numbers, by which a
    /// [`Stream`](crate::lower::Stream) finds them: ids from the module that was handed over, other than
    /// [symbols](crate::model::Symbol), are invalid in it. A program with many small modules is written faster in this
    /// way than with a builder for each of them. The names stay in memory, so that a program with large modules takes
    /// less memory with a builder for each.
    ///
    /// ```
    /// # use eitri::{build::Builder, lower::{Consumer, Policy, Stream}, target::Target};
    /// let consumer = Consumer::dwarf5();
    /// let mut stream = Stream::new(&consumer, Policy::Strict);
    /// let mut m = Builder::new(Target::x86_64());
    /// for name in ["a.c", "b.c", "c.c"] {
    ///     m.unit(name);
    ///     m.hand_over(|module| stream.push(module))?;
    /// }
    /// assert!(!stream.finish()?.is_empty());
    /// # Ok::<(), eitri::Error>(())
    /// ```
    ///
    /// # Errors
    /// Same errors as [`finish`](Self::finish), and the errors that `take` returns. The next module begins after an
    /// error too.
    pub fn hand_over<T>(&mut self, take: impl FnOnce(&Module) -> Result<T>) -> Result<T> {
        let ended = self.end();
        let is_large = self.module.variables.len() > LARGE;
        if is_large {
            self.shrink();
            self.recent = Default::default();
            self.order = Default::default();
            self.around = PrimaryMap::default();
            self.interned = HashTable::new();
        }
        // The module is taken before its memory is cleared; an error leaves the builder usable.
        let taken = match ended {
            Ok(()) => take(&self.module),
            Err(wrong) => Err(wrong.error),
        };
        if is_large {
            // Only the strings survive, because the stream refers to them by number.
            let strings = core::mem::take(&mut self.module.strings);
            self.module = Module::new(self.module.target.clone(), self.module.owner());
            self.module.strings = strings;
        }
        self.begin();
        taken
    }

    /// Removes all entities, and keeps the names.
    fn begin(&mut self) {
        let Self {
            module,
            interned,
            hasher: _,
            order,
            files,
            macro_units,
            around,
            preprocessors,
            procedures,
            recent,
            bounds,
            slots,
            attributes,
            wrong,
        } = self;
        let Module {
            target: _,
            reach: _,
            strings: _,
            exprs,
            units,
            files: file_data,
            types,
            variant_parts,
            scopes,
            functions,
            variables,
            enclosing_scope,
            procedures: procedure_data,
            calls,
            imports,
            labels,
            locs,
            lanes,
            lists,
            entry_order,
        } = module;
        if interned.capacity() > LARGE {
            *interned = HashTable::new();
        }
        if files.capacity() > LARGE {
            *files = Default::default();
        }
        *exprs = Default::default();
        interned.clear();
        order.clear();
        files.clear();
        macro_units.clear();
        around.clear();
        *preprocessors = SecondaryMap::new();
        *procedures = SecondaryMap::new();
        *recent = Default::default();
        bounds.clear();
        slots.clear();
        *attributes = HashSet::new();
        *wrong = None;
        units.clear();
        file_data.clear();
        types.clear();
        variant_parts.clear();
        scopes.clear();
        functions.clear();
        variables.clear();
        *enclosing_scope = SecondaryMap::new();
        procedure_data.clear();
        calls.clear();
        imports.clear();
        labels.clear();
        locs.clear();
        *lanes = Lanes::new(units.owner());
        lists.clear();
        *entry_order = EntryOrder::default();
    }

    /// Frees memory that the finished module does not need.
    fn shrink(&mut self) {
        let module = &mut self.module;
        module.locs.shrink_to_fit();
        module.lists.live.shrink_to_fit();
        module.lists.rows.shrink_to_fit();
        module.lists.frame_rules.shrink_to_fit();
        module.variables.shrink_to_fit();
        module.scopes.shrink_to_fit();
        module.functions.shrink_to_fit();
        module.types.shrink_to_fit();
        module.lists.ranges.shrink_to_fit();
        module.strings.shrink_to_fit();
    }

    /// Removes the members of structures, classes and unions that contain themselves, and returns these types.
    #[cfg(feature = "import")]
    pub(crate) fn break_cycles(&mut self) -> Vec<TypeId> {
        let mut types: Vec<TypeId> =
            cycles(&self.module).into_iter().map(|(_, composite)| composite).collect();
        types.sort();
        types.dedup();
        for &ty in &types {
            let composite = self.composite_mut(ty);
            composite.members.clear();
            composite.bases.clear();
            composite.variant_parts.clear();
        }
        let is_whole = |ty: TypeId| types.binary_search(&ty).is_err();
        let is_gone = |part: VariantPartId| !is_whole(self.module.variant_parts[part].of);
        self.module.lists.attributes.retain(|attribute| {
            let has_owner = match attribute.owner {
                AttributeOwner::Base(ty, _) | AttributeOwner::Member(ty, _) => is_whole(ty),
                AttributeOwner::VariantMember(part, ..) => !is_gone(part),
                _ => true,
            };
            has_owner && !matches!(attribute.value, ExtraValue::Member(ty, _) if !is_whole(ty))
        });
        for part in self.module.variant_parts.values_mut().filter(|part| !is_whole(part.of)) {
            part.discriminant = Discriminant::None;
        }
        // An import of a removed member stays as that of its type, because further entities refer to imports by number.
        for import in self.module.imports.values_mut() {
            if let Imported::Member(ty, _) = import.what
                && !is_whole(ty)
            {
                import.what = Imported::Type(ty);
            }
        }
        types
    }

    /// Assigns sorted entities to their owners, and checks the complete module.
    fn end(&mut self) -> Result<(), Wrong> {
        self.take_wrong()?;
        let is_disjoint = self.order.sort_live(&mut self.module);
        // Everything is sorted and assigned to its owner first, because the checks below rely on the order.
        self.order.sort_rows(&mut self.module);
        self.add_entry_frames()?;
        self.sort_frames();
        self.sort_arguments();
        self.sort_macros();
        self.find_outside();
        attributes::sort(&mut self.module)?;
        lanes::sort(&mut self.module);
        let module = &self.module;
        check_functions(module)?;
        check_undescribed(module)?;
        check_calls(module)?;
        parts::check(module)?;
        // Live ranges that were added in order are disjoint, which is the usual case.
        if !is_disjoint {
            check_live(module)?;
        }
        slots::check(module, &self.slots)?;
        check_variables(module)?;
        frame::check(module)?;
        check_files(module)?;
        check_types(module)?;
        macros::check(module)?;
        lanes::check(module)?;
        Ok(())
    }

    /// Records for each type's scope the innermost enclosing scope that is not a type's. Each step is taken once for
    /// all types on the way.
    fn find_outside(&mut self) {
        let Module { scopes, enclosing_scope: known, .. } = &mut self.module;
        let mut between = Vec::new();
        for id in scopes.keys() {
            let mut outside = id;
            while let Scope { kind: ScopeKind::Type(_), parent: Some(parent), .. } = &scopes[outside] {
                crate::work::step();
                // Each scope on the way gets the result as well, so that a long chain of nested types is walked once.
                between.push(outside);
                outside = known[outside].unwrap_or(*parent);
            }
            between.drain(..).for_each(|index| known[index] = Some(outside));
        }
    }

    fn sort_arguments(&mut self) {
        let arguments = &mut self.module.lists.arguments;
        // A call's arguments stay in the order in which `argument` was called.
        arguments.sort_by_key(|argument| argument.call);
        let mut index = 0;
        while let Some(first) = arguments.get(index) {
            let call = first.call;
            let count = arguments[index..].iter().take_while(|argument| argument.call == call).count();
            self.module.calls[call].arguments = index as u32..(index + count) as u32;
            index += count;
        }
    }
}

fn check_functions(module: &Module) -> Result<()> {
    for function in module.functions.values() {
        let context = || module.at_scope(function.scope);
        for part in function.code_parts() {
            match part.address {
                // A symbol can come from another module, whose strings this module lacks.
                Address::Symbol(symbol, _) => {
                    known_symbol(module, symbol).map_err(|error| error.or_at(context()))?;
                }
                Address::Constant(address) if address.checked_add(part.bytes()).is_none() => {
                    let end = u128::from(address) + u128::from(part.bytes());
                    return Err(Error::limit(Quantity::CodeEnd, 0..=u64::MAX.into(), end).or_at(context()));
                }
                Address::Constant(_) => {}
            }
        }
        check_line(module, function.line, function.scope).map_err(|error| error.or_at(context()))?;
        let declared = function.specification.map(|declaration| &module.functions[declaration]);
        let has_file = function.line.is_some() || declared.is_some_and(|declared| declared.line.is_some());
        if function.body_line != 0 && !has_file {
            let what = format!(
                "body line {} has no declaration line, which would give its file",
                function.body_line
            );
            return Err(Error::bad_argument(what).or_at(context()));
        }
        if function.is_declaration && function.address.is_some() {
            return Err(Error::bad_argument("declaration has code").or_at(context()));
        }
        if let Some(origin) = function.origin
            && module.functions[origin].address.is_some()
        {
            let name = module.string(function.name);
            let what = format!(
                "`{name}` has code and an instance; expected an instance for each code of the function"
            );
            return Err(Error::bad_argument(what).or_at(context()));
        }
        if let Some(base) = function.frame_bases().last().filter(|base| base.pcs().end > function.bytes) {
            let error = Error::new(ErrorKind::OutsideFunction { size: function.bytes });
            return Err(error.or_at(context().with(|context| context.pcs = Some(base.pcs()))));
        }
        // The rows' end is encoded in multiples of the shortest instruction.
        let step = u64::from(module.target.min_instruction_bytes());
        if !function.rows.is_empty() && !function.bytes.is_multiple_of(step) {
            let kind = ErrorKind::Misaligned { kind: Aligned::CodeBytes, step, value: function.bytes };
            return Err(Error::new(kind).or_at(context()));
        }
    }
    Ok(())
}

/// Refuses properties of a function without an entry that only an entry could state, and entities in such a function.
fn check_undescribed(module: &Module) -> Result<()> {
    let is_undescribed = |scope: ScopeId| match module.scopes[scope].kind {
        ScopeKind::Function(function) => module.functions[function].is_undescribed,
        _ => false,
    };
    if !module.functions.values().any(|function| function.is_undescribed) {
        return Ok(());
    }
    let refused = |scope, what: &str| Err(Error::bad_argument(what).or_at(module.at_scope(scope)));
    for function in module.functions.values().filter(|function| function.is_undescribed) {
        let scope = function.scope;
        if !module.string(function.name).is_empty() {
            return refused(scope, "function without an entry has a name; expected none");
        }
        if function.address.is_none() {
            return refused(scope, "function without an entry has no code; expected code");
        }
    }
    let parts = module.variables.values().map(|variable| variable.scope);
    let parts = parts.chain(module.types.values().map(|ty| ty.scope));
    let parts = parts.chain(module.scopes.values().filter_map(|scope| scope.parent));
    let parts = parts.chain(module.calls.values().map(|call| call.scope));
    let parts = parts.chain(module.imports.values().map(|import| import.scope));
    let mut parts = parts.chain(module.labels.values().map(|label| label.scope));
    if let Some(scope) = parts.find(|&scope| is_undescribed(scope)) {
        return refused(scope, "an entity is in a function without an entry");
    }
    let callees = module.calls.values().filter_map(|call| call.callee);
    let inlined = module.scopes.values().filter_map(|scope| match scope.kind {
        ScopeKind::Inlined { function, .. } => Some(function),
        _ => None,
    });
    let declared = module.functions.values().flat_map(|function| [function.specification, function.origin]);
    let declared = declared.flatten();
    let mut referred =
        callees.chain(inlined).chain(declared).map(|function| module.functions[function].scope);
    match referred.find(|&scope| is_undescribed(scope)) {
        Some(scope) => refused(scope, "an entity refers to a function without an entry"),
        None => Ok(()),
    }
}

fn check_calls(module: &Module) -> Result<()> {
    for call in module.calls.values() {
        if call.return_pc.is_none() && call.pc.is_none() {
            let what = "call has neither a pc nor a return pc";
            return Err(Error::bad_argument(what).or_at(module.at_scope(call.scope)));
        }
    }
    Ok(())
}

fn check_live(module: &Module) -> Result<(), Wrong> {
    for pair in module.lists.live.windows(2) {
        let [first, second] = pair else { continue };
        // Equal ranges are one set of simultaneous locations, not an overlap.
        let same_place_set = first.start == second.start && first.end == second.end;
        if first.variable == second.variable && second.start < first.end && !same_place_set {
            let context = module.at_variable(second.variable, Some(second.pcs()));
            let error = Error::new(ErrorKind::OverlappingRanges { kind: Ranges::Live, other: first.pcs() })
                .or_at(context);
            return Err(Wrong::with(error, Blame::Live(second.variable, second.pcs())));
        }
    }
    Ok(())
}

/// A scope's properties that checks on its variables need.
struct Around<'m> {
    scope: ScopeId,
    unit: UnitId,
    function: Option<&'m Function>,
    is_of_declaration: bool,
    is_type: bool,
    takes_parameters: bool,
}

impl<'m> Around<'m> {
    fn new(module: &'m Module, scope: ScopeId) -> Self {
        let function = module.function_of(scope).map(|function| &module.functions[function]);
        let Scope { kind, unit, .. } = &module.scopes[scope];
        Self {
            scope,
            unit: *unit,
            function,
            is_of_declaration: function.is_some_and(|function| function.is_declaration),
            is_type: matches!(kind, ScopeKind::Type(_)),
            takes_parameters: takes_parameters(kind),
        }
    }
}

fn check_variables(module: &Module) -> Result<(), Wrong> {
    let Some(first) = module.variables.values().next() else { return Ok(()) };
    // Consecutive variables are usually in one scope.
    let mut around = Around::new(module, first.scope);
    for (id, variable) in &module.variables {
        if around.scope != variable.scope {
            around = Around::new(module, variable.scope);
        }
        check_line_of(module, variable.line, around.unit)
            .map_err(|error| error.or_at(module.at_variable(id, None)))?;
        // Most variables need no further check, so that the remaining checks are in a separate function.
        let is_ruled = around.is_type || around.is_of_declaration || variable.is_declaration;
        let is_parameter = variable.kind == VariableKind::Parameter;
        if is_ruled || !variable.live.is_empty() || is_parameter && !around.takes_parameters {
            check_variable(module, id, variable, &around)?;
        }
    }
    Ok(())
}

fn check_variable(
    module: &Module,
    id: VariableId,
    variable: &Variable,
    around: &Around<'_>,
) -> Result<(), Wrong> {
    let is_live = !variable.live.is_empty();
    if let Some(function) = around.function
        && is_live
        // The ranges are sorted and disjoint.
        && module.live(id).last().is_some_and(|last| last.pcs().end > function.bytes)
        && let Some(live) = module.live(id).iter().find(|live| live.pcs().end > function.bytes)
    {
        let context = module.at_variable(id, Some(live.pcs()));
        let error = Error::new(ErrorKind::OutsideFunction { size: function.bytes }).or_at(context);
        return Err(Wrong::with(error, Blame::Live(id, live.pcs())));
    }
    let is_parameter = variable.kind == VariableKind::Parameter;
    let is_always = variable.always.is_some();
    // A constant value may be at a declaration; the location belongs to the definition.
    let is_elsewhere = |loc| module.constant(loc).is_none();
    let what = if around.is_type && (is_live || variable.always.is_some_and(is_elsewhere)) {
        "static member has a location; expected a constant, as its definition has the location"
    } else if variable.is_declaration && (is_live || variable.always.is_some_and(is_elsewhere)) {
        "declaration has a location"
    } else if around.is_of_declaration && !is_parameter {
        "function declaration contains a variable; expected only parameters"
    } else if around.is_of_declaration && is_always {
        "parameter of a declaration has a location"
    } else if is_live && is_always {
        "variable has live ranges and a location for all pcs; expected `live` or `always`"
    } else if is_live && around.function.is_none() {
        "variable outside all functions has live ranges; expected `always`, a location for all pcs"
    } else if is_parameter && !around.takes_parameters {
        "parameter is outside all functions"
    } else {
        return Ok(());
    };
    let error = Error::bad_argument(what).or_at(module.at_variable(id, None));
    Err(match module.live(id).first() {
        _ if is_always => Wrong::with(error, Blame::Always(id)),
        Some(live) => Wrong::with(error, Blame::Live(id, live.pcs())),
        None => error.into(),
    })
}

fn check_files(module: &Module) -> Result<()> {
    for file in module.files.values() {
        let first = module.units[file.unit].file;
        if file.md5.is_some() != module.files[first].md5.is_some() {
            let unit = Some(module.string(module.units[file.unit].name).into());
            let what = format!(
                "only one file has an MD5 sum, `{}` or the primary file; expected sums for all files of a unit or for none",
                module.string(file.name)
            );
            return Err(Error::bad_argument(what).or_at(At::new(|context| context.unit = unit)));
        }
    }
    Ok(())
}

/// Types refer to earlier types, except through members: only through members can a type contain itself.
fn check_types(module: &Module) -> Result<()> {
    let mut are_earlier = true;
    for (id, ty) in &module.types {
        let check = |line| check_line_of(module, Some(line), ty.unit);
        ty.lines(module).try_for_each(check).map_err(|error| error.or_at(module.at_type(id)))?;
        are_earlier &= ty.contains_earlier_only(module, id);
    }
    // Most types contain earlier types only.
    if are_earlier {
        return Ok(());
    }
    match cycles(module).first() {
        Some(&(ty, _)) => Err(cyclic(module, ty)),
        None => Ok(()),
    }
}

/// Returns the types that contain themselves, each with the structure, class or union whose member leads to it again.
/// The first is the first in the description.
fn cycles(module: &Module) -> Vec<(TypeId, TypeId)> {
    let mut cycles = Vec::new();
    // Each type's state: not visited, being visited, or known not to contain itself.
    let mut seen = vec![Seen::No; module.types.len()];
    // An explicit stack, as types may be nested deeply: open types, and types inside them that are still to be visited.
    let (mut open, mut next): (Vec<TypeId>, Vec<Step>) = Default::default();
    for ty in module.types.keys() {
        next.push(Step::Into(ty));
        while let Some(step) = next.pop() {
            let state = |ty: TypeId| ty.as_u32() as usize;
            match step {
                Step::Into(ty) => match seen[state(ty)] {
                    Seen::Done => {}
                    Seen::Open => {
                        let is_composite = |ty: &&TypeId| module.types[**ty].own_scope().is_some();
                        cycles.extend(open.iter().rfind(is_composite).map(|&composite| (ty, composite)));
                    }
                    Seen::No => {
                        seen[state(ty)] = Seen::Open;
                        open.push(ty);
                        next.push(Step::Out);
                        let first = next.len();
                        module.types[ty].contained(module, |inner| next.push(Step::Into(inner)));
                        // The stack reverses the order again, so that the first type in the description is reported.
                        next[first..].reverse();
                    }
                },
                Step::Out => {
                    if let Some(ty) = open.pop() {
                        seen[state(ty)] = Seen::Done;
                    }
                }
            }
        }
    }
    cycles
}

enum Step {
    Into(TypeId),
    Out,
}

#[derive(Clone, Copy)]
enum Seen {
    No,
    Open,
    Done,
}

fn cyclic(module: &Module, ty: TypeId) -> Error {
    let data = &module.types[ty];
    let name = data.name().map_or_else(|| ty.to_string(), |name| module.string(name).into());
    let unit = Some(module.string(module.units[data.unit].name).into());
    Error::new(ErrorKind::CyclicType(name)).or_at(At::new(|context| context.unit = unit))
}
