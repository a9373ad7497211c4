//! Moving examples.

mod columns;
mod csv;
mod csv_layout;
mod csv_text;
mod decompress;
mod format;
mod libsvm;
mod ndjson;
mod ndjson_visit;
mod options;
mod read_error;
mod reader;
mod row;
mod source;
mod vw;
mod writer;

pub use columns::{Columns, Names, hash_name, hash_number};
pub use format::Format;
pub use options::{CsvField, CsvRole, CsvSchema, ReadOptions, Schema};
pub use read_error::{ReadError, ReadErrorKind};
pub use reader::{Reader, from_read, open};
pub use row::{ActionCost, Row, RowLabel};
pub use writer::{RowWriter, WriteError, create};
