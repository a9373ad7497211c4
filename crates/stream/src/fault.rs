//! What is wrong, before its place is known.

use std::{error, fmt};

/// What is wrong with a row, a file, an option or a field, in words that follow its name: whoever knows the
/// place completes the sentence. Where the place is known, the words begin with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault(String);

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl error::Error for Fault {}

impl From<String> for Fault {
    fn from(what: String) -> Self {
        Self(what)
    }
}

impl From<&str> for Fault {
    fn from(what: &str) -> Self {
        Self(what.to_owned())
    }
}

impl From<Fault> for String {
    fn from(fault: Fault) -> Self {
        fault.0
    }
}

/// Makes a [`Fault`] as `format!` makes text.
#[macro_export]
macro_rules! fault {
    ($($text:tt)*) => {
        $crate::Fault::from(format!($($text)*))
    };
}
pub(crate) use fault;
