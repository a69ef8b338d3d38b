//! Bindings of descriptions to SPIR-V modules: the key `spirv`.
//!
//! A row of an object has a key with its kind, the value that is written, and the call that reads it.

#[cfg(feature = "spirv")]
mod read;
mod values;
#[cfg(feature = "spirv")]
mod write;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::kinds::kind;
use super::schema::{self, HasSchema, Schemas};
use super::shape::shaped;
use super::statement::{Ref, objects};
use super::values::{Line, Named, Text};
use values::{IndexBy, Sums};
#[cfg(feature = "spirv")]
use {
    super::ids::Known,
    super::values::Signed,
    crate::error::{Error, Result},
    crate::spirv::{Binding, Id, Index, Interpretation, Position, Provider, Statement},
    read::{Binder, Placed, whole_expression},
    write::{BoundCode, BoundStatement, languages, list},
};

/// Conversions of a kind: those of [`kind`], and kinds of SPIR-V. The kinds `list` and `pair` are made of others.
macro_rules! bound_kind {
    (type [id]) => { Named<'a> };
    (read [id] $binder:ident $unit:ident $json:expr) => { $binder.id(&$json)? };
    (write [id] $known:ident $value:expr) => { Named::Number($value.0.into()) };

    (type [string]) => { Text<'a> };
    (read [string] $binder:ident $unit:ident $json:expr) => { $json };
    (write [string] $known:ident $value:expr) => { Text::from($value) };

    (type [once]) => { bool };
    (read [once] $binder:ident $unit:ident $json:expr) => {{ let _: bool = $json; }};
    (given [once] $json:expr) => { $json.filter(|&is_set| is_set) };
    (write [once] $known:ident $value:expr) => {{ let () = $value; true }};

    (type [described]) => { Ref<'a> };
    (read [described] $binder:ident $unit:ident $json:expr) => { $binder.reader.function(&$json)? };
    (write [described] $known:ident $value:expr) => { $known.function_ref($value) };

    (type [bits]) => { (u32, u32) };
    (read [bits] $binder:ident $unit:ident $json:expr) => { not_empty($json.0..$json.1)? };
    (write [bits] $known:ident $value:expr) => {{
        let bits = not_empty($value)?;
        (bits.start, bits.end)
    }};

    (type [sums]) => { Sums };
    (read [sums] $binder:ident $unit:ident $json:expr) => { $json.numbers()? };
    (write [sums] $known:ident $value:expr) => { Sums($value.into_iter().map(Signed).collect()) };

    (type [operation]) => { (Text<'a>, Vec<u32>) };
    (read [operation] $binder:ident $unit:ident $json:expr) => { $binder.operation(&$json.0, &$json.1)? };
    (write [operation] $known:ident $value:expr) => { ($value.name().into(), $value.operands().to_vec()) };

    (type [index]) => { IndexBy<'a> };
    (read [index] $binder:ident $unit:ident $json:expr) => { $json.read($binder)? };
    (write [index] $known:ident $value:expr) => { IndexBy::write($value) };

    (type [bound $object:ident]) => { $object<'a> };
    (read [bound $object:ident] $binder:ident $unit:ident $json:expr) => { $json };
    (write [bound $object:ident] $known:ident $value:expr) => { $object::write($known, $value)? };

    (type [provider]) => { ProvidedBy<'a> };
    (read [provider] $binder:ident $unit:ident $json:expr) => { $json.read($binder, ())? };
    (write [provider] $known:ident $value:expr) => { ProvidedBy::write($known, $value)? };

    (type [list $of:tt]) => { Vec<bound_kind!(type $of)> };
    (read [list $of:tt] $binder:ident $unit:ident $json:expr) => {{
        let mut all = Vec::new();
        for json in $json {
            all.push(bound_kind!(read $of $binder $unit json));
        }
        all
    }};
    (write [list $of:tt] $known:ident $value:expr) => {{
        let mut all = Vec::new();
        for value in $value {
            all.push(bound_kind!(write $of $known value));
        }
        all
    }};

    (type [pair $one:tt $other:tt]) => { (bound_kind!(type $one), bound_kind!(type $other)) };
    (read [pair $one:tt $other:tt] $binder:ident $unit:ident $json:expr) => {{
        let (one, other) = $json;
        (bound_kind!(read $one $binder $unit one), bound_kind!(read $other $binder $unit other))
    }};
    (write [pair $one:tt $other:tt] $known:ident $value:expr) => {{
        let (one, other) = $value;
        (bound_kind!(write $one $known one), bound_kind!(write $other $known other))
    }};

    (given $kind:tt $json:expr) => { $json };
    (type $kind:tt) => { kind!(type $kind) };
    (read $kind:tt $binder:ident $unit:ident $json:expr) => { kind!(read $kind $binder $unit $json) };
    (write $kind:tt $known:ident $value:expr) => { kind!(write $kind $known $value) };
}

/// Objects of bindings, for both directions. The heading names the value that is written; the binder, the unit and the
/// argument with which the object is read; and the value that is read, with which the rows begin. A row has the value to
/// write, or `None`, and a call, in which the key is the value that was read.
macro_rules! bound { ($(
    $(#[$doc:meta])*
    $object:ident { $($own:ident: $own_kind:tt = $own_value:expr),* }
    writes |$known:ident, $of:ident: $model:ty|,
    reads |$json:ident, $binder:ident, $unit:ident, $with:ident: $with_type:ty| $made:ident: $made_type:ty = $start:expr
    $(, then $then:expr)? => {
        $($(#[doc = $about:literal])? $key:ident: $kind:tt = $write:expr => $read:expr;)*
    }
)*) => { $(
    objects! {
        $(#[$doc])*
        $object { $($own: bound_kind!(type $own_kind)),* } { $($(#[doc = $about])? $key: bound_kind!(type $kind)),* }
    }

    #[cfg(feature = "spirv")]
    #[allow(unused, clippy::no_effect, clippy::let_unit_value, clippy::unit_arg, reason = "not every object has names, lines and keys to leave out")]
    impl<'a> $object<'a> {
        /// Makes what the object describes.
        pub fn read(self, $binder: &mut Binder<'_, 'a>, $with: $with_type) -> Result<$made_type> {
            let ($json, $unit) = (self, Binder::first());
            $(let $own = bound_kind!(read $own_kind $binder $unit $json.$own);)*
            let mut $made: $made_type = $start;
            $(if let Some(json) = bound_kind!(given $kind $json.$key) {
                let $unit = $binder.unit;
                let $key = bound_kind!(read $kind $binder $unit json);
                $read;
            })*
            $($then;)?
            Ok($made)
        }

        /// Converts a value of the binding to JSON.
        pub fn write($known: &'a Known<'a>, $of: $model) -> Result<Self> {
            let mut object = Self::new($(bound_kind!(write $own_kind $known $own_value)),*);
            $(if let Some(value) = $write {
                object.$key = Some(bound_kind!(write $kind $known value));
            })*
            Ok(object)
        }
    }
)* } }

bound! {
    /// Ids and positions of a SPIR-V module, for the entities of the description.
    Bound {} writes |known, of: &'a Binding|, reads |json, binder, unit, with: ()| made: () = () => {
        /// Identifies the debug information of the module: 32 lowercase hexadecimal digits, or more.
        build_identifier: [string] = of.build_id().map(|it| it.0)
            => binder.binding.build_identifier(&build_identifier, json.shared_identifier == Some(true));
        /// Different sources may have the build identifier.
        shared_identifier: [once] = of.build_id().filter(|it| it.1).map(drop) => ();
        /// Location of separate debug information.
        storage_path: [string] = of.stored_at() => binder.binding.storage_path(&storage_path);
        /// Units, each with the number of its language in SPIR-V.
        languages: [list [pair [unit] [number u32]]] = list(languages(known.module, of))
            => for (unit, number) in languages { binder.binding.language(unit, number); };
        /// Variables outside of functions, each with its `OpVariable` or constant.
        globals: [list [pair [variable] [id]]] =
            list(known.module.variables().filter_map(|(variable, _)| Some((variable, of.global_id(variable)?))))
            => for (variable, id) in globals { binder.binding.global(variable, id); };
        /// Functions.
        functions: [list [bound BoundFunction]] = list(write::codes(of, known.module)?.into_iter())
            => for function in functions { function.read(binder, ())?; };
    }

    /// The `OpFunction` of a function, and statements about positions in it, in their order.
    BoundFunction { id: [id] = of.code }
    writes |known, of: BoundCode<'a>|, reads |json, binder, unit, with: ()| made: () = { binder.unit = Binder::first(); } => {
        /// The described function. Without one, lines are in files of the first unit.
        function: [described] = of.function => {
            binder.binding.function(function.0, id);
            binder.unit = function.1;
        };
        at: [list [bound BoundPosition]] = list(of.statements.into_iter())
            => for position in at { position.read(binder, id)?; };
    }

    /// A position: one of `start`, `before`, `after`. The other keys apply from there on.
    BoundPosition {} writes |known, of: BoundStatement<'a>|,
    reads |json, binder, unit, function: Id| made: Placed = Placed::default(), then made.position()? => {
        /// The start of the block with this label.
        start: [id] = match of.at { Position::Start { block, .. } => Some(block), _ => None }
            => made.place(Position::start(function, start))?;
        /// Before an instruction of a block: the label, and the index counted from 0.
        before: [pair [id] [number u32]] = match of.at {
            Position::Before { block, instruction, .. } => Some((block, instruction)),
            _ => None,
        } => made.place(Position::before(function, before.0, before.1))?;
        /// After the instruction that defines the id.
        after: [id] = match of.at { Position::After(id) => Some(id), _ => None }
            => made.place(Position::after(after))?;
        /// The scope: a function, block or inlined call.
        scope: [scope] = match of.statement { Statement::Scope(scope) => scope, _ => None }
            => binder.binding.scope(made.position()?, scope);
        /// No scope.
        no_scope: [once] = matches!(of.statement, Statement::Scope(None)).then_some(())
            => binder.binding.no_scope(made.position()?);
        /// The line.
        line: [line] = match of.statement { Statement::Line(line) => line, _ => None }
            => binder.binding.line(made.position()?, line);
        /// No line.
        no_line: [once] = matches!(of.statement, Statement::Line(None)).then_some(())
            => binder.binding.no_line(made.position()?);
        /// A variable in memory.
        declare: [pair [variable] [provider]] = match of.statement {
            Statement::Declare { variable, provider } => Some((variable, &of.providers[provider as usize])),
            _ => None,
        } => binder.binding.declare(made.position()?, declare.0, declare.1);
        /// Values of a variable; without any, the variable is unavailable.
        value: [pair [variable] [list [provider]]] = match of.statement {
            Statement::Value { variable, provider, count } => {
                Some((variable, &of.providers[provider as usize..][..count as usize]))
            }
            _ => None,
        } => binder.binding.value(made.position()?, value.0, &value.1);
    }

    /// An id that provides a variable or a part of it.
    ProvidedBy { id: [id] = of.id() } writes |known, of: &Provider|,
    reads |json, binder, unit, with: ()| made: Provider = { whole_expression(&json)?; Provider::value(id) } => {
        /// The id is the address of the variable.
        pointer: [once] = matches!(of.interpretation(), Interpretation::Pointer(_)).then_some(())
            => made = Provider::pointer(id);
        /// Storage class of the address.
        space: [number u32] = match of.interpretation() { Interpretation::Pointer(space) => space, _ => None }
            => made = made.in_space(space);
        /// Number added to the value or the address, or several.
        plus: [sums] = Some(of.sums()).filter(|sums| !of.is_expression() && !sums.is_empty())
            => made = plus.into_iter().fold(made, Provider::plus);
        /// Exactly these operations: names, each with its operands.
        operations: [list [operation]] = of.is_expression().then(|| of.operations(false))
            => made = Provider::expression(id, &operations);
        /// Indexes of the part of the variable: numbers, or ids whose values are the indexes.
        part: [list [index]] = list(of.indexes().iter().copied())
            => made = part.into_iter().fold(made, Provider::indexed);
        /// First bit and end of the bits of the value.
        taken: [bits] = of.taken_bits().filter(|_| !of.is_expression())
            .map(|(start, size)| start..start.saturating_add(size)) => made = made.taken(taken);
        /// First bit and end of the bits of the variable.
        bits: [bits] = of.selected_bits().filter(|_| !of.is_expression()) => made = made.bits(bits);
    }
}

/// Refuses bits that end at their start.
#[cfg(feature = "spirv")]
fn not_empty(bits: core::ops::Range<u32>) -> Result<core::ops::Range<u32>> {
    match bits.start < bits.end {
        true => Ok(bits),
        false => {
            Err(Error::bad_argument(format!("bits end after their start: {} to {}", bits.start, bits.end)))
        }
    }
}

/// Variants of a choice that the model has, too: a row has the variant and its kind.
macro_rules! same { ($json:ident<$life:lifetime> of $model:ident { $($variant:ident: $kind:tt;)* }) => {
    #[cfg(feature = "spirv")]
    impl<$life> $json<$life> {
        fn read(self, binder: &Binder<'_, $life>) -> Result<$model> {
            let _unit = Binder::first();
            Ok(match self { $(Self::$variant(of) => $model::$variant(bound_kind!(read $kind binder _unit of)),)* })
        }

        fn write(of: $model) -> Self {
            match of { $($model::$variant(of) => Self::$variant(bound_kind!(write $kind _known of)),)* }
        }
    }
} }

same! {
    IndexBy<'a> of Index {
        Number: [number u32];
        Id: [id];
    }
}
