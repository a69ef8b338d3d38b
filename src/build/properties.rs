//! Methods of builders for plain properties, by the [table](crate::model::entities).

/// The methods of a builder, which has `data` and, for texts, `text`.
macro_rules! methods { (
    $builder:ident;
    $(
        #[doc = $doc:literal] $kind:tt $key:ident $(=> $field:ident $(($attribute:ident))?)?
        $(in member => $inner:ident $(($inner_attribute:ident))?)?;
    )*
) => {
    impl $builder<'_> {
        $($($crate::build::properties::method! { $doc $kind $key: $field })?)*
        $($($crate::build::properties::method! { $doc $kind $key: member.$inner })?)*
    }
} }

macro_rules! method {
    ($doc:literal [flag] $key:ident: $($field:ident).+) => {
        #[doc = $doc]
        pub fn $key(&mut self) -> &mut Self {
            self.data().$($field).+ = true;
            self
        }
    };
    ($doc:literal [text] $key:ident: $($field:ident).+) => {
        #[doc = $doc]
        pub fn $key(&mut self, text: &str) -> &mut Self {
            let text = self.text(text);
            self.data().$($field).+ = Some(text);
            self
        }
    };
    ($doc:literal [$kind:ident $type:ty] $key:ident: $($field:ident).+) => {
        #[doc = $doc]
        pub fn $key(&mut self, value: $type) -> &mut Self {
            self.data().$($field).+ = Some(value);
            self
        }
    };
}
pub(super) use {method, methods};
