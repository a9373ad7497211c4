//! Numbers in sentences, and enumerations whose values have names.

use crate::fault::{Fault, fault};

/// `1 row`, `2 rows`.
pub fn counted(count: u64, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// `1 row was`, `2 rows were`.
pub fn counted_past(count: u64, noun: &str) -> String {
    format!("{} {}", counted(count, noun), if count == 1 { "was" } else { "were" })
}

/// The first `most` items, and how many follow: `a, b and 3 more`.
pub fn first_of<S: AsRef<str>>(items: &[S], most: usize) -> String {
    let first: Vec<&str> = items.iter().take(most).map(AsRef::as_ref).collect();
    match items.len().saturating_sub(most) {
        0 => first.join(", "),
        more => format!("{} and {more} more", first.join(", ")),
    }
}

/// Declares an enumeration whose values have names, by which options give them and files store them.
macro_rules! named {
    ($(#[$meta:meta])* pub enum $name:ident { $($(#[$of:meta])* $value:ident = $word:literal,)* }) => {
        $(#[$meta])*
        pub enum $name { $($(#[$of])* $value,)* }

        impl $name {
            /// All of them.
            pub const ALL: [Self; [$($word),*].len()] = [$(Self::$value),*];

            /// Its name.
            pub fn name(self) -> &'static str {
                match self { $(Self::$value => $word,)* }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.name())
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::fault::Fault;

            fn from_str(name: &str) -> Result<Self, Self::Err> {
                let found = Self::ALL.into_iter().find(|value| value.name() == name);
                found.ok_or_else(|| $crate::words::not_one_of(name, &[$($word),*]))
            }
        }
    };
}

pub(crate) use named;

/// `"x" is not one of a, b and c`.
pub(crate) fn not_one_of(name: &str, names: &[&str]) -> Fault {
    let (last, others) = names.split_last().expect("an enumeration has values");
    fault!("{name:?} is not one of {} and {last}", others.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_list_is_begun() {
        let items = ["a", "b", "c"];
        for (most, said) in [(4, "a, b, c"), (3, "a, b, c"), (2, "a, b and 1 more")] {
            assert_eq!(first_of(&items, most), said);
        }
    }

    #[test]
    fn names_are_read_back() {
        use crate::{encode::LargeRow, encode::scale::Scaling, read::format::Format, watch::curve::Measure};
        fn check<T: std::str::FromStr<Err = Fault> + std::fmt::Display>(values: impl IntoIterator<Item = T>) {
            for value in values {
                assert_eq!(
                    value.to_string().parse::<T>().map(|read| read.to_string()),
                    Ok(value.to_string())
                );
            }
        }
        check(LargeRow::ALL);
        check(Scaling::ALL);
        check(Format::ALL);
        check(Measure::ALL);
        let error = "drop".parse::<LargeRow>().expect_err("no such name");
        assert_eq!(error.to_string(), "\"drop\" is not one of warn, clip and error");
    }

    #[test]
    fn one_is_singular() {
        assert_eq!([0, 1, 2].map(|count| counted(count, "row")), ["0 rows", "1 row", "2 rows"]);
        assert_eq!([1, 2].map(|count| counted_past(count, "row")), ["1 row was", "2 rows were"]);
    }
}
