//! Writes rows as Parquet: a column of 64-bit floats for each feature, and a text column `label`.

use std::io::{self, Write};
use std::sync::Arc;

use parquet::basic::{ConvertedType, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{Type, TypePtr};

use crate::fault::{Fault, fault};
use crate::read::columns::Columns;
use crate::read::format::Format;
use crate::read::row::Row;
use crate::write::writer::{RowWriter, WriteError, csv_name, label, no_weight_or_tag};

/// A row group is written when it has this many values,
const VALUES: usize = 4 << 20;
/// or this many rows.
const ROWS: usize = 1 << 16;

pub(crate) struct ParquetRows<'a> {
    /// Before the first row, which determines the columns.
    out: Option<Box<dyn Write + Send + 'a>>,
    file: Option<SerializedFileWriter<Box<dyn Write + Send + 'a>>>,
    /// The rows of the next group, by columns.
    features: Vec<Vec<f64>>,
    labels: Vec<ByteArray>,
    labelled: Vec<i16>,
    finished: bool,
}

impl<'a> ParquetRows<'a> {
    pub(crate) fn new(out: Box<dyn Write + Send + 'a>) -> Self {
        Self {
            out: Some(out),
            file: None,
            features: vec![],
            labels: vec![],
            labelled: vec![],
            finished: false,
        }
    }

    fn check(&self, row: &Row, columns: &Columns) -> Result<(), Fault> {
        no_weight_or_tag(row)?;
        label(row)?;
        let (count, width) = (columns.count() as usize, self.features.len());
        match self.out {
            _ if self.finished => Err("the file is complete".into()),
            None if width != count => Err(fault!("it has {count} columns, the first row {width}")),
            None => Ok(()),
            Some(_) if count == 0 => Err("it has no columns".into()),
            Some(_) if (0..columns.count()).any(|column| csv_name(columns, column) == "label") => {
                Err("a feature is called label".into())
            }
            Some(_) => Ok(()),
        }
    }

    fn group(&mut self) -> Result<(), ParquetError> {
        let Some(file) = self.file.as_mut().filter(|_| !self.labelled.is_empty()) else { return Ok(()) };
        let mut group = file.next_row_group()?;
        for values in &mut self.features {
            let mut column = group.next_column()?.expect("the schema has a column for each feature");
            column.typed::<DoubleType>().write_batch(values, None, None)?;
            column.close()?;
            values.clear();
        }
        let mut column = group.next_column()?.expect("the schema ends with the label");
        column.typed::<ByteArrayType>().write_batch(&self.labels, Some(&self.labelled), None)?;
        column.close()?;
        self.labels.clear();
        self.labelled.clear();
        group.close().map(drop)
    }
}

impl RowWriter for ParquetRows<'_> {
    fn write(&mut self, row: &Row, columns: &Columns) -> Result<(), WriteError> {
        let unfit = |problem: Fault| WriteError::Unfit { format: Format::Parquet, problem: problem.into() };
        self.check(row, columns).map_err(unfit)?;
        if let Some(out) = self.out.take() {
            self.features = vec![vec![]; columns.count() as usize];
            let schema = schema(columns).map_err(failed)?;
            let file = SerializedFileWriter::new(out, schema, Arc::new(WriterProperties::default()));
            self.file = Some(file.map_err(failed)?);
        }
        for values in &mut self.features {
            values.push(0.0);
        }
        let at = self.labelled.len();
        for (&column, &value) in row.indices().iter().zip(row.values()) {
            self.features[column as usize][at] = value;
        }
        let label = label(row).map_err(unfit)?;
        self.labelled.push(i16::from(label.is_some()));
        self.labels.extend(label.map(ByteArray::from));
        if self.labelled.len() >= ROWS || self.labelled.len() * self.features.len() >= VALUES {
            self.group().map_err(failed)?;
        }
        Ok(())
    }

    /// Completes the file by writing its footer. No row can follow.
    fn flush(&mut self) -> Result<(), WriteError> {
        if std::mem::replace(&mut self.finished, true) {
            return Ok(());
        }
        self.group().map_err(failed)?;
        match &mut self.file {
            Some(file) => file.finish().map(drop).map_err(failed),
            None => Err(WriteError::Unfit { format: Format::Parquet, problem: "there is none".into() }),
        }
    }
}

fn schema(columns: &Columns) -> Result<TypePtr, ParquetError> {
    let feature = |column| {
        let name = csv_name(columns, column);
        let column = Type::primitive_type_builder(&name, Physical::DOUBLE);
        Ok(Arc::new(column.with_repetition(Repetition::REQUIRED).build()?))
    };
    let mut fields: Vec<TypePtr> = (0..columns.count()).map(feature).collect::<Result<_, ParquetError>>()?;
    let label = Type::primitive_type_builder("label", Physical::BYTE_ARRAY)
        .with_repetition(Repetition::OPTIONAL)
        .with_logical_type(Some(LogicalType::String))
        .with_converted_type(ConvertedType::UTF8);
    fields.push(Arc::new(label.build()?));
    Ok(Arc::new(Type::group_type_builder("rows").with_fields(fields).build()?))
}

fn failed(error: ParquetError) -> WriteError {
    match error {
        ParquetError::External(error) => match error.downcast::<io::Error>() {
            Ok(error) => WriteError::Io(*error),
            Err(error) => WriteError::Io(io::Error::other(error)),
        },
        error => WriteError::Io(io::Error::other(error)),
    }
}
