//! Times where no column says that its texts are times: in the features of a request or of a round.

use super::time::time_features;

/// The features of a feature `name` whose text is a day with all its digits and hyphens, 2026-11-27, with a
/// time of day or without: those of a cell of a column of times. `None` for any other text: months, and days
/// with dots or slashes, may be codes.
pub fn moment_features(name: &str, text: &str) -> Option<Vec<(String, f64)>> {
    let of_day =
        |(at, sign): (usize, &u8)| if matches!(at, 4 | 7) { *sign == b'-' } else { sign.is_ascii_digit() };
    let is_day = text.as_bytes().get(..10).is_some_and(|day| day.iter().enumerate().all(of_day));
    if is_day { time_features(name, text) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_that_are_moments() {
        for text in [
            "2026-11-22T12:00:00Z",
            "2026-11-22",
            "2026-11-22 12:00:00.123 CET",
            "2026-11-22T12:00:00.0000000+01:00",
        ] {
            let found = moment_features("at", text);
            assert!(found.is_some() && found == time_features("at", text), "{text}");
        }
        for text in [
            "",
            "2026-11",
            "2026/11/22",
            "2026.11.22",
            "22 Nov 2026",
            "2026-11-31",
            "2026-11-22b",
            "2026-1-2",
            "\u{e9}26-11-22",
        ] {
            assert_eq!(moment_features("at", text), None, "{text}");
        }
    }
}
