//! A label as it is given: a text, and its type where the data state one.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Number, Value};

use crate::fault::{Fault, fault};

/// The type with which a label was given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum LabelType {
    /// The data do not say: a cell of CSV, a value of ARFF.
    #[default]
    Unstated,
    /// A string, such as `"01"` in JSON.
    Text,
    /// A whole number.
    Whole,
    /// Any other number, or a whole one of a real type, such as `1.0` in Python.
    Real,
    /// A truth value: `true` or `false`.
    Truth,
    /// A day or a time, in ISO 8601.
    Time,
    /// A label of LIBSVM or VW text, which do not say, either; but where it is a number, another writing of
    /// it is the same label.
    Figure,
}

impl LabelType {
    /// All types, in the order of their numbers.
    pub(crate) const ALL: [Self; 7] =
        [Self::Unstated, Self::Text, Self::Whole, Self::Real, Self::Truth, Self::Time, Self::Figure];

    /// Whether equal numbers are equal labels, however they are written.
    pub fn is_number(self) -> bool {
        matches!(self, Self::Whole | Self::Real | Self::Figure)
    }

    /// What a sentence calls a label of this type; nothing where the data do not say.
    pub(crate) fn noun(self) -> Option<&'static str> {
        match self {
            Self::Unstated | Self::Figure => None,
            Self::Text => Some("a text"),
            Self::Whole | Self::Real => Some("a number"),
            Self::Truth => Some("a truth value"),
            Self::Time => Some("a time"),
        }
    }
}

/// A label as it was given: its text and its type. In JSON it is a string, a number or a truth value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct GivenLabel {
    /// The text, by which its class is known.
    pub text: String,
    /// The type.
    pub of: LabelType,
}

impl GivenLabel {
    /// A label given in JSON.
    ///
    /// # Errors
    /// For an array, an object or null, and for a number beyond 64 bits.
    pub fn read(value: &Value) -> Result<Self, Fault> {
        let (text, of) = match value {
            Value::String(text) => (text.clone(), LabelType::Text),
            Value::Bool(value) => (value.to_string(), LabelType::Truth),
            Value::Number(number) => return Self::of_number(number),
            Value::Null | Value::Array(_) | Value::Object(_) => {
                return Err(fault!("the label is {value}; a text, a number or a truth value was needed"));
            }
        };
        Ok(Self { text, of })
    }

    /// A label that is a number of JSON.
    /// Fails for a number beyond 64 bits.
    pub(crate) fn of_number(number: &Number) -> Result<Self, Fault> {
        match number.as_f64().filter(|_| number.is_f64()) {
            Some(value) => Ok(Self { text: of_real(value)?, of: LabelType::Real }),
            None => Ok(Self { text: number.to_string(), of: LabelType::Whole }),
        }
    }

    /// The label in JSON.
    pub fn json(&self) -> Value {
        json(&self.text, self.of)
    }
}

/// A label in JSON, with the type that it was given; a string where the data stated none.
pub(crate) fn json(text: &str, of: LabelType) -> Value {
    let value = match of {
        LabelType::Whole => {
            text.parse::<i64>().map(Number::from).or_else(|_| text.parse::<u64>().map(Number::from)).ok()
        }
        LabelType::Real => value(text).and_then(Number::from_f64),
        LabelType::Truth if text.eq_ignore_ascii_case("true") => return Value::Bool(true),
        LabelType::Truth if text.eq_ignore_ascii_case("false") => return Value::Bool(false),
        LabelType::Truth | LabelType::Unstated | LabelType::Text | LabelType::Time | LabelType::Figure => {
            None
        }
    };
    value.map_or_else(|| text.into(), Value::Number)
}

impl Serialize for GivenLabel {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.json().serialize(to)
    }
}

impl<'de> Deserialize<'de> for GivenLabel {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(from)?;
        Self::read(&value).map_err(serde::de::Error::custom)
    }
}

/// The label of a number of JSON that is no whole number of 64 bits.
/// Fails if it is beyond 64 bits: whole numbers there differ in digits that JSON's readers round away.
pub(crate) fn of_real(value: f64) -> Result<String, Fault> {
    const BEYOND: f64 = 18_446_744_073_709_551_616.0;
    if (-BEYOND / 2.0 < value) && (value < BEYOND) {
        return Ok(written(value));
    }
    Err(fault!(
        "the label is the number {value:e}, beyond 64 bits, of which only the first digits are read: write such labels as texts, in \
         quotation marks"
    ))
}

/// Whether a text is a whole number beyond 64 bits, which JSON has as a text.
pub(crate) fn is_beyond(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let whole = digits.len() > 18 && digits.bytes().all(|byte| byte.is_ascii_digit());
    whole && text.parse::<u64>().is_err() && text.parse::<i64>().is_err()
}

/// True or false as a text, in upper or lower case.
pub(crate) fn truth(text: &str) -> Option<bool> {
    [("true", true), ("false", false)]
        .into_iter()
        .find(|(word, _)| text.eq_ignore_ascii_case(word))
        .map(|(_, truth)| truth)
}

/// The value of a text that is a finite number.
pub(crate) fn value(text: &str) -> Option<f64> {
    fast_float2::parse::<f64, _>(text).ok().filter(|value| value.is_finite())
}

/// Whether a text is a number, but not a finite one.
pub(crate) fn is_infinite(text: &str) -> bool {
    fast_float2::parse::<f64, _>(text).is_ok_and(f64::is_infinite)
}

/// Whether a text is a whole number in its usual form, or with decimals that are zeros: `-1`, `1`, `1.0`; not
/// `-0`.
pub(crate) fn is_whole(text: &str) -> bool {
    let (digits, zeros) = text.split_once('.').unwrap_or((text, "0"));
    if digits == "-0" {
        return false;
    }
    let digits = digits.strip_prefix('-').unwrap_or(digits);
    let usual = matches!(digits.as_bytes(), [b'0'] | [b'1'..=b'9', ..])
        && digits.bytes().all(|byte| byte.is_ascii_digit());
    // Larger numbers may be equal as floats although they differ.
    usual && digits.len() < 16 && !zeros.is_empty() && zeros.bytes().all(|byte| byte == b'0')
}

/// The label of a number by its type, so that `1.0` and `1` are one class: a number of magnitude below 2^53
/// in the shortest way that reads back, and other text unchanged. `None` for an infinite number.
pub fn of_number(text: &str) -> Option<Cow<'_, str>> {
    let bytes = text.as_bytes();
    let digits = matches!(bytes, [b'1'..=b'9', ..] | [b'0']) && bytes.iter().all(u8::is_ascii_digit);
    if digits {
        return Some(Cow::Borrowed(text));
    }
    match fast_float2::parse::<f64, _>(bytes) {
        Ok(number) if number.is_infinite() => None,
        // Larger numbers are kept as text, because different ones may be the same float.
        Ok(number) if number.abs() < 9_007_199_254_740_992.0 => Some(Cow::Owned(written(number))),
        _ => Some(Cow::Borrowed(text)),
    }
}

/// A finite number in the shortest way that reads back: `1` for 1.0, `0` for -0.
pub fn written(number: f64) -> String {
    let number = if number == 0.0 { 0.0 } else { number };
    number.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_has_one_spelling() {
        let cases = [
            ("1", "1"),
            ("+1", "1"),
            ("1.0", "1"),
            ("01", "1"),
            ("1e0", "1"),
            ("-1", "-1"),
            ("-0", "0"),
            ("0", "0"),
            ("2.50", "2.5"),
            ("1e-9", "0.000000001"),
            ("12345678901234567890", "12345678901234567890"),
            ("9007199254740993.0", "9007199254740993.0"),
            ("setosa", "setosa"),
            ("1a", "1a"),
            ("été", "été"),
            ("Nan", "Nan"),
        ];
        for (text, expected) in cases {
            assert_eq!(of_number(text).as_deref(), Some(expected), "{text}");
        }
        for text in ["inf", "-inf", "Infinity"] {
            assert_eq!(of_number(text), None, "{text}");
        }
    }

    #[test]
    fn a_label_comes_back_in_json_as_it_was_given() {
        for text in [
            "1",
            "-7",
            "18446744073709551615",
            "1.0",
            "0.5",
            "1e-9",
            "true",
            "false",
            r#""1""#,
            r#""x""#,
            r#""true""#,
        ] {
            let value: Value = serde_json::from_str(text).expect("JSON");
            assert_eq!(GivenLabel::read(&value).map(|label| label.json()), Ok(value), "{text}");
        }
        let of = |text, of| json(text, of).to_string();
        assert_eq!(of("1", LabelType::Unstated), r#""1""#);
        assert_eq!(of("True", LabelType::Truth), "true");
        assert_eq!(
            of("340282366920938463463374607431768211456", LabelType::Whole),
            r#""340282366920938463463374607431768211456""#
        );
        assert!(GivenLabel::read(&Value::Null).is_err());
    }

    /// JSON's readers round them, so that different labels would be one.
    #[test]
    fn numbers_beyond_64_bits_are_no_labels() {
        for text in ["18446744073709551616", "-9223372036854775809", "1e30", "-1e300"] {
            let value: Value = serde_json::from_str(text).expect("JSON");
            let why = GivenLabel::read(&value).expect_err(text).to_string();
            assert!(why.ends_with("write such labels as texts, in quotation marks"), "{why}");
        }
        for text in ["18446744073709551615", "-9223372036854775808", "1e19", "9007199254740993.0", "-0.0"] {
            let value: Value = serde_json::from_str(text).expect("JSON");
            assert!(GivenLabel::read(&value).is_ok(), "{text}");
        }
        let beyond =
            ["18446744073709551616", "-9223372036854775809", "340282366920938463463374607431768211456"];
        assert!(beyond.into_iter().all(is_beyond));
        assert!(
            !["18446744073709551615", "-9223372036854775808", "1e30", "x", "", "-"]
                .into_iter()
                .any(is_beyond)
        );
    }

    #[test]
    fn whole_numbers_are_told_from_codes() {
        for text in ["0", "1", "-1", "10", "1.0", "-3.00", "999999999999999"] {
            assert!(is_whole(text), "{text}");
        }
        for text in [
            "01",
            "+1",
            "1.",
            ".0",
            "1.1",
            "1e3",
            "3E5",
            "",
            "-",
            "x",
            "1.0.0",
            "1234567890123456",
            "-0",
            "-0.0",
        ] {
            assert!(!is_whole(text), "{text}");
        }
    }
}
