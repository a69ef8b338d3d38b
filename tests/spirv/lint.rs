//! Findings about the debug instructions of valid modules: each code in a module with one fault, and nothing in the module
//! without it.

use std::collections::BTreeSet;

use eitri::lint::{LintCode, LintFinding, LintOptions, LintReport, NameMatch};
use eitri::spirv::{HEADER, Mode, Set, attach, from_bytes, lint, read, validate};

use crate::common::assemble::assemble;
use crate::common::cases::{Random, cases};
use crate::common::check_golden;
use crate::common::random::{fixed_choices, targets};
use crate::common::spirv::described;
use crate::spirv::producers::MODULES;

const SHADER: &str = include_str!("lint/shader.spvasm");
const OPENCL: &str = include_str!("lint/opencl.spvasm");

fn report(words: &[u32]) -> LintReport {
    lint(words, &LintOptions::default()).expect("is a module")
}

fn codes(findings: &[LintFinding]) -> BTreeSet<LintCode> {
    findings.iter().map(|finding| finding.code).collect()
}

/// The findings in a module after edits: each edit replaces a text that the module contains.
fn edited(module: &str, edits: &[(&str, &str)]) -> Vec<LintFinding> {
    let edit = |text: String, (find, replace): &(&str, &str)| {
        assert!(text.contains(find), "{find}");
        text.replacen(find, replace, 1)
    };
    let text = edits.iter().fold(module.to_owned(), edit);
    report(&assemble(&text).words).findings
}

#[test]
fn correct_modules_have_no_findings() {
    for module in [SHADER, OPENCL] {
        let words = assemble(module).words;
        assert_eq!(validate(&read(&words).expect("reads")).findings, []);
        let report = report(&words);
        assert_eq!(report.findings, [], "{report}");
        assert_eq!(report.functions, 2);
        assert!(report.entries > 5);
    }
}

/// A code, and an edit of the module that makes the fault.
type Fault = (LintCode, &'static [(&'static str, &'static str)]);

/// Faults in `NonSemantic.Shader.DebugInfo.100`.
const SHADER_FAULTS: &[Fault] = &[
    // A vector with 3 elements has no element 3, and an element has no parts.
    (LintCode::IndexOutsideType, &[("DebugValue %v %one %ex %c2", "DebugValue %v %one %ex %c3")]),
    (LintCode::IndexOutsideType, &[("DebugValue %s %one %ex %c1", "DebugValue %s %one %ex %c1 %c0")]),
    (LintCode::ValueTypeDiffers, &[("DebugDeclare %x %o_x", "DebugDeclare %x %o_y")]),
    (LintCode::ValueTypeDiffers, &[("DebugValue %gx %c1", "DebugValue %gx %one")]),
    // Member 0 is an integer.
    (LintCode::ValueTypeDiffers, &[("DebugValue %s %one %ex %c1", "DebugValue %s %one %ex %c0")]),
    (LintCode::ValueTypeDiffers, &[("%st = OpTypeStruct %u32 %f32", "%st = OpTypeStruct %f32 %f32")]),
    // The value of an `int` is the pointer to it.
    (LintCode::ValueTypeDiffers, &[("DebugValue %z %o_z %read", "DebugValue %z %o_z %ex")]),
    (LintCode::ValueTypeDiffers, &[("DebugValue %z %o_z %read", "DebugValue %z %o_y %read")]),
    (LintCode::ValueSizeDiffers, &[("DebugValue %gx %c1", "DebugValue %gx %short")]),
    (LintCode::ValueSizeDiffers, &[("DebugValue %s %c1 %e_low", "DebugValue %s %short %e_low")]),
    (LintCode::ValueSizeDiffers, &[("%v3 = OpTypeVector %f32 3", "%v3 = OpTypeVector %f32 2")]),
    // Bits 32 to 64 of 32 bits, and of a structure with the size 32.
    (LintCode::FragmentBeyondType, &[("DebugValue %gx %c1 %ex", "DebugValue %gx %c1 %e_high")]),
    (
        LintCode::MemberBeyondType,
        &[(
            "DebugTypeMember %n_y %flt %src %c1 %c1 %c32 %c32",
            "DebugTypeMember %n_y %flt %src %c1 %c1 %c64 %c32",
        )],
    ),
    (
        LintCode::ForeignScope,
        &[("%s1 = OpExtInst %void %d DebugScope %df", "%s1 = OpExtInst %void %d DebugScope %dg")],
    ),
    (LintCode::ForeignScope, &[("DebugScope %dg %call", "DebugScope %dg")]),
    (
        LintCode::ForeignScope,
        &[("%s1 = OpExtInst %void %d DebugScope %df", "%s1 = OpExtInst %void %d DebugScope %cu")],
    ),
    (LintCode::ForeignVariable, &[("DebugDeclare %y %o_y", "DebugDeclare %gx %o_x")]),
    (LintCode::ForeignVariable, &[("DebugValue %gx %c1 %ex", "DebugValue %x %c1 %ex")]),
    (LintCode::NoScope, &[("%s5 = OpExtInst %void %d DebugScope %b1\n", "")]),
    (
        LintCode::NoScope,
        &[
            ("%s6 = OpExtInst %void %d DebugScope %dg\n", ""),
            ("%l3 = OpExtInst %void %d DebugLine %src %c2 %c2 %c1 %c1\n", ""),
        ],
    ),
    (
        LintCode::NoScope,
        &[("%s6 = OpExtInst %void %d DebugScope %dg", "%s6 = OpExtInst %void %d DebugNoScope")],
    ),
    (LintCode::DeclaredTwice, &[("DebugDeclare %v %o_v %ex", "DebugDeclare %x %o_z %ex")]),
    (LintCode::EqualArguments, &[("%src %c1 %c1 %df %c0 %c2", "%src %c1 %c1 %df %c0 %c1")]),
    (LintCode::LineOutsideSource, &[("DebugLine %src %c2 %c2 %c1 %c1", "DebugLine %src %c4 %c4 %c1 %c1")]),
    (LintCode::LineOutsideSource, &[("DebugLexicalBlock %src %c1 %c3", "DebugLexicalBlock %src %c1 %c9")]),
    (LintCode::InlinedElsewhere, &[("DebugInlinedAt %c1 %b2", "DebugInlinedAt %c1 %dg")]),
    (
        LintCode::InlinedElsewhere,
        &[
            ("DebugScope %dh %inner", "DebugScope %dh %alone"),
            ("%ex = ", "%alone = OpExtInst %void %d DebugInlinedAt %c2 %dg\n%ex = "),
        ],
    ),
    (
        LintCode::CodeDescribedTwice,
        &[("%s6 = ", "%again = OpExtInst %void %d DebugFunctionDefinition %dh %g\n%s6 = ")],
    ),
    (LintCode::DefinitionMissing, &[("%def_g = OpExtInst %void %d DebugFunctionDefinition %dg %g\n", "")]),
    (
        LintCode::VariableNotVisible,
        &[("%s5 = OpExtInst %void %d DebugScope %b1", "%s5 = OpExtInst %void %d DebugScope %b2")],
    ),
    // A value after the last code of its block; the block's code before is in another basic block.
    (
        LintCode::VariableNotVisible,
        &[("%s5 = OpExtInst %void %d DebugScope %b1", "%s5 = OpExtInst %void %d DebugScope %df")],
    ),
    // A later branch leads back to code after the block.
    (
        LintCode::VariableNotVisible,
        &[
            ("%s5 = OpExtInst %void %d DebugScope %b1", "%s5 = OpExtInst %void %d DebugScope %df"),
            ("OpStore %o_x %c4\nOpReturn", LATER_LOOP),
        ],
    ),
    (LintCode::VectorAsStructure, &[("DebugLocalVariable %n_y %dvec", "DebugLocalVariable %n_y %three")]),
];

/// A loop that begins after the value, and another that begins before it.
const LATER_LOOP: &str = "OpStore %o_x %c4\nOpBranch %loop\n%loop = OpLabel\nOpLoopMerge %end %more None\n\
    OpBranchConditional %true %more %end\n%more = OpLabel\nOpBranch %loop\n%end = OpLabel\nOpReturn";

/// Faults in `OpenCL.DebugInfo.100`.
const OPENCL_FAULTS: &[Fault] = &[
    (LintCode::IndexOutsideType, &[("DebugValue %s %c32 %ex %c0", "DebugValue %s %c32 %ex %c32")]),
    (LintCode::ValueTypeDiffers, &[("DebugDeclare %x %o_x", "DebugDeclare %x %o_y")]),
    (LintCode::ValueSizeDiffers, &[("DebugValue %gx %c32", "DebugValue %gx %short")]),
    (LintCode::FragmentBeyondType, &[("DebugOperation 9 32 32", "DebugOperation 9 64 32")]),
    (LintCode::FragmentBeyondType, &[("DebugOperation 9 32 32", "DebugOperation 9 4294967295 4294967295")]),
    (LintCode::MemberBeyondType, &[("%dst %c32 %c32 0", "%dst %c64 %c32 0")]),
    (
        LintCode::ForeignScope,
        &[("%s1 = OpExtInst %void %d DebugScope %df", "%s1 = OpExtInst %void %d DebugScope %dg")],
    ),
    (LintCode::ForeignVariable, &[("DebugDeclare %y %o_y", "DebugDeclare %gx %o_x")]),
    (LintCode::NoScope, &[("%s5 = OpExtInst %void %d DebugScope %dg\n", "")]),
    (LintCode::NoScope, &[("OpStore %o_x %c64", "OpLine %file 1 1\nOpStore %o_x %c64")]),
    (LintCode::DeclaredTwice, &[("DebugDeclare %y %o_y %ex", "DebugDeclare %x %o_x %ex")]),
    (LintCode::EqualArguments, &[("%src 1 1 %df 0 2", "%src 1 1 %df 0 1")]),
    (LintCode::LineOutsideSource, &[("OpLine %file 2 1", "OpLine %file 3 1")]),
    // `two` has 3 bytes, and column 4 is the line's end.
    (LintCode::LineOutsideSource, &[("OpLine %file 2 1", "OpLine %file 2 5")]),
    (LintCode::InlinedElsewhere, &[("DebugInlinedAt 1 %b2", "DebugInlinedAt 1 %dg")]),
    (LintCode::CodeDescribedTwice, &[("8 2 %g", "8 2 %f")]),
    (LintCode::DefinitionMissing, &[("8 2 %g", "8 2 %none")]),
    (
        LintCode::VariableNotVisible,
        &[("%s2 = OpExtInst %void %d DebugScope %b1", "%s2 = OpExtInst %void %d DebugScope %b2")],
    ),
    (LintCode::DeadStorage, &[("OpReturn", "%late = OpExtInst %void %d DebugValue %y %o_y %read\nOpReturn")]),
    // LLVM's translator ends the lifetime of a pointer with another type.
    (
        LintCode::DeadStorage,
        &[
            ("OpLifetimeStop %o_y 4", "%cast = OpBitcast %p_u %o_y\nOpLifetimeStop %cast 4"),
            ("OpReturn", "%late = OpExtInst %void %d DebugValue %y %o_y %read\nOpReturn"),
        ],
    ),
    (
        LintCode::DeadStorage,
        &[(
            "OpReturn",
            "%copy = OpCopyObject %p_f %o_y\n%late = OpExtInst %void %d DebugValue %y %copy %read\nOpReturn",
        )],
    ),
    (LintCode::ValueTypeDiffers, &[SPACE, ("DebugDeclare %x %o_x %ex", "DebugDeclare %x %o_y %space")]),
];

/// The expression with which clang names an address space in OpenCL C.
const SPACE: (&str, &str) = (
    "%ex = ",
    "%zero = OpExtInst %void %d DebugOperation 8 0\n%swap = OpExtInst %void %d DebugOperation 5\n\
     %xderef = OpExtInst %void %d DebugOperation 6\n\
     %space = OpExtInst %void %d DebugExpression %zero %swap %xderef\n%ex = ",
);

#[test]
fn each_fault_has_its_code() {
    for (module, faults) in [(SHADER, SHADER_FAULTS), (OPENCL, OPENCL_FAULTS)] {
        for (code, edits) in faults {
            let findings = edited(module, edits);
            let finding = findings.iter().find(|finding| finding.code == *code);
            let finding = finding.unwrap_or_else(|| panic!("{code:?}, {edits:?}: {:?}", codes(&findings)));
            assert!(!finding.evidence.is_empty(), "{finding}");
            assert!(finding.offset % 4 == 0 && finding.offset >= 4 * HEADER as u64, "{finding}");
            assert!(finding.unit.is_some(), "{finding}");
        }
    }
    let tried: BTreeSet<_> = SHADER_FAULTS.iter().chain(OPENCL_FAULTS).map(|fault| fault.0).collect();
    let of_modules = LintCode::IndexOutsideType..=LintCode::VectorAsStructure;
    let modules = LintCode::ALL.iter().filter(|code| of_modules.contains(code));
    for code in modules {
        assert!(tried.contains(code), "{} has no example", code.name());
    }
}

/// A variable in storage: definitions of types, the storage's type, debug types, the variable's type, and the code that is
/// found.
type Storage = (&'static str, &'static str, &'static str, &'static str, Option<LintCode>);

const TYPE: Option<LintCode> = Some(LintCode::ValueTypeDiffers);
const SIZE: Option<LintCode> = Some(LintCode::ValueSizeDiffers);

/// Composite types in the storage of other composite types. `%dst` has an integer and a floating-point number with 32 bits, and
/// `%three` has three of the latter.
const STORAGES: &[Storage] = &[
    // Structures in the storage of others: of 192 bits for 64, and of 64 for 96.
    ("%t = OpTypeStruct %v3 %v3 %v3", "%t", "", "%dst", SIZE),
    ("", "%st", "", "%three", SIZE),
    // Numbers of other kinds.
    ("%v2 = OpTypeVector %f32 2\n%t = OpTypeStruct %v2", "%t", "", "%dst", TYPE),
    // Vectors and matrices.
    ("%t = OpTypeMatrix %v3 3", "%t", "", "%dvec", SIZE),
    ("", "%v3", "%dmat = OpExtInst %void %d DebugTypeMatrix %dvec %c3 %true", "%dmat", SIZE),
    ("%t = OpTypeStruct %f32 %f32 %f32 %f32", "%t", "", "%dvec", SIZE),
    // Arrays of other lengths.
    ("%t = OpTypeArray %f32 %c3", "%t", "%darr = OpExtInst %void %d DebugTypeArray %flt %c4", "%darr", SIZE),
    ("%t = OpTypeArray %f32 %c5", "%t", "%darr = OpExtInst %void %d DebugTypeArray %flt %c4", "%darr", SIZE),
    // Vectors for arrays with fewer elements, and arrays for vectors; in an array without structures, integers are no padding.
    ("%t = OpTypeVector %u32 4", "%t", "%darr = OpExtInst %void %d DebugTypeArray %int %c3", "%darr", SIZE),
    ("%t = OpTypeVector %u32 4", "%t", "%darr = OpExtInst %void %d DebugTypeArray %int %c4", "%darr", None),
    ("%t = OpTypeArray %u32 %c8", "%t", "%dv4 = OpExtInst %void %d DebugTypeVector %int %c4", "%dv4", SIZE),
    ("%t = OpTypeArray %u32 %c4", "%t", "%dv4 = OpExtInst %void %d DebugTypeVector %int %c4", "%dv4", None),
    (
        "%v4 = OpTypeVector %u32 4\n%t = OpTypeArray %v4 %c4",
        "%t",
        "%darr = OpExtInst %void %d DebugTypeArray %int %c4",
        "%darr",
        TYPE,
    ),
    (
        "%v4 = OpTypeVector %u32 4\n%t = OpTypeArray %v4 %c1",
        "%t",
        "%darr = OpExtInst %void %d DebugTypeArray %int %c4",
        "%darr",
        None,
    ),
    (
        "%v4 = OpTypeVector %f32 4\n%t = OpTypeArray %v4 %c1",
        "%t",
        "%darr = OpExtInst %void %d DebugTypeArray %int %c4",
        "%darr",
        TYPE,
    ),
    ("%t = OpTypeVector %f32 4", "%t", "%darr = OpExtInst %void %d DebugTypeArray %int %c4", "%darr", TYPE),
    // A block with an array without a size, and a scalar; such a structure, and an array with a size.
    ("%run = OpTypeRuntimeArray %f32\n%t = OpTypeStruct %run", "%t", "", "%flt", TYPE),
    ("%t = OpTypeArray %f32 %c4", "%t", OPEN, "%dblock", TYPE),
    ("%u8 = OpTypeInt 8 0\n%t = OpTypeArray %u8 %c4", "%t", "", "%dst", SIZE),
    // Wrapped structures; padding; a vector with 3 elements in the storage of 4.
    ("%t = OpTypeStruct %st", "%t", "", "%dst", None),
    ("%t = OpTypeStruct %u32 %f32 %u32", "%t", "", "%dst", None),
    ("%v4 = OpTypeVector %f32 4\n%t = OpTypeStruct %v4 %u32", "%t", VECTOR, "%dwrap", None),
    // A matrix as an array of vectors.
    (
        "%a = OpTypeArray %v3 %c3\n%t = OpTypeStruct %a",
        "%t",
        "%dmat = OpExtInst %void %d DebugTypeMatrix %dvec %c3 %true",
        "%dmat",
        None,
    ),
    // A boolean as an integer.
    ("%t = OpTypeStruct %st", "%t", BOOLEAN, "%dflag", None),
    ("%run = OpTypeRuntimeArray %f32\n%t = OpTypeStruct %run %u32", "%t", "", "%int", TYPE),
    (
        "%run = OpTypeRuntimeArray %f32\n%in = OpTypeStruct %run\n%t = OpTypeStruct %in",
        "%t",
        OPEN,
        "%dblock",
        None,
    ),
    // Bytes are storage for anything.
    ("%u8 = OpTypeInt 8 0\n%t = OpTypeArray %u8 %c8", "%t", "", "%dst", None),
];

/// A structure with an array without a size.
const OPEN: &str = "%dopen = OpExtInst %void %d DebugTypeArray %flt %c0\n\
    %mo = OpExtInst %void %d DebugTypeMember %n_x %dopen %src %c1 %c1 %c0 %c0 %c0\n\
    %dblock = OpExtInst %void %d DebugTypeComposite %n_s %c1 %src %c1 %c1 %cu %e %c0 %c0 %mo";
/// A structure with a vector.
const VECTOR: &str = "%mv = OpExtInst %void %d DebugTypeMember %n_x %dvec %src %c1 %c1 %c0 %c0 %c0\n\
    %dwrap = OpExtInst %void %d DebugTypeComposite %n_s %c1 %src %c1 %c1 %cu %e %c0 %c0 %mv";
/// A structure with a boolean and a floating-point number.
const BOOLEAN: &str = "%dbool = OpExtInst %void %d DebugTypeBasic %n_x %c32 %c2 %c0\n\
    %mb = OpExtInst %void %d DebugTypeMember %n_x %dbool %src %c1 %c1 %c0 %c32 %c0\n\
    %dflag = OpExtInst %void %d DebugTypeComposite %n_s %c1 %src %c1 %c1 %cu %e %c64 %c0 %mb %m2";

#[test]
fn composite_types_are_compared_by_their_numbers() {
    for (types, storage, debug, variable, code) in STORAGES {
        let edits = [
            (
                "%src = OpExtInst",
                format!("{types}\n%t_p = OpTypePointer Function {storage}\n%src = OpExtInst"),
            ),
            ("%tf = OpExtInst", format!("{debug}\n%tf = OpExtInst")),
            ("%z = OpExtInst %void %d DebugLocalVariable %n_x %int", {
                format!("%z = OpExtInst %void %d DebugLocalVariable %n_x {variable}")
            }),
            ("%o_z = OpVariable %p_u", "%o_z = OpVariable %t_p".into()),
            ("DebugValue %z %o_z %read", "DebugDeclare %z %o_z %ex".into()),
        ];
        let edits: Vec<_> = edits.iter().map(|(find, replace)| (*find, replace.as_str())).collect();
        let found = edited(SHADER, &edits);
        let codes: Vec<_> = found.iter().map(|finding| finding.code).collect();
        assert_eq!(codes, Vec::from_iter(*code), "{types:?}, {variable} {debug:?}: {found:?}");
    }
}

/// glslang writes comments and `#line 1` before a shader's text. Another `#line` renumbers the lines.
#[test]
fn lines_count_from_the_preamble() {
    let preamble = ("\"one", "\"// OpModuleProcessed entry-point main\n\n#line 1\none");
    assert_eq!(edited(SHADER, &[preamble]), []);
    let faults = [
        ("DebugLine %src %c2 %c2 %c1 %c1", "DebugLine %src %c4 %c4 %c1 %c1"),
        ("DebugLine %src %c2 %c2 %c1 %c1", "DebugLine %src %c2 %c2 %c64 %c64"),
        ("DebugLexicalBlock %src %c1 %c3", "DebugLexicalBlock %src %c1 %c9"),
    ];
    for fault in faults {
        let found = edited(SHADER, &[preamble, fault]);
        assert_eq!(codes(&found), BTreeSet::from([LintCode::LineOutsideSource]), "{fault:?}");
        for other in ["\"one\n#line 1\nfour\nfive", "\"// x\n#line 2\none", "\"#line 1\none\n#line 7"] {
            assert_eq!(edited(SHADER, &[("\"one", other), fault]), [], "{other}");
        }
    }
}

/// Edits after which the modules are still right.
#[test]
fn neighbours_of_faults_have_no_findings() {
    let shader: &[&[(&str, &str)]] = &[
        // A member of a structure, by its index and by its bits.
        &[("DebugValue %s %one %ex %c1", "DebugValue %s %c1 %ex %c0")],
        // The same declaration in two calls: each call has a variable of its own.
        &[("DebugValue %gx %c1 %ex", "DebugDeclare %gx %o_z %ex")],
        // Two parts of a variable.
        &[(
            "DebugDeclare %s %o_s %ex",
            "DebugDeclare %s %o_x %e_low\n%more = OpExtInst %void %d DebugDeclare %s %o_y %e_high",
        )],
        // Line 0 is no line, and code without a line has no scope.
        &[("DebugLine %src %c2 %c2 %c1 %c1", "DebugLine %src %c0 %c0 %c0 %c0")],
        &[(
            "OpStore %o_x %c4\n",
            "%quiet = OpExtInst %void %d DebugNoScope\n%still = OpExtInst %void %d DebugNoLine\nOpStore %o_x %c4\n",
        )],
        // A value before its block, and in a block inside it.
        &[(
            "OpStore %o_x %c4\n",
            "%early = OpExtInst %void %d DebugScope %df\n%before = OpExtInst %void %d DebugValue %v %vec %ex\n\
             OpStore %o_x %c4\n%again = OpExtInst %void %d DebugScope %b1\nOpStore %o_v %vec\n",
        )],
        // A later branch leads back to the block.
        &[
            (
                "%s1 = OpExtInst",
                "OpBranch %head\n%head = OpLabel\nOpLoopMerge %end %more None\nOpBranch %body\n\
              %body = OpLabel\n%s1 = OpExtInst",
            ),
            ("%s5 = OpExtInst %void %d DebugScope %b1", "%s5 = OpExtInst %void %d DebugScope %df"),
            (
                "OpReturn",
                "OpBranch %more\n%more = OpLabel\nOpBranchConditional %true %head %end\n%end = OpLabel\nOpReturn",
            ),
        ],
        &[
            ("%src %c1 %c3 %df", "%src %c1 %c3 %b1"),
            ("%s5 = OpExtInst %void %d DebugScope %b1", "%s5 = OpExtInst %void %d DebugScope %b2"),
        ],
        // No size is known.
        &[("%cu %e %c64 %c0 %m1 %m2", "%cu %e %c0 %c0 %m1 %m2")],
        // An undefined value has no bits.
        &[
            ("%true = ", "%undef = OpUndef %u16\n%true = "),
            ("DebugValue %gx %c1 %ex", "DebugValue %gx %undef %ex"),
        ],
    ];
    for edits in shader {
        let findings = edited(SHADER, edits);
        assert_eq!(findings, [], "{edits:?}");
    }
    let opencl: &[&[(&str, &str)]] = &[
        // Column 0 is unknown, and column 4 is the end of a line with 3 bytes.
        &[("OpLine %file 2 1", "OpLine %file 2 0")],
        &[("OpLine %file 2 1", "OpLine %file 2 4")],
        &[SPACE, ("DebugDeclare %x %o_x %ex", "DebugDeclare %x %o_x %space")],
        // The lifetime begins again.
        &[(
            "OpReturn",
            "OpLifetimeStart %o_y 4\n%late = OpExtInst %void %d DebugValue %y %o_y %read\nOpReturn",
        )],
        // A line that is left over from the code before.
        &[(
            "%s4 = OpExtInst %void %d DebugNoScope",
            "OpLine %file 2 1\n%s4 = OpExtInst %void %d DebugNoScope",
        )],
    ];
    for edits in opencl {
        let findings = edited(OPENCL, edits).into_iter().filter(|it| it.code != LintCode::NoScope);
        assert_eq!(findings.collect::<Vec<_>>(), [], "{edits:?}");
    }
}

#[test]
fn reported_modules_have_their_findings() {
    let found = |text: &str| report(&assemble(text).words).findings;
    // A declaration of another function's variable, without a scope.
    let findings = found(include_str!("lint/declare_in_other_function.spvasm"));
    assert_eq!(codes(&findings), [LintCode::ForeignVariable].into(), "{findings:?}");
    // The bits of a float as an integer.
    let findings = found(include_str!("lint/type_differs.spvasm"));
    let [differs, ..] = &findings[..] else { panic!("{findings:?}") };
    assert!(findings.iter().any(|finding| finding.code == LintCode::ValueTypeDiffers), "{differs}");
    // The only code can be that of the only function, although no definition says so.
    assert!(!codes(&findings).contains(&LintCode::ForeignVariable), "{findings:?}");
}

/// A fault in a function does not hide the faults in another function.
#[test]
fn faults_in_two_functions_are_both_reported() {
    let both = [
        ("%s1 = OpExtInst %void %d DebugScope %df", "%s1 = OpExtInst %void %d DebugScope %dg"),
        ("%s6 = OpExtInst %void %d DebugScope %dg", "%s6 = OpExtInst %void %d DebugScope %df"),
    ];
    let findings = edited(SHADER, &both);
    let foreign = findings.iter().filter(|finding| finding.code == LintCode::ForeignScope);
    let functions: Vec<_> = foreign.filter_map(|finding| finding.function.as_deref()).collect();
    assert_eq!(functions, ["f", "g"]);
}

#[test]
fn chosen_functions_have_their_findings_alone() {
    let both = [
        ("%s1 = OpExtInst %void %d DebugScope %df", "%s1 = OpExtInst %void %d DebugScope %dg"),
        ("%s6 = OpExtInst %void %d DebugScope %dg", "%s6 = OpExtInst %void %d DebugScope %df"),
    ];
    let text = both.iter().fold(SHADER.to_owned(), |text, (find, replace)| text.replacen(find, replace, 1));
    let mut options = LintOptions::default();
    options.only = vec!["g".into(), "missing".into()];
    let report = lint(&assemble(&text).words, &options).expect("is a module");
    assert!(!report.findings.is_empty());
    assert!(report.findings.iter().all(|finding| finding.function.as_deref() == Some("g")));
    assert_eq!(report.named, ["g"]);
    assert_eq!(report.unknown.len(), 1);
}

#[test]
fn module_without_debug_instructions_is_a_finding() {
    let words = from_bytes(include_bytes!("kernels/saxpy.O2.spv")).expect("is a module");
    assert_eq!(codes(&report(&words).findings), [LintCode::NoDebugInfo].into());
}

/// Findings in modules of other producers, which were compared with the text of `spirv-dis`.
#[test]
fn findings_of_producers_are_listed() {
    let mut text = String::new();
    for (name, bytes) in MODULES {
        let report = report(&from_bytes(bytes).expect("is a module"));
        text += &format!("{name}: {} functions, {} entries\n", report.functions, report.entries);
        for finding in &report.findings {
            let at = finding.offset / 4;
            let function = finding.function.as_deref().unwrap_or("-");
            let variable = finding.variable.as_deref().unwrap_or("-");
            text +=
                &format!("  {} word {at} {function} {variable}: {}\n", finding.code.name(), finding.written);
            text.extend(finding.evidence.iter().map(|fact| format!("    {fact}\n")));
        }
    }
    check_golden("spirv/lint.txt", &text);
}

/// What the encoder writes for random descriptions: its scopes, calls, definitions, indexes and fragments are right. Which
/// value a random variable has is not.
#[test]
fn random_descriptions_have_no_findings_about_structure() {
    let by_description = [
        LintCode::ValueTypeDiffers,
        LintCode::ValueSizeDiffers,
        LintCode::VectorAsStructure,
        LintCode::VariableNotVisible,
        LintCode::ForeignVariable,
        // A variable can be bound to two instructions, and declared twice.
        LintCode::DeclaredTwice,
        // A description can have a line where it has no scope.
        LintCode::NoScope,
    ];
    let mut wrong = Vec::new();
    for (seed, target) in (0..cases(24) as u64).zip(targets().iter().cycle()) {
        let described = described(&fixed_choices(seed, 400), target);
        for mode in [Mode::exact(Set::OpenCl), Mode::exact(Set::Shader), Mode::opencl(), Mode::vulkan()] {
            let attached = attach(&described.words, &described.module, &described.binding, &mode);
            let mut report = report(&attached.expect("every call was right").words);
            report.findings.retain(|finding| !by_description.contains(&finding.code));
            wrong
                .extend(report.findings.first().map(|finding| format!("{seed}, {}: {finding}", mode.name())));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Modules with any damage are diagnosed without a panic.
#[test]
fn damaged_modules_are_diagnosed() {
    let mut numbers = Random(11);
    let foreign: [&[u8]; 3] = [
        include_bytes!("foreign/slang.sort.spv"),
        include_bytes!("foreign/intel.200.O0.spv"),
        include_bytes!("foreign/llvm15.O2.spv"),
    ];
    let modules = foreign.map(|bytes| from_bytes(bytes).expect("is a module"));
    let modules = modules.into_iter().chain([assemble(SHADER).words, assemble(OPENCL).words]);
    let mut read = 0;
    for words in modules {
        for _ in 0..cases(400) {
            let mut damaged = words.clone();
            for _ in 0..1 + numbers.below(3) {
                let at = numbers.below(damaged.len());
                damaged[at] = match numbers.below(4) {
                    0 => damaged[at].wrapping_add(1),
                    1 => damaged[numbers.below(words.len())],
                    2 => numbers.below(words[3] as usize) as u32,
                    _ => numbers.next() as u32,
                };
            }
            read += usize::from(lint(&damaged, &LintOptions::default()).is_ok());
        }
    }
    assert!(read > 100, "{read}");
}

/// A shader with instructions before its function, and instructions in the function's block. `%dg` is a function that the code
/// is inlined from.
fn with(declarations: &str, code: &str) -> Vec<u32> {
    let text = format!(
        "OpCapability Shader
OpExtension \"SPV_KHR_non_semantic_info\"
%d = OpExtInstImport \"NonSemantic.Shader.DebugInfo.100\"
OpMemoryModel Logical GLSL450
OpEntryPoint GLCompute %f \"main\"
OpExecutionMode %f LocalSize 1 1 1
%file = OpString \"/src/a.comp\"
%n_f = OpString \"f\"
%n_x = OpString \"x\"
%n_long = OpString \"{long}\"
%e = OpString \"\"
%void = OpTypeVoid
%u32 = OpTypeInt 32 0
%c0 = OpConstant %u32 0
%c1 = OpConstant %u32 1
%c2 = OpConstant %u32 2
%c4 = OpConstant %u32 4
%c5 = OpConstant %u32 5
%c8 = OpConstant %u32 8
%c32 = OpConstant %u32 32
%fty = OpTypeFunction %void
%src = OpExtInst %void %d DebugSource %file
%cu = OpExtInst %void %d DebugCompilationUnit %c1 %c5 %src %c2
%int = OpExtInst %void %d DebugTypeBasic %n_x %c32 %c4 %c0
%tf = OpExtInst %void %d DebugTypeFunction %c0 %void
%df = OpExtInst %void %d DebugFunction %n_f %tf %src %c1 %c1 %cu %e %c8 %c1
%dg = OpExtInst %void %d DebugFunction %n_long %tf %src %c2 %c1 %cu %e %c8 %c2
{declarations}
%f = OpFunction %void None %fty
%l = OpLabel
%def_f = OpExtInst %void %d DebugFunctionDefinition %df %f
{code}
OpReturn
OpFunctionEnd
",
        long = "L".repeat(LONG)
    );
    assemble(&text).words
}

/// Bytes in a name that is too long to be repeated in each finding.
const LONG: usize = 50_000;

/// Number of bytes in all texts of a report.
fn text_bytes(report: &LintReport) -> usize {
    let text = |finding: &LintFinding| {
        let evidence: usize = finding.evidence.iter().map(String::len).sum();
        let inlined: usize = finding.inlined.names().iter().map(|name| name.len()).sum();
        let variable = finding.variable.as_deref().unwrap_or_default();
        finding.written.len() + evidence + inlined + variable.len()
    };
    report.findings.iter().map(text).sum()
}

#[test]
fn long_name_is_cut_in_each_finding() {
    let members = 400;
    let declarations = format!(
        "%m = OpExtInst %void %d DebugTypeMember %n_x %int %src %c1 %c1 %c0 %c32 %c0
%t = OpExtInst %void %d DebugTypeComposite %n_long %c1 %src %c1 %c1 %cu %e %c1 %c0{}",
        " %m".repeat(members)
    );
    let report = report(&with(&declarations, ""));
    let beyond = report.findings.iter().filter(|it| it.code == LintCode::MemberBeyondType);
    assert!(beyond.count() > 0, "{report}");
    assert!(text_bytes(&report) < report.findings.len() * LONG / 10, "{}", text_bytes(&report));
    let texts: Vec<&String> = report.findings.iter().flat_map(|it| &it.evidence).collect();
    assert!(texts.iter().any(|text| text.contains('…')), "{texts:?}");
}

#[test]
fn deep_chain_of_calls_is_cut_in_each_finding() {
    let depth = 500;
    let mut declarations = "%i0 = OpExtInst %void %d DebugInlinedAt %c1 %dg\n".to_owned();
    let mut code = String::new();
    for call in 1..depth {
        declarations += &format!("%i{call} = OpExtInst %void %d DebugInlinedAt %c1 %dg %i{}\n", call - 1);
    }
    // The chain ends in a function without the code.
    for call in 0..depth {
        code += &format!(
            "%s{call} = OpExtInst %void %d DebugScope %dg %i{call}\n%a{call} = OpIAdd %u32 %c1 %c2\n"
        );
    }
    let report = report(&with(&declarations, &code));
    let elsewhere: Vec<_> =
        report.findings.iter().filter(|it| it.code == LintCode::InlinedElsewhere).collect();
    assert_eq!(elsewhere.len(), depth, "{report}");
    let names = elsewhere.last().expect("a finding").inlined.names();
    assert_eq!((names.len(), names[0]), (65, "…"));
    assert!(names[1].ends_with('…') && names[1].len() < 2_000, "{}", names[1].len());
    // The shortest chains are whole.
    assert_eq!(elsewhere[0].inlined.names().len(), 1);
}

#[test]
fn pattern_of_functions_chooses_them() {
    let declarations = "%i0 = OpExtInst %void %d DebugInlinedAt %c1 %dg";
    let words = with(declarations, "%s = OpExtInst %void %d DebugScope %dg %i0\n%a = OpIAdd %u32 %c1 %c2");
    let mut options = LintOptions::default();
    options.only = vec!["f*".into()];
    let is_match = |wanted: &str, name: &str| wanted == "f*" && name.starts_with('f');
    options.matches = NameMatch::new(&is_match);
    let report = lint(&words, &options).expect("is a module");
    assert_eq!((report.named.len(), report.unknown.len()), (1, 0));
    assert!(!report.findings.is_empty());
}
