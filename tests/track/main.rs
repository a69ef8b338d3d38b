//! Locations from the code: cases by hand, random programs that run, and mistakes that are found.

mod cases;
mod program;
mod random;
mod refused;
mod running;
mod sabotage;
mod simulate;
