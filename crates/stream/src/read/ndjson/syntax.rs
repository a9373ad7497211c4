//! What is wrong with a line that is no object of JSON.

use crate::read::error::json_fault;

/// The way out for an object over several lines.
const CUT: &str = "; one object a line was needed, as jq -c . writes them, and jq -c '.data[]' those of \
                   a list under the key data";

/// Why `line` is no object of JSON, with the way out.
#[cold]
pub(super) fn syntax(line: &str, error: &serde_json::Error) -> String {
    let rest = line.get(error.column().saturating_sub(1)..).unwrap_or_default();
    if rest.starts_with("Infinity") || rest.starts_with("nfinity") {
        return format!(
            "has the number Infinity at character {}; finite numbers were needed",
            error.column()
        );
    }
    if rest.starts_with('\'') {
        return format!(
            "is not a JSON object: it has a single quotation mark at character {}, where JSON has a double one, as Python's json.dumps \
             writes it",
            error.column()
        );
    }
    let of_python = |word: &&&str| rest.starts_with(**word) || rest.starts_with(&word[1..]);
    if let Some(word) = ["True", "False", "None"].iter().find(of_python) {
        return format!(
            "is not a JSON object: it has Python's {word} at character {}, where JSON has true, false or null, as json.dumps writes them",
            error.column()
        );
    }
    let fault = json_fault(error);
    if fault.starts_with("invalid type: sequence") {
        return r#"is a list; an object was needed, as in {"x": [1, 2], "label": "a"}"#.to_owned();
    }
    let cut = error.is_eof() && line.trim_ascii_end().ends_with(['{', '[', ',']);
    let way_out = match rest.chars().next().filter(|_| fault.starts_with("trailing")) {
        Some(',') => "; no comma was needed behind it",
        Some('{') => "; one object a line was needed, as jq -c . writes them",
        _ if cut => CUT,
        _ if is_behind_text(line) => {
            "; what stands before the object, such as a key of Kafka or a time, is no part of it: sed 's/^[^{]*//' leaves it out"
        }
        _ => "",
    };
    format!("is not a JSON object: {fault}{way_out}")
}

/// Whether an object stands behind other text.
fn is_behind_text(line: &str) -> bool {
    line.split_once('{').is_some_and(|(before, _)| {
        before.ends_with(|sign: char| sign.is_ascii_whitespace()) && !before.trim_ascii().is_empty()
    })
}
