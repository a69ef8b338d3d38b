//! ELF objects.
