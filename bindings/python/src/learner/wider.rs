//! Columns, categories and words that begin in a later table, of a learner whose first row was one of many.
//! The learner grows by them before the table; they are 0 in the rows before.

use noregret_stream::{ReadOptions, Row, Schema};

use super::{Inner, Learner};
use crate::error::Done;
use crate::table::Table;

impl Inner {
    /// Whether there is a column of text, whose new words are dropped without being counted.
    pub(super) fn has_text(&self) -> bool {
        let mut fields = self.schema.csv.iter().flat_map(|csv| &csv.fields);
        fields.any(|field| field.role.name() == "text")
    }
}

impl Learner {
    /// Makes room for the columns, categories and words of `table` that are new. If the learner cannot grow
    /// by them they stay unknown, and are ignored with a remark.
    pub(super) fn widen(&self, inner: &mut Inner, table: &Table, options: &ReadOptions) -> Done<()> {
        let first = inner.encoder.columns();
        if inner.schema.columns.count() as usize != first {
            return Ok(());
        }
        let mut schema = with_fields(&inner.schema, table, options)?;
        let wide = ReadOptions { room: u32::MAX, schema: Some(schema.clone()), ..options.clone() };
        let (mut reader, mut row) = (table.open(&wide)?, Row::new());
        while reader.read(&mut row)? {}
        schema.columns = reader.columns().clone();
        let (classes, columns) = (inner.learner.problem().classes, schema.columns.count() as usize);
        if columns > first && self.make_room(inner, classes, columns).is_ok() {
            inner.schema = schema;
        }
        Ok(())
    }
}

/// The schema with the columns of `table` that it lacks, whose roles this table tells. One without any cell
/// tells none.
fn with_fields(schema: &Schema, table: &Table, options: &ReadOptions) -> Done<Schema> {
    let mut schema = schema.clone();
    if !table.has_new(&schema) {
        return Ok(schema);
    }
    let missing = schema.missing.clone();
    let found =
        table.open(&ReadOptions { label: options.label.clone(), missing, ..ReadOptions::default() })?;
    if let (Some(csv), Some(found)) = (&mut schema.csv, found.schema().csv) {
        let known: Vec<String> = csv.fields.iter().map(|field| field.name.clone()).collect();
        let told = |role: &str| ["numeric", "categorical", "text", "time"].contains(&role);
        let fields = found.fields.into_iter();
        csv.fields.extend(fields.filter(|field| told(field.role.name()) && !known.contains(&field.name)));
    }
    Ok(schema)
}
