//! Locations from the code: cases by hand.

mod cases;
mod program;
