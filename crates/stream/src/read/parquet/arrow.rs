//! What Arrow says of a file's columns beside Parquet's own types: which are durations, a type that Parquet
//! does not have, and in which zone the clock of a time stood, which Parquet does not keep.
//!
//! Programs that write by Arrow keep its schema in base64 under a key of the file: a message of its stream
//! format, which is a FlatBuffer.

/// The key of Arrow's schema.
pub(super) const KEY: &str = "ARROW:schema";

/// The number of a duration among Arrow's types, and that of a time.
const DURATION: u8 = 18;
const TIME: u8 = 10;

/// Units of which a second has so many, by their numbers.
const UNITS: [i64; 4] = [1, 1_000, 1_000_000, 1_000_000_000];

/// Zones, in any case, whose clock is the one that Parquet keeps; a time without a zone has none.
const UTC: [&str; 8] = ["", "UTC", "Etc/UTC", "GMT", "Etc/GMT", "Zulu", "Z", "+00:00"];

/// The columns of durations, each with its units in a second; none if the schema is no such message.
pub(super) fn durations(schema: &str) -> Vec<(String, i64)> {
    columns(schema, DURATION, |kind| {
        let unit = kind.field(0).map_or(Some(1), |at| number::<2>(kind.bytes, at))?;
        UNITS.get(unit).copied()
    })
}

/// The columns of times of a zone other than UTC, each with its zone; none if the schema is no such message.
pub(super) fn zones(schema: &str) -> Vec<(String, String)> {
    let mut found = columns(schema, TIME, |kind| Some(kind.text(1).unwrap_or_default()));
    found.retain(|(_, zone)| !UTC.iter().any(|utc| zone.eq_ignore_ascii_case(utc)));
    found
}

/// The columns of one of Arrow's types, each with what `read` finds in the table of its type.
fn columns<T>(schema: &str, kind: u8, read: impl Fn(&Table<'_>) -> Option<T>) -> Vec<(String, T)> {
    let found = || -> Option<Vec<(String, T)>> {
        let bytes = from_base64(schema)?;
        // A mark of four bytes that newer versions have, and the length.
        let start = if bytes.starts_with(&[0xff; 4]) { 8 } else { 4 };
        let bytes = bytes.get(start..)?;
        let schema = Table { bytes, at: number::<4>(bytes, 0)? }.table(2)?;
        let (fields, count) = schema.list(1)?;
        let mut found = vec![];
        for at in (0..count).map(|one| fields + 4 * one) {
            let field = Table { bytes, at: at + number::<4>(bytes, at)? };
            if field.field(2).and_then(|at| bytes.get(at)) == Some(&kind) {
                found.push((field.text(0)?, read(&field.table(3)?)?));
            }
        }
        Some(found)
    };
    found().unwrap_or_default()
}

/// A number of `N` bytes, the lowest first.
fn number<const N: usize>(bytes: &[u8], at: usize) -> Option<usize> {
    let bytes = bytes.get(at..at.checked_add(N)?)?;
    Some(bytes.iter().rev().fold(0, |number, byte| (number << 8) | usize::from(*byte)))
}

/// A table of a FlatBuffer: behind `at` are its fields, and before it where each of them is.
struct Table<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Table<'_> {
    /// Where a field is; `None` if it has its default.
    fn field(&self, index: usize) -> Option<usize> {
        let back = (number::<4>(self.bytes, self.at)? as u32).cast_signed();
        let places = self.at.checked_add_signed(-(back as isize))?;
        let slot = 4 + 2 * index;
        let offset = number::<2>(self.bytes, places + slot)
            .filter(|_| number::<2>(self.bytes, places).is_some_and(|size| slot + 2 <= size))?;
        (offset > 0).then_some(self.at + offset)
    }

    /// The table to which a field points.
    fn table(&self, index: usize) -> Option<Self> {
        let at = self.field(index)?;
        Some(Self { bytes: self.bytes, at: at + number::<4>(self.bytes, at)? })
    }

    /// Where the list to which a field points begins, and its length.
    fn list(&self, index: usize) -> Option<(usize, usize)> {
        let at = self.field(index)?;
        let at = at + number::<4>(self.bytes, at)?;
        Some((at + 4, number::<4>(self.bytes, at)?.min(self.bytes.len())))
    }

    /// The text to which a field points.
    fn text(&self, index: usize) -> Option<String> {
        let (at, length) = self.list(index)?;
        String::from_utf8(self.bytes.get(at..at + length)?.to_vec()).ok()
    }
}

/// The bytes of a text in base64.
fn from_base64(text: &str) -> Option<Vec<u8>> {
    let mut bytes = vec![];
    let (mut held, mut bits) = (0_u32, 0);
    for byte in text.trim_end_matches('=').bytes() {
        let six = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        held = (held << 6) | u32::from(six);
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            bytes.push((held >> bits) as u8);
            held &= (1 << bits) - 1;
        }
    }
    Some(bytes)
}

/// What polars says of a column `took` of durations in microseconds, and one of texts.
#[cfg(test)]
pub(super) const POLARS: &str = "/////50AAAAEAAAA8v///xQAAAAEAAEAAAAKAAsACAAKAAQA+P///wwAAAAIAAgAAAAEAAIAAAAwAAAABAAAAMT///8cAAAAEAAAAAgA\
                                 AAABFAAAAAAAAPz///8EAAQAAQAAAHkAAADs////MAAAACAAAAAYAAAAARIAABAAEgAEABAAEQAIAAAADAAAAAAA+v///wIABgAGAAQA\
                                 BAAAAHRvb2sA";

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::sync::Arc;

    use parquet::data_type::Int64Type;
    use parquet::file::metadata::KeyValue;
    use parquet::file::writer::SerializedFileWriter;
    use parquet::schema::parser::parse_message_type;

    use super::*;
    use crate::read::open::{from_read, open};
    use crate::read::options::ReadOptions;
    use crate::read::reader::Reader;
    use crate::testing::read_all;

    /// Of a file of pyarrow with columns of microseconds, a real number, milliseconds and seconds; and of
    /// one of polars with microseconds.
    #[test]
    fn durations_of_arrow_are_found() {
        let pyarrow = "/////wABAAAQAAAAAAAKAAwABgAFAAgACgAAAAABBAAMAAAACAAIAAAABAAIAAAABAAAAAQAAACcAAAAYAAAADAAAAAEAAAAhP///wAAARIQAAAAFAAA\
                       AAQAAAAAAAAAAQAAAHMAAABy////AAAAAKz///8AAAESEAAAABwAAAAEAAAAAAAAAAQAAAB3YWl0AAAAAAQABAAEAAAA2P///wAAAQMQAAAAFAAAAAQA\
                       AAAAAAAAAQAAAGEAAADG////AAACABAAFAAIAAYABwAMAAAAEAAQAAAAAAABEhAAAAAcAAAABAAAAAAAAAAEAAAAdG9vawAABgAIAAYABgAAAAAAAgAA\
                       AAAA";
        let of = |schema: &str| -> Vec<(String, i64)> {
            let mut found = durations(schema);
            found.sort();
            found
        };
        let named = |pairs: &[(&str, i64)]| -> Vec<(String, i64)> {
            pairs.iter().map(|(name, units)| ((*name).to_owned(), *units)).collect()
        };
        assert_eq!(of(pyarrow), named(&[("s", 1), ("took", 1_000_000), ("wait", 1_000)]));
        assert_eq!(of(POLARS), named(&[("took", 1_000_000)]));
        // A damaged one says nothing, wherever it is cut.
        for cut in 0..pyarrow.len() {
            durations(&pyarrow[..cut]);
        }
        for text in ["", "====", "not base64", "/////w", "AAAAAAAAAAAAAAAA", "//////////////////////8="] {
            assert!(durations(text).is_empty(), "{text}");
        }
    }

    /// What pyarrow says of times: `at` in New York, `now` in UTC, `day` without a zone, `t` at +02:00.
    const ZONES: &str = "/////3ABAAAQAAAAAAAKAAwABgAFAAgACgAAAAABBAAEAAAAjP///wQAAAAFAAAA+AAAALAAAAB8AAAAPAAAAAQAAAAs////AAABAhAAAAAc\
                         AAAABAAAAAAAAAABAAAAYQAAAAgADAAIAAcACAAAAAAAAAFAAAAAYP///wAAAQoQAAAAHAAAAAQAAAAAAAAAAQAAAHQAAAAIAAgAAAAE\
                         AAgAAAAEAAAABgAAACswMjowMAAAnP///wAAAQoQAAAAHAAAAAQAAAAAAAAAAwAAAGRheQAAAAYACAAGAAYAAAAAAAEAzP///wAAAQoQ\
                         AAAAFAAAAAQAAAAAAAAAAwAAAG5vdwC8////AAADAAQAAAADAAAAVVRDABAAFAAIAAYABwAMAAAAEAAQAAAAAAABChAAAAAcAAAABAAA\
                         AAAAAAACAAAAYXQAAAgADAAGAAgACAAAAAAAAgAEAAAAEAAAAEFtZXJpY2EvTmV3X1lvcmsAAAAAAAAAAA==";

    /// A table in memory and its CSV have the clock of the zone, the file has that of UTC; nothing was said.
    #[test]
    fn a_clock_in_another_zone_is_said() {
        let mut found = zones(ZONES);
        found.sort();
        let named = |name: &str, zone: &str| (name.to_owned(), zone.to_owned());
        assert_eq!(found, [named("at", "America/New_York"), named("t", "+02:00")]);
        for cut in 0..ZONES.len() {
            zones(&ZONES[..cut]);
        }
        // GMT and utc in place of UTC.
        for name in ["R01U", "dXRj"] {
            assert_eq!(zones(&ZONES.replace("VVRD", name)).len(), 2, "{name}");
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.parquet");
        let schema = "message m { required int64 at (TIMESTAMP(MICROS,true)); required int64 y; }";
        let schema = Arc::new(parse_message_type(schema).unwrap());
        let mut file =
            SerializedFileWriter::new(File::create(&path).unwrap(), schema, Arc::default()).unwrap();
        file.append_key_value_metadata(KeyValue::new(KEY.to_owned(), ZONES.to_owned()));
        let mut group = file.next_row_group().unwrap();
        let minutes: Vec<i64> = (0..60).map(|t| 1_795_343_467_000_000 + 60_000_000 * t).collect();
        let labels: Vec<i64> = (0..60).map(|t| t % 2).collect();
        for values in [minutes, labels] {
            let mut to = group.next_column().unwrap().unwrap();
            to.typed::<Int64Type>().write_batch(&values, None, None).unwrap();
            to.close().unwrap();
        }
        group.close().unwrap();
        file.close().unwrap();
        let path = path.to_str().unwrap();
        let reader = open(path, &ReadOptions::default()).unwrap();
        let saved = ReadOptions { schema: Some(reader.schema()), ..ReadOptions::default() };
        let said = "column \"at\" holds times of the zone \"America/New_York\", which Parquet keeps in UTC: their \
                    hours are those of UTC here, and those of the zone in CSV and in tables of Python; written \
                    without their zone (dt.tz_localize(None) in pandas) they are the same everywhere";
        for notes in [reader.notes(), open(path, &saved).unwrap().notes()] {
            assert_eq!(notes.iter().filter(|note| *note == said).count(), 1, "{notes:?}");
        }
    }

    /// Times of day, and durations by Arrow's schema, are seconds, as in CSV.
    #[test]
    fn clocks_and_durations_are_seconds() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.parquet");
        let schema =
            "message m { required int64 at (TIME(MICROS,true)); required int64 took; required int64 y; }";
        let schema = Arc::new(parse_message_type(schema).unwrap());
        let mut file =
            SerializedFileWriter::new(File::create(&path).unwrap(), schema, Arc::default()).unwrap();
        file.append_key_value_metadata(KeyValue::new(KEY.to_owned(), POLARS.to_owned()));
        let seconds: Vec<[i64; 3]> =
            (0..60).map(|t| [36_000 + 61 * t, 100_000 * t - 150_000, t % 2]).collect();
        let mut group = file.next_row_group().unwrap();
        for (at, units) in [(0, 1_000_000), (1, 1_000_000), (2, 1)] {
            let values: Vec<i64> = seconds.iter().map(|row| row[at] * units).collect();
            let mut to = group.next_column().unwrap().unwrap();
            to.typed::<Int64Type>().write_batch(&values, None, None).unwrap();
            to.close().unwrap();
        }
        group.close().unwrap();
        file.close().unwrap();
        let clock = |second: i64| format!("{:02}:{:02}:{:02}", second / 3600, second / 60 % 60, second % 60);
        let span =
            |second: i64| format!("{} days {}", second.div_euclid(86_400), clock(second.rem_euclid(86_400)));
        let line = |[at, took, y]: &[i64; 3]| format!("{},{},{y}\n", clock(*at), span(*took));
        let text = "at,took,y\n".to_owned() + &seconds.iter().map(line).collect::<String>();
        let mut csv =
            from_read(Box::new(std::io::Cursor::new(text)), "a.csv", &ReadOptions::default()).unwrap();
        let rows = |reader: &mut dyn Reader| read_all(reader, |row| format!("{:?}", row.label()));
        assert_eq!(
            rows(&mut *open(path.to_str().unwrap(), &ReadOptions::default()).unwrap()),
            rows(&mut *csv)
        );
    }
}
