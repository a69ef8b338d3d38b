//! Statements: the elements of `describe`, and the whole description's schema.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use super::attributes::Attribute;
use super::calls::{Argument, Call, DescribeCall, Import, Label};
use super::code::CodeOf;
use super::frames::Frame;
use super::functions::{DescribeFunction, Function, FunctionDefinition, FunctionInstance, Rows};
use super::lanes::{Lanes, Region, WholeWave};
use super::members::{Base, Member, Template, Variant, VariantPart};
use super::reader::Reader;
use super::schema::{self, HasSchema, Schemas};
use super::shape::Shaped;
use super::types::{
    Array, BaseType, Class, CooperativeMatrix, DescribeType, Enumeration, Incomplete, Matrix, MemberPointer,
    Pointer, Qualified, SetType, StringType, Structure, SubrangeType, Subroutine, Typedef, Union,
    UnspecifiedType, Vector,
};
use super::units::{
    Block, DescribeScope, DescribeUnit, File, Inlined, InlinedBlock, Macros, Namespace, Unit,
};
use super::variables::{
    Constant, Definition, DescribeVariable, InlinedVariable, Parameter, Procedure, Variable,
};
use crate::error::Result;

/// Declares the statements with their keys.
macro_rules! statements { ($($variant:ident $key:literal $object:ident;)*) => {
    /// A statement: one builder call, with calls on the sub-builder that it returns.
    #[derive(Debug, Serialize, Deserialize)]
    #[serde(remote = "Self", rename = "a statement", bound(deserialize = "'de: 'a"))]
    pub(super) enum Statement<'a> { $(
        #[serde(rename = $key)]
        $variant($object<'a>),
    )* }

    impl<'de: 'a, 'a> Deserialize<'de> for Statement<'a> {
        #[inline]
        fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
            Self::deserialize(Shaped(from))
        }
    }

    impl Serialize for Statement<'_> {
        fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
            Self::serialize(self, to)
        }
    }

    impl<'a> HasSchema for Statement<'a> {
        fn schema(to: &mut Schemas) -> Value {
            schema::one_of_keys([$(($key, $object::schema(to))),*])
        }
    }

    impl<'a> Statement<'a> {
        /// Applies the statement to the builder.
        pub fn apply(self, reader: &mut Reader<'a>) -> Result<()> {
            match self {
                $(Self::$variant(json) => json.apply(reader),)*
            }
        }
    }

    /// Statement keys.
    pub const STATEMENTS: &[&str] = &[$($key),*];
} }
statements! {
    Unit "unit" Unit;
    DescribeUnit "describe_unit" DescribeUnit;
    File "file" File;
    Namespace "namespace" Namespace;
    DescribeScope "describe_scope" DescribeScope;
    Import "import" Import;
    Label "label" Label;
    Call "call" Call;
    DescribeCall "describe_call" DescribeCall;
    Argument "argument" Argument;
    Function "function" Function;
    FunctionDefinition "function_definition" FunctionDefinition;
    FunctionInstance "function_instance" FunctionInstance;
    DescribeFunction "describe_function" DescribeFunction;
    Block "block" Block;
    InlinedBlock "inlined_block" InlinedBlock;
    Inlined "inlined" Inlined;
    Variable "variable" Variable;
    Parameter "parameter" Parameter;
    DescribeVariable "describe_variable" DescribeVariable;
    Constant "constant" Constant;
    InlinedVariable "inlined_variable" InlinedVariable;
    Definition "definition" Definition;
    Procedure "procedure" Procedure;
    Rows "rows" Rows;
    Frame "frame" Frame;
    Macros "macros" Macros;
    Lanes "lanes" Lanes;
    Region "region" Region;
    WholeWave "whole_wave" WholeWave;
    Code "code" CodeOf;
    BaseType "base_type" BaseType;
    Pointer "pointer" Pointer;
    Array "array" Array;
    Vector "vector" Vector;
    Matrix "matrix" Matrix;
    CooperativeMatrix "cooperative_matrix" CooperativeMatrix;
    Typedef "typedef" Typedef;
    Qualified "qualified" Qualified;
    Subroutine "subroutine" Subroutine;
    MemberPointer "member_pointer" MemberPointer;
    UnspecifiedType "unspecified_type" UnspecifiedType;
    StringType "string_type" StringType;
    SubrangeType "subrange_type" SubrangeType;
    SetType "set_type" SetType;
    Structure "structure" Structure;
    Class "class" Class;
    Union "union" Union;
    Incomplete "incomplete" Incomplete;
    Enumeration "enumeration" Enumeration;
    DescribeType "describe_type" DescribeType;
    Member "member" Member;
    Base "base" Base;
    VariantPart "variant_part" VariantPart;
    Variant "variant" Variant;
    Template "template" Template;
    Attribute "attribute" Attribute;
}
