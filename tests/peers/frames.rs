//! Tables of the conformance vectors for call frame information, compared with gimli's.

use std::collections::BTreeMap;
use std::path::Path;

use eitri::conform::{
    FrameBytes, Recovered, RowCfa, RowRule, Unwound, VectorBody, VectorFile, VectorRow, Verdict,
};
use eitri::eval::{Class, Fault};
use eitri::read::FrameSection;
use gimli::{
    BaseAddresses, CieOrFde, DebugFrame, EhFrame, EndianSlice, RegisterRule, RunTimeEndian, UnwindContext,
    UnwindExpression, UnwindSection,
};

type Slice<'a> = EndianSlice<'a, RunTimeEndian>;

fn row<'a>(
    section: &impl UnwindSection<Slice<'a>>,
    row: &gimli::UnwindTableRow<usize>,
    end: u64,
) -> Option<VectorRow> {
    let bytes = |expr: &UnwindExpression<usize>| Some(expr.get(section).ok()?.0.slice().to_vec());
    let cfa = match row.cfa() {
        // Initial rule of gimli.
        gimli::CfaRule::RegisterAndOffset { register: gimli::Register(0), offset: 0 } => RowCfa::Unset,
        gimli::CfaRule::RegisterAndOffset { register, offset } => {
            RowCfa::Register { register: register.0.into(), offset: *offset, space: 0 }
        }
        gimli::CfaRule::Expression(expr) => RowCfa::Expression(bytes(expr)?),
    };
    let mut rules = BTreeMap::new();
    for (register, rule) in row.registers() {
        let rule = match rule {
            RegisterRule::Undefined => RowRule::Undefined,
            RegisterRule::SameValue => RowRule::SameValue,
            RegisterRule::Offset(by) => RowRule::Offset(*by),
            RegisterRule::ValOffset(by) => RowRule::ValOffset(*by),
            RegisterRule::Register(from) => RowRule::Register(from.0.into()),
            RegisterRule::Expression(expr) => RowRule::Expression(bytes(expr)?),
            RegisterRule::ValExpression(expr) => RowRule::ValExpression(bytes(expr)?),
            _ => return None,
        };
        rules.insert(register.0.into(), rule);
    }
    Some(VectorRow { pcs: (row.start_address(), row.end_address().min(end)), cfa, rules })
}

/// gimli's rows of the FDE that contains the pc.
fn rows<'a, S>(section: &S, address: u64, pc: u64) -> Result<Vec<VectorRow>, gimli::Error>
where
    S: UnwindSection<Slice<'a>, Offset: gimli::UnwindOffset<usize>>,
{
    let bases = BaseAddresses::default().set_eh_frame(address);
    let mut context = UnwindContext::new();
    let mut entries = section.entries(&bases);
    while let Some(entry) = entries.next()? {
        let CieOrFde::Fde(fde) = entry else { continue };
        let fde = fde.parse(S::cie_from_offset)?;
        if !fde.contains(pc) {
            continue;
        }
        let mut table = fde.rows(section, &bases, &mut context)?;
        let mut all = Vec::new();
        while let Some(one) = table.next_row()? {
            all.extend(row(section, one, fde.end_address()).filter(|row| row.pcs.0 < row.pcs.1));
        }
        return Ok(all);
    }
    Ok(Vec::new())
}

fn answer(
    frames: &FrameBytes,
    pc: u64,
    address_bytes: u8,
    big_endian: bool,
) -> Result<Vec<VectorRow>, gimli::Error> {
    let endian = if big_endian { RunTimeEndian::Big } else { RunTimeEndian::Little };
    match frames.section {
        FrameSection::Debug => {
            let mut section = DebugFrame::new(&frames.bytes, endian);
            section.set_address_size(address_bytes);
            rows(&section, 0, pc)
        }
        FrameSection::Eh => {
            let mut section = EhFrame::new(&frames.bytes, endian);
            section.set_address_size(address_bytes);
            rows(&section, frames.address, pc)
        }
    }
}

/// Above every register number in the vectors.
const REGISTERS: u64 = 0x1000;

#[test]
fn tables_of_vectors_are_those_of_gimli() {
    let folder = Path::new(crate::common::ROOT).join("goldens/conformance");
    let paths = std::fs::read_dir(folder).expect("the folder").map(|file| file.expect("a file").path());
    let mut same = 0;
    let mut refused = 0;
    let mut wrong = String::new();
    for path in paths.filter(|path| path.extension().is_some_and(|extension| extension == "json")) {
        let file =
            VectorFile::from_json(std::fs::read(&path).expect("is read")).expect("is a file of vectors");
        for vector in file.vectors() {
            let (VectorBody::Frames(frames), Some(pc)) = (&vector.body, vector.machine.snapshot.pc) else {
                continue;
            };
            // Only tables are compared: vectors that expect `rows`, without features that gimli lacks.
            let expected = vector.expect.to_string();
            if !expected.starts_with("rows ") || expected.contains(" space ") {
                continue;
            }
            let encoding = vector.encoding;
            let nothing = || Fault::new(Class::Unsupported, "only tables are asked for");
            let nowhere = || Recovered { location: Err(nothing()), contents: Err(nothing()) };
            let Ok(rows) = answer(frames, pc, encoding.address_bytes, encoding.big_endian) else {
                refused += 1;
                continue;
            };
            let unwound = Unwound {
                rows: Ok(rows),
                cfa: Err(nothing()),
                return_address: Err(nothing()),
                registers: (0..REGISTERS).map(|number| (number, nowhere())).collect(),
            };
            let outcome = vector.compare_unwound(&unwound);
            match outcome.verdict {
                Verdict::Failed => wrong += &format!("{}: {outcome}\n", path.display()),
                _ => same += 1,
            }
        }
    }
    println!("{same} tables are the same, {refused} are refused by gimli");
    assert!(same > 0 && wrong.is_empty(), "gimli has other rows:\n{wrong}");
}
