//! A description that is plausible and wrong is refused where it is given, or a warning names it.

mod pcs;
