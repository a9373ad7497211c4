//! Every reader on the same rows, and on real files: `cargo bench -p noregret-benches --bench readers`.
//!
//! `READERS_DATA` names a folder with files to read, plain or compressed; what they take decompressed is
//! written to a temporary folder first.

use std::fs::File;
use std::io::{Cursor, Read, Write};
use std::path::{Path, PathBuf};

use divan::{Bencher, counter::BytesCount};
use noregret_stream::{Columns, Format, ReadOptions, Reader, Row, create, from_read, open};

fn main() {
    divan::main();
}

const ROWS: usize = 5000;
const FEATURES: usize = 54;

/// Made-up numbers of 17 digits, the hardest to read.
#[divan::bench(args = Format::TEXT, sample_count = 10)]
fn read(bencher: Bencher<'_, '_>, format: Format) {
    let text = text(format, |value| value);
    bench_text(bencher, format, text);
}

/// Made-up numbers of at most 6 digits, as data sets have them.
#[divan::bench(args = Format::TEXT, sample_count = 10)]
fn read_short(bencher: Bencher<'_, '_>, format: Format) {
    let text = text(format, |value| (value * 1e6).round() / 1e6);
    bench_text(bencher, format, text);
}

fn bench_text(bencher: Bencher<'_, '_>, format: Format, text: Vec<u8>) {
    let options = ReadOptions { format: Some(format), ..ReadOptions::default() };
    bencher
        .counter(BytesCount::new(text.len()))
        .with_inputs(|| Box::new(Cursor::new(text.clone())))
        .bench_local_values(|input| {
            let mut reader = from_read(input, "bench", &options).expect("just written");
            assert_eq!(count(&mut *reader), ROWS);
        });
}

/// A real file, decompressed, on the thread that asks for the rows.
#[divan::bench(args = files(), sample_count = 5)]
fn file(bencher: Bencher<'_, '_>, name: &str) {
    bench_file(bencher, name, |path, options| {
        from_read(Box::new(File::open(path).expect("it was there")), path, options).expect("readable")
    });
}

/// The same, ahead of the rows that are asked for.
#[divan::bench(args = files(), sample_count = 5)]
fn file_ahead(bencher: Bencher<'_, '_>, name: &str) {
    bench_file(bencher, name, |path, options| open(path, options).expect("readable"));
}

fn bench_file(
    bencher: Bencher<'_, '_>,
    name: &str,
    start: impl Fn(&str, &ReadOptions) -> Box<dyn Reader> + Sync,
) {
    let path = plain_file(name);
    let bytes = std::fs::metadata(&path).expect("just written").len();
    let path = path.to_str().expect("a temporary folder has a plain name");
    let options = ReadOptions { format: Format::from_file_name(name), ..ReadOptions::default() };
    bencher.counter(BytesCount::new(bytes)).bench_local(|| count(&mut *start(path, &options)));
}

fn count(reader: &mut dyn Reader) -> usize {
    let (mut row, mut rows) = (Row::new(), 0);
    while reader.read(&mut row).expect("good rows") {
        rows += 1;
    }
    rows
}

fn files() -> Vec<String> {
    let Some(folder) = std::env::var_os("READERS_DATA") else { return vec![] };
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let mut names: Vec<String> = names
        .filter(|name| matches!(Format::from_file_name(name), Some(format) if format != Format::Parquet))
        .collect();
    names.sort();
    names
}

/// The file of `READERS_DATA`, decompressed in a temporary folder.
fn plain_file(name: &str) -> PathBuf {
    let folder = PathBuf::from(std::env::var_os("READERS_DATA").expect("files() looked there"));
    let plain = std::env::temp_dir().join(format!("noregret-bench-{}", name.trim_end_matches(".gz")));
    if !plain.exists() {
        let bytes = decompressed(&folder.join(name));
        File::create(&plain)
            .and_then(|mut file| file.write_all(&bytes))
            .expect("room in the temporary folder");
    }
    plain
}

fn decompressed(path: &Path) -> Vec<u8> {
    let mut bytes = vec![];
    let mut file = File::open(path).expect("it was listed");
    if path.extension().is_some_and(|end| end == "gz") {
        flate2::read::MultiGzDecoder::new(file).read_to_end(&mut bytes).expect("good gzip");
    } else {
        file.read_to_end(&mut bytes).expect("readable");
    }
    bytes
}

/// Rows as text in `format`.
fn text(format: Format, shorten: fn(f64) -> f64) -> Vec<u8> {
    let values = noregret_benches::rows(ROWS, FEATURES);
    let labels = noregret_benches::labels(ROWS, 7);
    let mut text = Vec::new();
    let mut writer = create(format, Box::new(&mut text));
    let columns = Columns::Numbered { base: 1, count: FEATURES as u32 };
    let mut row = Row::new();
    for (values, label) in values.chunks_exact(FEATURES).zip(labels) {
        row.clear();
        row.set_name(&label.to_string());
        (0u32..).zip(values).for_each(|(column, value)| row.push(column, shorten(*value)));
        writer.write(&row, &columns).expect("memory");
    }
    writer.flush().expect("memory");
    drop(writer);
    text
}
