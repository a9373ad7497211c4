//! Every reader on the same rows: `cargo bench -p noregret-benches --bench readers`.

use std::io::Cursor;

use divan::{Bencher, counter::BytesCount};
use noregret_stream::{Columns, Format, ReadOptions, Row, create, from_read};

fn main() {
    divan::main();
}

const ROWS: usize = 5000;
const FEATURES: usize = 54;

#[divan::bench(args = Format::ALL, sample_count = 10)]
fn read(bencher: Bencher<'_, '_>, format: Format) {
    let text = text(format);
    let options = ReadOptions { format: Some(format), ..ReadOptions::default() };
    bencher
        .counter(BytesCount::new(text.len()))
        .with_inputs(|| Box::new(Cursor::new(text.clone())))
        .bench_local_values(|input| {
            let mut reader = from_read(input, "bench", &options).expect("just written");
            let mut row = Row::new();
            let mut rows = 0;
            while reader.read(&mut row).expect("just written") {
                rows += 1;
            }
            assert_eq!(rows, ROWS);
        });
}

/// Rows as text in `format`.
fn text(format: Format) -> Vec<u8> {
    let values = noregret_benches::rows(ROWS, FEATURES);
    let labels = noregret_benches::labels(ROWS, 7);
    let mut text = Vec::new();
    let mut writer = create(format, Box::new(&mut text));
    let columns = Columns::Numbered { base: 1, count: FEATURES as u32 };
    let mut row = Row::new();
    for (values, label) in values.chunks_exact(FEATURES).zip(labels) {
        row.clear();
        row.set_name(&label.to_string());
        (0u32..).zip(values).for_each(|(column, value)| row.push(column, *value));
        writer.write(&row, &columns).expect("memory");
    }
    writer.flush().expect("memory");
    drop(writer);
    text
}
