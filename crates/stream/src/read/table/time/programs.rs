//! Times as servers and databases write them, in a notation that all others have, too.

use super::month_named;
use crate::read::table::schema::Style;

/// The same time in the notation that [`super::parse`] reads in `style`; `None` if it is in none of these.
pub(super) fn plain(cell: &str, style: Style) -> Option<String> {
    match style {
        Style::Iso => basic(cell).or_else(|| of_db2(cell)).or_else(|| with_signs(cell)),
        Style::Words => of_servers(cell).or_else(|| of_sas(cell)).or_else(|| of_oracle(cell)),
        _ => None,
    }
}

/// ISO 8601 without marks: `20261122T120000Z`.
fn basic(cell: &str) -> Option<String> {
    let (day, clock) = cell.split_once('T')?;
    let digits = clock.bytes().take_while(u8::is_ascii_digit).count();
    if day.len() != 8 || !day.bytes().all(|byte| byte.is_ascii_digit()) || !matches!(digits, 4 | 6) {
        return None;
    }
    let second = if digits == 6 { format!(":{}", &clock[4..6]) } else { String::new() };
    let (minute, rest) = (&clock[2..4], &clock[digits..]);
    Some(format!("{}-{}-{}T{}:{minute}{second}{rest}", &day[..4], &day[4..6], &day[6..], &clock[..2]))
}

/// `2026-11-22-12.00.00.000000`.
fn of_db2(cell: &str) -> Option<String> {
    let (day, clock) = (cell.get(..10)?, cell.get(10..)?.strip_prefix('-')?);
    Some(format!("{day} {}", with_colons(clock)?))
}

/// `2026年11月22日`, also in Korean, with a time of day behind it or none.
fn with_signs(cell: &str) -> Option<String> {
    let [year, month, day] = [['年', '년'], ['月', '월'], ['日', '일']];
    let (first, rest) = cell.split_once(year)?;
    let (second, rest) = rest.split_once(month)?;
    let (third, rest) = rest.split_once(day)?;
    Some(format!("{first}-{}-{} {rest}", second.trim(), third.trim()))
}

/// `22/Nov/2026:12:00:00 +0000`, which logs of web servers have in brackets.
fn of_servers(cell: &str) -> Option<String> {
    let cell = cell.trim_start_matches('[').trim_end_matches(']');
    let (day, clock) = cell.split_once(':').unwrap_or((cell, ""));
    let mut parts = day.split('/');
    let (first, month, year) = (parts.next()?, parts.next()?, parts.next()?);
    let fits = month.len() == 3 && month_named(month).is_some() && parts.next().is_none();
    fits.then(|| format!("{first}-{month}-{year} {clock}"))
}

/// `22NOV2026`, and with a time of day `22NOV2026:12:00:00`.
fn of_sas(cell: &str) -> Option<String> {
    let (date, clock) = cell.split_once(':').unwrap_or((cell, ""));
    let digits = date.bytes().take_while(u8::is_ascii_digit).count();
    let (day, rest) = date.split_at(digits);
    let (month, year) = (rest.get(..3)?, rest.get(3..)?);
    let fits = matches!(day.len(), 1 | 2) && year.len() == 4 && month_named(month).is_some();
    fits.then(|| format!("{day}-{month}-{year} {clock}"))
}

/// `22-NOV-26 12.00.00.000000 PM`.
fn of_oracle(cell: &str) -> Option<String> {
    let (day, clock) = cell.split_once(' ')?;
    Some(format!("{day} {}", with_colons(clock)?))
}

/// A time of day whose numbers have dots between them.
fn with_colons(clock: &str) -> Option<String> {
    let bytes = clock.as_bytes();
    (bytes.get(2) == Some(&b'.') && bytes.get(5) == Some(&b'.')).then(|| clock.replacen('.', ":", 2))
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::*;

    #[test]
    fn the_same_moment_in_the_logs_and_dumps_of_programs() {
        let noon = parse("2026-11-22T12:00:00Z", Style::Iso);
        assert!(noon.is_some());
        for (text, style) in [
            ("20261122T120000Z", Style::Iso),
            ("20261122T1200", Style::Iso),
            ("2026-11-22-12.00.00.000000", Style::Iso),
            ("2026年11月22日 12:00", Style::Iso),
            ("2026년 11월 22일 12:00", Style::Iso),
            ("22/Nov/2026:12:00:00 +0000", Style::Words),
            ("[22/Nov/2026:12:00:00", Style::Words),
            ("22NOV2026:12:00:00.00", Style::Words),
            ("22-NOV-26 12.00.00.000000 PM", Style::Words),
            ("22-NOV-26 12.00.00.000000000 PM +01:00", Style::Words),
        ] {
            assert_eq!(parse(text, style), noon, "{text}");
        }
        assert_eq!(parse("22NOV2026", Style::Words), parse("2026-11-22", Style::Iso));
        for (text, style) in [
            ("20261322T120000", Style::Iso),
            ("20261122T12", Style::Iso),
            ("20261122", Style::Iso),
            ("3年", Style::Iso),
            ("22/Nov/2026:25:00:00", Style::Words),
            ("22NOX2026", Style::Words),
            ("22NOV26", Style::Words),
            ("22-NOV-26 12.00", Style::Words),
            ("22/Marketing/2026", Style::Words),
        ] {
            assert_eq!(parse(text, style), None, "{text}");
        }
    }
}
