//! Durations, as seconds: as pandas and Python write them, in ISO 8601, and as clocks and stopwatches show
//! them.

/// Seconds of a day.
const DAY: f64 = 86_400.0;

/// The seconds of `1 days 02:03:04.5`, `1 day, 2:03:04`, `-1 day, 23:59:59`, `P1DT2H3M4.5S`, `26:03:04` or
/// `4:48 PM`; `None` for all else, plain numbers among it. Years and months of ISO 8601 have no fixed length.
/// With two parts, a clock shows hours and minutes, unless `minutes` says that it shows minutes and seconds.
pub(crate) fn seconds(cell: &[u8], minutes: bool) -> Option<f64> {
    let text = std::str::from_utf8(cell).ok()?.trim();
    let (sign, rest) = text.strip_prefix('-').map_or((1.0, text), |rest| (-1.0, rest));
    if let Some(iso) = rest.strip_prefix('P') {
        return Some(sign * of_iso(iso)?);
    }
    let Some(at) = rest.find("day") else { return Some(sign * clock(rest, minutes)?) };
    let days = sign * number(rest[..at].trim_end())? * DAY;
    let behind = rest[at + 3..].strip_prefix('s').unwrap_or(&rest[at + 3..]);
    let behind = behind.trim_start_matches([',', ' ', '+']);
    if behind.is_empty() { Some(days) } else { Some(days + clock(behind, minutes)?) }
}

/// Whether clocks with two parts show minutes and seconds: one has a fraction, as 4:33.2, or, beside others
/// with hours, more of the first part than a day has hours, as 59:58 beside 1:00:03.
pub(crate) fn in_minutes<'a>(cells: impl Iterator<Item = &'a str>) -> bool {
    let (mut long, mut hours) = (false, false);
    for cell in cells {
        let Some((first, rest)) = cell.split_once(':').filter(|_| clock(cell, true).is_some()) else {
            continue;
        };
        match (rest.contains(':'), rest.contains('.')) {
            (true, _) => hours = true,
            (false, true) => return true,
            (false, false) => long |= whole(first).is_some_and(|first| first > 23.0),
        }
    }
    long && hours
}

/// The number of seconds that has this many whole ones and nanoseconds, as [`seconds`] has it from a text.
#[cfg(feature = "parquet")]
pub(crate) fn of_seconds(whole: i64, nanos: u32) -> f64 {
    let (days, of_day) = (whole.div_euclid(86_400), whole.rem_euclid(86_400));
    // Both numbers are exact, so that the quotient is what a decimal fraction is read as.
    let seconds = (of_day % 60 * 1_000_000_000 + i64::from(nanos)) as f64 / 1e9;
    days as f64 * DAY + (3600.0 * (of_day / 3600) as f64 + 60.0 * (of_day / 60 % 60) as f64 + seconds)
}

/// Whether a cell is what a clock shows: digits and colons, and no words besides AM and PM.
pub(crate) fn is_clock(cell: &[u8]) -> bool {
    let (text, _) = half_of(std::str::from_utf8(cell).unwrap_or_default());
    !text.contains(|sign: char| sign.is_ascii_alphabetic())
}

/// What is before AM or PM, and which of them it is, if it is there: whether it is PM.
fn half_of(text: &str) -> (&str, Option<bool>) {
    let at = text.len().saturating_sub(2);
    let Some(half) = text.get(at..) else { return (text, None) };
    let pm = half.eq_ignore_ascii_case("pm");
    let some = pm || half.eq_ignore_ascii_case("am");
    if some { (text[..at].trim_end(), Some(pm)) } else { (text, None) }
}

/// Hours and minutes, maybe seconds; or, with two parts, `minutes` and seconds. Minutes and seconds have two
/// digits, unlike the points of 3:2 and 21:8, unless they have a fraction.
fn clock(text: &str, minutes: bool) -> Option<f64> {
    let (text, half) = half_of(text);
    let minutes = minutes && half.is_none();
    let parts: Vec<&str> = text.split(':').collect();
    let two = |part: &str| part.split('.').next().is_some_and(|digits| digits.len() == 2);
    let (hours, of_hour, seconds) = match parts[..] {
        [hours] if half.is_some() => (hours, "0", "0"),
        [first, second] if minutes && (two(second) || second.contains('.')) => ("0", first, second),
        [hours, of_hour] if !minutes && two(of_hour) => (hours, of_hour, "0"),
        [hours, of_hour, seconds] if two(of_hour) && two(seconds) => (hours, of_hour, seconds),
        _ => return None,
    };
    let (mut hours, of_hour, seconds) = (whole(hours)?, whole(of_hour)?, number(seconds)?);
    if let Some(pm) = half {
        let of_half = (1.0..=12.0).contains(&hours).then_some(hours % 12.0)?;
        hours = if pm { of_half + 12.0 } else { of_half };
    }
    // A race of 75:30 has no hours.
    let fits = seconds < 60.0 && (of_hour < 60.0 || (minutes && parts.len() == 2));
    fits.then_some(3600.0 * hours + 60.0 * of_hour + seconds)
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
            ("4:48 PM", Some(60_480.0)),
            ("12:05:30 am", Some(330.0)),
            ("12pm", Some(43_200.0)),
            ("13:00 PM", None),
            ("4:48 XM", None),
            ("pm", None),
            ("12", None),
            ("Sunday", None),
            ("days", None),
            ("", None),
        ] {
            assert_eq!(seconds(text.as_bytes(), false), expected, "{text}");
        }
        #[cfg(feature = "parquet")]
        for (whole, nanos, text) in [
            (71_343, 0, "0 days 19:49:03"),
            (93_784, 500_000_000, "1 days 02:03:04.5"),
            (-3, 250_000_000, "-1 days +23:59:57.25"),
            (36_667, 120_000_000, "10:11:07.12"),
        ] {
            assert_eq!(Some(of_seconds(whole, nanos)), seconds(text.as_bytes(), false), "{text}");
        }
        assert!(is_clock(b"-26:03") && is_clock(b"4:48 PM") && !is_clock(b"PT3S") && !is_clock(b"1 day"));
    }

    #[test]
    fn stopwatches_show_minutes_and_seconds() {
        for (text, expected) in [
            ("4:33.2", Some(273.2)),
            ("4:6.25", Some(246.25)),
            ("00:34.9", Some(34.9)),
            ("59:58", Some(3598.0)),
            ("75:30", Some(4530.0)),
            ("1:00:03", Some(3603.0)),
            ("-0:30", Some(-30.0)),
            ("3:2", None),
            ("9:60", None),
            ("1:75:30", None),
            ("DNF", None),
            ("34.9", None),
        ] {
            assert_eq!(seconds(text.as_bytes(), true), expected, "{text}");
        }
        for (cells, expected) in [
            ("9:47 00:34.9", true),
            ("59:58 1:00:03", true),
            ("9:47 10:31", false),
            ("38:30 40:00", false),
            ("13:30 13:30:15", false),
            ("3:2 21:8.5x", false),
        ] {
            assert_eq!(in_minutes(cells.split(' ')), expected, "{cells}");
        }
    }
}
