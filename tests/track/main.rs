//! Locations from the code: cases by hand, and random programs that run.

mod cases;
mod program;
mod random;
mod running;
mod simulate;
