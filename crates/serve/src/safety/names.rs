//! Names of models, which are also names of folders.

use crate::refusal::{Refusal, shown};

/// Checks that `name` is a valid name of `whose` kind (`the model's`): 1 to 64 letters, digits, `-`, `_` and
/// `.`, the first a letter or digit. Such a name cannot be a path out of the folder that it is in.
/// Fails if it is not.
pub(crate) fn check(whose: &str, name: &str) -> Result<(), Refusal> {
    let inner = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    let fits = (1..=64).contains(&name.len())
        && name.bytes().all(inner)
        && name.as_bytes()[0].is_ascii_alphanumeric()
        && !name.ends_with('.');
    if fits {
        return Ok(());
    }
    let what = format!(
        "{whose} name is {}; 1 to 64 letters, digits, '-', '_' and '.' were needed, a letter or digit first",
        shown(name)
    );
    Err(Refusal::invalid("name", what))
}

/// Whether `name` is that of the folder of a model or a backup that was being made, or of a model that was
/// being deleted, when the process died. Other hidden folders are somebody's own.
pub(crate) fn is_unfinished(name: &str) -> bool {
    let Some(rest) = name.strip_prefix('.') else { return false };
    let inner = rest.strip_suffix(".new").or(rest.strip_suffix(".deleted"));
    inner.is_some_and(|name| check("its", name).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_in_their_folder() {
        for name in ["a", "news-site_2.b", "0", &"x".repeat(64)] {
            assert_eq!(check("the model's", name), Ok(()), "{name}");
        }
        for name in
            ["", ".", "..", "../a", "a/b", "a\\b", ".a", "-a", "a.", "é", "a b", "a\0", &"x".repeat(65)]
        {
            assert!(check("the model's", name).is_err(), "{name:?}");
        }
        let refusal = check("the backup's", "../a").expect_err("a path");
        assert!(refusal.detail.starts_with("the backup's name is \"../a\"; 1 to 64"), "{refusal}");
    }
}
