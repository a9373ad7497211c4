//! Days and times of day: how far along, and where in the day, the week and the year.

use std::f64::consts::TAU;

use crate::read::options::Style;

/// The numbers that a time becomes, in order; the weekday comes beside them as a category.
pub(crate) const NUMBERS: [&str; 5] = ["days", "hour_sin", "hour_cos", "year_sin", "year_cos"];

const WEEKDAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/// A moment, in the time of whoever wrote it: offsets from universal time are read over, since people act by
/// their own clock.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Moment {
    /// Days since 1 January 2000, and the part of the day.
    days: f64,
    /// Days since 1 January of the same year.
    of_year: f64,
}

impl Moment {
    /// One number for each of [`NUMBERS`].
    pub(crate) fn numbers(self) -> [f64; NUMBERS.len()] {
        let hour = TAU * self.days.rem_euclid(1.0);
        let year = TAU * self.of_year / 365.25;
        [self.days, hour.sin(), hour.cos(), year.sin(), year.cos()]
    }

    pub(crate) fn weekday(self) -> &'static str {
        // 1 January 2000 was a Saturday.
        WEEKDAYS[(self.days.floor() as i64 + 5).rem_euclid(7) as usize]
    }
}

/// Reads a time written in `style`.
pub(crate) fn parse(cell: &str, style: Style) -> Option<Moment> {
    let cell = cell.trim();
    let (year, month, day, rest) = match style {
        Style::Iso => {
            let ([year, month, day], rest) = three(cell, &['-', '/', '.'])?;
            (year, month, day, rest)
        }
        Style::DayFirst => {
            let ([day, month, year], rest) = three(cell, &['.', '/', '-'])?;
            (year, month, day, rest)
        }
        Style::MonthFirst => {
            let ([month, day, year], rest) = three(cell, &['/', '.', '-'])?;
            (year, month, day, rest)
        }
        Style::Words => words(cell)?,
        _ => return None,
    };
    // Two digits for a year are of this century, more or less; Iso has four.
    let year = match (style, year) {
        (Style::Iso, 1000..) | (_, 100..) => year,
        (Style::Iso, _) => return None,
        (_, 0..=69) => 2000 + year,
        _ => 1900 + year,
    };
    let midnight = days(year, month, day)?;
    let first = days(year, 1, 1)?;
    let clock = clock(rest)?;
    Some(Moment { days: midnight as f64 + clock, of_year: (midnight - first) as f64 + clock })
}

/// The style in which most cells are times, and how many are.
pub(crate) fn detect<'a>(cells: impl Iterator<Item = &'a str> + Clone) -> (Style, usize) {
    // A day beyond the twelfth tells days from months; where none comes up, days are taken to stand first
    // after dots, months after slashes, as most who use them write.
    let slashes = cells.clone().next().is_some_and(|cell| cell.contains('/'));
    let styles = match slashes {
        true => [Style::Iso, Style::MonthFirst, Style::DayFirst, Style::Words],
        false => [Style::Iso, Style::DayFirst, Style::MonthFirst, Style::Words],
    };
    let mut best = (Style::Iso, 0);
    for style in styles {
        let count = cells.clone().filter(|cell| parse(cell, style).is_some()).count();
        if count > best.1 {
            best = (style, count);
        }
    }
    best
}

/// Three numbers with the same mark between them, and what follows.
fn three<'a>(cell: &'a str, marks: &[char]) -> Option<([i64; 3], &'a str)> {
    let (first, rest) = number(cell)?;
    let mark = rest.chars().next().filter(|mark| marks.contains(mark))?;
    let (second, rest) = number(&rest[1..])?;
    let (third, rest) = number(rest.strip_prefix(mark)?)?;
    Some(([first, second, third], rest))
}

fn number(text: &str) -> Option<(i64, &str)> {
    let end = text.bytes().take_while(u8::is_ascii_digit).count();
    if !(1..=4).contains(&end) {
        return None;
    }
    Some((text[..end].parse().ok()?, &text[end..]))
}

/// `22 Nov 2026` and `November 22, 2026`, with a weekday before it or none.
fn words(cell: &str) -> Option<(i64, i64, i64, &str)> {
    let mut rest = cell;
    let mut parts: Vec<&str> = vec![];
    while parts.len() < 3 {
        rest = rest.trim_start_matches([' ', ',', '-']);
        let end = rest.find([' ', ',', '-', 'T']).unwrap_or(rest.len());
        let word = &rest[..end];
        if word.is_empty() {
            return None;
        }
        rest = &rest[end..];
        let weekday = WEEKDAYS.iter().any(|day| starts(word, day));
        if !(parts.is_empty() && weekday) {
            parts.push(word);
        }
    }
    let month = |word: &str| MONTHS.iter().position(|month| starts(word, month)).map(|at| at as i64 + 1);
    let digits = |word: &str| word.trim_end_matches(char::is_alphabetic).parse().ok();
    let (month, day) = match (month(parts[1]), month(parts[0])) {
        (Some(month), _) => (month, digits(parts[0])?),
        (None, Some(month)) => (month, digits(parts[1])?),
        _ => return None,
    };
    let year = parts[2].parse().ok()?;
    Some((year, month, day, rest))
}

/// Whether a word begins with three letters, in any case.
fn starts(word: &str, letters: &str) -> bool {
    word.get(..3).is_some_and(|start| start.eq_ignore_ascii_case(letters))
}

/// Days from 1 January 2000 to a day of the Gregorian calendar; `None` if there is no such day.
fn days(year: i64, month: i64, day: i64) -> Option<i64> {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let lengths = [31, if leap { 29 } else { 28 }, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let length = usize::try_from(month - 1).ok().and_then(|at| lengths.get(at))?;
    if !(1..=*length).contains(&day) || !(1..=9999).contains(&year) {
        return None;
    }
    let before = year - 1;
    let of_years = 365 * before + before / 4 - before / 100 + before / 400;
    let of_months: i64 = lengths[..month as usize - 1].iter().sum();
    Some(of_years + of_months + day - 1 - 730_119)
}

/// The part of a day that a time of day is: `10:31`, `10:31:07.5`, `10:31 pm`, with an offset or without.
/// Nothing is midnight.
fn clock(text: &str) -> Option<f64> {
    let text = text.trim_start_matches([' ', ',', 'T', 't']);
    if text.is_empty() {
        return Some(0.0);
    }
    let (mut hour, rest) = number(text)?;
    let (minute, mut rest) = number(rest.strip_prefix(':')?)?;
    let mut second = 0.0;
    if let Some(seconds) = rest.strip_prefix(':') {
        let end = seconds.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b'.').count();
        second = seconds[..end].parse().ok()?;
        rest = &seconds[end..];
    }
    let half = rest.trim();
    if half.eq_ignore_ascii_case("pm") || half.eq_ignore_ascii_case("am") {
        if !(1..=12).contains(&hour) {
            return None;
        }
        hour = hour % 12 + if half.eq_ignore_ascii_case("pm") { 12 } else { 0 };
    } else if !(half.is_empty() || half.starts_with(['Z', 'z', '+', '-']) || half.eq_ignore_ascii_case("UTC"))
    {
        return None;
    }
    let fits = (0..24).contains(&hour) && (0..60).contains(&minute) && (0.0..61.0).contains(&second);
    fits.then(|| (hour as f64 + minute as f64 / 60.0 + second / 3600.0) / 24.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_moment_in_four_formats() {
        let noon = parse("2026-11-22T12:00:00Z", Style::Iso).expect("it is a time");
        assert_eq!(noon.weekday(), "Sun");
        // 26 years of which 7 have a leap day, 325 days of the last one, and half a day.
        assert_eq!(noon.numbers()[0], 26.0 * 365.0 + 7.0 + 325.0 + 0.5);
        for (text, style) in [
            ("2026-11-22 12:00", Style::Iso),
            ("22.11.2026 12:00", Style::DayFirst),
            ("22/11/26 12:00:00.000", Style::DayFirst),
            ("11/22/2026 12:00 PM", Style::MonthFirst),
            ("22 Nov 2026 12:00", Style::Words),
            ("Sunday, November 22nd, 2026 12:00", Style::Words),
            ("2026-11-22T12:00:00+02:00", Style::Iso),
        ] {
            assert_eq!(parse(text, style), Some(noon), "{text}");
        }
        assert_eq!(parse("1999-12-31", Style::Iso).expect("a day").numbers()[0], -1.0);
        for (text, style) in [
            ("2026-13-01", Style::Iso),
            ("2026-02-29", Style::Iso),
            ("26-02-01", Style::Iso),
            ("22.11.2026", Style::MonthFirst),
            ("2026-11-22 25:00", Style::Iso),
            ("2026-11-22 noon", Style::Iso),
            ("soon", Style::Words),
            ("3.5", Style::DayFirst),
        ] {
            assert_eq!(parse(text, style), None, "{text}");
        }
    }

    #[test]
    fn a_day_beyond_the_twelfth_tells_days_from_months() {
        let detect = |cells: &[&'static str]| detect(cells.iter().copied());
        assert_eq!(detect(&["01/02/2026", "13/02/2026"]), (Style::DayFirst, 2));
        assert_eq!(detect(&["01/02/2026", "02/13/2026"]), (Style::MonthFirst, 2));
        assert_eq!(detect(&["01/02/2026"]), (Style::MonthFirst, 1));
        assert_eq!(detect(&["01.02.2026"]), (Style::DayFirst, 1));
        assert_eq!(detect(&["2026-01-02", "?"]), (Style::Iso, 1));
        assert_eq!(detect(&["red"]).1, 0);
    }
}
