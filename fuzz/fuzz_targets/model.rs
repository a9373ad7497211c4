#![no_main]

use noregret::model::{Archive, Data, Numbers};
use noregret_stream::save::Saved;

// The first byte chooses: a file as it is, or one whose digest is right and whose texts and shapes are
// hostile (the digest would stop nearly every mutation at the door).
libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let Some((first, bytes)) = data.split_first() else { return };
    if first % 2 == 0 {
        if let Ok(archive) = Archive::from_bytes(bytes) {
            load(&archive);
        }
        return;
    }
    let text = String::from_utf8_lossy(bytes);
    let mut lines = text.lines();
    let mut archive = Archive::default();
    for name in ["algorithm", "params", "problem", "labels", "schema", "encoding"] {
        archive.set_text(name, lines.next().unwrap_or_default());
    }
    // The rest of the lines are tensors: name, length, value.
    for line in lines.take(16) {
        let mut words = line.split(' ');
        let name = words.next().unwrap_or_default();
        // The file format keeps this name for itself.
        if name == "__metadata__" {
            continue;
        }
        let length = words.next().and_then(|word| word.parse::<u8>().ok()).unwrap_or(1) as usize;
        let value = words.next().and_then(|word| word.parse::<f64>().ok()).filter(|value| value.is_finite());
        let data = match value {
            Some(value) => Data::Real(vec![value; length]),
            None => Data::Count(vec![length as u64; length]),
        };
        archive.set_tensor(name, Numbers { shape: vec![length], data });
    }
    load(&Archive::from_bytes(&archive.to_bytes()).expect("just written"));
});

fn load(archive: &Archive) {
    if let Ok(mut saved) = Saved::from_archive(archive) {
        let again = saved.archive();
        assert!(Saved::from_archive(&again).is_ok(), "what was loaded can be saved and loaded");
    }
}
