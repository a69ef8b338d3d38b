//! Reader state: the builder, and the ids and names of the entities that statements can reference.

use hashbrown::{DefaultHashBuilder, HashMap};
use indexmap::IndexMap;
use serde::de;
use serde_json::value::RawValue;

use super::names::Names;
use super::position::{self, syntax_error};
use super::values::{Line, Named, Ref, Text};
use crate::build::{Blame, Builder};
use crate::error::{Error, Result};
use crate::model::{CallId, FileId, FunctionId, ScopeId, ScopeKind, SourceLine, TypeId, UnitId, VariableId};
use crate::op::Reg;
use crate::target::{SpaceId, Target};
use crate::track::CodeEffects;

/// What errors call the text.
pub(super) const WHAT: &str = "the description";

/// A function's code, and the number of its statement.
#[derive(Debug)]
pub(super) struct Coded<'a> {
    pub index: usize,
    pub code: CodeEffects,
    /// Variables, with their ids in the statement.
    pub variables: IndexMap<VariableId, Ref<'a>, DefaultHashBuilder>,
}

/// The call whose position is wanted, if any.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sought<'a>(Option<&'a Blame>);

impl Sought<'_> {
    /// Ends the reading with an error if this is the call.
    #[inline]
    pub fn seek(self, is_it: impl FnOnce(&Blame) -> bool) -> Result<()> {
        match self.0 {
            Some(blame) if is_it(blame) => Err(Error::malformed("it is to blame")),
            _ => Ok(()),
        }
    }
}

/// Reader state: the builder, and the names given so far.
pub(super) struct Reader<'a> {
    /// The whole description.
    text: &'a str,
    pub builder: Builder,
    pub names: Names<'a>,
    /// Statements about code, by function.
    pub coded: IndexMap<FunctionId, Coded<'a>, DefaultHashBuilder>,
    /// Number of the statement that is read.
    pub index: usize,
    /// Registers resolved before.
    registers: HashMap<Text<'a>, Reg>,
    /// Error that ended a visitor, unless it is a JSON error.
    error: Option<Error>,
    /// Key in the statement that an error concerns.
    pub key: Option<&'static str>,
    /// Call whose position is wanted, because the finished module is wrong there.
    blame: Sought<'a>,
}

impl<'a> Reader<'a> {
    pub fn new(text: &'a str, target: Target, blame: Option<&'a Blame>) -> Self {
        Self {
            text,
            builder: Builder::new(target),
            names: Names::new(text),
            coded: IndexMap::default(),
            index: 0,
            registers: HashMap::new(),
            error: None,
            key: None,
            blame: Sought(blame),
        }
    }

    /// Passes a result on, and attributes its error to a key in the statement.
    pub fn with_key<T>(&mut self, key: &'static str, result: Result<T>) -> Result<T> {
        if result.is_err() {
            self.key = Some(key);
        }
        result
    }

    /// Ends the reading with an error if this is the call to blame.
    #[inline]
    pub fn seek(&self, is_it: impl FnOnce(&Blame) -> bool) -> Result<()> {
        self.blame.seek(is_it)
    }

    /// Returns the call whose position is wanted.
    pub fn blame(&self) -> Sought<'a> {
        self.blame
    }

    /// Reads a deferred statement part. `read` checks the depth instead of `serde_json`, because locations are nested
    /// more deeply than other JSON.
    pub fn part<T>(
        &mut self,
        part: &'a RawValue,
        read: impl FnOnce(
            &mut Self,
            &mut serde_json::Deserializer<serde_json::de::StrRead<'a>>,
        ) -> serde_json::Result<T>,
    ) -> Result<T> {
        let mut json = serde_json::Deserializer::from_str(part.get());
        // `read` limits the depth itself.
        json.disable_recursion_limit();
        read(self, &mut json).map_err(|error| {
            let start = part.get().as_ptr() as usize - self.text.as_ptr() as usize;
            let wrong = syntax_error(WHAT, self.text, start, part.get(), &error);
            match self.error.take() {
                None => wrong,
                // The visitor's position is the error's.
                Some(error) => error.or_at(wrong.at().clone()),
            }
        })
    }

    /// Ends a visitor with an error that is not a JSON error.
    pub fn fail<E: de::Error>(&mut self, error: Error) -> E {
        self.error = Some(error);
        E::custom("")
    }

    /// Resolves a register by its name or number.
    pub fn register(&mut self, named: &Named<'a>) -> Result<Reg> {
        let name = match named {
            Named::Number(number) => return Ok(Reg(*number)),
            Named::Text(name) => name,
        };
        if let Some(&reg) = self.registers.get(name) {
            return Ok(reg);
        }
        let reg = self.builder.target().register_named(name);
        let reg = reg.map_err(|error| position::in_part(error, self.text, name))?;
        self.registers.insert(name.clone(), reg);
        Ok(reg)
    }

    /// Resolves an address space by its name or number.
    pub fn space(&self, named: &Named<'_>) -> Result<SpaceId> {
        match named {
            Named::Text(name) => match self.builder.target().space_named(name) {
                Ok(space) => Ok(space.id),
                Err(error) => Err(position::in_part(error, self.text, name)),
            },
            Named::Number(number) => match u32::try_from(*number) {
                Ok(number) => Ok(SpaceId(number)),
                Err(_) => Err(self.builder.target().unknown_space(&number.to_string())),
            },
        }
    }

    /// Resolves a reference to a unit.
    pub fn unit(&self, unit: &Ref<'a>) -> Result<UnitId> {
        self.names.units.find((), unit)
    }

    /// Resolves a reference to a scope.
    pub fn scope(&self, scope: &Ref<'a>) -> Result<ScopeId> {
        self.names.scopes.find((), scope)
    }

    /// Resolves a reference to a scope. Returns its unit too.
    pub fn scope_and_unit(&self, scope: &Ref<'a>) -> Result<(ScopeId, UnitId)> {
        let scope = self.scope(scope)?;
        Ok((scope, self.unit_of(scope)))
    }

    /// Returns the unit that a scope belongs to.
    pub fn unit_of(&self, scope: ScopeId) -> UnitId {
        self.builder.described().scope(scope).unit
    }

    /// Resolves a reference to a function. Returns its unit too.
    pub fn function(&self, function: &Ref<'a>) -> Result<(FunctionId, UnitId)> {
        let scope = self.scope(function)?;
        match self.builder.described().scope(scope).kind {
            ScopeKind::Function(function) => Ok((function, self.unit_of(scope))),
            _ => Err(Error::bad_argument(format!("`{}` is not a function", &**function))),
        }
    }

    /// Resolves a reference to a variable.
    pub fn variable(&self, variable: &Ref<'a>) -> Result<VariableId> {
        self.names.variables.find((), variable)
    }

    /// Resolves a reference to a call.
    pub fn call(&self, call: &Ref<'a>) -> Result<CallId> {
        self.names.calls.find((), call)
    }

    /// Resolves a reference to a type in a unit.
    pub fn ty(&self, unit: UnitId, ty: &Ref<'a>) -> Result<TypeId> {
        self.names.types.find(unit, ty)
    }

    /// Resolves an optional reference to a type in a unit.
    pub fn maybe_type(&self, unit: UnitId, ty: Option<&Ref<'a>>) -> Result<Option<TypeId>> {
        ty.map(|ty| self.ty(unit, ty)).transpose()
    }

    /// Resolves a reference to a file in a unit.
    pub fn file(&self, unit: UnitId, file: &Ref<'a>) -> Result<FileId> {
        self.names.files.find(unit, file)
    }

    /// Resolves a position in a file in a unit.
    pub fn line(&self, unit: UnitId, line: &Line<'a>) -> Result<SourceLine> {
        Ok(SourceLine::new(self.file(unit, &line.file)?, line.line).column(line.column))
    }

    /// Registers a unit under its id, or else under its name, its scope likewise, and its file under the name.
    pub fn add_unit(&mut self, unit: UnitId, id: Option<&Text<'a>>, name: &Text<'a>) -> Result<()> {
        let scope = self.builder.described().unit(unit).scope;
        let file = self.builder.primary_file(unit)?;
        self.names.units.add(unit, id, Some(((), name)))?;
        self.names.scopes.add(scope, id, Some(((), name)))?;
        self.names.files.add(file, None, Some((unit, name)))
    }

    /// Registers a scope under its id, or else under its name, if any.
    pub fn add_scope(
        &mut self,
        scope: ScopeId,
        id: Option<&Text<'a>>,
        name: Option<&Text<'a>>,
    ) -> Result<()> {
        self.names.scopes.add(scope, id, name.map(|name| ((), name)))
    }

    /// Registers a function under its id, or else under its name, in its unit and as a scope. A definition has its
    /// declaration's name, which is therefore ambiguous.
    pub fn add_function(
        &mut self,
        function: FunctionId,
        id: Option<&Text<'a>>,
        name: Option<&Text<'a>>,
    ) -> Result<()> {
        let module = self.builder.described();
        let made = module.function(function);
        let scope = made.scope;
        // A definition's statement has no name: it is the declaration's.
        let declared = name.is_none().then(|| Text(module.string(made.name).to_owned().into()));
        let name = name.or(declared.as_ref());
        let unit = self.unit_of(scope);
        self.names.functions.add(function, id, name.map(|name| (unit, name)))?;
        self.add_scope(scope, id, name)
    }

    /// Registers a type under its id, or else under its name, if any.
    pub fn add_type(&mut self, ty: TypeId, id: Option<&Text<'a>>, name: Option<&Text<'a>>) -> Result<()> {
        let data = self.builder.described().ty(ty);
        let unit = data.unit();
        let scope = data.own_scope();
        self.names.types.add(ty, id, name.map(|name| (unit, name)))?;
        // A type is a scope by its id only, because a function may have the same name.
        scope.map_or(Ok(()), |scope| self.names.scopes.add(scope, id, None))
    }
}
