//! Times and durations in ISO 8601.

use std::ops::RangeInclusive;

use jiff_core::civil::{Date, UnixEpochDay};

use crate::refusal::{Refusal, shown};

const MILLIS_OF_DAY: i64 = 86_400_000;

/// Formats `millis`, in milliseconds since 1970, as `2026-11-22T07:30:00.125Z`; times beyond the year 9999,
/// which offsets may lead to, on its last day.
pub(super) fn moment(millis: i64) -> String {
    let (days, rest) = (millis.div_euclid(MILLIS_OF_DAY), millis.rem_euclid(MILLIS_OF_DAY));
    let day = i32::try_from(days).ok().and_then(|days| UnixEpochDay::new(days).ok());
    let date = day.unwrap_or(if days < 0 { UnixEpochDay::MIN } else { UnixEpochDay::MAX }).to_date();
    let (year, month, day) = (date.year(), date.month(), date.day());
    let (seconds, millis) = (rest / 1000, rest % 1000);
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{millis:03}Z")
}

/// The times from `start` to `end`, which the fields `startTime` and `endTime` of a request give.
/// Fails if one of them is no time, or the end is before the start.
pub(super) fn times(start: &str, end: &str) -> Result<RangeInclusive<i64>, Refusal> {
    let (from, to) = (time("startTime", start)?, time("endTime", end)?);
    if to < from {
        let (end, start) = (shown(end), shown(start));
        let what = format!("endTime is {end}, before startTime, {start}; a later time was needed");
        return Err(Refusal::invalid("endTime", what));
    }
    Ok(from..=to)
}

/// The time in the field `field` of a request.
/// Fails if it is none.
fn time(field: &str, text: &str) -> Result<i64, Refusal> {
    moment_of(text).ok_or_else(|| {
        let what = format!("{field} is {}; a time as 2026-01-31T12:00:00Z was needed", shown(text));
        Refusal::invalid(field, what)
    })
}

/// Parses a time such as `2026-11-22T07:30:00Z`, with or without fractions of a second, or with an
/// offset such as `+01:00`, as milliseconds since 1970.
fn moment_of(text: &str) -> Option<i64> {
    let (date, time) = text.split_once(['T', ' ']).unwrap_or((text, "00:00:00Z"));
    let numbers = |part: &str, by: char, count: usize| -> Option<Vec<i64>> {
        let parts: Vec<i64> = part.split(by).map(|part| part.parse().ok()).collect::<Option<_>>()?;
        (parts.len() == count && parts.iter().all(|part| (0..=9999).contains(part))).then_some(parts)
    };
    let [year, month, day] = numbers(date, '-', 3)?[..] else { return None };
    let (clock, distance) = match time.find(['Z', '+', '-']) {
        None => (time, 0),
        Some(at) if time[at..] == *"Z" => (&time[..at], 0),
        Some(at) => {
            let [hours, minutes] = numbers(time[at..].get(1..)?, ':', 2)?[..] else { return None };
            if hours > 23 || minutes > 59 {
                return None;
            }
            let minutes = hours * 60 + minutes;
            (&time[..at], if time[at..].starts_with('-') { -minutes } else { minutes })
        }
    };
    let (clock, parts) = clock.split_once('.').unwrap_or((clock, "0"));
    let [hour, minute, second] = numbers(clock, ':', 3)?[..] else { return None };
    let parts: f64 = format!("0.{parts}").parse().ok()?;
    if hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let date = Date::new(year.try_into().ok()?, month.try_into().ok()?, day.try_into().ok()?).ok()?;
    let days = i64::from(date.to_unix_epoch_day().day());
    let seconds = ((days * 24 + hour) * 60 + minute - distance) * 60 + second;
    Some(seconds * 1000 + (parts * 1000.0) as i64)
}

/// Whether `text` is a time.
pub(super) fn is_time(text: &str) -> bool {
    moment_of(text).is_some()
}

/// The seconds of a duration such as `PT10M`, `P1DT2H` or `PT0.5S`.
pub(super) fn seconds(text: &str) -> Option<f64> {
    let rest = text.strip_prefix('P')?;
    let (date, time) = rest.split_once('T').unwrap_or((rest, ""));
    let mut total = 0.0;
    let mut some = false;
    for (part, units) in
        [(date, &[('W', 604_800.0), ('D', 86_400.0)][..]), (time, &[('H', 3600.0), ('M', 60.0), ('S', 1.0)])]
    {
        let mut part = part;
        while !part.is_empty() {
            let end = part.find(|letter: char| !letter.is_ascii_digit() && letter != '.')?;
            let number: f64 = part[..end].parse().ok()?;
            let unit = part[end..].chars().next()?;
            total += number * units.iter().find(|(name, _)| *name == unit)?.1;
            part = &part[end + unit.len_utf8()..];
            some = true;
        }
    }
    some.then_some(total)
}

/// Formats a duration of `seconds`, as `PT1H`, `PT10M` or `PT0.5S`.
pub(super) fn duration(seconds: f64) -> String {
    let units = [(3600.0, 'H'), (60.0, 'M'), (1.0, 'S')];
    let whole = units.into_iter().find(|(unit, _)| seconds > 0.0 && seconds % unit == 0.0);
    let (unit, letter) = whole.unwrap_or((1.0, 'S'));
    format!("PT{}{letter}", seconds / unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_and_durations() {
        assert_eq!(moment(0), "1970-01-01T00:00:00.000Z");
        assert_eq!(moment(951_782_400_123), "2000-02-29T00:00:00.123Z");
        assert_eq!(moment(1_795_332_600_000), "2026-11-22T07:30:00.000Z");
        for millis in [0, 951_782_400_123, 1_795_332_600_000, -86_400_000] {
            assert_eq!(moment_of(&moment(millis)), Some(millis));
        }
        assert_eq!(moment_of("2000-02-29T01:00:00+01:00"), Some(951_782_400_000));
        assert_eq!(moment_of("2000-02-29"), Some(951_782_400_000));
        // A time without end; with its offset it is in the year 10000.
        assert_eq!(moment_of("9999-12-31T23:59:59Z"), Some(253_402_300_799_000));
        assert_eq!(moment(253_402_300_799_999), "9999-12-31T23:59:59.999Z");
        let beyond = moment_of("9999-12-31T23:59:59-14:00").expect("a time");
        assert_eq!(moment(beyond), "9999-12-31T13:59:59.000Z");
        assert_eq!(moment(i64::MIN), "-9999-01-01T16:47:04.192Z");
        for text in [
            "",
            "now",
            "2000-13-01",
            "2000-02-31",
            "2001-02-29T00:00:00Z",
            "2000-00-01",
            "2000-01-00",
            "2000-02-29T24:00:00Z",
            "2000-02-29T25:00:00Z",
            "2000-02-29T00:60:00Z",
            "2000-02-29T00:00Z",
            "2000-02-29T00:00:00+1é",
            "2000-02-29T00:00:00+01:75",
            "2000-02-29T00:00:00-24:00",
        ] {
            assert_eq!(moment_of(text), None, "{text}");
        }
        for (text, expected) in [("PT10M", 600.0), ("P2D", 172_800.0), ("P1DT2H", 93_600.0), ("PT0.5S", 0.5)]
        {
            assert_eq!(seconds(text), Some(expected), "{text}");
            assert_eq!(seconds(&duration(expected)), Some(expected), "{text}");
        }
        let written = [(7200.0, "PT2H"), (600.0, "PT10M"), (90.0, "PT90S"), (0.5, "PT0.5S"), (0.0, "PT0S")];
        assert!(written.iter().all(|(seconds, text)| duration(*seconds) == *text));
        for text in ["", "P", "PT", "10", "PTM", "PT10", "PT10X", "-PT1S"] {
            assert_eq!(seconds(text), None, "{text}");
        }
    }
}
