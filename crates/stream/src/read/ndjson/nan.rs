//! NaN in JSON, as Python writes a missing number.

/// The text with `null` in place of every `NaN` outside strings; `None` if there is none.
pub fn without_nan(text: &str) -> Option<String> {
    const NAN: &str = "NaN";
    let (mut plain, mut rest) = (String::new(), text);
    let mut inside = false;
    let mut at = 0;
    let bytes = |rest: &str, at: usize| rest.as_bytes().get(at).copied();
    while let Some(byte) = bytes(rest, at) {
        match byte {
            b'\\' if inside => at += 1,
            b'"' => inside = !inside,
            b'N' if !inside && rest[at..].starts_with(NAN) => {
                plain.push_str(&rest[..at]);
                plain.push_str("null");
                rest = &rest[at + NAN.len()..];
                at = 0;
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    (rest.len() < text.len()).then(|| plain + rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nan_is_null_outside_strings() {
        let text = r#"{"a": NaN, "NaN": "a \" NaN", "b": [NaN,1]}"#;
        let plain = r#"{"a": null, "NaN": "a \" NaN", "b": [null,1]}"#;
        assert_eq!(without_nan(text).as_deref(), Some(plain));
        assert_eq!(without_nan(plain), None);
        assert_eq!(without_nan("é\"\\"), None);
    }
}
