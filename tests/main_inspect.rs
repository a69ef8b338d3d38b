//! Tests of the command, of the rooms that inspect files of any producer, and of agreement with other tools.

mod cli;
mod common;
mod containers;
mod corners;
mod damaged_cubin;
mod damaged_objects;
mod direct;
mod examples;
mod explain;
mod fuzz;
mod goldens;
mod kernels;
mod lint;
mod load_bias;
mod pcs;
mod peers;
mod plurals;
mod programs;
mod ptx;
mod report;
mod stats;
mod tools;
