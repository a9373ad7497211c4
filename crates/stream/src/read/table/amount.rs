//! Numbers with groups of thousands, decimal commas, currency or percent signs.

use std::borrow::Cow;

use super::duration;
use crate::read::number;
use crate::read::table::schema::Style;

/// Parses a number in `style`; `None` if the cell is not a finite number.
pub(crate) fn parse(cell: &[u8], style: Option<Style>) -> Option<f64> {
    let (group, point) = match style {
        None => return number::parse(cell).ok().filter(|number| number.is_finite()),
        Some(Style::Grouped) => (b',', b'.'),
        Some(Style::DecimalComma) => (b'.', b','),
        Some(style @ (Style::Duration | Style::Minutes)) => {
            return duration::seconds(cell, style == Style::Minutes).or_else(|| parse(cell, None));
        }
        Some(_) => return None,
    };
    let plain_cell = if cell.is_ascii() { Cow::Borrowed(cell) } else { Cow::Owned(plain_signs(cell)?) };
    let (negative, cell) = strip(&plain_cell);
    let (cell, exponent) = with_exponent(cell);
    let mut plain = Vec::with_capacity(cell.len());
    // Number of digits since the last group separator, and whether the decimal point was read.
    let (mut digits, mut grouped, mut decimals) = (0, false, false);
    // Number of digits of the first group, and of those between it and the last.
    let (mut first, mut between): (u32, Option<u32>) = (0, None);
    for &byte in cell {
        match byte {
            b'0'..=b'9' => {
                digits += 1;
                plain.push(byte);
            }
            _ if byte == group || byte == b' ' || byte == b'\'' => {
                // 0.100 and 0,100 are no thousands.
                let zero = matches!(plain[..], [.., b'0']) && digits == 1;
                // 1,20,000 is a number in India: pairs between a first group of one or two digits and the
                // last.
                let is_pair = digits == 2 && byte == b',' && first < 3;
                let fits = match grouped {
                    true => (digits == 3 || is_pair) && between.is_none_or(|others| others == digits),
                    false => (1..=3).contains(&digits) && !zero,
                };
                if decimals || !fits {
                    return None;
                }
                if grouped {
                    between = Some(digits);
                } else {
                    first = digits;
                }
                (digits, grouped) = (0, true);
            }
            _ if byte == point => {
                if decimals || (grouped && digits != 3) {
                    return None;
                }
                (digits, decimals, grouped) = (0, true, false);
                plain.push(b'.');
            }
            b'-' | b'+' if plain.is_empty() && !negative => plain.push(byte),
            _ => return None,
        }
    }
    if grouped && digits != 3 {
        return None;
    }
    plain.extend_from_slice(exponent);
    let number = number::parse(&plain).ok().filter(|number| number.is_finite())?;
    Some(if negative { -number } else { number })
}

/// A number and its exponent, as in `1,68E+05`, which is empty if it has none.
fn with_exponent(cell: &[u8]) -> (&[u8], &[u8]) {
    let end = cell.len() - cell.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let before = cell[..end].strip_suffix(b"+").or_else(|| cell[..end].strip_suffix(b"-"));
    let before = before.unwrap_or(&cell[..end]);
    match before.strip_suffix(b"E").or_else(|| before.strip_suffix(b"e")) {
        Some(number) if !number.is_empty() && end < cell.len() => cell.split_at(number.len()),
        _ => (cell, b""),
    }
}

/// The notations of numbers that a cell shows by itself.
pub(crate) const STYLES: [Style; 2] = [Style::Grouped, Style::DecimalComma];

/// Whether a cell is a number, plain or in one of [`STYLES`].
pub(crate) fn is_amount(cell: &[u8]) -> bool {
    STYLES.iter().any(|style| parse(cell, Some(*style)).is_some())
}

/// The cell with ASCII's blank, apostrophe and minus for those of typography; `None` if it is no text.
fn plain_signs(cell: &[u8]) -> Option<Vec<u8>> {
    let plain = |sign| match sign {
        '\u{a0}' | '\u{2007}' | '\u{2009}' | '\u{202f}' => ' ',
        '\u{2019}' => '\'',
        '\u{2212}' => '-',
        other => other,
    };
    Some(std::str::from_utf8(cell).ok()?.chars().map(plain).collect::<String>().into_bytes())
}

/// How a number is written that has a decimal comma, for the refusal of `text`; nothing for other texts.
pub(crate) fn comma_way_out(text: &str) -> &'static str {
    match text.contains(',') && parse(text.as_bytes(), Some(Style::DecimalComma)).is_some() {
        true => " (write decimals with a point, as in 0.5)",
        false => "",
    }
}

/// The signs of currencies, and of percents.
const SIGNS: [&str; 6] = ["$", "€", "£", "¥", "₹", "%"];

/// The sign beside a number.
pub(crate) fn sign(cell: &str) -> Option<&'static str> {
    SIGNS.into_iter().find(|sign| cell.contains(sign))
}

/// The cell without currency or percent signs around it, and whether a minus or parentheses, which mean one,
/// are around these.
fn strip(cell: &[u8]) -> (bool, &[u8]) {
    let cell = cell.trim_ascii();
    let inside = cell.strip_prefix(b"(").and_then(|rest| rest.strip_suffix(b")"));
    let minus = inside.or_else(|| cell.strip_prefix(b"-"));
    let mut cell = minus.unwrap_or(cell).trim_ascii();
    while let Some(rest) = SIGNS.iter().find_map(|sign| cell.strip_prefix(sign.as_bytes())) {
        cell = rest.trim_ascii();
    }
    while let Some(rest) = SIGNS.iter().find_map(|sign| cell.strip_suffix(sign.as_bytes())) {
        cell = rest.trim_ascii();
    }
    (minus.is_some(), cell)
}

/// Codes of currencies, which stand before a number, too.
const CURRENCIES: [&str; 14] =
    ["USD", "EUR", "GBP", "JPY", "CHF", "CAD", "AUD", "CNY", "INR", "SEK", "NOK", "DKK", "PLN", "BRL"];

/// The unit of a number: what is behind it, without the s of a plural, or the code of a currency before it.
/// It begins with a letter, a degree sign or a plus, and no other number follows, as in a date.
pub(crate) fn unit(cell: &str) -> Option<&str> {
    const LONGEST: usize = 20;
    if let Some(code) = CURRENCIES.iter().find(|code| cell.starts_with(**code)) {
        return Some(*code);
    }
    let in_number = |sign: char| sign.is_ascii_digit() || "+-.,' \u{a0}\u{202f}\u{2212}".contains(sign);
    let digit = cell.find(|sign: char| sign.is_ascii_digit())?;
    let end = digit + cell[digit..].find(|sign: char| !in_number(sign) || sign == '+')?;
    let unit = cell[end..].trim();
    let begins = |sign: char| sign.is_alphabetic() || "°+".contains(sign);
    let (plural, number) = (unit.len() > 3, cell[..digit].chars().all(in_number));
    let unit = unit.strip_suffix('s').filter(|_| plural).unwrap_or(unit);
    let single = unit.split_whitespace().all(|word| word.starts_with(|sign| begins(sign) || sign == '/'));
    // 2. is the number of an item, and 09A a code.
    let item = cell[..end].trim_end().ends_with('.');
    let padded = matches!(cell.as_bytes()[digit..], [b'0', b'0'..=b'9', ..]);
    let code = padded && cell[..end].ends_with(|sign: char| sign.is_ascii_digit());
    // Fortran's 1.5D+01 has an exponent, and no unit.
    let digits = unit.strip_prefix(['D', 'd', 'E', 'e']).map(|rest| rest.trim_start_matches(['+', '-']));
    let exponent = digits.is_some_and(|digits| digits.starts_with(|sign: char| sign.is_ascii_digit()));
    let fits = unit.starts_with(begins) && unit.len() <= LONGEST;
    (number && single && fits && !exponent && !item && !code).then_some(unit)
}

/// The number of a cell without its unit; `None` if it has another one, or none.
pub(crate) fn without_unit<'a>(cell: &'a [u8], unit: &str) -> Option<&'a [u8]> {
    let behind = || cell.strip_suffix(b"s").filter(|_| unit.len() > 2)?.strip_suffix(unit.as_bytes());
    let before = || cell.strip_prefix(unit.as_bytes()).filter(|_| CURRENCIES.contains(&unit));
    let number = cell.strip_suffix(unit.as_bytes()).or_else(behind).or_else(before)?.trim_ascii();
    (!number.is_empty()).then_some(number)
}

/// The style in which most cells are numbers, and their count; the first of several. Plain numbers
/// are valid in every style.
pub(crate) fn detect<'a>(
    cells: impl Iterator<Item = &'a [u8]> + Clone,
    comma_first: bool,
) -> (Option<Style>, usize) {
    let styles = match comma_first {
        true => [None, Some(Style::DecimalComma), Some(Style::Grouped)],
        false => [None, Some(Style::Grouped), Some(Style::DecimalComma)],
    };
    let found = |style| cells.clone().filter(|cell| parse(cell, style).is_some()).count();
    let mut best = (None, found(None));
    for style in &styles[1..] {
        let count = found(*style);
        if count > best.1 {
            best = (*style, count);
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_they_are_written() {
        let cases = [
            ("1,234.50", Some(Style::Grouped), Some(1234.5)),
            ("12.5", Some(Style::Grouped), Some(12.5)),
            ("1,234,567", Some(Style::Grouped), Some(1_234_567.0)),
            ("1,20,000", Some(Style::Grouped), Some(120_000.0)),
            ("₹ 12,34,567.5", Some(Style::Grouped), Some(1_234_567.5)),
            ("12,34,56,789", Some(Style::Grouped), Some(123_456_789.0)),
            // Lists of numbers, such as the parts of a colour.
            ("200,30,150", Some(Style::Grouped), None),
            ("1,234,56,789", Some(Style::Grouped), None),
            ("12,34,567,890", Some(Style::Grouped), None),
            ("1,20", Some(Style::Grouped), None),
            ("1.20.000", Some(Style::DecimalComma), None),
            ("12,5", Some(Style::Grouped), None),
            ("1,2345", Some(Style::Grouped), None),
            ("1.234,50", Some(Style::DecimalComma), Some(1234.5)),
            ("-0,5", Some(Style::DecimalComma), Some(-0.5)),
            ("1 234,5 €", Some(Style::DecimalComma), Some(1234.5)),
            ("$12.00", Some(Style::Grouped), Some(12.0)),
            ("7 %", Some(Style::Grouped), Some(7.0)),
            ("1'000.25", Some(Style::Grouped), Some(1000.25)),
            ("0.100", Some(Style::DecimalComma), None),
            ("-0,500", Some(Style::Grouped), None),
            ("10.100", Some(Style::DecimalComma), Some(10_100.0)),
            ("1,68E+05", Some(Style::DecimalComma), Some(168_000.0)),
            ("-2,5e-1", Some(Style::DecimalComma), Some(-0.25)),
            ("1.68E5", Some(Style::Grouped), Some(168_000.0)),
            ("1,68E", Some(Style::DecimalComma), None),
            ("E+05", Some(Style::DecimalComma), None),
            ("1,68E+", Some(Style::DecimalComma), None),
            ("12.5", None, Some(12.5)),
            ("1,5", None, None),
            ("0 days 00:01:30", Some(Style::Duration), Some(90.0)),
            ("90.0", Some(Style::Duration), Some(90.0)),
            ("1:30", Some(Style::Duration), Some(5400.0)),
            ("1:30", Some(Style::Minutes), Some(90.0)),
            ("59.8", Some(Style::Minutes), Some(59.8)),
            ("1,5", Some(Style::Duration), None),
            ("", Some(Style::Grouped), None),
            ("-", Some(Style::Grouped), None),
            ("twelve", Some(Style::DecimalComma), None),
            ("-$1,234.50", Some(Style::Grouped), Some(-1234.5)),
            ("$-12", Some(Style::Grouped), Some(-12.0)),
            ("($12.50)", Some(Style::Grouped), Some(-12.5)),
            ("\u{2212}1\u{202f}234,5 €", Some(Style::DecimalComma), Some(-1234.5)),
            ("1\u{a0}234,5\u{a0}%", Some(Style::DecimalComma), Some(1234.5)),
            ("1’234.5", Some(Style::Grouped), Some(1234.5)),
            ("--5", Some(Style::Grouped), None),
            ("-$-5", Some(Style::Grouped), None),
            ("(-5)", Some(Style::Grouped), None),
            ("(5", Some(Style::Grouped), None),
            ("()", Some(Style::Grouped), None),
            ("- 5", Some(Style::Grouped), Some(-5.0)),
        ];
        for (text, style, expected) in cases {
            assert_eq!(parse(text.as_bytes(), style), expected, "{text:?} {style:?}");
        }
    }

    #[test]
    fn units_are_what_is_behind_numbers() {
        for (cell, expected) in [
            ("12 kg", Some(("kg", "12"))),
            ("-3.5GB", Some(("GB", "-3.5"))),
            ("1,200 km/h", Some(("km/h", "1,200"))),
            ("3 years", Some(("year", "3"))),
            ("1 year", Some(("year", "1"))),
            ("5 lbs", Some(("lbs", "5"))),
            ("21 °C", Some(("°C", "21"))),
            ("40 m2", Some(("m2", "40"))),
            ("65+", Some(("+", "65"))),
            ("USD 7", Some(("USD", "7"))),
            ("7,50 EUR", Some(("EUR", "7,50"))),
            ("A11", None),
            ("T-12", None),
            ("1.5D+01", None),
            ("2. Married", None),
            ("3.NL", None),
            ("09A", None),
            ("050XX", None),
            ("0.5kg", Some(("kg", "0.5"))),
            ("05 min", Some(("min", "05"))),
            ("3 eggs", Some(("egg", "3"))),
            ("12", None),
            ("12:30", None),
            ("3 Mar 2026", None),
            ("2024-01-02", None),
            ("3/4", None),
            ("kg", None),
            ("", None),
        ] {
            let number = unit(cell).and_then(|unit| Some((unit, without_unit(cell.as_bytes(), unit)?)));
            assert_eq!(number, expected.map(|(unit, number)| (unit, number.as_bytes())), "{cell:?}");
        }
        for (cell, unit) in [("12 g", "kg"), ("12", "kg"), ("kg", "kg"), ("kg 12", "kg"), ("12 kgs", "g")] {
            assert_eq!(without_unit(cell.as_bytes(), unit), None, "{cell}");
        }
    }

    #[test]
    fn the_style_is_recognised() {
        let detect = |cells: &[&str]| detect(cells.iter().map(|cell| cell.as_bytes()), false);
        assert_eq!(detect(&["1", "2.5"]), (None, 2));
        assert_eq!(detect(&["1", "1,234.5"]), (Some(Style::Grouped), 2));
        assert_eq!(detect(&["1,5", "2.000,25"]), (Some(Style::DecimalComma), 2));
        assert_eq!(detect(&["1,500", "x"]), (Some(Style::Grouped), 1));
        assert_eq!(super::detect([&b"1,500"[..]].into_iter(), true), (Some(Style::DecimalComma), 1));
    }
}
