//! Durations, as seconds: as pandas and Python write them, in ISO 8601, and as a clock shows them.

/// Seconds of a day.
const DAY: f64 = 86_400.0;

/// The seconds of `1 days 02:03:04.5`, `1 day, 2:03:04`, `-1 day, 23:59:59`, `P1DT2H3M4.5S` or `26:03:04`;
/// `None` for all else, plain numbers among it. Years and months of ISO 8601 have no fixed length.
pub(crate) fn seconds(cell: &[u8]) -> Option<f64> {
    let text = std::str::from_utf8(cell).ok()?.trim();
    let (sign, rest) = text.strip_prefix('-').map_or((1.0, text), |rest| (-1.0, rest));
    if let Some(iso) = rest.strip_prefix('P') {
        return Some(sign * of_iso(iso)?);
    }
    let Some(at) = rest.find("day") else { return Some(sign * clock(rest)?) };
    let days = sign * number(rest[..at].trim_end())? * DAY;
    let behind = rest[at + 3..].strip_prefix('s').unwrap_or(&rest[at + 3..]);
    let behind = behind.trim_start_matches([',', ' ', '+']);
    if behind.is_empty() { Some(days) } else { Some(days + clock(behind)?) }
}

/// The number of seconds that has this many whole ones and nanoseconds, as [`seconds`] has it from a text.
#[cfg(feature = "parquet")]
pub(crate) fn of_seconds(whole: i64, nanos: u32) -> f64 {
    let (days, of_day) = (whole.div_euclid(86_400), whole.rem_euclid(86_400));
    // Both numbers are exact, so that the quotient is what a decimal fraction is read as.
    let seconds = (of_day % 60 * 1_000_000_000 + i64::from(nanos)) as f64 / 1e9;
    days as f64 * DAY + (3600.0 * (of_day / 3600) as f64 + 60.0 * (of_day / 60 % 60) as f64 + seconds)
}

/// Whether a cell is what a clock shows: digits and colons, and no words.
pub(crate) fn is_clock(cell: &[u8]) -> bool {
    !cell.iter().any(u8::is_ascii_alphabetic)
}

/// Hours and minutes, maybe seconds. Minutes and seconds have two digits, unlike the points of 3:2 and 21:8.
fn clock(text: &str) -> Option<f64> {
    let mut parts = text.split(':');
    let two = |part: &&str| part.split('.').next().is_some_and(|digits| digits.len() == 2);
    let (hours, minutes) = (whole(parts.next()?)?, whole(parts.next().filter(two)?)?);
    let seconds = parts.next().map_or(Some(0.0), |part| number(Some(part).filter(two)?))?;
    let fits = minutes < 60.0 && seconds < 60.0 && parts.next().is_none();
    fits.then_some(3600.0 * hours + 60.0 * minutes + seconds)
}

/// What follows the P: numbers with their designators; those of the time of day follow a T.
fn of_iso(text: &str) -> Option<f64> {
    let (mut rest, mut of_day, mut sum, mut some) = (text, false, 0.0, false);
    while !rest.is_empty() {
        if let Some(behind) = rest.strip_prefix('T').filter(|_| !of_day) {
            (rest, of_day) = (behind, true);
            continue;
        }
        let at = rest.find(|sign: char| !sign.is_ascii_digit() && sign != '.')?;
        let unit = match (of_day, rest.as_bytes()[at]) {
            (false, b'W') => 7.0 * DAY,
            (false, b'D') => DAY,
            (true, b'H') => 3600.0,
            (true, b'M') => 60.0,
            (true, b'S') => 1.0,
            _ => return None,
        };
        sum += unit * number(&rest[..at])?;
        (rest, some) = (&rest[at + 1..], true);
    }
    some.then_some(sum)
}

fn whole(text: &str) -> Option<f64> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| number(text)).flatten()
}

fn number(text: &str) -> Option<f64> {
    let digits = |byte: u8| byte.is_ascii_digit() || byte == b'.';
    text.bytes().all(digits).then(|| text.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_seconds() {
        for (text, expected) in [
            ("0 days 19:49:03", Some(71_343.0)),
            ("1 days 02:03:04.500000", Some(93_784.5)),
            ("-1 days +23:59:57", Some(-3.0)),
            ("1 day, 2:03:04", Some(93_784.0)),
            ("-2 days", Some(-172_800.0)),
            ("PT19H49M3S", Some(71_343.0)),
            ("PT71343.5S", Some(71_343.5)),
            ("P1DT2H", Some(93_600.0)),
            ("-P2W", Some(-1_209_600.0)),
            ("26:03:04", Some(93_784.0)),
            ("-0:30", Some(-1800.0)),
            ("P1Y", None),
            ("P1M", None),
            ("P", None),
            ("PT", None),
            ("P1", None),
            ("P1H", None),
            ("1:60:00", None),
            ("3:2", None),
            ("21:8", None),
            ("1:02:3", None),
            ("1:02:03.25", Some(3723.25)),
            ("1:2:3:4", None),
            ("12", None),
            ("Sunday", None),
            ("days", None),
            ("", None),
        ] {
            assert_eq!(seconds(text.as_bytes()), expected, "{text}");
        }
        #[cfg(feature = "parquet")]
        for (whole, nanos, text) in [
            (71_343, 0, "0 days 19:49:03"),
            (93_784, 500_000_000, "1 days 02:03:04.5"),
            (-3, 250_000_000, "-1 days +23:59:57.25"),
            (36_667, 120_000_000, "10:11:07.12"),
        ] {
            assert_eq!(Some(of_seconds(whole, nanos)), seconds(text.as_bytes()), "{text}");
        }
        assert!(is_clock(b"-26:03") && !is_clock(b"PT3S") && !is_clock(b"1 day"));
    }
}
