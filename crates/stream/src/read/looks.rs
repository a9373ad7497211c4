//! How texts look: what is equal here can hardly be told apart by a reader.

/// Signs that are not shown.
const NOT_SHOWN: [char; 6] = ['\u{200b}', '\u{200c}', '\u{200d}', '\u{2060}', '\u{feff}', '\u{ad}'];

/// Marks with the letters that have them, and these without them: programs write one sign, or a letter and a
/// mark.
const MARKS: [(char, &str, &str); 8] = [
    ('\u{300}', "àèìòùǹ", "aeioun"),
    ('\u{301}', "áéíóúýćńśźĺŕ", "aeiouycnszlr"),
    ('\u{302}', "âêîôûĉĝĥĵŝŵŷ", "aeioucghjswy"),
    ('\u{303}', "ãñõĩũ", "anoiu"),
    ('\u{308}', "äëïöüÿ", "aeiouy"),
    ('\u{30a}', "åů", "au"),
    ('\u{30c}', "čďěňřšťž", "cdenrstz"),
    ('\u{327}', "çģķļņŗşţ", "cgklnrst"),
];

/// The text in lower case, without signs that are not shown, with marks apart from their letters; a whole
/// number without a plus and without decimals that are zeros.
pub(crate) fn looks(text: &str) -> String {
    let shown = text.chars().filter(|sign| !NOT_SHOWN.contains(sign)).flat_map(char::to_lowercase);
    let apart = shown.flat_map(|sign| {
        let (letter, mark) = letter_and_mark(sign);
        std::iter::once(letter).chain(mark)
    });
    let text: String = apart.collect();
    match whole(&text) {
        Some(whole) => whole.to_owned(),
        None => text,
    }
}

fn letter_and_mark(sign: char) -> (char, Option<char>) {
    let with = |(mark, with, letters): &(char, &str, &str)| {
        let at = with.chars().position(|one| one == sign)?;
        Some((letters.chars().nth(at)?, Some(*mark)))
    };
    let found = if sign.is_ascii() { None } else { MARKS.iter().find_map(with) };
    found.unwrap_or((sign, None))
}

/// A whole number without its plus and its decimals.
fn whole(text: &str) -> Option<&str> {
    let unsigned = text.strip_prefix('+').unwrap_or(text);
    let (whole, decimals) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    let digits = whole.strip_prefix('-').unwrap_or(whole);
    let is_whole = !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit());
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
            ("1", "1.0"),
            ("+1", "1"),
            ("-2.", "-2"),
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
        ] {
            assert_ne!(looks(one), looks(other), "{one} {other}");
        }
        let letters = MARKS.iter().map(|(_, with, letters)| (with.chars().count(), letters.chars().count()));
        assert!(letters.clone().all(|(with, letters)| with == letters), "{:?}", letters.collect::<Vec<_>>());
    }
}
