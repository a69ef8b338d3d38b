//! Names for base types in the source language's style.

/// A naming style.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Style {
    /// `float`, `int`, `uint`: GLSL, HLSL, OpenCL C, Slang.
    #[default]
    C,
    /// `f32`, `i32`, `u32`: WGSL, Rust, Zig.
    Sized,
}

impl Style {
    /// The style for a language, by its number in the core specification.
    pub fn of_language(language: u32) -> Self {
        if matches!(language, 10 | 12 | 13) { Self::Sized } else { Self::C }
    }

    pub fn float(self, bits: u32) -> String {
        match (self, bits) {
            (Self::C, 16) => "half".into(),
            (Self::C, 32) => "float".into(),
            (Self::C, 64) => "double".into(),
            (Self::Sized, _) => format!("f{bits}"),
            (Self::C, _) => format!("float{bits}"),
        }
    }

    pub fn integer(self, bits: u32, is_signed: bool) -> String {
        let sign = match self {
            Self::Sized if is_signed => return format!("i{bits}"),
            Self::Sized => return format!("u{bits}"),
            Self::C if is_signed => "",
            Self::C => "u",
        };
        match bits {
            8 => format!("{sign}char"),
            16 => format!("{sign}short"),
            32 => format!("{sign}int"),
            64 => format!("{sign}long"),
            _ => format!("{sign}int{bits}"),
        }
    }
}
