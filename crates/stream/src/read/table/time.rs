//! Days and times: a trend, and the positions in the day, the week and the year.

mod programs;

use std::collections::HashSet;
use std::f64::consts::TAU;

#[cfg(feature = "parquet")]
use jiff_core::civil::UnixEpochDay;
use jiff_core::civil::{Date, Weekday};

use crate::read::table::schema::Style;

/// The numeric features of a time, in order; the weekday is a category in addition.
pub(crate) const NUMBERS: [&str; 5] = ["days", "hour_sin", "hour_cos", "year_sin", "year_cos"];

const WEEKDAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/// A moment in local time: offsets from UTC are ignored, because behaviour depends on local time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Moment {
    /// Days since 1 January 2000, and the part of the day.
    days: f64,
    /// Days since 1 January of the same year.
    of_year: f64,
    weekday: Weekday,
}

/// The day of 1970 on which [`Moment`]'s days begin.
const DAYS_TO_2000: i32 = 10_957;

#[cfg(feature = "parquet")]
pub(crate) const SECONDS_OF_DAY: i64 = 86_400;

impl Moment {
    /// A part of a day, which a leap second makes more than 1.
    fn new(date: Date, part: f64) -> Self {
        let midnight = date.to_unix_epoch_day().day() - DAYS_TO_2000;
        let days = f64::from(midnight) + part;
        let weekday = date.weekday().wrapping_add((days.floor() - f64::from(midnight)) as i64);
        Self { days, of_year: f64::from(date.day_of_year() - 1) + part, weekday }
    }

    /// The time that many seconds and nanoseconds after 1970 began, as [`parse`] has it from text. `None`
    /// for years that have not four digits.
    #[cfg(feature = "parquet")]
    pub(crate) fn of_seconds(seconds: i64, nanos: u32) -> Option<Self> {
        let day = UnixEpochDay::new(i32::try_from(seconds.div_euclid(SECONDS_OF_DAY)).ok()?).ok()?;
        let date = Some(day.to_date()).filter(|date| date.year() >= 1000)?;
        let second = seconds.rem_euclid(SECONDS_OF_DAY);
        // Both numbers are exact, so that the quotient is what a decimal fraction is read as.
        let fraction = (second % 60 * 1_000_000_000 + i64::from(nanos)) as f64 / 1e9;
        Some(Self::new(date, part(second / 3600, second / 60 % 60, fraction)))
    }

    /// One number for each of [`NUMBERS`].
    pub(crate) fn numbers(self) -> [f64; NUMBERS.len()] {
        let hour = TAU * self.days.rem_euclid(1.0);
        let year = TAU * self.of_year / 365.25;
        [self.days, hour.sin(), hour.cos(), year.sin(), year.cos()]
    }

    pub(crate) fn weekday(self) -> &'static str {
        WEEKDAYS[self.weekday.to_monday_zero_offset() as usize]
    }
}

/// The features of a column `name` for a time in ISO notation, as those of a cell of a table; `None` for any
/// other text.
pub fn time_features(name: &str, text: &str) -> Option<Vec<(String, f64)>> {
    let moment = parse(text, Style::Iso)?;
    let numbers =
        NUMBERS.iter().zip(moment.numbers()).map(|(number, value)| (format!("{name}:{number}"), value));
    let weekday = (format!("{name}:weekday={}", moment.weekday()), 1.0);
    Some(numbers.chain([weekday]).collect())
}

/// Parses a time in `style`.
pub(crate) fn parse(cell: &str, style: Style) -> Option<Moment> {
    let styles = match style {
        // Days with dots come first in every country that writes them with dots.
        Style::MixedMonthFirst if !has_dots(cell) => {
            [Style::Iso, Style::Words, Style::MonthFirst, Style::DayFirst]
        }
        Style::MixedMonthFirst | Style::MixedDayFirst => {
            [Style::Iso, Style::Words, Style::DayFirst, Style::MonthFirst]
        }
        style => return parse_one(cell, style),
    };
    styles.into_iter().find_map(|style| parse_one(cell, style))
}

/// Whether the numbers of a day have dots between them.
fn has_dots(cell: &str) -> bool {
    number(cell.trim()).is_some_and(|(_, rest)| rest.starts_with('.'))
}

/// Whether a year of two digits is taken for one from 2040 on, as 65 for 2065: births are earlier.
pub(crate) fn is_late(cell: &str, style: Style) -> bool {
    const DAYS_TO_2040: f64 = 14_610.0;
    let four = cell.as_bytes().windows(4).any(|signs| signs.iter().all(u8::is_ascii_digit));
    !four && parse(cell, style).is_some_and(|moment| moment.days >= DAYS_TO_2040)
}

/// Parses a time in a style that is not mixed.
fn parse_one(cell: &str, style: Style) -> Option<Moment> {
    let cell = cell.trim();
    parse_plain(cell, style).or_else(|| parse_plain(programs::plain(cell, style)?.trim(), style))
}

/// The same without the notations of servers and databases.
fn parse_plain(cell: &str, style: Style) -> Option<Moment> {
    let (year, month, day, rest) = match style {
        Style::Iso | Style::Words if let Some((year, month)) = month_of(cell, style) => (year, month, 1, ""),
        Style::Iso => {
            let ([year, month, day], rest) = three(cell, &['-', '/', '.'])?;
            (year, month, day, rest)
        }
        Style::DayFirst => {
            let ([day, month, year], rest) = with_year_last(cell)?;
            (year, month, day, rest)
        }
        Style::MonthFirst => {
            let ([month, day, year], rest) = with_year_last(cell)?;
            (year, month, day, rest)
        }
        Style::Words => words(cell)?,
        _ => return None,
    };
    // Two-digit years are from 1970 to 2069; Iso has four digits.
    let year = match (style, year) {
        (Style::Iso, 1000..) | (_, 100..) => year,
        (Style::Iso, _) => return None,
        (_, 0..=69) => 2000 + year,
        _ => 1900 + year,
    };
    let year = i16::try_from(year).ok().filter(|year| *year > 0)?;
    let date = Date::new(year, month.try_into().ok()?, day.try_into().ok()?).ok()?;
    Some(Moment::new(date, clock(rest)?))
}

/// The notation of a column of times.
#[derive(Debug, PartialEq)]
pub(crate) struct Found {
    pub(crate) style: Style,
    /// Number of cells that are times in this notation.
    pub(crate) count: usize,
    /// Number of cells that show whether the day or the month comes first, out of those in which it could
    /// be either.
    pub(crate) decisive: usize,
    /// A cell that does not show it, if there is one.
    pub(crate) doubtful: Option<String>,
}

/// The notation in which most cells are times; several notations if no single one is enough.
pub(crate) fn detect<'a>(cells: impl Iterator<Item = &'a str> + Clone) -> Found {
    // Days after the twelfth determine the order of day and month; without any, the day is assumed
    // to be first with dots, and the month with slashes, unless that would be the same month of all years.
    let slashes = cells.clone().find(|cell| !has_dots(cell)).is_some_and(|cell| cell.contains('/'));
    let slashes = slashes && !is_monthly(cells.clone());
    let styles = match slashes {
        true => [Style::Iso, Style::MonthFirst, Style::DayFirst, Style::Words],
        false => [Style::Iso, Style::DayFirst, Style::MonthFirst, Style::Words],
    };
    let of = |style| cells.clone().filter(|cell| parse(cell, style).is_some()).count();
    let mut best = (Style::Iso, 0);
    for style in styles {
        let count = of(style);
        if count > best.1 {
            best = (style, count);
        }
    }
    // Cells in which only the order of day and month is open.
    let open = cells.clone().filter(|cell| !has_dots(cell));
    let open = open.map(|cell| (cell, [Style::DayFirst, Style::MonthFirst].map(|style| parse(cell, style))));
    let open = open.filter(|(_, [day, month])| day != month);
    let only = |place: usize| open.clone().filter(|(_, read)| read[1 - place].is_none()).count();
    let (day, month) = (only(0), only(1));
    if best.1 > 0 && best.1 < cells.clone().count() {
        let with_slash = || open.clone().any(|(cell, _)| cell.contains('/'));
        let month_first = month > day || (month == day && with_slash() && !is_monthly(cells.clone()));
        let mixed = if month_first { Style::MixedMonthFirst } else { Style::MixedDayFirst };
        let count = of(mixed);
        if count > best.1 {
            best = (mixed, count);
        }
    }
    let doubtful = open.clone().find(|(_, read)| read.iter().all(Option::is_some));
    let ambiguous = !matches!(best.0, Style::Iso | Style::Words);
    Found {
        style: best.0,
        count: best.1,
        decisive: day.max(month),
        doubtful: doubtful.filter(|_| ambiguous).map(|(cell, _)| cell.to_owned()),
    }
}

/// Whether days have the same first number in several years, and others behind it, as 01/12/1957 and
/// 01/01/1958 have: the months of the years, each with the same day.
fn is_monthly<'a>(cells: impl Iterator<Item = &'a str>) -> bool {
    let mut days = cells.filter_map(|cell| Some(three(cell.trim(), &['/'])?.0));
    let Some([first, second, third]) = days.next() else { return false };
    let (mut months, mut years) = (false, false);
    let same = days.all(|day| {
        (months, years) = (months || day[1] != second, years || day[2] != third);
        day[0] == first
    });
    same && months && years
}

/// The examples of the notations that the cells are written in, the first of each.
pub(crate) fn notations<'a>(cells: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut seen: Vec<(u8, &str)> = vec![];
    for cell in cells {
        let kind = match () {
            () if parse_one(cell, Style::Iso).is_some() => b'i',
            () if parse_one(cell, Style::Words).is_some() => b'w',
            () if parse(cell, Style::MixedDayFirst).is_none() => continue,
            () => number(cell.trim()).map_or(b'?', |(_, rest)| rest.as_bytes()[0]),
        };
        if seen.iter().all(|(known, _)| *known != kind) {
            seen.push((kind, cell));
        }
    }
    seen.into_iter().map(|(_, cell)| cell).collect()
}

/// Three numbers with the same separator, and the rest.
fn three<'a>(cell: &'a str, marks: &[char]) -> Option<([i64; 3], &'a str)> {
    let (first, rest) = number(cell)?;
    let mark = rest.chars().next().filter(|mark| marks.contains(mark))?;
    let (second, rest) = number(&rest[1..])?;
    let (third, rest) = number(rest.strip_prefix(mark)?)?;
    Some(([first, second, third], rest))
}

/// The year and the month of `2026-11`, `Nov 2026`, `2026 Nov` or `November-2026`: a month is its first day.
/// Numbers outside of these years are parts of codes.
fn month_of(cell: &str, style: Style) -> Option<(i64, i64)> {
    let year = |text: &str| text.parse::<i64>().ok().filter(|year| (1500..=2100).contains(year));
    let (first, second) = cell.split_once([' ', '-'])?;
    if style == Style::Iso {
        let fits = matches!(cell.as_bytes(), [_, _, _, _, b'-', b'0'..=b'1', b'0'..=b'9']);
        return Some((year(first)?, second.parse().ok().filter(|_| fits)?));
    }
    let month =
        |text: &str| month_named(text).filter(|_| text.bytes().all(|byte| byte.is_ascii_alphabetic()));
    match year(first) {
        Some(year) => Some((year, month(second)?)),
        None => Some((year(second)?, month(first)?)),
    }
}

/// Whether all cells are spans from a year to the next, of several years: seasons such as 2005-06 and
/// 2006-07, which are no months.
pub(crate) fn are_seasons<'a>(mut cells: impl Iterator<Item = &'a str>) -> bool {
    let mut years = HashSet::new();
    let is_season = |cell: &str| {
        let parts = cell.split_once('-').filter(|(first, last)| (first.len(), last.len()) == (4, 2));
        let Some((first, last)) = parts else { return false };
        let (Ok(year), Ok(next)) = (first.parse::<u32>(), last.parse::<u32>()) else { return false };
        years.insert(year);
        next == (year + 1) % 100
    };
    cells.all(is_season) && years.len() > 1
}

/// The same, where the last one is a year: it has two or four digits, unlike that of the version 2.10.5.
fn with_year_last(cell: &str) -> Option<([i64; 3], &str)> {
    let (numbers, rest) = three(cell, &['.', '/', '-'])?;
    let digits = cell[..cell.len() - rest.len()].bytes().rev().take_while(u8::is_ascii_digit).count();
    matches!(digits, 2 | 4).then_some((numbers, rest))
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
        // A T behind a digit begins the time of day; Tuesdays and Thursdays begin with one, too.
        let ends = |(at, sign): &(usize, char)| match sign {
            ' ' | ',' | '-' => true,
            'T' => rest[..*at].ends_with(|before: char| before.is_ascii_digit()),
            _ => false,
        };
        let end = rest.char_indices().find(ends).map_or(rest.len(), |(at, _)| at);
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
    let digits = |word: &str| word.trim_end_matches(char::is_alphabetic).parse().ok();
    let (month, day) = match (month_named(parts[1]), month_named(parts[0])) {
        (Some(month), _) => (month, digits(parts[0])?),
        (None, Some(month)) => (month, digits(parts[1])?),
        _ => return None,
    };
    // C writes the time of day before the year: Sun Nov 22 12:00:00 UTC 2026.
    let (rest, year) = match parts[2].contains(':') {
        true => cell[cell.len() - rest.len() - parts[2].len()..].rsplit_once(' ')?,
        false => (rest, parts[2]),
    };
    let year = year.parse().ok()?;
    Some((year, month, day, rest))
}

/// The month whose first three letters a word has.
fn month_named(word: &str) -> Option<i64> {
    MONTHS.iter().position(|month| starts(word, month)).map(|at| at as i64 + 1)
}

/// Whether a word begins with three letters, in any case.
fn starts(word: &str, letters: &str) -> bool {
    word.get(..3).is_some_and(|start| start.eq_ignore_ascii_case(letters))
}

/// Names of zones in common use.
const ZONES: [&str; 44] = [
    "UTC", "GMT", "WET", "WEST", "BST", "IST", "CET", "CEST", "MEZ", "MESZ", "EET", "EEST", "MSK", "TRT",
    "EAT", "CAT", "WAT", "SAST", "PKT", "WIB", "SGT", "HKT", "PHT", "JST", "KST", "AWST", "ACST", "ACDT",
    "AEST", "AEDT", "NZST", "NZDT", "BRT", "ART", "AST", "ADT", "EST", "EDT", "CST", "CDT", "MST", "MDT",
    "PST", "PDT",
];

/// Beginnings of the names of zones in the database of zones, such as Europe/Berlin.
const AREAS: [&str; 12] = [
    "Africa/",
    "America/",
    "Antarctica/",
    "Asia/",
    "Atlantic/",
    "Australia/",
    "Europe/",
    "Indian/",
    "Pacific/",
    "Etc/",
    "US/",
    "Canada/",
];

/// Whether a text behind a time of day says of which zone it is: an offset, or a name.
fn is_zone(text: &str) -> bool {
    let name = text.strip_prefix(['[', '(']).and_then(|rest| rest.strip_suffix([']', ')'])).unwrap_or(text);
    let offset = |text: &str| text.is_empty() || text.starts_with(['Z', 'z', '+', '-']);
    offset(text)
        || ZONES.iter().any(|zone| name.eq_ignore_ascii_case(zone))
        || AREAS.iter().any(|area| name.starts_with(area))
        // GMT+0100, with words behind it.
        || ["UTC", "GMT"].iter().any(|zone| text.strip_prefix(zone).is_some_and(offset))
}

/// A time of day as a fraction of the day: `10:31`, `10:31:07.5`, `10:31 pm`, with or without
/// offset or name of a zone. Empty is midnight.
fn clock(text: &str) -> Option<f64> {
    let text = text.trim_start_matches([' ', ',', 'T', 't']);
    if text.is_empty() {
        return Some(0.0);
    }
    let (mut hour, rest) = number(text)?;
    let (minute, mut rest) = number(rest.strip_prefix(':')?)?;
    let mut second = 0.0;
    if let Some(seconds) = rest.strip_prefix(':') {
        // ISO 8601 has a comma before fractions, too, as Python's logs have.
        let end = seconds.bytes().take_while(|byte| byte.is_ascii_digit() || b".,".contains(byte)).count();
        second = seconds[..end].replace(',', ".").parse().ok()?;
        rest = &seconds[end..];
    }
    let rest = rest.trim();
    let is = |half: &&str, name: &str| half.eq_ignore_ascii_case(name);
    let half = rest.get(..2).filter(|half| is(half, "am") || is(half, "pm"));
    if let Some(half) = half {
        if !(1..=12).contains(&hour) {
            return None;
        }
        hour = hour % 12 + if is(&half, "pm") { 12 } else { 0 };
    }
    if !is_zone(rest[half.map_or(0, str::len)..].trim_start()) {
        return None;
    }
    let fits = (0..24).contains(&hour) && (0..60).contains(&minute) && (0.0..61.0).contains(&second);
    fits.then(|| part(hour, minute, second))
}

/// A time of day as a part of the day.
fn part(hour: i64, minute: i64, second: f64) -> f64 {
    (hour as f64 + minute as f64 / 60.0 + second / 3600.0) / 24.0
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
            ("22-Nov-2026T12:00", Style::Words),
            ("2026-11-22 12:00:00,000", Style::Iso),
            ("2026-11-22T12:00:00+02:00", Style::Iso),
            ("2026-11-22 12:00 CEST", Style::Iso),
            ("2026-11-22 12:00:00 Europe/Berlin", Style::Iso),
            ("2026-11-22T12:00[America/New_York]", Style::Iso),
            ("11/22/2026 12:00 PM PST", Style::MonthFirst),
            ("Sun Nov 22 12:00:00 2026", Style::Words),
            ("Sun Nov 22 12:00:00 UTC 2026", Style::Words),
            ("Sun Nov 22 12:00:00 +0000 2026", Style::Words),
            ("Sun Nov 22 2026 12:00:00 GMT+0100 (Central European Standard Time)", Style::Words),
        ] {
            assert_eq!(parse(text, style), Some(noon), "{text}");
        }
        for (day, text) in ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat"].into_iter().zip(23..) {
            let text = format!("{day}, {text} Nov 2026 12:00:00 GMT");
            assert_eq!(parse(&text, Style::Words).expect(&text).weekday(), day);
        }
        assert_eq!(parse("Tuesday, November 24, 2026", Style::Words), parse("2026-11-24", Style::Iso));
        assert_eq!(parse("1999-12-31", Style::Iso).expect("a day").numbers()[0], -1.0);
        for (text, style) in [
            ("2026-13-01", Style::Iso),
            ("2026-02-29", Style::Iso),
            ("2026-02-31", Style::Iso),
            ("31.04.2026", Style::DayFirst),
            ("Feb 30, 2024", Style::Words),
            ("0026-02-01", Style::Iso),
            ("2026-11-22 24:00", Style::Iso),
            ("26-02-01", Style::Iso),
            ("22.11.2026", Style::MonthFirst),
            ("2026-11-22 25:00", Style::Iso),
            ("2026-11-22 noon", Style::Iso),
            ("2026-11-22 12:00 ERROR", Style::Iso),
            ("2026-11-22 13:00 PM EST", Style::Iso),
            ("Sun Nov 22 12:00:00", Style::Words),
            ("soon", Style::Words),
            ("3.5", Style::DayFirst),
        ] {
            assert_eq!(parse(text, style), None, "{text}");
        }
    }

    /// Days and weekdays as Python's `datetime` has them.
    #[test]
    fn days_are_those_of_the_gregorian_calendar() {
        for (text, days, of_year, weekday) in [
            ("1000-01-01", -365_242.0, 0.0, "Wed"),
            ("1900-02-28", -36_466.0, 58.0, "Wed"),
            ("1900-03-01", -36_465.0, 59.0, "Thu"),
            ("1969-12-31", -10_958.0, 364.0, "Wed"),
            ("2000-02-29", 59.0, 59.0, "Tue"),
            ("2024-02-29", 8_825.0, 59.0, "Thu"),
            ("2026-11-22", 9_822.0, 325.0, "Sun"),
            ("2100-03-01", 36_584.0, 59.0, "Mon"),
            ("9999-12-31", 2_921_939.0, 364.0, "Fri"),
        ] {
            let found = parse(text, Style::Iso).expect(text);
            assert_eq!((found.days, found.of_year, found.weekday()), (days, of_year, weekday), "{text}");
        }
        // Within a day: to the bit.
        let found = parse("2026-11-22 10:31:07.5", Style::Iso).expect("a time").numbers();
        let day: f64 = (10.0 + 31.0 / 60.0 + 7.5 / 3600.0) / 24.0;
        let (hour, year) = (TAU * (9_822.0 + day).rem_euclid(1.0), TAU * (325.0 + day) / 365.25);
        assert_eq!(found, [9_822.0 + day, hour.sin(), hour.cos(), year.sin(), year.cos()]);
        // A leap second is on the next day.
        assert_eq!(parse("2016-12-31 23:59:60", Style::Iso).expect("a time").weekday(), "Sun");
        assert_eq!(parse("9999-12-31 23:59:60", Style::Iso).expect("a time").weekday(), "Sat");
    }

    /// All days of 800 years, one after the other, and no others.
    #[test]
    fn every_day_is_the_one_after_the_last() {
        let (mut last, mut count) = (-146_098.0, 0);
        for (year, month, day) in (1600..2400)
            .flat_map(|year| (0..=13).flat_map(move |month| (0..=32).map(move |day| (year, month, day))))
        {
            if let Some(found) = parse(&format!("{year}-{month:02}-{day:02}"), Style::Iso) {
                (last, count) = (last + 1.0, count + 1);
                assert_eq!(found.days, last, "{year}-{month}-{day}");
                assert_eq!(found.weekday(), WEEKDAYS[(last as i64 + 5).rem_euclid(7) as usize]);
                assert_eq!(found.of_year == 0.0, (month, day) == (1, 1));
            }
        }
        assert_eq!(count, 292_194);
    }

    #[cfg(feature = "parquet")]
    #[test]
    fn seconds_are_what_their_text_is() {
        for (seconds, nanos, text) in [
            (0, 0, "1970-01-01"),
            (-1, 500_000_000, "1969-12-31 23:59:59.5"),
            (951_782_400, 1, "2000-02-29 00:00:00.000000001"),
            (1_795_343_467, 120_000_000, "2026-11-22 10:31:07.12"),
            (1_795_343_459, 999_999_999, "2026-11-22 10:30:59.999999999"),
            (253_402_300_799, 999_999_999, "9999-12-31 23:59:59.999999999"),
            (-30_610_224_000, 0, "1000-01-01"),
        ] {
            let moment = Moment::of_seconds(seconds, nanos).expect(text);
            assert_eq!(Some(moment), parse(text, Style::Iso), "{text}");
        }
        for seconds in [-30_610_224_001, 253_402_300_800, i64::MIN, i64::MAX] {
            assert_eq!(Moment::of_seconds(seconds, 0), None, "{seconds}");
        }
    }

    #[test]
    fn seasons_are_no_months() {
        for (cells, want) in [
            ("2005-06 2006-07 2005-06", true),
            ("1999-00 2011-12 2012-13", true),
            ("2010-11 2010-11", false),
            ("2005-06 2005-07", false),
            ("2005-06 2006-07 ?", false),
            ("2005-2006 2006-2007", false),
        ] {
            assert_eq!(are_seasons(cells.split(' ')), want, "{cells}");
        }
    }

    #[test]
    fn days_after_the_twelfth_show_the_order() {
        let detect = |cells: &[&'static str]| {
            let found = detect(cells.iter().copied());
            (found.style, found.count)
        };
        assert_eq!(detect(&["01/02/2026", "13/02/2026"]), (Style::DayFirst, 2));
        assert_eq!(detect(&["01/02/2026", "02/13/2026"]), (Style::MonthFirst, 2));
        assert_eq!(detect(&["01/02/2026"]), (Style::MonthFirst, 1));
        assert_eq!(detect(&["01.02.2026"]), (Style::DayFirst, 1));
        // The months of the years, and the days of a month.
        assert_eq!(detect(&["01/11/1957", "01/12/1957", "01/01/1958"]), (Style::DayFirst, 3));
        assert_eq!(detect(&["11/01/2018", "11/02/2018", "11/03/2018"]), (Style::MonthFirst, 3));
        assert_eq!(detect(&["01/11/1957", "01/13/1957", "01/01/1958"]), (Style::MonthFirst, 3));
        assert_eq!(detect(&["2026-01-02", "?"]), (Style::Iso, 1));
        assert_eq!(detect(&["red"]).1, 0);
        // Months.
        assert_eq!(detect(&["2026-11", "2026-12"]), (Style::Iso, 2));
        assert_eq!(detect(&["1975 Jan", "1975 Feb"]), (Style::Words, 2));
        assert_eq!(detect(&["January-2005", "Sep 2005"]), (Style::Words, 2));
        assert_eq!(detect(&["1995-96", "2026-13", "1234-11", "2026 11", "Nov-26", "Nov", "2026"]).1, 0);
        assert_eq!(parse("Nov 2026", Style::Words), parse("2026-11-01", Style::Iso));
        // Versions and points are no days.
        assert_eq!(detect(&["1.2.5", "2.10.3", "2.11.104"]).1, 0);
        assert_eq!(detect(&["3/4/5", "1/12/9"]).1, 0);
    }

    #[test]
    fn several_notations_in_one_column() {
        let detect = |cells: &[&'static str]| detect(cells.iter().copied());
        let four = ["2026-02-01", "03.02.2026", "02/04/2026", "Feb 5, 2026 10:30"];
        let found = detect(&four);
        let doubtful = Some("02/04/2026".to_owned());
        assert_eq!(found, Found { style: Style::MixedMonthFirst, count: 4, decisive: 0, doubtful });
        let days: Vec<f64> =
            four.iter().map(|cell| parse(cell, found.style).expect("a day").numbers()[0].floor()).collect();
        assert_eq!([days[1] - days[0], days[2] - days[0], days[3] - days[0]], [2.0, 3.0, 4.0]);
        assert_eq!(notations(four.into_iter()), four);
        // A day after the twelfth decides for the whole column.
        let found = detect(&["2026-02-01", "02/04/2026", "13/02/2026", "25/02/2026", "02/26/2026"]);
        assert_eq!((found.style, found.count, found.decisive), (Style::MixedDayFirst, 5, 2));
        // A cell that can be read in one way only is read in this way.
        assert_eq!(parse("02/26/2026", Style::MixedDayFirst), parse("2026-02-26", Style::Iso));
        assert_eq!(detect(&["2026-02-01", "2026-02-02", "soon"]).style, Style::Iso);
        assert_eq!(detect(&["02/02/2026", "02/22/2026"]).doubtful, None);
    }
}
