use super::*;
use crate::example::{Features, Target};
use crate::param::Value;
use proptest::prelude::*;

/// A learner `name` after a few rounds.
fn learnt(name: &str) -> Box<dyn Model> {
    let problem = Problem::new(3, 2).with_radius(1.0);
    let entry = registry::find(name).expect("registered");
    let mut model = entry.make(&Values::new(), problem, 7).expect("defaults are valid");
    let mut at = model.prediction();
    for t in 0..5 {
        let x = [0.5, 0.1 * f64::from(t)];
        model.predict(Features::Dense(&x), &mut at);
        model.update(Features::Dense(&x), Target::class(t as usize % 3), &at);
    }
    model
}

fn archive(name: &str) -> Archive {
    Archive::of(&mut *learnt(name))
}

fn load(bytes: &[u8]) -> Result<Box<dyn Model>, ModelError> {
    Archive::from_bytes(bytes).and_then(|archive| archive.model())
}

/// The error that rejects `archive`, whose digest is valid.
fn refusal(archive: &Archive) -> String {
    let error = load(&archive.to_bytes()).map(|_| ()).expect_err("must be refused").to_string();
    assert!(!error.contains('\n'), "{error}");
    error
}

/// `bytes` with its JSON header changed.
fn with_header(bytes: &[u8], change: impl Fn(String) -> String) -> Vec<u8> {
    let (len, rest) = bytes.split_at(8);
    let len = u64::from_le_bytes(len.try_into().expect("8 bytes")) as usize;
    let (header, numbers) = rest.split_at(len);
    let changed = change(String::from_utf8(header.to_vec()).expect("JSON"));
    assert_ne!(changed.as_bytes(), header, "nothing is changed");
    [&(changed.len() as u64).to_le_bytes()[..], changed.as_bytes(), numbers].concat()
}

#[test]
fn every_flipped_bit_is_noticed() {
    for name in ["folklore", "ogd"] {
        let bytes = archive(name).to_bytes();
        assert!(load(&bytes).is_ok());
        for at in 0..8 * bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at / 8] ^= 1 << (at % 8);
            let error = Archive::from_bytes(&damaged).map(|_| ()).expect_err("a bit is flipped").to_string();
            assert!(!error.is_empty(), "bit {at}");
        }
    }
}

#[test]
fn every_truncation_and_extension_is_noticed() {
    let bytes = archive("folklore").to_bytes();
    for len in 0..bytes.len() {
        assert!(Archive::from_bytes(&bytes[..len]).is_err(), "the first {len} bytes");
    }
    for extra in [&[0][..], &[0; 8], &bytes] {
        assert!(Archive::from_bytes(&[&bytes, extra].concat()).is_err(), "{} bytes more", extra.len());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn arbitrary_bytes_are_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        prop_assert!(load(&bytes).is_err());
    }

    #[test]
    fn overwritten_pieces_are_noticed(
        from in any::<prop::sample::Index>(),
        piece in prop::collection::vec(any::<u8>(), 1..40),
    ) {
        let mut bytes = archive("folklore").to_bytes();
        let whole = bytes.clone();
        let from = from.index(bytes.len());
        for (byte, new) in bytes[from..].iter_mut().zip(&piece) {
            *byte = *new;
        }
        // A blank that pads the header may have been replaced by another kind of blank.
        prop_assert!(Archive::from_bytes(&bytes).map_or(true, |read| read.to_bytes() == whole));
    }

    /// A valid digest does not make numbers valid: for every value of a counter, nothing is read out of
    /// bounds.
    #[test]
    fn invented_counters_are_refused_or_harmless(
        tensor in any::<prop::sample::Index>(),
        count in prop_oneof![Just(u64::MAX / 2), 0..10u64, any::<u32>().prop_map(u64::from)],
        sparse in any::<bool>(),
    ) {
        for name in ["folklore", "ogd"] {
            let mut archive = archive(name);
            let mut counters: Vec<&mut u64> = Vec::new();
            for numbers in archive.tensors.values_mut() {
                if let Data::Count(data) = &mut numbers.data {
                    counters.extend(data);
                }
            }
            let at = tensor.index(counters.len());
            *counters[at] = count;
            if let Ok(mut model) = load(&archive.to_bytes()) {
                let sparse_row = Features::Sparse { indices: &[1], values: &[0.5] };
                let x = if sparse { sparse_row } else { Features::Dense(&[0.5, 0.5]) };
                let mut at = model.prediction();
                for _ in 0..4 {
                    model.predict(x, &mut at);
                    model.update(x, Target::class(1), &at);
                }
            }
        }
    }
}

#[test]
fn other_files_and_versions_are_refused() {
    let bytes = archive("ogd").to_bytes();
    let other =
        with_header(&bytes, |header| header.replace("\"format_version\":\"1\"", "\"format_version\":\"2\""));
    let error = load(&other).map(|_| ()).expect_err("another version");
    assert_eq!(error.to_string(), "the model file has format version 2; this program reads version 1");
    let foreign =
        with_header(&bytes, |header| header.replace("\"format\":\"noregret\"", "\"format\":\"pt\""));
    assert!(matches!(load(&foreign), Err(ModelError::Damaged(_))));
    let bare = safetensors::serialize(&BTreeMap::<String, Numbers>::new(), None).expect("no tensors");
    assert!(matches!(load(&bare), Err(ModelError::Damaged(_))));
}

#[test]
fn huge_dimensions_are_refused_before_memory_is_taken() {
    // The machine does not have this much memory: an attempt to allocate it would abort the test.
    for (classes, features) in
        [(3, 4_000_000_000u64), (4_000_000_000u64, 2), (3, 40_000_000), (60_000_000, 60)]
    {
        for name in ["folklore", "ogd"] {
            let mut archive = archive(name);
            let problem = format!(
                r#"{{"classes":{classes},"features":{features},"radius":1.0,"horizon":null,"sparse":false}}"#
            );
            archive.set_text("problem", problem);
            let error = refusal(&archive);
            assert!(error.contains("too few for its dimensions"), "{error}");
        }
    }
    for (classes, features) in [(0, 2), (1, 2), (3, 0), (1u64 << 40, 2)] {
        let mut archive = archive("folklore");
        let problem = format!(
            r#"{{"classes":{classes},"features":{features},"radius":1.0,"horizon":null,"sparse":false}}"#
        );
        archive.set_text("problem", problem);
        let error = refusal(&archive);
        assert!(error.contains("must be"), "{error}");
    }
}

#[test]
fn huge_headers_are_refused() {
    let mut bytes = archive("ogd").to_bytes();
    for len in [u64::MAX, 1 << 40, bytes.len() as u64] {
        bytes[..8].copy_from_slice(&len.to_le_bytes());
        assert!(load(&bytes).is_err());
    }
    let inflated = with_header(&archive("ogd").to_bytes(), |header| {
        header.replace("\"shape\":[3,2]", "\"shape\":[3000000000,2000000000]")
    });
    assert!(load(&inflated).is_err());
}

#[test]
fn numbers_that_are_not_finite_are_refused() {
    for number in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let mut archive = archive("folklore");
        archive.set_tensor("learner/slack", Numbers { shape: vec![1], data: Data::Real(vec![number]) });
        assert!(refusal(&archive).ends_with("tensor 'learner/slack' holds a number that is not finite"));
    }
}

#[test]
fn inconsistent_states_are_refused() {
    let changed = |change: &dyn Fn(&mut Archive)| {
        let mut archive = archive("folklore");
        change(&mut archive);
        refusal(&archive)
    };
    let real = |len: usize| Numbers { shape: vec![len], data: Data::Real(vec![0.0; len]) };
    let missing = changed(&|archive| drop(archive.tensors.remove("learner/gradient")));
    assert!(missing.ends_with("tensor 'learner/gradient' is missing"), "{missing}");
    let shape = changed(&|archive| archive.set_tensor("learner/gradient", real(5)));
    assert!(shape.ends_with("tensor 'learner/gradient' has shape [5] instead of [4]"), "{shape}");
    let shape = changed(&|archive| archive.set_tensor("learner/inverse", real(16)));
    assert!(shape.ends_with("tensor 'learner/inverse' has shape [16] instead of [10]"), "{shape}");
    let kind = changed(&|archive| archive.set_tensor("learner/rounds", real(1)));
    assert!(kind.ends_with("tensor 'learner/rounds' has the wrong type"), "{kind}");
    let columns = Numbers { shape: vec![1], data: Data::Count(vec![1000]) };
    let pending = changed(&|archive| archive.set_tensor("learner/inverse_pending_columns", columns.clone()));
    assert!(pending.ends_with("its state contradicts itself"), "{pending}");
    for text in ["algorithm", "params", "problem"] {
        let error = changed(&|archive| drop(archive.texts.remove(text)));
        assert!(error.ends_with(&format!("its metadata has no '{text}'")), "{error}");
        assert!(!changed(&|archive| archive.set_text(text, "nonsense")).is_empty());
    }
    let params =
        serde_json::to_string(&Values::from([("norm".to_owned(), Value::from(-1.0))])).expect("plain");
    let error = changed(&|archive| archive.set_text("params", params.as_str()));
    assert_eq!(error, "the model file does not describe a learner: norm = -1: must be a finite number > 0");
}

#[test]
fn entries_of_fronts_survive() {
    let mut archive = archive("ogd");
    archive.set_text("labels", r#"["a","b \" \n ü"]"#);
    archive.set_tensor(
        "scale/range",
        Numbers { shape: vec![2, 1], data: Data::Real(vec![-0.0, f64::MIN_POSITIVE]) },
    );
    archive.set_tensor("scale/counts", Numbers { shape: vec![0], data: Data::Count(vec![]) });
    let read = Archive::from_bytes(&archive.to_bytes()).expect("just written");
    assert_eq!(read, archive);
    assert_eq!(read.json::<Vec<String>>("labels").expect("a list")[1], "b \" \n ü");
}

/// Mostly zeros are written as places and values, and restored bit for bit, including a negative zero.
#[test]
fn zeros_are_packed() {
    for (length, every) in [(64, 1), (640, 7), (1000, 50), (1000, 1001), (4096, 3)] {
        let mut data: Vec<f64> =
            (0..length).map(|at| if at % every == 0 { 0.1 * at as f64 + 1.0 } else { 0.0 }).collect();
        data[length - 1] = -0.0;
        let bits = |data: &[f64]| data.iter().map(|number| number.to_bits()).collect::<Vec<_>>();
        let (mut archive, before) = (Archive::default(), bits(&data));
        archive.set_tensor("a", Numbers { shape: vec![2, length / 2], data: Data::Real(data) });
        archive.set_tensor("b", Numbers { shape: vec![3], data: Data::Real(vec![0.0, 1.0, 0.0]) });
        let bytes = archive.to_bytes();
        assert_eq!(every > 1, bytes.len() < 8 * length, "{length} {every}: {}", bytes.len());
        let again = Archive::from_bytes(&bytes).expect("just written");
        let Numbers { shape, data: Data::Real(data) } = again.tensor("a").expect("there") else {
            panic!("numbers were written")
        };
        assert_eq!((shape, bits(data)), (&vec![2, length / 2], before));
        assert_eq!(again.digest(), archive.digest());
    }
}

/// Places and values of a damaged file are checked.
#[test]
fn packed_tensors_that_contradict_themselves() {
    let count = |data: Vec<u64>| Numbers { shape: vec![data.len()], data: Data::Count(data) };
    let real = |data: Vec<f64>| Numbers { shape: vec![data.len()], data: Data::Real(data) };
    let good = unpacked(&count(vec![1, 3, 0b101]), &real(vec![1.0, 2.0])).expect("they agree");
    assert_eq!(good, real(vec![1.0, 0.0, 2.0]));
    for (places, values) in [
        (vec![], vec![]),
        (vec![2, 3], vec![]),
        (vec![1, 3], vec![]),
        (vec![1, 3, 0b1001], vec![1.0, 2.0]),
        (vec![1, 3, 0b101], vec![1.0]),
        (vec![1, 3, 0b101, 0], vec![1.0, 2.0]),
        (vec![2, u64::MAX, u64::MAX, 0], vec![]),
        (vec![1, u64::MAX, 0], vec![]),
        (vec![u64::MAX, 1], vec![]),
    ] {
        assert_eq!(unpacked(&count(places.clone()), &real(values)), None, "{places:?}");
    }
}

/// Numbers of single precision take half the bytes, and are restored bit for bit.
#[test]
fn single_precision_is_written_in_half() {
    let mut archive = archive("ogd");
    let exact: Vec<f64> = (0..1000).map(|t| f64::from(t) * 0.1).collect();
    archive.set_tensor("other/exact", Numbers { shape: vec![1000], data: Data::Real(exact.clone()) });
    let before = archive.to_bytes().len();
    assert!(archive.round("other/exact") && !archive.round("none") && !archive.round("learner/rounds"));
    let bytes = archive.to_bytes();
    assert!((3900..4100).contains(&(before - bytes.len())), "{before} {}", bytes.len());
    let again = Archive::from_bytes(&bytes).expect("whole");
    assert_eq!(again, archive);
    let Data::Real(data) = &again.tensor("other/exact").expect("there").data else { panic!("real") };
    assert!(again.tensor("other/exact").unwrap().data.is_single() && data[1] == f64::from(0.1_f32));
    assert!(exact.iter().zip(data).all(|(a, b)| (a - b).abs() <= 1e-7 * a.abs()));
    let large = Numbers { shape: vec![64], data: Data::Real(vec![1e300; 64]) };
    archive.set_tensor("other/large", large);
    assert!(!archive.round("other/large"));
}
