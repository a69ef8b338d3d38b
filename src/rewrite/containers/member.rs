//! What becomes of a member.

use crate::error::Result;

/// What becomes of a member: new contents, or `None` for a member that stays as it is.
pub type NewMember<'a> = &'a mut dyn FnMut(&str, &[u8]) -> Result<Option<Vec<u8>>>;
