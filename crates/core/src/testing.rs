//! Reference traces for tests: small ones are part of the project, the rest lies beside it.

use serde_json::Value;

/// `testdata/vectors/<name>.json`, a reference that is part of the project.
pub(crate) fn vector(name: &str) -> Value {
    let path = format!("{}/../../testdata/vectors/{name}.json", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// `vectors/<name>.json` of the shared references (`NOREGRET_SHARED`, or `shared` beside the repository).
///
/// `None` where they are absent, said on stderr: the test that asked is then skipped.
pub(crate) fn shared_vector(name: &str) -> Option<Value> {
    let root = std::env::var("NOREGRET_SHARED")
        .unwrap_or_else(|_| format!("{}/../../../shared", env!("CARGO_MANIFEST_DIR")));
    let path = format!("{root}/vectors/{name}.json");
    match std::fs::read_to_string(&path) {
        Ok(text) => Some(serde_json::from_str(&text).unwrap_or_else(|error| panic!("{path}: {error}"))),
        Err(error) => {
            eprintln!("skipped: {path}: {error}");
            None
        }
    }
}

/// A JSON number.
pub(crate) fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

/// A JSON number that counts something.
pub(crate) fn count(value: &Value) -> usize {
    value.as_u64().unwrap_or_else(|| panic!("{value} is no count")) as usize
}

/// The items of a JSON array.
pub(crate) fn items(value: &Value) -> &[Value] {
    value.as_array().unwrap_or_else(|| panic!("{value} is no array"))
}

/// The numbers of a JSON array, nested arrays flattened in order.
pub(crate) fn numbers(value: &Value) -> Vec<f64> {
    match value {
        Value::Array(items) => items.iter().flat_map(numbers).collect(),
        other => vec![number(other)],
    }
}

/// Panics unless `got` is within `tolerance`, absolute plus relative, of `want`.
pub(crate) fn assert_close(got: f64, want: f64, tolerance: f64, what: &str) {
    assert!((got - want).abs() <= tolerance * (1.0 + want.abs()), "{what}: got {got}, want {want}");
}
