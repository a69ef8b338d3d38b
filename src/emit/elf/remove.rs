//! Removing debug sections from an object.

use object::elf;

use super::bytes::{u16_at, u32_at};
use super::image::{Image, ImageSection, unsupported};
use super::renumber::{self, Moved};
use super::symbols::{SYMBOL_SIZE, symbol_counts};
use crate::error::Result;

/// Removes all debug sections that are not loaded, and all that depends on them.
pub(super) fn debug_sections(image: &mut Image<'_>) -> Result<()> {
    let gone = gone(image);
    if !gone.contains(&true) {
        return Ok(());
    }
    // Linked files are not checked when they are parsed, because their contents stay in place without a removal.
    image.check_overlap()?;
    if image.is_linked() {
        give_room(image, &gone);
    }
    // Symbols come first, while their section indices are valid.
    for kind in [elf::SHT_SYMTAB, elf::SHT_DYNSYM] {
        if let Some(table) = image.find(kind).filter(|&table| !gone[table]) {
            symbols_of(image, table, &gone)?;
        }
    }
    members(image, &gone);
    let moved = Moved::without("section", gone.len(), |index| gone[index]);
    let mut stays = gone.iter().map(|gone| !gone);
    image.sections.retain(|_| stays.next() == Some(true));
    renumber::sections(image, &moved)
}

/// Whether each section is removed.
fn gone(image: &Image<'_>) -> Vec<bool> {
    let mut gone: Vec<bool> = image.sections.iter().map(is_debug).collect();
    let is_gone = |gone: &[bool], index: u32| gone.get(index as usize) == Some(&true);
    // Relocations go with the section to which they apply.
    for (index, section) in image.sections.iter().enumerate() {
        let target = section.header.sh_info;
        let is_relocations = matches!(section.header.sh_type, elf::SHT_RELA | elf::SHT_REL | elf::SHT_CREL);
        gone[index] |= is_relocations && !section.is_loaded() && is_gone(&gone, target);
    }
    for (index, section) in image.sections.iter().enumerate() {
        let mut members = members_of(image, section).peekable();
        // A group goes with its last member.
        let is_group = section.header.sh_type == elf::SHT_GROUP && members.peek().is_some();
        gone[index] |= is_group && members.all(|member| is_gone(&gone, member));
    }
    // The null section and the name table stay under any name.
    gone[0] = false;
    gone[image.names] = false;
    gone
}

/// Scripts for gdb, by name or with their text: they refer to no debug information.
const SCRIPTS: [&[u8]; 2] = [b".debug_gdb_scripts", b".zdebug_gdb_scripts"];

/// Whether a section has only debug information. `.gdb_index` is an index for debug information.
fn is_debug(section: &ImageSection<'_>) -> bool {
    if SCRIPTS.contains(&&*section.name) {
        return false;
    }
    let is_named = section.name.starts_with(b".debug_")
        || section.name.starts_with(b".zdebug_")
        || *section.name == *b".gdb_index";
    is_named && !section.is_loaded()
}

/// A group's members, after its flags.
fn members_of(image: &Image<'_>, group: &ImageSection<'_>) -> impl Iterator<Item = u32> {
    let order = image.order;
    group.contents.chunks_exact(4).skip(1).map(move |member| u32_at(order, member, 0))
}

/// Removes the symbols in removed sections from a table.
fn symbols_of(image: &mut Image<'_>, table: usize, gone: &[bool]) -> Result<()> {
    let (first, count) = symbol_counts(image, table)?;
    let order = image.order;
    let section = &mut image.sections[table];
    let is_gone = |symbol: &[u8]| gone.get(usize::from(u16_at(order, symbol, 6))) == Some(&true);
    // The null symbol stays with any contents.
    let symbols = section.contents.chunks_exact(SYMBOL_SIZE).enumerate();
    let goes: Vec<bool> = symbols.map(|(index, symbol)| index != 0 && is_gone(symbol)).collect();
    if !goes.contains(&true) {
        return Ok(());
    }
    if section.is_loaded() {
        let error = unsupported("loaded symbol belongs to a section that is replaced");
        return Err(error.in_section(&section.display_name()));
    }
    let stay = section.contents.chunks_exact(SYMBOL_SIZE).zip(&goes).filter(|(_, goes)| !**goes);
    let symbols = stay.flat_map(|(symbol, _)| symbol).copied().collect();
    // `sh_info` counts the local symbols that stay.
    let locals = goes[..first as usize].iter().filter(|goes| !**goes).count();
    section.header.sh_info = locals as u32;
    section.replace(symbols);
    let moved = Moved::without("symbol", count as usize, |index| goes[index]);
    // Sections that are removed are skipped.
    renumber::symbols(image, table, &moved, |index| !gone[index])
}

/// Removes the removed sections from the groups that stay.
fn members(image: &mut Image<'_>, gone: &[bool]) {
    let order = image.order;
    for section in image.sections.iter_mut().filter(|section| section.header.sh_type == elf::SHT_GROUP) {
        let is_gone = |word: &[u8]| gone.get(u32_at(order, word, 0) as usize) == Some(&true);
        let words = || section.contents.chunks(4).enumerate();
        let goes = |&(index, word): &(usize, &[u8])| index != 0 && word.len() == 4 && is_gone(word);
        if words().any(|word| goes(&word)) {
            let stay = words().filter(|word| !goes(word)).flat_map(|(_, word)| word).copied().collect();
            section.replace(stay);
        }
    }
}

/// Moves contents that are not loaded up in a linked file, to fill the space that removed sections leave.
fn give_room(image: &mut Image<'_>, gone: &[bool]) {
    let range = |section: &ImageSection<'_>| section.header.sh_offset as usize..section.end();
    let old = image.sections.iter().zip(gone).filter(|(section, gone)| **gone && section.is_in_place);
    image.dead.extend(old.map(|(section, _)| range(section)));
    let Some(first) = image.dead.iter().map(|range| range.start).min() else { return };
    // The casts lose nothing, because `parse` found the segments inside the input.
    let loaded_end = image.segments.iter().map(|segment| (segment.offset + segment.size) as usize).max();
    let first = first.max(loaded_end.unwrap_or(0));
    for section in image.sections.iter_mut().filter(|section| section.is_in_place && !section.is_loaded()) {
        let range = range(section);
        if first <= range.start {
            section.is_in_place = false;
            image.dead.push(range);
        }
    }
}
