//! Numbers in sentences.

/// `1 row`, `2 rows`.
pub fn counted(count: u64, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// `1 row was`, `2 rows were`.
pub fn counted_past(count: u64, noun: &str) -> String {
    format!("{} {}", counted(count, noun), if count == 1 { "was" } else { "were" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_singular() {
        assert_eq!([0, 1, 2].map(|count| counted(count, "row")), ["0 rows", "1 row", "2 rows"]);
        assert_eq!([1, 2].map(|count| counted_past(count, "row")), ["1 row was", "2 rows were"]);
    }
}
