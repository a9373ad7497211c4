//! Headers of Orange: flags before the names of columns, or lines with their kinds and flags below the names.

use csv::ByteRecord;

use crate::read::error::shown;

/// What a header of Orange says of the columns.
pub(super) struct Flags {
    /// The label.
    pub(super) label: Option<usize>,
    /// Columns that are no features.
    pub(super) others: Vec<usize>,
    /// Number of rows of the header.
    pub(super) rows: usize,
}

/// The kinds of columns below their names, as words.
const KINDS: [&[u8]; 4] = [b"continuous", b"discrete", b"string", b"time"];

/// Flags below the kinds, as words.
const FLAGS: [&[u8]; 4] = [b"class", b"meta", b"ignore", b"weight"];

/// The flags of a table whose first row has the names of the columns, if it has any.
pub(super) fn flags(rows: &[ByteRecord]) -> Option<Flags> {
    let names = rows.first()?;
    if let [_, kinds, flags, _, ..] = rows
        && kinds.len() == names.len()
        && flags.len() == names.len()
        && (kinds.iter().any(|kind| KINDS.contains(&kind)) || flags.iter().any(|flag| FLAGS.contains(&flag)))
        && kinds.iter().all(is_kind)
        && flags.iter().all(|flag| flag.is_empty() || flag.contains(&b'=') || meaning(flag).is_some())
    {
        return Some(Flags::of(flags.iter().map(meaning), 3));
    }
    let before = |name: &[u8]| {
        let mark = name.iter().position(|byte| *byte == b'#').filter(|mark| *mark + 1 < name.len())?;
        let flag = &name[..mark];
        let kind = flag.strip_suffix(b"C").or_else(|| flag.strip_suffix(b"D"));
        let kind = kind.or_else(|| flag.strip_suffix(b"S")).or_else(|| flag.strip_suffix(b"T"));
        let flag = kind.unwrap_or(flag);
        (flag.len() < 2 && (kind.is_some() || meaning(flag).is_some())).then_some(meaning(flag))
    };
    let found: Vec<Option<Option<Meaning>>> = names.iter().map(before).collect();
    let flagged = found.iter().flatten().count();
    (2 * flagged > names.len()).then(|| Flags::of(found.into_iter().map(Option::flatten), 1))
}

/// What a flag makes of a column.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Meaning {
    Label,
    Other,
}

fn meaning(flag: &[u8]) -> Option<Meaning> {
    match flag {
        b"class" | b"c" => Some(Meaning::Label),
        b"meta" | b"m" | b"ignore" | b"i" | b"weight" | b"w" => Some(Meaning::Other),
        _ => None,
    }
}

fn is_kind(kind: &[u8]) -> bool {
    matches!(kind, b"c" | b"d" | b"s" | b"t") || KINDS.contains(&kind)
}

impl Flags {
    fn of(columns: impl Iterator<Item = Option<Meaning>>, rows: usize) -> Self {
        let (mut label, mut others) = (None, vec![]);
        for (at, meaning) in columns.enumerate() {
            match meaning {
                Some(Meaning::Label) if label.is_none() => label = Some(at),
                Some(_) => others.push(at),
                None => {}
            }
        }
        Self { label, others, rows }
    }

    /// Without those of the columns `wanted`, which the options name, and of the label if they name one.
    pub(super) fn beside(mut self, wanted: &[usize], labelled: bool) -> Self {
        self.others.retain(|at| !wanted.contains(at));
        self.label = self.label.filter(|_| !labelled);
        self
    }

    /// A remark on what they say of columns with these names, if they say anything.
    pub(super) fn note(&self, names: &[String]) -> Option<String> {
        let label = self.label.map(|at| format!("column {} is the label", shown(&names[at])));
        let others: Vec<String> = self.others.iter().map(|at| shown(&names[*at])).collect();
        let others = (!others.is_empty()).then(|| format!("left out: {}", others.join(", ")));
        let said: Vec<String> = label.into_iter().chain(others).collect();
        (!said.is_empty()).then(|| format!("by the flags of Orange in the header, {}", said.join("; ")))
    }
}
