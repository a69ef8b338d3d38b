//! Instructions before the functions, for both sets and every mode. Expectations are typed from the text of the
//! specification and the description rather than copied from the output.

use crate::common::assemble;
mod case;
mod composites;
mod functions;
use crate::common::idle;
mod later;
mod limits;
mod lines;
mod modes;
mod names;
mod omitted;
mod order;
mod scopes;
mod silence;
mod templates;
use crate::common::tools;
mod types;
mod units;
mod validators;
