//! Floating-point formats beyond IEEE 754: "FP Encoding" in the core specification.

use crate::model::BaseEncoding;

/// A floating-point format.
pub(super) struct FloatFormat {
    /// Number in the enumeration.
    pub number: u32,
    pub encoding: BaseEncoding,
    /// The type's GLSL name.
    pub name: &'static str,
}

const FORMATS: [FloatFormat; 3] = [
    FloatFormat { number: 0, encoding: BaseEncoding::BFloat16, name: "bfloat16_t" },
    FloatFormat { number: 4214, encoding: BaseEncoding::Float8E4M3, name: "floate4m3_t" },
    FloatFormat { number: 4215, encoding: BaseEncoding::Float8E5M2, name: "floate5m2_t" },
];

impl FloatFormat {
    /// A number's size in bits, as the "Validation Rules" of `NonSemantic.Shader.DebugInfo.101` require it.
    pub fn bits(&self) -> Option<u64> {
        self.encoding.bits()
    }
}

/// Returns the format with a number.
pub(super) fn numbered(number: u32) -> Option<&'static FloatFormat> {
    FORMATS.iter().find(|format| format.number == number)
}

/// Returns the number for an encoding's format.
pub(super) fn number(encoding: BaseEncoding) -> Option<u32> {
    FORMATS.iter().find(|format| format.encoding == encoding).map(|format| format.number)
}
