//! Rules of frames in Mercury copies, by the order in which they are in force.

use eitri_dwarf::error::{Count, Result};
use eitri_dwarf::op::{Decoder, Encoding, Op, Reg};
use eitri_dwarf::read::{CfaRule, Fde, FrameRow, FrameRows, Frames, Object, RegisterRule};

use super::frame_wording::RuleWording;
use super::mercury_values::{Difference, pc_text};

/// Limit on the rules that a finding lists.
const MOST: usize = 3;

/// A function's frame, in the file or in its copies.
#[derive(Clone, Copy)]
pub(super) struct Frame<'f, 'o> {
    pub(super) object: &'f Object<'f>,
    pub(super) frames: &'f Frames<'o>,
    pub(super) fde: &'f Fde<'o>,
}

/// Returns the first rules of a copy that contradict the original. Pcs are those of different encodings, but rules are in
/// force in the same order in both. Rules that are in force at no pc can be missing in the other encoding, in which
/// several instructions can be a single instruction.
pub(super) fn contradiction(own: Frame<'_, '_>, copied: Frame<'_, '_>) -> Result<Option<Difference>> {
    let mut copies = States::new(copied)?;
    // The original's error is reported where it is read.
    let Ok(mut originals) = States::new(own) else { return Ok(None) };
    loop {
        let is_same = |original: &Option<FrameRow<'_>>, copy: &Option<FrameRow<'_>>| {
            let rows = original.as_ref().zip(copy.as_ref());
            rows.is_some_and(|(original, copy)| differing((own, original), (copied, copy)).is_empty())
        };
        // Rules at no pc are not those that are in force in the other encoding.
        let is_match = is_same(&originals.row, &copies.row) && originals.is_empty == copies.is_empty;
        let (skips_original, skips_copy) = match (originals.can_skip(), copies.can_skip()) {
            _ if is_match => (true, true),
            // The copy can have the original's rules next.
            (true, true) => {
                let is_next = is_same(&originals.row, &copies.ahead);
                (!is_next, is_next)
            }
            skipped => skipped,
        };
        if !skips_original && !skips_copy {
            return Ok(difference((own, &originals), (copied, &copies)));
        }
        if skips_original && originals.advance(is_match).is_err() {
            return Ok(None);
        }
        if skips_copy {
            copies.advance(is_match)?;
        }
    }
}

/// The rules of a frame in order, each different from the rules before.
struct States<'o> {
    rows: FrameRows<'o>,
    /// The rules in force; `None` after the last.
    row: Option<FrameRow<'o>>,
    /// The rules after them.
    ahead: Option<FrameRow<'o>>,
    /// Whether the rules are in force at no pc.
    is_empty: bool,
    /// The last rules that both frames have.
    last: Option<FrameRow<'o>>,
}

impl<'o> States<'o> {
    fn new(frame: Frame<'_, 'o>) -> Result<Self> {
        let mut rows = frame.frames.rows(frame.fde);
        let ahead = rows.next_row()?.cloned();
        let mut states = Self { rows, row: None, ahead, is_empty: false, last: None };
        states.advance(false)?;
        Ok(states)
    }

    /// Goes on to the next rules. `is_match` is whether the other frame has the rules as well.
    fn advance(&mut self, is_match: bool) -> Result<()> {
        let before = self.row.take();
        if is_match {
            self.last = before;
        }
        let Some(row) = self.ahead.take() else { return Ok(()) };
        self.is_empty = row.end <= row.start;
        while let Some(next) = self.rows.next_row()? {
            if !is_repeated(&row, next) {
                self.ahead = Some(next.clone());
                break;
            }
            // ptxas repeats rules in copies.
            self.is_empty &= next.end <= next.start;
        }
        self.row = Some(row);
        Ok(())
    }

    /// Whether the other frame need not have the rules: they are in force at no pc, or still in force.
    fn can_skip(&self) -> bool {
        self.row
            .as_ref()
            .is_some_and(|row| self.is_empty || self.last.as_ref().is_some_and(|last| is_repeated(last, row)))
    }

    /// The rules in force, which the last rules are up to the end.
    fn in_force(&self) -> Option<&FrameRow<'o>> {
        self.row.as_ref().or(self.last.as_ref())
    }
}

/// Whether two rows of a frame have the same rules.
fn is_repeated(one: &FrameRow<'_>, other: &FrameRow<'_>) -> bool {
    one.cfa == other.cfa && one.rules == other.rules
}

/// A row of a frame.
type Row<'a, 'f, 'o> = (Frame<'f, 'o>, &'a FrameRow<'o>);

/// Returns the columns with different rules: registers, and `None` for the canonical frame address.
fn differing((own, original): Row<'_, '_, '_>, (copied, copy): Row<'_, '_, '_>) -> Vec<Option<Reg>> {
    let is_same = |one: &[u8], other: &[u8]| is_same_expression((own, one), (copied, other));
    let is_same_cfa = match (original.cfa, copy.cfa) {
        (CfaRule::Expression(one), CfaRule::Expression(other)) => is_same(one, other),
        (one, other) => one == other,
    };
    let is_same_rule = |reg: &Reg| match (original.rule(*reg), copy.rule(*reg)) {
        (Some(RegisterRule::Expression(one)), Some(RegisterRule::Expression(other)))
        | (Some(RegisterRule::ValExpression(one)), Some(RegisterRule::ValExpression(other))) => {
            is_same(one, other)
        }
        (one, other) => one == other,
    };
    let added = copy.rules.iter().filter(|(reg, _)| original.rule(*reg).is_none());
    let registers = original.rules.iter().chain(added).map(|(reg, _)| *reg);
    let cfa = (!is_same_cfa).then_some(None);
    cfa.into_iter().chain(registers.filter(|reg| !is_same_rule(reg)).map(Some)).collect()
}

/// Whether two expressions are the same, but for the encoding of the code at whose addresses they are.
fn is_same_expression((own, one): (Frame<'_, '_>, &[u8]), (copied, other): (Frame<'_, '_>, &[u8])) -> bool {
    let operations =
        |frame: Frame<'_, '_>, bytes| Decoder::new(bytes, frame.encoding()).map(|read| read.map(|it| it.op));
    let same = operations(own, one).zip(operations(copied, other)).all(|pair| match pair {
        (Ok(Op::Addr { address: one }), Ok(Op::Addr { address: other })) => {
            pc_text(own.object, one) == pc_text(copied.object, other)
        }
        (one, other) => one == other,
    });
    same && operations(own, one).count() == operations(copied, other).count()
}

impl Frame<'_, '_> {
    fn encoding(&self) -> Encoding {
        self.frames.cie(self.fde).encoding
    }

    /// Describes some columns of a row.
    fn text(&self, row: &FrameRow<'_>, columns: &[Option<Reg>]) -> String {
        let target = self.object.target(None);
        let names = RuleWording { target: target.as_ref(), encoding: self.encoding() };
        let return_register = self.frames.cie(self.fde).return_register;
        let text = |column: &Option<Reg>| {
            let Some(reg) = *column else {
                return format!("canonical frame address: {}", names.cfa(row.cfa));
            };
            let name = if reg == return_register { "return address".into() } else { names.register(reg) };
            format!("{name}: {}", row.rule(reg).map_or("no rule".into(), |rule| names.rule(rule)))
        };
        let mut texts: Vec<String> = columns.iter().take(MOST).map(text).collect();
        if columns.len() > MOST {
            texts.push(format!("{} more", Count(columns.len() - MOST, "rule")));
        }
        let function = self.object.symbol_at(self.fde.start).map_or("", |symbol| &*symbol.name);
        format!("{} from {function}+{:#x} on", texts.join(", "), row.start.wrapping_sub(self.fde.start))
    }
}

/// Describes the rules in force in two frames; `None` if they are the same.
fn difference(
    (own, originals): (Frame<'_, '_>, &States<'_>),
    (copied, copies): (Frame<'_, '_>, &States<'_>),
) -> Option<Difference> {
    let (original, copy) = (originals.in_force()?, copies.in_force()?);
    let columns = differing((own, original), (copied, copy));
    let offset = copied.fde.offset;
    (!columns.is_empty())
        .then(|| Difference::new(offset, copied.text(copy, &columns), own.text(original, &columns)))
}
