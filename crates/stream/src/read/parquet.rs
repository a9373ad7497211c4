//! Apache Parquet, by the parquet crate: leaf columns correspond to columns of CSV with a header.
//!
//! The kinds of columns are inferred from the first 1,000 rows, and cells become features, as in CSV, so that
//! equal rows become equal examples in both formats, and models can be used for both. In addition:
//!
//! - a column of days or times has the role of times; one of bools has the categories `true` and `false`, or
//!   the numbers 1 and 0 if it was declared numeric;
//! - a null and a NaN are missing cells;
//! - a list of numbers is one numeric column for each position, `name[0]`, `name[1]`, ...; positions that the
//!   first rows do not have become features when they occur;
//! - texts in a list are a set without order: each is a category, or a word of a text;
//! - a field of a group is named `group.field`; one of the groups in a list is a list, `list.field`.
//!
//! Line numbers are row numbers, from 1.

mod arrow;
mod column;
pub(crate) mod damage;
mod leaf;

use std::collections::HashMap;
use std::fs::File;
use std::sync::Arc;

use csv::ByteRecord;
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::schema::types::ColumnDescPtr;

use self::column::{Positions, position_name, texts, value};
use self::damage::{damaged, without_panic};
use self::leaf::{Kind, Leaf};
use crate::decisions::parquet::HEADER;
use crate::decisions::reader::LogReader;
use crate::decisions::rows::LoggedRows;
use crate::decisions::{NO_DATA, OURS};
use crate::fault::{Fault, fault};
use crate::read::columns::ColumnMap;
use crate::read::error::{ReadError, ReadErrorKind, shown};
use crate::read::format::Format;
use crate::read::label::LabelType;
use crate::read::logs::LogUse;
use crate::read::missing::Missing;
use crate::read::offer;
use crate::read::options::{ReadOptions, Speech};
use crate::read::reader::Reader;
use crate::read::row::Row;
use crate::read::table::schema::{CsvField, CsvRole, CsvSchema};
use crate::read::table::{
    self, Column, Decided, Names, Records, Sample, Table, all_numbers, count_numbers, find_column,
    label_and_weight, like_a_log, names, offered_column, role_word,
};

/// Number of rows examined.
const FIRST: usize = 1000;

/// Opens a file, before its first row.
fn opened(file: File, name: &str) -> Result<ParquetRows, ReadError> {
    let failed = |message: String| ReadError::new(name, 0, ReadErrorKind::Layout(message));
    let size = file.metadata().map_err(|error| ReadError::new(name, 0, ReadErrorKind::Io(error)))?.len();
    let opened = without_panic(|| SerializedFileReader::new(file));
    let file = opened.map_err(|error| failed(damaged(&error)))?;
    let metadata = file.metadata().file_metadata();
    let total = u64::try_from(metadata.num_rows()).unwrap_or(0);
    if total == 0 {
        return Err(ReadError::new(name, 0, ReadErrorKind::Empty));
    }
    let schema = metadata.schema_descr();
    let leaf = |(at, column): (usize, &ColumnDescPtr)| Leaf::new(schema.get_column_root(at), column);
    let mut leaves: Vec<Leaf> = schema.columns().iter().enumerate().map(leaf).collect();
    let pairs = metadata.key_value_metadata().map_or(&[][..], Vec::as_slice);
    let said = pairs.iter().find(|pair| pair.key == arrow::KEY).and_then(|pair| pair.value.as_deref());
    for (name, units) in said.map(arrow::durations).unwrap_or_default() {
        leaves.iter_mut().filter(|leaf| leaf.name == name).for_each(|leaf| leaf.take_spans(units));
    }
    for (name, zone) in said.map(arrow::zones).unwrap_or_default() {
        leaves.iter_mut().filter(|leaf| leaf.name == name).for_each(|leaf| leaf.zone = Some(zone.clone()));
    }
    Ok(ParquetRows {
        name: name.to_owned(),
        file,
        leaves,
        groups: 0,
        decoded: 0,
        used: 0,
        ended: false,
        size,
        total,
        row: 0,
        positions: vec![],
        id: None,
        offered: None,
        buffer: String::new(),
    })
}

pub(crate) fn reader(file: File, name: &str, options: &ReadOptions) -> Result<Box<dyn Reader>, ReadError> {
    let failed = |message: Fault| ReadError::new(name, 0, message.into());
    let mut rows = opened(file, name)?;
    if rows.is_decision_log() {
        return match options.decisions {
            LogUse::Refused if options.logged.is_some() => Err(failed(OURS.into())),
            LogUse::Refused => Err(failed(NO_DATA.into())),
            LogUse::Learnt { .. } | LogUse::Predicted => LoggedRows::boxed(LogReader::open(name)?, options),
        };
    }
    options.decisions.check_data().map_err(failed)?;
    let total = rows.total;
    let given = ByteRecord::from(rows.leaves.iter().map(|leaf| &*leaf.name).collect::<Vec<_>>());
    let named = names(&given, true).map_err(|kind| ReadError::new(name, 0, kind))?;
    let names = &named.names;
    let columns = options.columns(Speech::Names).map_err(|kind| ReadError::new(name, 0, kind))?;
    let mut columns = options.map(columns);
    let (layout, mut notes) = match table::saved_layout(options) {
        Some(saved) => {
            let first = |leaf: &Leaf, name: &String| leaf.is_vector().then(|| position_name(name, 0));
            let lists: Vec<String> =
                rows.leaves.iter().zip(names).filter_map(|(leaf, name)| first(leaf, name)).collect();
            table::check_known(&saved, &names.iter().chain(&lists).map(String::as_str).collect())
                .map_err(failed)?;
            let mut saved = saved.into_owned();
            table::check_asked(&saved, names, options).map_err(failed)?;
            table::agree(&mut saved, names, options).map_err(failed)?;
            (saved, vec![])
        }
        None if options.schema.is_some() => {
            return Err(failed("has columns with names, and the model's have none".into()));
        }
        None => decide(&mut rows, &named, options, total).map_err(failed)?,
    };
    let find = |column: &Option<String>| column.as_ref().map(|column| find_column(names, column)).transpose();
    rows.id = find(&options.id).map_err(failed)?;
    rows.offered = find(&options.offered).map_err(failed)?;
    let (cells, positions, absent) =
        assign(&rows.leaves, names, &layout, &Arc::new(options.missing()), &mut columns);
    rows.positions = positions;
    let (id, offered) = (rows.id, rows.offered);
    for (at, (leaf, column)) in rows.leaves.iter_mut().zip(&cells).enumerate() {
        let used = id == Some(at) || offered == Some(at);
        leaf.skipped |= column.role == Some(CsvRole::Drop) && !used;
        let role = column.role;
        let one = [CsvRole::Label, CsvRole::Weight, CsvRole::Probability, CsvRole::Reward];
        if leaf.list && role.is_some_and(|role| one.contains(&role)) {
            return Err(failed(listed(&column.name)));
        }
        if leaf.skipped && (role.is_some_and(|role| role != CsvRole::Drop) || used) {
            return Err(failed(unread(leaf, &column.name)));
        }
        if let (Some(CsvRole::Time), Some(zone)) = (role, &leaf.zone) {
            notes.push(in_utc(&column.name, zone));
        }
        if let Some(map) = leaf.values_of.as_ref().filter(|_| !leaf.skipped && options.schema.is_none()) {
            notes.push(apart(map));
        }
    }
    let mut table = Table { records: rows, cells, absent, layout, columns, missing: vec![], notes };
    table.note_differences(&[id, offered]);
    Ok(Box::new(table))
}

fn unread(leaf: &Leaf, name: &str) -> Fault {
    let what = match leaf.kind {
        Kind::Unread(Some(kind)) => format!("of the type {kind}"),
        _ => "a list of lists".to_owned(),
    };
    fault!("column {} is {what}, which noregret does not read: leave it out, or convert it", shown(name))
}

/// A remark on times whose clock is another one in the table that was written.
fn in_utc(name: &str, zone: &str) -> String {
    let (name, zone) = (shown(name), shown(zone));
    format!(
        "column {name} holds times of the zone {zone}, which Parquet keeps in UTC: their hours are those of UTC \
         here, and those of the zone in CSV and in tables of Python; written without their zone \
         (dt.tz_localize(None) in pandas) they are the same everywhere"
    )
}

/// A remark on a map, whose two columns are read one by one.
fn apart(map: &str) -> String {
    let map = shown(map);
    format!(
        "column {map} is a map, which is read as the list of its keys and that of its values by their positions: which value has which key \
         is not learnt; as a column for each key, or as an object in NDJSON ({{{map}: {{\"key\": 1}}}}), it is read by key"
    )
}

fn listed(name: &str) -> Fault {
    fault!("column {} is a list; it can only be features", shown(name))
}

/// The decoded rows of a file.
struct ParquetRows {
    name: String,
    file: SerializedFileReader<File>,
    leaves: Vec<Leaf>,
    /// Row groups opened.
    groups: usize,
    /// Number of rows decoded, and of those used.
    decoded: usize,
    used: usize,
    ended: bool,
    /// Bytes and rows of the file.
    size: u64,
    total: u64,
    /// Number of the current row.
    row: u64,
    /// For each leaf.
    positions: Vec<Positions>,
    /// The leaf that names the rows, and that of the labels on offer.
    id: Option<usize>,
    offered: Option<usize>,
    buffer: String,
}

impl ParquetRows {
    /// Whether it is a log of decisions, written by us.
    fn is_decision_log(&self) -> bool {
        let pairs = self.file.metadata().file_metadata().key_value_metadata();
        pairs.is_some_and(|pairs| pairs.iter().any(|pair| pair.key == HEADER))
    }

    /// Advances to the next row, whose cells the leaves then have. Returns false at the end.
    fn advance(&mut self) -> Result<bool, ParquetError> {
        if self.used == self.decoded && !without_panic(|| self.decode())? {
            return Ok(false);
        }
        self.used += 1;
        Ok(true)
    }

    /// Returns to the first row.
    fn rewind(&mut self) {
        (self.groups, self.decoded, self.used, self.ended) = (0, 0, 0, false);
    }

    /// Decodes the next rows. Returns false at the end.
    fn decode(&mut self) -> Result<bool, ParquetError> {
        (self.decoded, self.used) = (0, 0);
        while !self.ended {
            if self.groups > 0 {
                let mut counts = vec![];
                for leaf in self.leaves.iter_mut().filter(|leaf| !leaf.skipped) {
                    counts.push(leaf.decode()?);
                }
                self.decoded = counts.first().copied().unwrap_or(0);
                if counts.iter().any(|count| *count != self.decoded) {
                    return Err(ParquetError::General("its columns differ in length".to_owned()));
                }
                if self.decoded > 0 {
                    return Ok(true);
                }
            }
            if self.groups == self.file.num_row_groups() {
                self.ended = true;
                break;
            }
            let group = self.file.get_row_group(self.groups)?;
            self.groups += 1;
            for (number, leaf) in self.leaves.iter_mut().enumerate().filter(|(_, leaf)| !leaf.skipped) {
                leaf.reader = Some(group.get_column_reader(number)?);
            }
            // Rows are rows where no column of theirs is read.
            if self.leaves.iter().all(|leaf| leaf.skipped) {
                self.decoded = usize::try_from(group.metadata().num_rows()).unwrap_or(0);
                if self.decoded > 0 {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }
}

/// Infers the layout from the types and the first rows, with remarks.
fn decide(
    rows: &mut ParquetRows,
    named: &Names,
    options: &ReadOptions,
    total: u64,
) -> Result<(CsvSchema, Vec<String>), Fault> {
    let (names, mut options) = (&*named.names, options.clone());
    let offered = offered_column(names, &options).map(|at| names[at].clone());
    options.drop.extend(options.offered.take());
    let given = given_to_others(&rows.leaves, names, &mut options)?;
    let sampled: Vec<usize> = (0..names.len()).filter(|at| rows.leaves[*at].is_sampled()).collect();
    let (cells, lengths) = first_rows(rows, &sampled).map_err(|error| damaged(&error))?;
    rows.rewind();

    let (label, weight) = label_and_weight(names, &options)?;
    named.check_label(label, &options)?;
    if let Some(at) = [Some(label), weight].into_iter().flatten().find(|at| rows.leaves[*at].list) {
        return Err(listed(&names[at]));
    }
    let lone = options.logged.iter().flat_map(|keys| [&keys.probability, &keys.reward]);
    for name in lone {
        let at = find_column(names, name)?;
        if !rows.leaves[at].is_sampled() {
            return Err(listed(&names[at]));
        }
    }
    let place = |leaf: usize| sampled.iter().position(|at| *at == leaf);
    let chosen: Vec<usize> =
        options.given_names().map(|name| find_column(names, name)).collect::<Result<_, _>>()?;
    for (at, leaf) in rows.leaves.iter().enumerate().filter(|(_, leaf)| leaf.list && !leaf.is_vector()) {
        if !chosen.contains(&at) && leaf.is_sampled() {
            options.categorical.push(names[at].clone());
        }
    }
    let sample = Sample {
        names: &sampled.iter().map(|at| names[*at].clone()).collect::<Vec<_>>(),
        rows: &cells.iter().collect::<Vec<_>>(),
        label: place(label),
        weight: weight.and_then(place),
        comma_first: false,
        more: total > FIRST as u64,
        whole: sampled.len() == names.len(),
        nameless: false,
        missing: &options.missing(),
        declared: &sampled.iter().map(|at| rows.leaves[*at].declared()).collect::<Vec<_>>(),
    };
    let find =
        |column: &str| find_column(names, column).map(|leaf| place(leaf).expect("the others were removed"));
    let Decided { fields: known, numbers, marks, mut notes } = table::decide(&sample, &options, find)?;
    notes.splice(0..0, named.note());
    notes.extend(like_a_log(&options, &names[label], false, |name| names.iter().any(|known| known == name))?);

    let [mut fields, others] = fields_of(&rows.leaves, names, &given, &lengths, known)?;
    let numbers = count_numbers(&fields).or_else(|| numbers.map(|_| all_numbers(&fields)));
    // Their positions become features when they occur.
    fields.extend(others);
    Ok((CsvSchema { numbers, marks, offered, ..CsvSchema::of(fields) }, notes))
}

/// The fields of the columns, with `known` those of the sampled ones, and then those of the positions of
/// lists; and apart the fields of lists that have no positions so far.
fn fields_of(
    leaves: &[Leaf],
    names: &[String],
    given: &[Option<CsvRole>],
    lengths: &[usize],
    known: Vec<CsvField>,
) -> Result<[Vec<CsvField>; 2], Fault> {
    let mut known = known.into_iter();
    let (mut fields, mut positions, mut others) = (vec![], vec![], vec![]);
    for (at, name) in names.iter().enumerate() {
        if leaves[at].is_sampled() {
            fields.extend(known.next());
        } else if given[at] == Some(CsvRole::Drop) {
            fields.push(CsvField::plain(name, CsvRole::Drop));
        } else if leaves[at].skipped {
            return Err(unread(&leaves[at], name));
        } else if lengths[at] == 0 {
            others.push(CsvField::plain(name, CsvRole::Numeric));
        } else {
            let names = (0..lengths[at]).map(|position| position_name(name, position));
            positions.extend(names.map(|name| CsvField::plain(&name, CsvRole::Numeric)));
        }
    }
    fields.extend(positions);
    Ok([fields, others])
}

/// Removes from the options the columns whose kind does not follow from their cells. Returns the roles that
/// the options give them.
fn given_to_others(
    leaves: &[Leaf],
    names: &[String],
    options: &mut ReadOptions,
) -> Result<Vec<Option<CsvRole>>, Fault> {
    let mut given = vec![None; names.len()];
    for (list, role) in [
        (&mut options.categorical, CsvRole::Categorical),
        (&mut options.numeric, CsvRole::Numeric),
        (&mut options.text, CsvRole::Text),
        (&mut options.time, CsvRole::Time),
        (&mut options.drop, CsvRole::Drop),
    ] {
        for column in std::mem::take(list) {
            let at = find_column(names, &column)?;
            if leaves[at].is_sampled() {
                list.push(column);
                continue;
            }
            let fits = role == CsvRole::Drop || (role == CsvRole::Numeric && leaves[at].is_vector());
            if leaves[at].is_vector() && !fits {
                let (name, role) = (shown(&names[at]), role_word(role));
                return Err(fault!(
                    "column {name} is a list of numbers; it can be numeric or left out, not {role}"
                ));
            }
            given[at] = Some(role);
        }
    }
    Ok(given)
}

/// The cells of the first rows, those of a list joined by blanks, and the largest lengths of lists.
fn first_rows(
    rows: &mut ParquetRows,
    sampled: &[usize],
) -> Result<(Vec<ByteRecord>, Vec<usize>), ParquetError> {
    let (mut cells, mut lengths) = (vec![], vec![0; rows.leaves.len()]);
    let (mut whole, mut buffer) = (vec![], String::new());
    while cells.len() < FIRST && rows.advance()? {
        let mut record = ByteRecord::with_capacity(0, sampled.len());
        for (leaf, longest) in rows.leaves.iter_mut().zip(&mut lengths).filter(|(leaf, _)| !leaf.skipped) {
            let mut position = 0;
            whole.clear();
            while let Some(cell) = leaf.cell(position == 0) {
                position += 1;
                let Some(at) = cell else { continue };
                *longest = position.max(*longest);
                if leaf.is_sampled() {
                    whole.extend_from_slice(if whole.is_empty() { b"" } else { b" " });
                    whole.extend_from_slice(leaf.text(at, &mut buffer));
                }
            }
            if leaf.is_sampled() {
                record.push_field(&whole);
            }
        }
        cells.push(record);
    }
    Ok((cells, lengths))
}

/// The columns of the leaves, their positions, and the columns of the layout that the file does not have.
fn assign(
    leaves: &[Leaf],
    names: &[String],
    layout: &CsvSchema,
    missing: &Arc<Missing>,
    columns: &mut ColumnMap,
) -> (Vec<Column>, Vec<Positions>, Vec<Column>) {
    // A list of numbers is a column for each position of the first rows. Its own field has no feature.
    let vectors: HashMap<&str, usize> = (leaves.iter().zip(names).enumerate())
        .filter(|(_, (leaf, _))| leaf.is_vector())
        .map(|(at, (_, name))| (&**name, at))
        .collect();
    let (whole, others): (Vec<CsvField>, Vec<CsvField>) =
        layout.fields.iter().cloned().partition(|field| vectors.contains_key(&*field.name));
    let with_features = CsvSchema { fields: others, ..layout.clone() };
    let (mut cells, absent) = table::assign(names, &with_features, missing, columns);
    let mut positions: Vec<Positions> = leaves.iter().map(|_| Positions::default()).collect();
    let mut absent: HashMap<String, Column> =
        absent.into_iter().map(|column| (column.name.clone(), column)).collect();
    for (name, at) in &vectors {
        positions[*at].first =
            (0..).map_while(|position| absent.remove(&position_name(name, position))).collect();
        let field = whole.iter().find(|field| field.name == *name).cloned();
        let numeric = || CsvField::plain(name, CsvRole::Numeric);
        let field = field.or_else(|| (!positions[*at].first.is_empty()).then(numeric));
        cells[*at].role = field.as_ref().map(|field| field.role);
        cells[*at].field = field;
    }
    for (leaf, column) in leaves.iter().zip(&mut cells) {
        column.label_type = leaf.label_type();
    }
    let absent = with_features.fields.iter().filter_map(|field| absent.remove(&field.name)).collect();
    (cells, positions, absent)
}

/// Adds the labels on offer in a cell to a row: a list, or names in a text.
fn offer(leaf: &mut Leaf, column: &Column, buffer: &mut String, row: &mut Row) -> Result<(), ReadErrorKind> {
    let (of, mut first) = (leaf.label_type(), true);
    while let Some(found) = leaf.cell(first) {
        first = false;
        let Some(at) = found else { continue };
        let text = std::str::from_utf8(leaf.given(at, buffer)).map_err(|_| ReadErrorKind::InvalidUtf8)?;
        if leaf.list || of != LabelType::Text {
            row.push_offered_as(text, of);
            continue;
        }
        let wrong = |what: Fault| ReadErrorKind::Cell {
            noun: "column",
            column: column.name.clone(),
            message: what.into(),
        };
        offer::names(text).map_err(wrong)?.iter().for_each(|name| row.push_offered(name));
    }
    Ok(())
}

impl Records for ParquetRows {
    const FORMAT: Format = Format::Parquet;

    fn next(&mut self) -> Result<bool, ReadError> {
        match self.advance() {
            Ok(there) => {
                self.row += u64::from(there);
                Ok(there)
            }
            Err(error) => {
                self.ended = true;
                Err(ReadError::new(&self.name, 0, ReadErrorKind::Layout(damaged(&error))))
            }
        }
    }

    fn line(&self) -> u64 {
        self.row
    }

    fn hand_over(
        &mut self,
        cells: &mut [Column],
        columns: &mut ColumnMap,
        row: &mut Row,
    ) -> Result<(), ReadErrorKind> {
        let mut result = Ok(());
        let leaves = self.leaves.iter_mut().zip(&mut self.positions).zip(cells).enumerate();
        // After an error too, all leaves advance to the next row.
        for (at, ((leaf, positions), column)) in leaves.filter(|(_, ((leaf, _), _))| !leaf.skipped) {
            let buffer = &mut self.buffer;
            let read = if self.offered == Some(at) {
                offer(leaf, column, buffer, row)
            } else if leaf.is_vector() {
                positions.numbers(leaf, column, buffer, columns, row)
            } else if leaf.list {
                texts(leaf, column, buffer, columns, row)
            } else {
                let found = leaf.cell(true).flatten();
                if let (true, Some(found)) = (self.id == Some(at), found) {
                    row.tag.push_str(&String::from_utf8_lossy(leaf.text(found, buffer)));
                }
                value(leaf, found, column, buffer, columns, row)
            };
            while leaf.cell(false).is_some() {}
            result = result.and(read);
        }
        result
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn position(&self) -> u64 {
        (self.size as f64 * (self.row as f64 / self.total as f64)) as u64
    }

    fn size(&self) -> Option<u64> {
        Some(self.size)
    }

    fn describe(&self) -> Vec<(&'static str, String)> {
        vec![("format", Format::Parquet.to_string())]
    }
}

#[cfg(test)]
mod tests;
