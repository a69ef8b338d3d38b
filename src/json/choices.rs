//! Choices: values of the model with several alternatives. A row describes an alternative in both directions: its keys or
//! operands with their [kinds](super::kinds), the value of the model, and the value or call for the builder.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::ids::Known;
use super::kinds::{alternatives, choice, choices, kind};
use super::later::Later;
use super::loc::{ExpressionAt, NumberAt, Place};
use super::read::Reader;
use super::schema::{self, HasSchema, Schemas};
use super::shape::shaped;
use super::statement::{self, Base, Code, ExtentOf, ImportFacts, Loc, MemberFacts, Packed, Ref, VariantPart};
use super::values::{Number, Signed, Text};
use crate::build::{DataMember, Extent, Template};
use crate::error::{Error, Result};
use crate::model::{
    self, Accessibility, Address, BaseOffset, Count, Discriminant, Entity, FunctionId, Imported, Macro,
    TypeId, UnitId, VariantPartId,
};

choices! {
    /// Argument of a template parameter.
    TemplateArgument "an argument of a template", |reader, unit, name: &'s str| model::TemplateArgument => Template<'s> {
        Type "type" (ty: [optional type]): model::TemplateArgument::Type(ty) => Template::ty(name, ty);
        Value "value" (ty: [type], value: [loc]):
            model::TemplateArgument::Value { ty, value } => Template::value_at(name, ty, value.clone());
        Template "template" (template: [text]):
            model::TemplateArgument::Template(template) => Template::named(name, template);
        Pack "pack" (pack: [pack]): model::TemplateArgument::Pack(pack) => Template::pack(name, pack);
    }
    /// [`Entity`].
    EntityRef "an entity", |reader, unit| Entity => Entity {
        Variable "variable" (id: [variable]): Entity::Variable(id) => Entity::Variable(id);
        Type "type" (id: [type]): Entity::Type(id) => Entity::Type(id);
        Procedure "procedure" (id: [procedure]): Entity::Procedure(id) => Entity::Procedure(id);
        Symbol "symbol" (symbol: [symbol], by: [signed]): Entity::Symbol(symbol, by) => Entity::Symbol(symbol, by);
    }
    /// [`Macro`].
    MacroStep "a macro", |reader, unit| Macro => () {
        Define "define" (line: [number u32], text: [text]):
            Macro::Define { line, text } => reader.builder.macros(unit)?.define(line, text).map(drop)?;
        Undefine "undefine" (line: [number u32], name: [text]):
            Macro::Undefine { line, name } => reader.builder.macros(unit)?.undefine(line, name).map(drop)?;
        File "file" (line: [number u32], file: [file]):
            Macro::File { line, file } => reader.builder.macros(unit)?.file(line, file).map(drop)?;
        EndFile "end_file": Macro::EndFile => reader.builder.macros(unit)?.end_file().map(drop)?;
    }
}

choice! {
    /// [`ExecWrite`](crate::build::ExecWrite).
    ExecOf "an effect on EXEC" {
        Save "save" (Text<'a>);
        And "and" (Text<'a>);
        AndNot "and_not" (Text<'a>);
        Else "else" (Text<'a>);
        Restore "restore" (Text<'a>);
    }
}

alternatives! {
    ImportFacts, |reader, unit| Imported => Imported,
        "imported is a `function`, `variable`, `type` or `namespace`, or `all_of` a namespace" {
        { function: [scoped function] } Imported::Function(function) => Imported::Function(function);
        { variable: [variable] } Imported::Variable(variable) => Imported::Variable(variable);
        { r#type: [type] } Imported::Type(r#type) => Imported::Type(r#type);
        { namespace: [scope] } Imported::Namespace(namespace) => Imported::Namespace(namespace);
        { all_of: [scope] } Imported::AllOf(all_of) => Imported::AllOf(all_of);
    }
    Code, |reader, unit, id: FunctionId, bytes: u64| Address => (),
        "code is at a `symbol`, with or without an `offset`, or at an `address`" {
        { symbol: [symbol_name]; offset: [zero_long] } Address::Symbol(symbol, offset) => {
            reader.builder.describe_function(id)?.code_behind(symbol, offset, bytes);
        };
        { address: [long] } Address::Constant(address) => {
            reader.builder.describe_function(id)?.address(Address::Constant(address), bytes);
        };
    }
    ExtentOf, |reader, unit| Count => Extent, "a dimension has one of `count`, `variable`, `value`" {
        {} Count::Unknown => Extent::unknown();
        { count: [long] } Count::Fixed(count) => Extent::fixed(count);
        { variable: [variable] } Count::Variable(variable) => Extent::variable(variable);
        { value: [val] } Count::Value(value) => Extent::value(value);
    }
    Base, |reader, unit, of: TypeId, ty: TypeId, accessibility: Option<Accessibility>| BaseOffset => (),
        "a base class is at an `offset`, or `virtual`" {
        { offset: [long] } BaseOffset::Bytes(offset) => {
            reader.builder.base(of, ty, offset, accessibility)?;
        };
        { r#virtual: [expression] } BaseOffset::Expr(r#virtual) => {
            reader.builder.virtual_base(of, ty, r#virtual, accessibility)?;
        };
    }
    MemberFacts, |reader, unit, name: &'s str, ty: TypeId| model::Member => DataMember<'s>,
        "a member has an `offset`, or is a bit field with `offset_bits` and `bits`" {
        { offset: [bytes] } model::Member { offset_bits: offset, bits: None, .. } => DataMember::new(name, ty, offset);
        { offset_bits: [long], bits: [long] } model::Member { offset_bits, bits: Some(bits), .. } => {
            DataMember::bit_field(name, ty, offset_bits, bits)
        };
    }
    VariantPart, |reader, unit, of: TypeId| Discriminant => VariantPartId,
        "a variant part has a `discriminant`, or is `untagged`" {
        { discriminant: [member] } Discriminant::Member(discriminant) => {
            reader.builder.variant_part(of, discriminant)?
        };
        { untagged: [type] } Discriminant::Type(untagged) => reader.builder.untagged_variant_part(of, untagged)?;
    }
}
