//! Locations from the code: cases by hand, random programs that run, and mistakes that are found.

#[cfg(feature = "regalloc2")]
mod allocated;
mod by_hand;
mod cases;
mod copied;
mod dense;
#[cfg(feature = "json")]
mod described;
mod further;
mod misdescribed;
mod program;
mod random;
mod refused;
mod running;
mod sabotage;
mod simulate;
