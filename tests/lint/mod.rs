//! The promise: `lint` finds in the objects of other compilers what an independent classifier finds, from the
//! instructions; and nothing in objects that are right.

use crate::common;
use crate::common::clean as above;
use crate::common::consumers;
use crate::common::fields;
use crate::common::source;
use crate::common::tools;

mod assembled;
mod bases;
mod certain;
mod clean;
mod compiled;
mod contexts;
mod counts;
mod damaged;
mod frames;
mod hand;
mod kinds;
mod lanes;
mod made;
mod mutations;
mod pages;
mod relocated;
mod results;
mod seeded;
mod threads;
mod unknown;
