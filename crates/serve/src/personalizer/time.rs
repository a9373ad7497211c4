//! Moments and durations as ISO 8601 writes them.

/// The moment `millis` milliseconds after 1970 began, as `2026-11-22T07:30:00.125Z`.
pub(super) fn moment(millis: i64) -> String {
    let (days, rest) = (millis.div_euclid(86_400_000), millis.rem_euclid(86_400_000));
    // Civil from days: eras of 400 years, whose years begin in March.
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
        for (text, expected) in [("PT10M", 600.0), ("P2D", 172_800.0), ("P1DT2H", 93_600.0), ("PT0.5S", 0.5)]
        {
            assert_eq!(seconds(text), Some(expected), "{text}");
        }
        for text in ["", "P", "PT", "10", "PTM", "PT10", "PT10X", "-PT1S"] {
            assert_eq!(seconds(text), None, "{text}");
        }
    }
}
