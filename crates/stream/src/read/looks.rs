//! How texts look: what is equal here can hardly be told apart by a reader.

use unicode_normalization::UnicodeNormalization;

/// Signs that are not shown.
const NOT_SHOWN: [char; 6] = ['\u{200b}', '\u{200c}', '\u{200d}', '\u{2060}', '\u{feff}', '\u{ad}'];

/// The text in lower case, without signs that are not shown, quotation marks around it and a full stop behind
/// it, with marks apart from their letters; a whole number without a plus and without decimals that are
/// zeros.
pub(crate) fn looks(text: &str) -> String {
    let shown = text.chars().filter(|sign| !NOT_SHOWN.contains(sign)).flat_map(char::to_lowercase);
    let text: String = shown.nfd().collect();
    let bare = bare(&text);
    whole(bare).unwrap_or(bare).to_owned()
}

/// A text without quotation marks around it, and without a full stop behind it.
fn bare(text: &str) -> &str {
    let inside = |mark: char| text.strip_prefix(mark)?.strip_suffix(mark);
    let inside = inside('"').or_else(|| inside('\'')).filter(|inside| !inside.is_empty()).unwrap_or(text);
    let stopped = inside.strip_suffix('.').filter(|stopped| stopped.ends_with(char::is_alphanumeric));
    stopped.unwrap_or(inside)
}

/// A whole number without its plus and its decimals, and 0 without its minus.
fn whole(text: &str) -> Option<&str> {
    let unsigned = text.strip_prefix('+').unwrap_or(text);
    let (whole, decimals) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    let digits = whole.strip_prefix('-').unwrap_or(whole);
    let is_whole = !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit());
    // -0 is 0.
    let whole = if digits.bytes().all(|digit| digit == b'0') { digits } else { whole };
    (is_whole && decimals.bytes().all(|digit| digit == b'0')).then_some(whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_that_look_alike() {
        for (one, other) in [
            ("Yes", "yes"),
            ("x", "x\u{200b}"),
            ("Caf\u{e9}", "cafe\u{301}"),
            ("\u{c7}a", "C\u{327}a"),
            ("\u{1eaf}", "a\u{306}\u{301}"),
            ("1", "1.0"),
            ("+1", "1"),
            ("-2.", "-2"),
            ("-0", "0.0"),
            (">50K.", ">50k"),
            ("'no'", "no"),
            ("\"no.\"", "No"),
        ] {
            assert_eq!(looks(one), looks(other), "{one} {other}");
        }
        for (one, other) in [
            ("1.1", "1.10"),
            ("01", "1"),
            ("caf\u{e9}", "cafe"),
            ("\u{e9}", "\u{ea}"),
            ("1.0.0", "1"),
            ("+", ""),
            ("a.0", "a"),
            ("..", "."),
            ("'", "''"),
            ("it's", "its"),
        ] {
            assert_ne!(looks(one), looks(other), "{one} {other}");
        }
    }
}
