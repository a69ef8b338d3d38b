//! Locations from the code: cases by hand, random programs that run, and mistakes that are found.
mod allocated;
mod by_hand;
mod cases;
mod copied;
mod dense;
mod described;
mod further;
mod misdescribed;
mod program;
mod random;
mod refused;
mod regions;
mod running;
mod sabotage;
mod simulate;
