//! Diagnosis of a unit's expressions, each with its type, function and frame base.

use std::rc::Rc;

use gimli::{DwAt, constants as dw};
use hashbrown::HashMap;

use super::by_expression::ByExpression;
use super::codes::Level;
use super::contexts::{self, Wrong};
use super::file::{File, Function};
use super::places::{Findings, Located, Type};
use super::shape::{self, LocationShape, Selected, Shape};
use super::verdict::{Asked, Expr, Verdict};
use super::witness::{Known, Machines, Site, Witnessed};
use super::{entries, homes, lists, meant_operations};
use crate::ranges::CodeRanges;
use eitri_dwarf::op::write_uleb;
use eitri_dwarf::read::{ByAbbreviation, Entry, ListEntry, ResolvedValue, Unit};

/// Limit on cached shapes.
const MOST_SHAPES: usize = 1 << 12;

/// A function with its frame base.
#[derive(Debug)]
pub(crate) struct Framed<'r> {
    pub(super) function: Function<'r, 'r>,
    frame_base: Option<Rc<Expr>>,
    /// Frame base expression, in which a bare register stands for its contents.
    base: Option<Vec<u8>>,
}

impl Framed<'_> {
    /// Returns the frame base's shape.
    pub(super) fn frame_base(&self) -> Option<&Shape> {
        self.frame_base.as_ref().map(|base| &base.shape)
    }
}

/// A variable with its type and function.
#[derive(Clone, Copy)]
pub(super) struct Variable<'v, 'r> {
    pub(super) entry: Entry<'r, 'r>,
    pub(super) ty: Option<Type<'r>>,
    pub(super) framed: Option<&'v Framed<'r>>,
}

impl<'v, 'r> Variable<'v, 'r> {
    pub(super) fn function(&self) -> Option<&'v Function<'r, 'r>> {
        self.framed.map(|framed| &framed.function)
    }

    /// Returns the facts on which the findings about its locations depend.
    pub(super) fn asked(&self) -> Asked {
        let frame_base = self.framed.and_then(|framed| framed.frame_base.as_deref());
        Asked::new(self.entry, self.ty, self.framed.is_some(), frame_base)
    }
}

/// Diagnoses the expressions in a unit, and remembers recurring expressions.
pub(crate) struct Diagnoser<'a, 'r, 'o> {
    pub(super) file: &'a File<'r, 'o>,
    pub(super) unit: &'r Unit<'r>,
    expressions: ByExpression<'r, Rc<Expr>>,
    /// Number of expressions so far.
    numbers: u32,
    /// Locations at witnesses.
    places: Known<'r>,
    /// Findings about expressions in other attributes.
    attributes: HashMap<(DwAt, &'r [u8]), Option<Wrong>>,
    /// Types by the offset in an attribute.
    types: HashMap<u64, Option<Type<'r>>>,
    /// The type that was looked up last, because consecutive variables often have the same type.
    last_type: Option<(u64, Option<Type<'r>>)>,
    abbreviations: ByAbbreviation<entries::Diagnosed>,
}

impl<'a, 'r, 'o> Diagnoser<'a, 'r, 'o> {
    pub(crate) fn new(file: &'a File<'r, 'o>, unit: &'r Unit<'r>) -> Self {
        Self {
            file,
            unit,
            expressions: ByExpression::default(),
            numbers: 0,
            places: Known::default(),
            attributes: HashMap::new(),
            types: HashMap::new(),
            last_type: None,
            abbreviations: ByAbbreviation::default(),
        }
    }

    /// Returns the function at an entry; `None` without code.
    pub(crate) fn function(&mut self, entry: Entry<'r, 'r>, ranges: &CodeRanges) -> Option<Framed<'r>> {
        let function = Function::new(self.file, entry, ranges)?;
        let (frame_base, base) = match entry.attr(dw::DW_AT_frame_base) {
            Some(ResolvedValue::Expr(expr)) => {
                let known = self.expression(expr);
                let base = base(&known.shape, expr);
                (Some(known), Some(base))
            }
            // The entries in a list differ, and none is followed.
            Some(_) => {
                let part = shape::PartShape { place: LocationShape::Other, bits: None, operations: 0..0 };
                (Some(self.numbered(Shape { parts: vec![part], ..Shape::default() })), None)
            }
            None => (None, None),
        };
        Some(Framed { function, frame_base, base })
    }

    fn numbered(&mut self, shape: Shape) -> Rc<Expr> {
        self.numbers += 1;
        Rc::new(Expr::new(self.numbers, shape))
    }

    /// Returns an expression with its shape.
    pub(super) fn expression(&mut self, expr: &'r [u8]) -> Rc<Expr> {
        match self.expressions.get(expr) {
            Some(known) => known.clone(),
            None => self.add(expr),
        }
    }

    fn add(&mut self, expr: &'r [u8]) -> Rc<Expr> {
        let new = self.read(expr);
        if self.expressions.len() == MOST_SHAPES {
            self.expressions.clear();
        }
        self.expressions.insert(expr, new.clone());
        new
    }

    /// Reads an expression anew.
    pub(crate) fn read(&mut self, expr: &'r [u8]) -> Rc<Expr> {
        let dwarf = self.file.dwarf;
        let unit = self.unit;
        let mut shape = shape::analyze(expr, unit.encoding, &|index| dwarf.address(unit, index).ok());
        if shape.error.is_none() && !expr.is_empty() {
            let machines = self.machines();
            let failure = machines.and_then(|machines| machines.failure(expr, Site::Location));
            shape.failure = failure.map(|(offset, rule)| (offset, rule.into_owned()));
        }
        self.numbered(shape)
    }

    fn machines(&self) -> Option<Machines<'_, 'r>> {
        let target = self.file.target.as_ref()?;
        let info = &self.file.info;
        Some(Machines { info, target, unit: self.unit.offset, encoding: self.unit.encoding })
    }

    /// Returns the finding about an expression in an attribute other than a location.
    pub(super) fn attribute(&mut self, name: DwAt, expr: &'r [u8]) -> Option<Wrong> {
        if let Some(known) = self.attributes.get(&(name, expr)) {
            return known.clone();
        }
        let file = self.file;
        let unit = self.unit;
        let address = |index| file.dwarf.address(unit, index).ok();
        let wrong = contexts::attribute(file, name, expr, unit.offset, unit.encoding, &address);
        if self.attributes.len() == MOST_SHAPES {
            self.attributes.clear();
        }
        self.attributes.insert((name, expr), wrong.clone());
        wrong
    }

    pub(super) fn knows_type(&self, offset: u64) -> bool {
        self.last_type.is_some_and(|last| last.0 == offset) || self.types.contains_key(&offset)
    }

    /// Returns a variable's type; `offset` is the type in its own attribute.
    #[inline]
    pub(super) fn ty(&mut self, entry: Entry<'r, 'r>, offset: Option<u64>) -> Option<Type<'r>> {
        match (offset, self.last_type) {
            (Some(offset), Some((last, ty))) if last == offset => ty,
            (Some(offset), _) => {
                let find = || entry.dwarf().entry_at(offset).and_then(Type::new);
                let ty = *self.types.entry(offset).or_insert_with(find);
                self.last_type = Some((offset, ty));
                ty
            }
            (None, _) => entry.ty().and_then(Type::new),
        }
    }

    /// Uses the verdict on a location entry.
    pub(super) fn verdict<R>(
        &self,
        variable: &Variable<'_, 'r>,
        (known, entry): (&Expr, &ListEntry<'r>),
        asked: Asked,
        with: impl FnOnce(&Verdict) -> R,
    ) -> R {
        let is_address = |register| {
            let pcs = (!entry.is_default()).then_some(entry.start..entry.end);
            let context = variable.function().zip(pcs);
            context.is_some_and(|(function, pcs)| function.code(self.file).is_scratch_address(register, &pcs))
        };
        known.verdict(asked, is_address, || self.located(variable, (known, entry), false), with)
    }

    /// Returns the findings about a location entry, with their texts.
    pub(super) fn explained(
        &self,
        variable: &Variable<'_, 'r>,
        located: (&Expr, &ListEntry<'r>),
    ) -> Findings {
        let located = self.located(variable, located, true);
        let mut findings = located.findings();
        meant_operations::locate(&located, &mut findings);
        findings
    }

    /// Returns the facts that decide the findings about a variable's locations; `ty` is the offset in its own
    /// attribute.
    pub(crate) fn asked(
        &mut self,
        entry: Entry<'r, 'r>,
        ty: Option<u64>,
        framed: Option<&Framed<'r>>,
    ) -> Asked {
        Variable { entry, ty: self.ty(entry, ty), framed }.asked()
    }

    /// Returns the number of bytes, in a scope's code ranges, at which a location entry's PTX registers have no home.
    /// `known` contains the entry's expression.
    pub(crate) fn bytes_without_homes(
        &self,
        framed: Option<&Framed<'r>>,
        (entry, known): (&ListEntry<'r>, &Expr),
        ranges: &CodeRanges,
    ) -> u64 {
        let Some(framed) = framed else { return 0 };
        let pcs = if entry.is_default() { 0..u64::MAX } else { entry.start..entry.end };
        homes::bytes_without(self.file, framed.function.start(), &known.shape, (ranges, &pcs))
    }

    /// Appends whether each location entry of a variable has an error. `ty` is the type offset in its own attribute,
    /// and `known` contains the entries' expressions.
    pub(crate) fn errors<'e>(
        &mut self,
        entry: Entry<'r, 'r>,
        ty: Option<u64>,
        framed: Option<&Framed<'r>>,
        (list, known): (&[ListEntry<'r>], impl Iterator<Item = &'e Expr>),
        errors: &mut Vec<bool>,
    ) {
        let Some(first) = list.first() else { return };
        let variable = Variable { entry, ty: self.ty(entry, ty), framed };
        let file = self.file;
        let function = variable.function();
        let asked = variable.asked();
        let is_discarded = function.is_some_and(|function| !function.is_live);
        let mut constants = lists::Constants::default();
        for (entry, known) in list.iter().zip(known) {
            let is_diagnosed = !is_discarded && !entry.expr.is_empty();
            let is_wrong = is_diagnosed && self.verdict(&variable, (known, entry), asked, Verdict::has_error);
            let others = lists::findings(file, function, entry, &known.shape, &mut constants);
            errors.push(is_wrong || others.iter().any(Option::is_some));
        }
        // A finding about an attribute is at the entry's position, and the entry contains the expression as well.
        if first.is_default() && first.offset == entry.offset() && errors[..] == [false] {
            let mut findings = Vec::new();
            let abbreviation = self.abbreviations.of(entry, || entries::Diagnosed::new(entry));
            let is_known = |offset| self.types.get(&offset).is_some_and(Option::is_some);
            // A wrong file number does not make a location wrong.
            let context = entries::Context { architecture: file.architecture, last_file: u64::MAX };
            entries::read(context, entry, &abbreviation, is_known, &mut findings);
            errors[0] = findings.iter().any(|finding| finding.code.level() == Level::Error);
        }
    }

    fn located<'l>(
        &'l self,
        variable: &Variable<'l, 'r>,
        (known, list_entry): (&'l Expr, &ListEntry<'r>),
        explains: bool,
    ) -> Located<'l, 'r, 'o> {
        let framed = variable.framed;
        Located {
            file: self.file,
            function: variable.function(),
            frame_base: framed.and_then(|framed| Some(&framed.frame_base.as_ref()?.shape)),
            variable: variable.entry,
            ty: variable.ty,
            encoding: self.unit.encoding,
            shape: &known.shape,
            expr: list_entry.expr,
            witnessed: self.machines().map(|on| Witnessed { known: &self.places, on, expr: list_entry.expr }),
            base: framed.and_then(|framed| framed.base.as_deref()),
            pcs: (!list_entry.is_default()).then_some(list_entry.start..list_entry.end),
            explains,
            depends: Default::default(),
            meanings: Default::default(),
        }
    }
}

/// Returns a frame base's expression. By convention, a bare register stands for its contents.
fn base(shape: &Shape, expr: &[u8]) -> Vec<u8> {
    let register = match &shape.parts[..] {
        [part] => match part.place {
            LocationShape::Register(reg, Selected::Nothing) => Some(reg),
            _ => None,
        },
        _ => None,
    };
    let Some(reg) = register else { return expr.to_vec() };
    let mut contents = vec![dw::DW_OP_bregx.0];
    write_uleb(&mut contents, reg.0);
    contents.push(0);
    contents
}
