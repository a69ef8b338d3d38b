//! Tests of descriptions, DWARF, and its evaluation: builder, output, reader, checker.

mod additive;
mod agreement;
mod byte_order;
mod cfi;
mod common;
mod conform;
mod debugging;
mod denote;
mod depth;
mod determinism;
mod emission_goldens;
mod errors;
mod evaluation;
mod frames;
mod import;
mod import_expressions;
mod instructions;
mod json;
mod lanes;
mod layers;
mod operations;
#[cfg(debug_assertions)]
mod other_builder;
mod properties;
mod reader;
mod rewrite;
mod sabotage;
mod sass;
mod scale;
mod scopes;
mod sharing;
mod split;
mod strict;
mod suite;
mod targets;
mod track;
mod type_units;
mod unwind;
mod versions;
mod wave;
#[cfg(debug_assertions)]
mod work;
