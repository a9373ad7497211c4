//! Times and durations in ISO 8601.

use crate::model::spec::shown;
use crate::refusal::Refusal;

/// Formats `millis`, in milliseconds since 1970, as `2026-11-22T07:30:00.125Z`.
pub(super) fn moment(millis: i64) -> String {
    let (days, rest) = (millis.div_euclid(86_400_000), millis.rem_euclid(86_400_000));
    // Days to date: eras of 400 years, whose years start in March.
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    let (seconds, millis) = (rest / 1000, rest % 1000);
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{millis:03}Z")
}

/// The time in the field `field` of a request.
///
/// # Errors
/// If it is none.
pub(super) fn time(field: &str, text: &str) -> Result<i64, Refusal> {
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
            let minutes = hours * 60 + minutes;
            (&time[..at], if time[at..].starts_with('-') { -minutes } else { minutes })
        }
    };
    let (clock, parts) = clock.split_once('.').unwrap_or((clock, "0"));
    let [hour, minute, second] = numbers(clock, ':', 3)?[..] else { return None };
    let parts: f64 = format!("0.{parts}").parse().ok()?;
    if !((1..=12).contains(&month) && (1..=31).contains(&day) && hour < 24 && minute < 60 && second < 61) {
        return None;
    }
    // Date to days, the inverse of `moment`.
    let shifted_year = year - i64::from(month <= 2);
    let (era, year_of_era) = (shifted_year.div_euclid(400), shifted_year.rem_euclid(400));
    let day_of_year = (153 * (if month > 2 { month - 3 } else { month + 9 }) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    let days = era * 146_097 + day_of_era - 719_468;
    let seconds = ((days * 24 + hour) * 60 + minute - distance) * 60 + second;
    Some(seconds * 1000 + (parts * 1000.0) as i64)
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
        for text in
            ["", "now", "2000-13-01", "2000-02-29T25:00:00Z", "2000-02-29T00:00Z", "2000-02-29T00:00:00+1é"]
        {
            assert_eq!(moment_of(text), None, "{text}");
        }
        for (text, expected) in [("PT10M", 600.0), ("P2D", 172_800.0), ("P1DT2H", 93_600.0), ("PT0.5S", 0.5)]
        {
            assert_eq!(seconds(text), Some(expected), "{text}");
        }
        for text in ["", "P", "PT", "10", "PTM", "PT10", "PT10X", "-PT1S"] {
            assert_eq!(seconds(text), None, "{text}");
        }
    }
}
