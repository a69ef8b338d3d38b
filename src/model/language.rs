//! Source languages: DWARF 5 section 3.1.1, item 5, and the language registry that extends it.

/// A source language, by its number in DWARF 5 or the language registry (`DW_LANG_*`).
///
/// Each standard of a language is a separate constant: [`C99`](Self::C99), [`C11`](Self::C11). DWARF 6 instead has one
/// number for the language and one for its version: see [`name`](Self::name). A number without a constant is written
/// unchanged.
///
/// Exhaustive: a number is all it holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Language(pub u16);

/// A DWARF 5 language number, with the name and version that DWARF 6 gives it.
struct Row {
    language: Language,
    /// `DW_LNAME_*`.
    name: u16,
    /// Version in the language's scheme (`YYYYMM`, `YYYY`); `None` where the number implies no version.
    version: Option<u32>,
}

macro_rules! languages { ($($(#[$doc:meta])* $constant:ident $number:literal $name:literal $version:expr;)*) => {
    impl Language { $(
        $(#[$doc])*
        pub const $constant: Self = Self($number);
    )* }

    const ROWS: &[Row] =
        &[$(Row { language: Language::$constant, name: $name, version: $version }),*];
} }

languages! {
    // constant, DW_LANG, DW_LNAME, version
    /// C, 1989.
    C89 0x01 0x03 Some(198_912);
    /// C, without a standard.
    C 0x02 0x03 Some(0);
    /// Ada, 1983.
    ADA83 0x03 0x01 Some(1983);
    /// C++, 1998.
    CPP 0x04 0x04 Some(199_711);
    /// Fortran 77.
    FORTRAN77 0x07 0x09 Some(1977);
    /// Fortran 90.
    FORTRAN90 0x08 0x09 Some(1990);
    /// C, 1999.
    C99 0x0c 0x03 Some(199_901);
    /// Ada, 1995.
    ADA95 0x0d 0x01 Some(1995);
    /// Fortran 95.
    FORTRAN95 0x0e 0x09 Some(1995);
    /// Objective-C.
    OBJC 0x10 0x11 None;
    /// Objective-C++.
    OBJCPP 0x11 0x12 None;
    /// Unified Parallel C.
    UPC 0x12 0x1b None;
    /// D.
    D 0x13 0x07 None;
    /// Python.
    PYTHON 0x14 0x17 None;
    /// OpenCL C.
    OPENCL_C 0x15 0x14 None;
    /// Go.
    GO 0x16 0x0a None;
    /// Haskell.
    HASKELL 0x18 0x0b None;
    /// C++, 2003.
    CPP03 0x19 0x04 Some(199_711);
    /// C++, 2011.
    CPP11 0x1a 0x04 Some(201_103);
    /// OCaml.
    OCAML 0x1b 0x13 None;
    /// Rust.
    RUST 0x1c 0x19 None;
    /// C, 2011.
    C11 0x1d 0x03 Some(201_112);
    /// Swift.
    SWIFT 0x1e 0x1a None;
    /// Julia.
    JULIA 0x1f 0x0d None;
    /// C++, 2014.
    CPP14 0x21 0x04 Some(201_402);
    /// Fortran, 2003.
    FORTRAN03 0x22 0x09 Some(2003);
    /// Fortran, 2008.
    FORTRAN08 0x23 0x09 Some(2008);
    /// RenderScript.
    RENDERSCRIPT 0x24 0x18 None;
    /// Kotlin.
    KOTLIN 0x26 0x0e None;
    /// Zig.
    ZIG 0x27 0x1c None;
    /// Crystal.
    CRYSTAL 0x28 0x06 None;
    /// C++, 2017.
    CPP17 0x2a 0x04 Some(201_703);
    /// C++, 2020.
    CPP20 0x2b 0x04 Some(202_002);
    /// C, 2017.
    C17 0x2c 0x03 Some(201_710);
    /// Fortran, 2018.
    FORTRAN18 0x2d 0x09 Some(2018);
    /// Ada, 2005.
    ADA2005 0x2e 0x01 Some(2005);
    /// Ada, 2012.
    ADA2012 0x2f 0x01 Some(2012);
    /// HIP.
    HIP 0x30 0x29 None;
    /// Assembly.
    ASSEMBLY 0x31 0x1d None;
    /// C#.
    C_SHARP 0x32 0x1e None;
    /// Mojo.
    MOJO 0x33 0x1f None;
    /// The OpenGL and Vulkan shading language.
    GLSL 0x34 0x20 None;
    /// The OpenGL ES shading language.
    GLSL_ES 0x35 0x21 None;
    /// The Direct3D shading language.
    HLSL 0x36 0x22 None;
    /// OpenCL C++.
    OPENCL_CPP 0x37 0x23 None;
    /// C++ for OpenCL.
    CPP_FOR_OPENCL 0x38 0x24 None;
    /// SYCL.
    SYCL 0x39 0x25 None;
    /// C++, 2023.
    CPP23 0x3a 0x04 Some(202_302);
    /// Odin.
    ODIN 0x3b 0x2a None;
    /// P4.
    P4 0x3c 0x2b None;
    /// The Metal shading language.
    METAL 0x3d 0x2c None;
    /// C, 2023.
    C23 0x3e 0x03 Some(202_311);
    /// Fortran, 2023.
    FORTRAN23 0x3f 0x09 Some(2023);
}

impl Language {
    /// Returns the language's number in DWARF 6 (`DW_LNAME_*`), and its version where this constant implies one:
    /// `YYYYMM` for C and C++, `YYYY` for Ada and Fortran. `None` for a number without a constant.
    pub fn name(self) -> Option<(u16, Option<u32>)> {
        let row = ROWS.iter().find(|row| row.language == self)?;
        Some((row.name, row.version))
    }

    /// Returns the language's latest standard with a number up to `last`, the largest number that a reader knows. A
    /// language without such a standard is unchanged.
    pub(crate) fn up_to(self, last: Option<gimli::DwLang>) -> Self {
        let (Some(last), Some((name, _))) = (last.filter(|last| last.0 < self.0), self.name()) else {
            return self;
        };
        let older = ROWS.iter().filter(|row| row.name == name && row.language.0 <= last.0);
        older.map(|row| row.language).max().unwrap_or(self)
    }
}

impl From<u16> for Language {
    fn from(number: u16) -> Self {
        Self(number)
    }
}

impl From<gimli::DwLang> for Language {
    fn from(language: gimli::DwLang) -> Self {
        Self(language.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows as in elfutils and libdwarf.
    #[test]
    fn languages_have_names_and_versions() {
        let rows = [
            (Language::OPENCL_C, 0x15, 0x14, None),
            (Language::OPENCL_CPP, 0x37, 0x23, None),
            (Language::CPP_FOR_OPENCL, 0x38, 0x24, None),
            (Language::HIP, 0x30, 0x29, None),
            (Language::SYCL, 0x39, 0x25, None),
            (Language::RUST, 0x1c, 0x19, None),
            (Language::MOJO, 0x33, 0x1f, None),
            (Language::GLSL, 0x34, 0x20, None),
            (Language::GLSL_ES, 0x35, 0x21, None),
            (Language::HLSL, 0x36, 0x22, None),
            (Language::METAL, 0x3d, 0x2c, None),
            (Language::D, 0x13, 0x07, None),
            (Language::CRYSTAL, 0x28, 0x06, None),
            (Language::C, 0x02, 0x03, Some(0)),
            (Language::C23, 0x3e, 0x03, Some(202_311)),
            (Language::CPP17, 0x2a, 0x04, Some(201_703)),
            (Language::FORTRAN18, 0x2d, 0x09, Some(2018)),
        ];
        for (language, number, name, version) in rows {
            assert_eq!((language.0, language.name()), (number, Some((name, version))));
        }
        assert_eq!(Language(0x8001).name(), None);
        for (language, older) in [
            (Language::CPP17, Language::CPP),
            (Language::CPP, Language::CPP),
            (Language::C11, Language::C99),
            (Language::FORTRAN08, Language::FORTRAN95),
            (Language::RUST, Language::RUST),
            (Language(0x8001), Language(0x8001)),
        ] {
            assert_eq!(language.up_to(Some(gimli::DW_LANG_D)), older);
            assert_eq!(language.up_to(None), language);
        }
        // No number is listed twice.
        let mut numbers: Vec<_> = ROWS.iter().map(|row| row.language).collect();
        numbers.sort_unstable();
        numbers.dedup();
        assert_eq!(numbers.len(), ROWS.len());
    }
}
