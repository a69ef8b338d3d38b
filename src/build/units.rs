//! Units and their files: DWARF 5 sections 3.1 and 6.2.4.

use super::builder::{Around, Builder};
use super::ids::known;
use super::properties::methods;
use crate::error::{At, Error, ErrorKind, Named, Result};
use crate::model::entities::unit_properties;
use crate::model::{CompileUnit, File, FileId, Language, Scope, ScopeKind, StringId, UnitId};

/// Describes a unit. Made by [`Builder::describe_unit`].
#[derive(Debug)]
pub struct UnitBuilder<'b> {
    builder: &'b mut Builder,
    id: UnitId,
}

unit_properties! { methods (self) UnitBuilder; }

impl UnitBuilder<'_> {
    /// Sets the source language, such as [`Language::HIP`], or a number `DW_LANG_*`. DWARF 5 section 3.1.1, item 5.
    pub fn language(&mut self, language: impl Into<Language>) -> &mut Self {
        self.builder.module.units[self.id].language = Some(language.into());
        self
    }

    /// Sets the file name of the unit's split unit, relative to the compilation directory, for consumers with [split
    /// units](crate::Consumer::is_split). DWARF 5 section 3.1.2, `DW_AT_dwo_name`.
    ///
    /// # Errors
    /// [`ErrorKind::BadArgument`] where the name is empty; [`ErrorKind::DuplicateName`] where another unit's file has
    /// it.
    pub fn split_name(&mut self, name: &str) -> Result<&mut Self> {
        let module = &mut self.builder.module;
        let known = module.strings.number(name).map(StringId::from_u32);
        let is_taken = module.units.iter().any(|(id, unit)| id != self.id && known == unit.split_name);
        if name.is_empty() || known.is_some() && is_taken {
            let error = match name {
                "" => Error::bad_argument("split file name is empty"),
                _ => ErrorKind::DuplicateName { kind: Named::SplitUnit, name: name.into() }.into(),
            };
            return Err(error.or_at(module.at_scope(module.units[self.id].scope)));
        }
        let scope = self.builder.module.units[self.id].scope;
        let name = self.builder.name(name);
        let name = name.map_err(|error| error.or_at(self.builder.module.at_scope(scope)))?;
        self.builder.module.units[self.id].split_name = Some(name);
        Ok(self)
    }

    /// Returns the unit's id.
    pub fn id(&self) -> UnitId {
        self.id
    }

    fn text(&mut self, text: &str) -> StringId {
        let scope = self.data().scope;
        self.builder.string(text, |module| module.at_scope(scope))
    }

    fn data(&mut self) -> &mut CompileUnit {
        &mut self.builder.module.units[self.id]
    }
}

impl Builder {
    /// Adds a compilation unit, named after its primary source file.
    pub fn unit(&mut self, name: &str) -> UnitId {
        let name = self.string(name, |_| At::default());
        let id = self.module.units.next_key();
        let scope = self.push_scope(Scope::new(id, None, ScopeKind::Unit, None), Around::default());
        let file = self.module.files.push(File::new(id, name, None));
        self.files.insert((id, None, name), file);
        self.module.units.push(CompileUnit::new(name, scope, file))
    }

    /// Returns a builder for a unit's further properties.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownId`].
    ///
    /// # Example
    ///
    /// ```
    /// # use eitri::build::Builder;
    /// # use eitri::model::Language;
    /// # use eitri::target::Target;
    /// # let mut m = Builder::new(Target::named("amdgpu-gfx1030-wave32")?);
    /// let unit = m.unit("scale.cl");
    /// m.describe_unit(unit)?
    ///     .directory("/src")
    ///     .producer("mycc 1.0")
    ///     .language(Language::OPENCL_C)
    ///     .optimized();
    /// # Ok::<(), eitri::Error>(())
    /// ```
    pub fn describe_unit(&mut self, unit: UnitId) -> Result<UnitBuilder<'_>> {
        known(self.module.units.is_valid(unit), || self.module.unknown(unit))?;
        Ok(UnitBuilder { builder: self, id: unit })
    }

    /// Returns the primary source file, which the unit is named after.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownId`].
    pub fn primary_file(&self, unit: UnitId) -> Result<FileId> {
        let missing = || self.module.unknown(unit).into();
        self.module.units.get(unit).map(|unit| unit.file).ok_or_else(missing)
    }

    /// Adds another source file to a unit; `directory` is `None` for the compilation directory. Equal files share one
    /// id.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownId`].
    pub fn file(&mut self, unit: UnitId, name: &str, directory: Option<&str>) -> Result<FileId> {
        known(self.module.units.is_valid(unit), || self.module.unknown(unit))?;
        let name = self.name_in(unit, name)?;
        let directory = directory.map(|directory| self.name_in(unit, directory)).transpose()?;
        let files = &mut self.module.files;
        let new = || files.push(File::new(unit, name, directory));
        Ok(*self.files.entry((unit, directory, name)).or_insert_with(new))
    }

    /// Sets the MD5 sum of a file's text. Either all files in a unit have one, or none.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownId`].
    pub fn file_md5(&mut self, file: FileId, md5: [u8; 16]) -> Result<()> {
        known(self.module.files.is_valid(file), || self.module.unknown(file))?;
        self.module.files[file].md5 = Some(md5);
        Ok(())
    }

    /// Embeds a file's text that a debugger cannot find, because it was generated during compilation, for example.
    /// Files with and without embedded text may be mixed in a unit.
    ///
    /// Only DWARF 5 encodes it.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownId`]; [`ErrorKind::ZeroByte`] where the text contains a zero byte.
    pub fn file_source(&mut self, file: FileId, text: &str) -> Result<()> {
        known(self.module.files.is_valid(file), || self.module.unknown(file))?;
        if text.contains('\0') {
            let unit = self.module.units[self.module.files[file].unit].scope;
            let name = self.module.string(self.module.files[file].name);
            let kind = ErrorKind::ZeroByte { text: format!("the text of file `{name}`") };
            return Err(Error::new(kind).or_at(self.module.at_scope(unit)));
        }
        self.module.files[file].source = Some(self.name(text)?);
        Ok(())
    }
}
