//! A remark on features of lines that number the rows, as tables leave them out.

use std::collections::HashMap;

use crate::read::error::shown;

/// A remark on a feature that counts up by one from line to line, in many lines; each is given by its numbers
/// with their names. A zero may be left out of the first one.
pub(crate) fn note<'a>(lines: impl Iterator<Item = Vec<(&'a str, f64)>>) -> Option<String> {
    const ENOUGH: usize = 50;
    let (mut counting, mut count): (HashMap<&str, f64>, usize) = (HashMap::new(), 0);
    for line in lines.skip(1) {
        let follows =
            |(name, value): &(&str, f64)| counting.get(*name).is_some_and(|before| *value == before + 1.0);
        let next: HashMap<&str, f64> =
            if count == 0 { line.into_iter().collect() } else { line.into_iter().filter(follows).collect() };
        (counting, count) = (next, count + 1);
        if counting.is_empty() {
            return None;
        }
    }
    let name = counting.into_keys().min().filter(|_| count >= ENOUGH)?;
    Some(format!(
        "feature {} numbers the rows: it counts up by one from line to line, and tells on rows in an order what follows the last label; \
         leave it out of the file",
        shown(name)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_that_count_up_are_told() {
        let told = |of: &dyn Fn(usize) -> Vec<(&'static str, f64)>, rows: usize| note((0..rows).map(of));
        let numbered = |t: usize| vec![("a", (t % 7) as f64), ("id", t as f64 + 10.0)];
        assert!(told(&numbered, 60).is_some_and(|note| note.starts_with("feature \"id\" numbers the rows")));
        assert_eq!(told(&numbered, 40), None, "too few");
        // The first zero is left out.
        let from_zero = |t: usize| if t == 0 { vec![] } else { vec![("1", t as f64)] };
        assert!(told(&from_zero, 60).is_some());
        for step in [2.0, -1.0, 0.0, 0.5] {
            assert_eq!(told(&|t| vec![("id", step * t as f64)], 60), None, "{step}");
        }
        assert_eq!(told(&|t| if t == 30 { vec![] } else { numbered(t) }, 60), None);
    }
}
