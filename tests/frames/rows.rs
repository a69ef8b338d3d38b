//! Random frames.
