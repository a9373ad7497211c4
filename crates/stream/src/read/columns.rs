//! Identities of feature columns: numbers, names or hash buckets.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::fmt::Display;
use std::sync::Arc;

use foldhash::fast::RandomState;
use serde::{Deserialize, Serialize};

use crate::fault::{Fault, fault};
use crate::read::error::{ReadErrorKind, shown};
use crate::read::hash::{hash_name, hash_number};
use crate::read::holes::Watch;
use crate::read::remark::Remark;
use crate::read::row::Row;
use crate::read::table;
use crate::words::first_of;

/// Rows of at most this many columns are always dense.
pub const ALWAYS_DENSE: usize = 1024;

/// What is behind the name of a feature in the name of the one that says where its number is missing, in
/// formats whose lines name their features: as missing numbers are written there, `age:missing`. No feature
/// of such a line has a colon in its name.
const MISSING: &str = ":missing";

/// The identities of columns `0..count`. Saved with a model, so that features are mapped to the
/// same columns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Columns {
    /// Column `j` is the feature numbered `j + base`: LIBSVM, arrays in NDJSON.
    Numbered {
        /// Number of the first feature, 0 or 1.
        base: u32,
        /// Number of columns seen so far.
        count: u32,
    },
    /// Column `j` is the `j`-th name in order of first appearance.
    Named(Names),
    /// Column `j` is a bucket of the hash `hash_name` or `hash_number`; names are not kept.
    Hashed {
        /// There are `2^bits` columns; 1 to 31.
        bits: u32,
    },
}

impl Columns {
    /// Number of columns known so far.
    pub fn count(&self) -> u32 {
        match self {
            Columns::Numbered { count, .. } => *count,
            Columns::Named(names) => names.len(),
            Columns::Hashed { bits } => 1 << bits,
        }
    }

    /// Display name of a column: the number, the name, or `#bucket`.
    pub fn name(&self, column: u32) -> Cow<'_, str> {
        match self {
            Columns::Numbered { base, .. } => Cow::Owned((u64::from(column) + u64::from(*base)).to_string()),
            Columns::Named(names) => {
                names.get(column).map_or(Cow::Owned(format!("#{column}")), Cow::Borrowed)
            }
            Columns::Hashed { .. } => Cow::Owned(format!("#{column}")),
        }
    }

    /// Column of a name, if it has one. A hash gives every name a column.
    pub fn index_of(&self, name: &str) -> Option<u32> {
        match self {
            Columns::Numbered { base, count } => {
                name.parse::<u32>().ok()?.checked_sub(*base).filter(|column| column < count)
            }
            Columns::Named(names) => names.index_of(name),
            Columns::Hashed { bits } => Some(hash_name(name, *bits)),
        }
    }

    /// Notes in a row that the number of the feature `name` is missing. A feature that says so is 1, if there
    /// is one.
    pub fn miss(&self, name: &str, row: &mut Row) {
        self.index_of(name).into_iter().for_each(|column| row.miss(column));
        if let Columns::Named(names) = self
            && let Some(column) = names.index_of(&format!("{name}{MISSING}"))
            && !row.indices().contains(&column)
        {
            row.push(column, 1.0);
        }
    }

    /// The name of the feature that says where the number of the feature `name` is missing, if none has this
    /// name and one may begin: columns without names cannot have any.
    pub fn new_mark(&self, name: &str) -> Option<String> {
        let Columns::Named(names) = self else { return None };
        let mark = format!("{name}{MISSING}");
        names.index_of(&mark).is_none().then_some(mark)
    }

    /// Whether a feature says where the number of a column is missing, of a table or of lines with names.
    pub(crate) fn is_marked(&self, column: u32) -> bool {
        let Columns::Named(names) = self else { return false };
        let has = |mark| names.index_of(&format!("{}{mark}", self.name(column))).is_some();
        has(MISSING) || has(table::MISSING)
    }

    /// The columns that say where the numbers of others are missing, by these others.
    pub fn marks(&self) -> BTreeMap<u32, u32> {
        let Columns::Named(names) = self else { return BTreeMap::new() };
        let number = |name: &str| names.index_of(name.strip_suffix(MISSING)?);
        (0u32..).zip(names.iter()).filter_map(|(mark, name)| Some((number(name)?, mark))).collect()
    }

    /// The columns of both, if they agree as far as both go.
    pub(crate) fn joined(&self, other: &Columns) -> Option<Columns> {
        let longer = if other.count() > self.count() { other } else { self };
        let agree = match (self, other) {
            (Columns::Numbered { base, .. }, Columns::Numbered { base: theirs, .. }) => base == theirs,
            (Columns::Named(names), Columns::Named(theirs)) => {
                names.iter().zip(theirs.iter()).all(|(a, b)| a == b)
            }
            (Columns::Hashed { bits }, Columns::Hashed { bits: theirs }) => bits == theirs,
            _ => false,
        };
        agree.then(|| longer.clone())
    }

    /// The first `most` columns.
    pub(crate) fn first(mut self, most: u32) -> Self {
        match &mut self {
            Columns::Numbered { count, .. } => *count = most.min(*count),
            Columns::Named(names) => names.truncate(most.min(names.len())),
            Columns::Hashed { .. } => {}
        }
        self
    }

    /// Checks that the increasing `indices` of a row lie within the first `most` columns.
    pub(crate) fn check_row(&self, indices: &[u32], most: usize) -> Result<(), Fault> {
        let Some(&last) = indices.last().filter(|last| **last as usize >= most) else {
            return Ok(());
        };
        let name = self.name(last);
        Err(match self {
            Columns::Numbered { base, .. } => fault!(
                "feature index {name} is too large; features = {most} were declared, so the last is {}",
                most as u64 + u64::from(*base) - 1
            ),
            _ => fault!(
                "feature {} is number {} in order of appearance; features = {most} were declared",
                shown(&*name),
                u64::from(last) + 1
            ),
        })
    }

    /// Checks columns from an untrusted source, such as a model file.
    pub(crate) fn check(&self) -> Result<(), ReadErrorKind> {
        let problem = match self {
            Columns::Numbered { base: 2.., .. } => "features are numbered from 0 or from 1",
            Columns::Hashed { bits: 0 | 32.. } => "hashing needs 1 to 31 bits",
            _ => return Ok(()),
        };
        Err(ReadErrorKind::Layout(problem.into()))
    }
}

/// Feature names in order of first appearance.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Vec<String>", into = "Vec<String>")]
pub struct Names {
    list: Vec<Arc<str>>,
    index: HashMap<Arc<str>, u32, RandomState>,
}

impl Names {
    /// Number of names.
    pub fn len(&self) -> u32 {
        self.list.len() as u32
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The name of a column.
    pub fn get(&self, column: u32) -> Option<&str> {
        self.list.get(column as usize).map(|name| &**name)
    }

    /// The column of a name.
    pub fn index_of(&self, name: &str) -> Option<u32> {
        self.index.get(name).copied()
    }

    /// The names in column order.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.list.iter().map(|name| &**name)
    }

    /// The column of a name, which is added if it is new. `None` if there are 2^32 - 1 names already.
    pub fn intern(&mut self, name: &str) -> Option<u32> {
        if let Some(column) = self.index_of(name) {
            return Some(column);
        }
        let column = u32::try_from(self.list.len()).ok().filter(|&column| column < u32::MAX)?;
        let name: Arc<str> = name.into();
        self.list.push(Arc::clone(&name));
        self.index.insert(name, column);
        Some(column)
    }

    /// The names from column `first` on.
    pub(crate) fn since(&self, first: u32) -> &[Arc<str>] {
        &self.list[first as usize..]
    }

    /// Adds names that are all new.
    pub(crate) fn append(&mut self, names: &[Arc<str>]) {
        for name in names {
            self.index.insert(Arc::clone(name), self.len());
            self.list.push(Arc::clone(name));
        }
    }

    /// Removes all but the first `len` names.
    pub fn truncate(&mut self, len: u32) {
        for name in self.list.drain(len as usize..) {
            self.index.remove(&name);
        }
    }
}

impl TryFrom<Vec<String>> for Names {
    type Error = Fault;

    fn try_from(list: Vec<String>) -> Result<Self, Fault> {
        let mut names = Names::default();
        for (position, name) in list.iter().enumerate() {
            if names.intern(name) != u32::try_from(position).ok() {
                return Err(fault!("feature name {name:?} appears twice"));
            }
        }
        Ok(names)
    }
}

impl From<Names> for Vec<String> {
    fn from(names: Names) -> Self {
        names.iter().map(str::to_owned).collect()
    }
}

/// Largest number of dropped features whose names are kept.
const MOST_UNKNOWN: usize = 100;

/// The columns of a reader: adds new ones, or drops and counts them, and removes those added by a
/// bad row.
#[derive(Debug)]
pub(crate) struct ColumnMap {
    columns: Columns,
    /// Largest number of columns; further ones are dropped.
    most: u32,
    dropped: u64,
    /// The features among them, each once, up to [`MOST_UNKNOWN`].
    unknown: Vec<String>,
    /// State after the last good row: number of columns, of dropped features.
    good: (u32, u64),
    /// The same of the good row before it.
    before: (u32, u64),
    /// See [`Columns::marks`].
    marks: BTreeMap<u32, u32>,
    /// What was seen of the numbers, if columns may begin that say where they are missing.
    watch: Option<Watch>,
    /// Whether hashed columns have others that say where their numbers are missing, in the place that a hash
    /// gives.
    hashed_marks: bool,
}

impl ColumnMap {
    pub(crate) fn new(columns: Columns, most: u32) -> Self {
        let (good, marks) = ((columns.count(), 0), columns.marks());
        let (unknown, before, watch, hashed_marks) = (vec![], good, None, false);
        ColumnMap { columns, most, dropped: 0, unknown, good, before, marks, watch, hashed_marks }
    }

    /// The same, where columns with names may begin that say where the numbers of others are missing.
    pub(crate) fn watching(self) -> Self {
        let named = matches!(self.columns, Columns::Named(_));
        Self { watch: named.then(Watch::default), ..self }
    }

    /// The same, where hashed columns have others that say where their numbers are missing, if they are to.
    pub(crate) fn marking(self, marks: bool) -> Self {
        let hashed = matches!(self.columns, Columns::Hashed { .. });
        Self { hashed_marks: marks && hashed, ..self }
    }

    /// See [`Schema::marked`](crate::Schema::marked).
    pub(crate) fn has_hashed_marks(&self) -> bool {
        self.hashed_marks
    }

    /// Takes in that these are columns of numbers in a table, whatever they are called. With `indicated`,
    /// they have others beside them that say where they are missing.
    pub(crate) fn are_numbers(&mut self, numbers: &[Option<u32>], indicated: bool) {
        self.marks.retain(|_, mark| !numbers.contains(&Some(*mark)));
        self.hashed_marks = false;
        if indicated {
            self.watch = None;
        }
    }

    /// Sees a row that is complete. Where its number is missing in a column that has a feature which says so,
    /// this is 1. Such a feature begins as [`Watch::see`] finds.
    pub(crate) fn see(&mut self, row: &mut Row) {
        let begun = self.watch.as_mut().map_or_else(Vec::new, |watch| watch.see(row));
        for column in begun {
            let name = self.columns.new_mark(&self.columns.name(column));
            if let Some(mark) = name.and_then(|name| self.by_word(&name)) {
                self.marks.insert(column, mark);
            }
        }
        // A mean stands for missing numbers where rows are dense.
        if self.watch.is_some() && self.columns.count() >= ALWAYS_DENSE as u32 {
            self.watch = None;
        }
        if row.missing().is_empty() || (self.marks.is_empty() && !self.hashed_marks) {
            return;
        }
        let mark = |number: &u32| match self.hashed_marks {
            true => self.columns.index_of(&format!("{}{MISSING}", self.columns.name(*number))),
            false => self.marks.get(number).copied(),
        };
        for mark in row.missing().iter().filter_map(mark).collect::<Vec<u32>>() {
            if !row.indices().contains(&mark) {
                row.push(mark, 1.0);
            }
        }
        row.sum_duplicates().expect("its columns differ");
    }

    pub(crate) fn columns(&self) -> &Columns {
        &self.columns
    }

    pub(crate) fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Whether features with names that are new are dropped.
    pub(crate) fn is_full(&self) -> bool {
        matches!(&self.columns, Columns::Named(names) if names.len() >= self.most)
    }

    /// Column of a name; `None` if it is dropped.
    pub(crate) fn by_name(&mut self, name: &str) -> Option<u32> {
        let column = self.by_word(name);
        if column.is_none() {
            self.dropped += 1;
            self.drops(name);
        }
        column
    }

    /// As [`ColumnMap::by_name`], but a dropped feature is not counted.
    pub(crate) fn by_word(&mut self, name: &str) -> Option<u32> {
        match &mut self.columns {
            Columns::Named(names) if names.len() < self.most => names.intern(name),
            columns => columns.index_of(name),
        }
    }

    /// Keeps the name of a dropped feature.
    #[cold]
    pub(crate) fn drops(&mut self, name: impl ToString) {
        if self.unknown.len() < MOST_UNKNOWN {
            let name = name.to_string();
            if !self.unknown.contains(&name) {
                self.unknown.push(name);
            }
        }
    }

    /// A remark on the features dropped, if there are any.
    pub(crate) fn unknown(&self) -> Option<Remark> {
        const SHOWN: usize = 5;
        if self.dropped == 0 || self.unknown.is_empty() {
            return None;
        }
        let names: Vec<String> = self.unknown.iter().map(shown).collect();
        let names = match names.len() {
            MOST_UNKNOWN => format!("{} and many more", names[..SHOWN].join(", ")),
            _ => first_of(&names, SHOWN),
        };
        Some(Remark::Other(format!(
            "features that the model does not have are ignored: {names}; it has those of the data that it was made from"
        )))
    }

    /// Column of the feature numbered `number` as in the data; `None` if it is dropped.
    ///
    /// Numbered columns: `number` is at least `base`, and `number - base` below `u32::MAX`.
    #[inline]
    pub(crate) fn by_number(&mut self, number: u64) -> Option<u32> {
        match &mut self.columns {
            Columns::Numbered { base, count } => {
                let column = (number - u64::from(*base)) as u32;
                if column >= *count {
                    if column >= self.most {
                        self.dropped += 1;
                        self.drops(number);
                        return None;
                    }
                    *count = column + 1;
                }
                Some(column)
            }
            Columns::Hashed { bits } => Some(hash_number(number, *bits)),
            Columns::Named(_) => self.by_name(&number.to_string()),
        }
    }

    /// Makes features that say where the numbers of the features `names` are missing, before the first row
    /// ([`Columns::miss`]). Numbered columns become columns with names, which are the numbers.
    pub(crate) fn indicate<N: Display>(&mut self, names: &[N]) {
        if names.is_empty() {
            return;
        }
        if let Columns::Numbered { count: 0, .. } = self.columns {
            self.columns = Columns::Named(Names::default());
        }
        for name in names {
            self.by_word(&format!("{name}{MISSING}"));
        }
        self.commit();
    }

    /// Notes in a row that the number of the feature numbered `number` as in the data is missing, as
    /// [`Columns::miss`] does.
    pub(crate) fn miss_number(&self, number: u64, row: &mut Row) {
        let column = match &self.columns {
            Columns::Numbered { base, count } => {
                let column = number.checked_sub(u64::from(*base));
                column.and_then(|column| u32::try_from(column).ok()).filter(|column| column < count)
            }
            Columns::Named(_) => return self.columns.miss(&number.to_string(), row),
            Columns::Hashed { bits } => Some(hash_number(number, *bits)),
        };
        column.into_iter().for_each(|column| row.miss(column));
    }

    /// For numbered columns, if any are allowed: the number of the first, and the largest number of
    /// columns.
    pub(crate) fn numbered(&self) -> Option<(u64, u32)> {
        match self.columns {
            // Known columns are always kept.
            Columns::Numbered { base, count } => Some((u64::from(base), self.most.max(count))),
            _ => None,
        }
    }

    /// The bookkeeping of [`ColumnMap::by_number`] for a whole row: number of columns, and of
    /// dropped features.
    pub(crate) fn saw(&mut self, columns: u32, dropped: u64) {
        if let Columns::Numbered { count, .. } = &mut self.columns {
            *count = columns.max(*count);
        }
        self.dropped += dropped;
    }

    /// Counts a feature that the reader drops itself.
    pub(crate) fn drop_one(&mut self) {
        self.dropped += 1;
    }

    /// Takes over the columns of `other`, which differ behind those that both have.
    pub(crate) fn follow(&mut self, other: &Columns) {
        if let (Columns::Named(mine), Columns::Named(theirs)) = (&mut self.columns, other) {
            mine.truncate(mine.len().min(theirs.len()));
            mine.append(theirs.since(mine.len()));
        }
        self.commit();
    }

    /// Accepts the columns added by the row.
    pub(crate) fn commit(&mut self) {
        self.before = self.good;
        self.good = (self.columns.count(), self.dropped);
    }

    /// Removes the columns added by the last good row; once.
    pub(crate) fn take_back(&mut self) {
        self.good = self.before;
        self.roll_back();
    }

    /// Removes the columns added since the last [`ColumnMap::commit`].
    pub(crate) fn roll_back(&mut self) {
        self.dropped = self.good.1;
        match &mut self.columns {
            Columns::Numbered { count, .. } => *count = self.good.0,
            Columns::Named(names) => names.truncate(self.good.0),
            Columns::Hashed { .. } => {}
        }
        let count = self.columns.count();
        self.marks.retain(|_, mark| *mark < count);
    }
}

#[cfg(test)]
mod tests;
