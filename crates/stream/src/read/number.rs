//! Fast parsing of short decimal numbers. Every result is bit-equal to that of the fast-float2
//! crate.
//!
//! A number of at most 15 digits is an integer below 2^53 over a power of ten up to 10^15: both are exact in
//! 64 bits, so that one division rounds correctly (Clinger 1990, How to read floating point numbers
//! accurately).

/// Largest magnitude of values and norms: beyond it, computations with squares could overflow.
pub const LARGEST_NORM: f64 = 1e100;

/// Largest importance weight: beyond it, computations with squares could overflow.
pub const LARGEST_WEIGHT: f64 = 1e30;

/// 10^0 to 10^15.
const POWERS: [f64; 16] =
    [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15];

/// 10^0 to 10^8, as integers.
const INTEGER_POWERS: [u64; 9] = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000];

/// Largest number of digits that is always below 2^53.
const MOST_DIGITS: usize = 15;

/// Parses `text` as a number.
pub(crate) fn parse(text: &[u8]) -> Result<f64, fast_float2::Error> {
    match short(text) {
        Some(value) => Ok(value),
        None => fast_float2::parse(text),
    }
}

/// [`parse`] for short plain numbers: most cells have few digits.
fn short(text: &[u8]) -> Option<f64> {
    if text.len() > MOST_DIGITS {
        return None;
    }
    let (mut mantissa, mut places, mut digits) = (0_u64, 0, 0);
    let mut point = false;
    let unsigned = text.strip_prefix(b"-").unwrap_or(text);
    for &byte in unsigned {
        let digit = byte.wrapping_sub(b'0');
        if digit < 10 {
            mantissa = 10 * mantissa + u64::from(digit);
            digits += 1;
            places += usize::from(point);
        } else if byte == b'.' && !point && digits > 0 {
            point = true;
        } else {
            return None;
        }
    }
    if digits == 0 || (point && places == 0) {
        return None;
    }
    let negative = unsigned.len() < text.len();
    // Most numbers are integers and need no division.
    if places == 0 {
        let value = mantissa as i64 as f64;
        return Some(if negative { -value } else { value });
    }
    Some(signed(negative, mantissa, places))
}

/// Number of bytes that [`common`] reads.
pub(crate) const WINDOW: usize = 32;

/// The number at `start`, below `WINDOW` - 10, and its end: one digit, a point and at most 7
/// digits, the most frequent form, or one digit alone. Callers use another parser if this returns
/// `None`, or if the number continues after the end.
#[inline(always)]
pub(crate) fn common(text: &[u8; WINDOW], start: usize) -> Option<(f64, usize)> {
    let whole = text[start].wrapping_sub(b'0');
    if whole > 9 {
        return None;
    }
    if text[start + 1] != b'.' {
        return Some((f64::from(whole), start + 1));
    }
    let (count, fraction) = digits(text[start + 2..].first_chunk()?);
    if count == 0 || count == 8 {
        return None;
    }
    let mantissa = u64::from(whole) * INTEGER_POWERS[count] + fraction;
    Some((quotient(mantissa, count), start + 2 + count))
}

/// The number at `start`, and its end. `None` if it is long, unusual, or not a number, or if `text`
/// ends within a few bytes; fast-float2 then decides.
#[inline]
pub(crate) fn leading(text: &[u8], start: usize) -> Option<(f64, usize)> {
    let negative = *text.get(start)? == b'-';
    let first = start + usize::from(negative);
    // There are few digits before the point, mostly one; after it their number varies, and a loop
    // would be mispredicted.
    let (mut mantissa, mut at) = integer(text, first)?;
    let mut places = 0;
    if text[at] == b'.' {
        let (count, fraction) = digits(text.get(at + 1..)?.first_chunk()?);
        mantissa = mantissa * INTEGER_POWERS[count] + fraction;
        (at, places) = (at + 1 + count, count);
        if count == 0 {
            return None;
        }
        if count == 8 {
            let (count, fraction) = digits(text.get(at..)?.first_chunk()?);
            if at + count - 1 - first > MOST_DIGITS {
                return None;
            }
            mantissa = mantissa * INTEGER_POWERS[count] + fraction;
            (at, places) = (at + count, places + count);
        }
    }
    if *text.get(at)? | 0x20 == b'e' {
        return None;
    }
    Some((signed(negative, mantissa, places), at))
}

/// The 1 to 7 digits at `start` as a number, and their end, before the end of `text`.
#[inline]
pub(crate) fn integer(text: &[u8], start: usize) -> Option<(u64, usize)> {
    let mut value = 0_u64;
    let mut at = start;
    loop {
        let digit = text.get(at)?.wrapping_sub(b'0');
        if digit > 9 {
            break;
        }
        value = value.wrapping_mul(10).wrapping_add(u64::from(digit));
        at += 1;
    }
    (at > start && at < start + 8).then_some((value, at))
}

#[inline]
fn signed(negative: bool, mantissa: u64, places: usize) -> f64 {
    let value = quotient(mantissa, places);
    if negative { -value } else { value }
}

/// `mantissa`, below 2^53, over 10^`places`.
#[inline(always)]
fn quotient(mantissa: u64, places: usize) -> f64 {
    // Signed numbers are converted by one instruction.
    mantissa as i64 as f64 / POWERS[places]
}

/// Number of leading digits among the bytes, and their value.
#[inline(always)]
fn digits(text: &[u8; 8]) -> (usize, u64) {
    const HIGH: u64 = 0x8080_8080_8080_8080;
    let values = u64::from_le_bytes(*text) ^ 0x3030_3030_3030_3030;
    // Sets the high bit of each byte that is not a digit; carries affect later bytes only.
    let others = (values.wrapping_add(0x7676_7676_7676_7676) | values) & HIGH;
    let count = others.trailing_zeros() as usize / 8;
    if count == 0 {
        return (0, 0);
    }
    // Padded with leading zeros to 8 digits; then pairs, fours and all eight are combined.
    let tens = values << (64 - 8 * count);
    let pairs = tens.wrapping_mul(10).wrapping_add(tens >> 8);
    const MASK: u64 = 0x0000_00ff_0000_00ff;
    let high = (pairs & MASK).wrapping_mul(0x000f_4240_0000_0064);
    let low = ((pairs >> 16) & MASK).wrapping_mul(0x0000_2710_0000_0001);
    (count, high.wrapping_add(low) >> 32)
}

/// Whether 0 is far from numbers with this mean and variance, so that it cannot stand for a missing one.
pub(crate) fn is_far_from_0(mean: f64, variance: f64) -> bool {
    const DEVIATIONS: f64 = 2.0;
    mean * mean > DEVIATIONS * DEVIATIONS * variance
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Texts that look like numbers, most of them short.
    fn number_like() -> impl Strategy<Value = String> {
        prop_oneof![
            "-?[0-9]{1,9}(\\.[0-9]{1,17})?",
            "-?[0-9]{1,3}\\.[0-9]{1,8}",
            "[-+.0-9eEinfa]{0,20}",
            "-?[0-9]{0,20}\\.?[0-9]{0,20}([eE][-+]?[0-9]{1,3})?",
            any::<f64>().prop_map(|value| value.to_string()),
            any::<f64>().prop_map(|value| format!("{value:e}")),
            any::<f32>().prop_map(|value| value.to_string()),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4_000))]

        #[test]
        fn every_bit_is_that_of_fast_float2(text in number_like(), rest in "[ \t\n\r:,x0]{1,3}\\PC{0,12}") {
            let bits = |value: f64| value.to_bits();
            let expected = fast_float2::parse::<f64, _>(&text).map(bits).ok();
            prop_assert_eq!(parse(text.as_bytes()).map(bits).ok(), expected);

            let longer = format!("{text}{rest}");
            let expected = fast_float2::parse_partial::<f64, _>(&longer);
            if let Some((value, length)) = leading(longer.as_bytes(), 0) {
                let (expected, expected_length) = expected.expect("a quick number is a number");
                prop_assert_eq!((bits(value), length), (bits(expected), expected_length), "{}", longer);
            }

            let mut window = [b'#'; WINDOW];
            let length = longer.len().min(WINDOW);
            window[..length].copy_from_slice(&longer.as_bytes()[..length]);
            if let Some((value, length)) = common(&window, 0)
                && window[length].is_ascii_whitespace()
            {
                let (expected, expected_length) = fast_float2::parse_partial::<f64, _>(&longer).expect("a number");
                prop_assert_eq!((bits(value), length), (bits(expected), expected_length), "{}", longer);
            }
        }

        #[test]
        fn digits_are_counted_and_read(text in "[0-9]{0,9}[^0-9]{1,9}") {
            let Some((count, value)) = text.as_bytes().first_chunk().map(digits) else { return Ok(()) };
            let expected: String = text.chars().take_while(char::is_ascii_digit).take(8).collect();
            prop_assert_eq!(count, expected.len());
            prop_assert_eq!(value, expected.parse().unwrap_or(0));
        }
    }

    #[test]
    fn common_numbers_are_quick() {
        for text in ["0", "1 2", "-1", "0.368684", "0.0454545", "-12.5\n", "1234567", "3.14159265358979"] {
            let padded = format!("{text}\n        ");
            assert!(leading(padded.as_bytes(), 0).is_some(), "{text}");
        }
        for text in ["0", "1 2", "0.368684", "0.0454545", "1.5\n"] {
            let mut window = [b' '; WINDOW];
            window[7..7 + text.len()].copy_from_slice(text.as_bytes());
            let (value, end) = common(&window, 7).expect(text);
            assert_eq!(Some((value, end)), leading(&window, 7), "{text}");
        }
        assert_eq!(leading(b"-0        ", 0).map(|(value, _)| value.to_bits()), Some((-0.0_f64).to_bits()));
    }
}
