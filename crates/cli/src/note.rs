//! Messages on standard error.

use std::borrow::Cow;
use std::fmt;
use std::io::{IsTerminal, Write};

pub(crate) use noregret_stream::words::{counted, counted_past};

/// Writes a line to standard error; errors are ignored.
pub(crate) fn note(line: impl fmt::Display) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// The message on skipped rows.
pub(crate) fn note_bad_rows(count: u64, first: Option<&str>) {
    if let Some(first) = first {
        note(format_args!("noregret: {} skipped; the first: {first}", counted_past(count, "bad row")));
    }
}

/// A text from the data, for printing on a line: without control characters.
pub(crate) fn printable(text: &str) -> Cow<'_, str> {
    if !text.contains(char::is_control) {
        return Cow::Borrowed(text);
    }
    let shown = |c: char| if c.is_control() { c.escape_default().to_string() } else { c.to_string() };
    Cow::Owned(text.chars().map(shown).collect())
}

/// Columns of a terminal.
pub(crate) const WIDTH: usize = 80;

/// Wraps a text to `width` characters per line, with each line after `indent`.
pub(crate) fn wrapped(text: &str, width: usize, indent: &str) -> Vec<String> {
    let mut lines = vec![indent.to_owned()];
    for word in text.split(' ') {
        let line = lines.last_mut().expect("there is a line");
        let begun = line.len() > indent.len();
        if begun && line.chars().count() + 1 + word.chars().count() > width {
            lines.push(format!("{indent}{word}"));
        } else {
            line.push_str(if begun { " " } else { "" });
            line.push_str(word);
        }
    }
    lines
}

/// A text behind its subject. If it `folds`, as on a terminal, it has lines of at most [`WIDTH`] below each
/// other; elsewhere it is one line, in which programs find what they look for. So it is behind a subject that
/// leaves less than half of the width, as the name of a class may.
pub(crate) fn beside(subject: &str, text: &str, folds: bool) -> String {
    let hang = subject.chars().count();
    if !folds || hang > WIDTH / 2 || hang + text.chars().count() <= WIDTH {
        return format!("{subject}{text}");
    }
    let lines = wrapped(text, WIDTH - hang, "");
    let lines: Vec<&str> = lines.iter().map(|line| line.trim_end()).collect();
    format!("{subject}{}", lines.join(&format!("\n{:hang$}", "")))
}

/// Prints lines beside a name of `width` columns, which stands before the first of them.
pub(crate) fn print_beside(
    out: &mut impl Write,
    name: &str,
    width: usize,
    lines: Vec<String>,
) -> std::io::Result<()> {
    for (name, line) in std::iter::once(name).chain(std::iter::repeat("")).zip(lines) {
        writeln!(out, "{}", format!("{name:<width$}{line}").trim_end())?;
    }
    Ok(())
}

/// Writes a sentence about a subject, such as the data, to standard error.
pub(crate) fn note_about(subject: &str, sentence: &str) {
    note(beside(&format!("{subject:>9}  "), sentence, std::io::stderr().is_terminal()));
}

/// A number with five significant digits.
pub(crate) fn short(value: f64) -> String {
    let magnitude = value.abs();
    if magnitude == 0.0 {
        return "0".to_owned();
    }
    if !(1e-4..1e6).contains(&magnitude) {
        return format!("{value:.4e}");
    }
    let digits = (4 - magnitude.log10().floor() as i32).max(0) as usize;
    let text = format!("{value:.digits$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// A bound with five significant digits, the last of them rounded up, so that it still is one.
pub(crate) fn short_bound(value: f64) -> String {
    let text = short(value);
    match text.parse::<f64>() {
        Ok(shown) if shown < value => {
            let place = value.abs().log10().floor() as i32 - 4;
            short(value + 10f64.powi(if value.abs() < 1e6 { place.min(0) } else { place }))
        }
        _ => text,
    }
}

/// A number with `digits` decimals. What rounds to zero is written without a sign.
pub(crate) fn decimals(value: f64, digits: usize) -> String {
    let text = format!("{value:.digits$}");
    match text.strip_prefix('-') {
        Some(size) if size.bytes().all(|byte| matches!(byte, b'0' | b'.')) => size.to_owned(),
        _ => text,
    }
}

/// Removes the markup of formulas from doc comments, for terminals.
pub(crate) fn plain(doc: &str) -> String {
    let words = doc.replace("\\varepsilon", "epsilon").replace("\\ge", ">=").replace("\\le", "<=");
    words.replace(['$', '`', '\\'], "").replace('{', "(").replace('}', ")")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_has_80_columns() {
        let text = format!("764.900   (upper bound on the {}regret)", "very ".repeat(12));
        assert_eq!(beside("certificate  ", &text, false), format!("certificate  {text}"));
        let folded = beside("certificate  ", &text, true);
        assert!(
            folded.lines().count() == 2 && folded.lines().all(|line| line.chars().count() <= WIDTH),
            "{folded}"
        );
        assert!(folded.lines().skip(1).all(|line| line.starts_with(&" ".repeat(13))), "{folded}");
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(words(&folded)[1..], words(&text));
        assert_eq!(beside("learner  ", "auto", true), "learner  auto");
        for long in [41, 81] {
            let subject = "c".repeat(long);
            assert_eq!(beside(&subject, &text, true), format!("{subject}{text}"));
        }
    }

    #[test]
    fn zero_has_no_sign() {
        let cases =
            [(-1e-17, "0.0000"), (-0.0, "0.0000"), (0.0, "0.0000"), (-0.0002, "-0.0002"), (2.5, "2.5000")];
        for (value, text) in cases {
            assert_eq!(decimals(value, 4), text);
        }
        assert_eq!(decimals(-0.4, 0), "0");
    }

    #[test]
    fn formulas_are_words() {
        assert_eq!(
            plain(r"Weight $\lambda \ge \sqrt{R^2}$, or `none`."),
            "Weight lambda >= sqrt(R^2), or none."
        );
        assert_eq!(plain(r"$\varepsilon$"), "epsilon");
    }

    #[test]
    fn control_characters_are_written_out() {
        assert_eq!(printable("a\u{1b}[31m\té\u{9b}"), "a\\u{1b}[31m\\té\\u{9b}");
        assert_eq!(printable("a \\ b"), "a \\ b");
    }

    #[test]
    fn numbers_are_short() {
        let cases = [
            (0.0, "0"),
            (1.0, "1"),
            (4.358898943545032, "4.3589"),
            (0.04329264405596295, "0.043293"),
            (0.7443229275632982, "0.74432"),
            (3.8000000000076, "3.8"),
            (-1234.5678, "-1234.6"),
            (123456.7, "123457"),
            (1e7, "1.0000e7"),
            (1.5713484026336296e-180, "1.5713e-180"),
            (f64::INFINITY, "inf"),
        ];
        for (value, text) in cases {
            assert_eq!(short(value), text);
        }
    }

    /// Rounded to the nearest, most of these would be below the bound.
    #[test]
    fn a_bound_is_rounded_up() {
        let cases = [
            (4.35881, "4.3589"),
            (4.3588, "4.3588"),
            (99999.1, "100000"),
            (123456.2, "123457"),
            (1234501.0, "1.2346e6"),
            (0.0432901, "0.043291"),
            (-4.35889, "-4.3588"),
            (0.0, "0"),
            (f64::INFINITY, "inf"),
        ];
        for (value, text) in cases {
            assert_eq!(short_bound(value), text);
        }
    }
}
