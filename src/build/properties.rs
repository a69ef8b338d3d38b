//! Builder methods for plain properties, by the [table](crate::model::entities). A row with `by` has a hand-written
//! method, except a declaration's line.

/// Builder methods: `(self)` for a builder that has `data` and, for texts, `text`; `(value)` for a value with a
/// `member`, which the methods return changed.
macro_rules! methods { (
    $how:tt $builder:ident;
    $(
        #[doc = $doc:literal] $kind:tt $since:literal $key:ident
        $(=> $field:ident $(by $method:ident)? $(($attribute:ident $(, spirv $bit:literal)?))?)?
        $(in member => $inner:ident $(($inner_attribute:ident $(, spirv $inner_bit:literal)?))?)?;
    )*
) => {
    impl $builder<'_> {
        $($($crate::build::properties::method! {
            $doc $kind $key $how: $field $(by $method)?
        })?)*
        $($($crate::build::properties::method! { $doc $kind $key $how: member.$inner })?)*
    }
} }

macro_rules! method {
    ($doc:literal [line] declared (value): line by declared) => {
        /// Sets the line of the declaration.
        #[must_use]
        pub fn declared(mut self, line: SourceLine) -> Self {
            self.member.line = Some(line);
            self
        }
    };
    ($doc:literal [line] declared (self): line by declared) => {
        /// Sets the line of the declaration.
        pub fn declared(&mut self, line: SourceLine) -> &mut Self {
            self.data().line = Some(line);
            self
        }
    };
    ($doc:literal $kind:tt $key:ident $how:tt: $field:ident by $method:ident) => {};
    ($doc:literal [flag] $key:ident (value): $field:ident) => {
        #[doc = $doc]
        #[must_use]
        pub fn $key(mut self) -> Self {
            self.member.$field = true;
            self
        }
    };
    ($doc:literal [$kind:ident $type:ty] $key:ident (value): $field:ident) => {
        #[doc = $doc]
        #[must_use]
        pub fn $key(mut self, value: $type) -> Self {
            self.member.$field = Some(value);
            self
        }
    };
    ($doc:literal [flag] $key:ident (self): $($field:ident).+) => {
        #[doc = $doc]
        pub fn $key(&mut self) -> &mut Self {
            self.data().$($field).+ = true;
            self
        }
    };
    ($doc:literal [text] $key:ident (self): $($field:ident).+) => {
        #[doc = $doc]
        pub fn $key(&mut self, text: &str) -> &mut Self {
            let text = self.text(text);
            self.data().$($field).+ = Some(text);
            self
        }
    };
    ($doc:literal [$kind:ident $type:ty] $key:ident (self): $($field:ident).+) => {
        #[doc = $doc]
        pub fn $key(&mut self, value: $type) -> &mut Self {
            self.data().$($field).+ = Some(value);
            self
        }
    };
}
pub(super) use {method, methods};
