//! The promise: other programs agree with this crate about its output.
//!
//! No test here uses the crate's reader. Each test runs an installed program, or reports that the program is missing:
//! see [`common`].

use crate::common::built;
mod attributes;
mod clang_nvidia;
use crate::common::tools as common;
mod coverage;
mod cpus;
use crate::common::cubin;
mod debugger;
mod described;
mod dump;
mod facts;
mod frames;
mod gnu;
mod link;
mod nvidia;
mod nvidia_tables;
mod objects;
mod ptx_descriptions;
mod rewritten;
mod scopes;
mod source;
mod split;
mod types;
mod verify;
mod versions;

use common::Tool;

const DWARFDUMP: Tool = Tool::new("llvm-dwarfdump-19", "llvm-19");
const OBJDUMP: Tool = Tool::new("llvm-objdump-19", "llvm-19");
const ASSEMBLER: Tool = Tool::new("llvm-mc-19", "llvm-19");
const DWP: Tool = Tool::new("llvm-dwp-19", "llvm-19");
const LLD: Tool = Tool::new("ld.lld-19", "lld-19");
const READELF: Tool = Tool::new("readelf", "binutils");
const EU_READELF: Tool = Tool::new("eu-readelf", "elfutils");
const LIBDWARF: Tool = Tool::new("dwarfdump", "dwarfdump");
const GDB: Tool = Tool::new("gdb", "gdb");
const LLDB: Tool = Tool::new("lldb-19", "lldb-19");
const CC: Tool = Tool::new("cc", "gcc");
