//! Keys and their rights. Only hashes are stored, and keys are never logged.

use std::path::Path;

use noregret_stream::Replacement;
use serde::{Deserialize, Serialize};
use std::io::Write as _;

use crate::refusal::Refusal;

/// The right of a key; each includes the previous ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Right {
    /// Predict, and read models.
    Read,
    /// Decide, give feedback, learn.
    Write,
    /// Make, change and delete models.
    Admin,
}

/// A stored key.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Key {
    /// Its name.
    name: String,
    /// The BLAKE3 hash of the key, in hexadecimal.
    hash: String,
    right: Right,
    /// The models that it may access; all if empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    models: Vec<String>,
}

/// The keys of a service. Without keys everything is allowed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Keys(Vec<Key>);

const FILE: &str = "keys.json";

impl Keys {
    /// Reads the keys of the folder `dir`.
    ///
    /// # Errors
    /// If their file is invalid.
    pub(crate) fn open(dir: &Path) -> Result<Self, String> {
        let path = dir.join(FILE);
        match std::fs::read(&path) {
            Ok(bytes) => serde_json::from_slice(&bytes)
                .map(Self)
                .map_err(|error| format!("{}: is not a list of keys: {error}", path.display())),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(format!("{}: cannot be read: {error}", path.display())),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Creates a key in the folder `dir` and returns it. Only its hash is stored.
    ///
    /// # Errors
    /// If writing fails, or the name exists.
    pub(crate) fn add(dir: &Path, name: &str, right: Right, models: &[String]) -> Result<String, String> {
        let mut keys = Self::open(dir)?;
        if keys.0.iter().any(|key| key.name == name) {
            return Err(format!("there is a key called {name} already"));
        }
        let key = random()?;
        let (name, models) = (name.to_owned(), models.to_vec());
        keys.0.push(Key { name, hash: hash(&key), right, models });
        keys.write(dir)
            .map_err(|error| format!("{}: cannot be written: {error}", dir.join(FILE).display()))?;
        Ok(key)
    }

    /// Writes the keys to the folder `dir`; removes the file if there are none.
    ///
    /// # Errors
    /// If writing fails.
    pub(crate) fn write(&self, dir: &Path) -> std::io::Result<()> {
        std::fs::create_dir_all(dir)?;
        if self.is_empty() {
            return Ok(());
        }
        let mut file = Replacement::open(&dir.join(FILE))?;
        file.write_all(&serde_json::to_vec_pretty(&self.0).expect("plain data"))?;
        file.finish()
    }

    /// Checks that `key` has `right` for `model`.
    ///
    /// # Errors
    /// 401 for an unknown or missing key, 403 without the right.
    pub(crate) fn check(&self, key: Option<&str>, right: Right, model: Option<&str>) -> Result<(), Refusal> {
        if self.0.is_empty() {
            return Ok(());
        }
        let Some(shown) = key else {
            return Err(Refusal::unauthorised("a key is needed, as Authorization: Bearer KEY"));
        };
        let hash = hash(shown);
        // A comparison in constant time is not needed, since the timing of hashes reveals nothing
        // about keys.
        let Some(key) = self.0.iter().find(|key| key.hash == hash) else {
            return Err(Refusal::unauthorised("the key is not valid"));
        };
        let fits =
            key.models.is_empty() || model.is_some_and(|model| key.models.iter().any(|one| one == model));
        if key.right < right || !fits {
            return Err(Refusal::forbidden("the key does not allow this"));
        }
        Ok(())
    }
}

impl Keys {
    /// The model of `key`, if it is for a single one.
    pub(crate) fn only_model(&self, key: Option<&str>) -> Option<&str> {
        let hash = hash(key?);
        match &self.0.iter().find(|key| key.hash == hash)?.models[..] {
            [one] => Some(one),
            _ => None,
        }
    }
}

fn hash(key: &str) -> String {
    blake3::hash(key.as_bytes()).to_hex().to_string()
}

/// A key of 256 random bits.
fn random() -> Result<String, String> {
    let mut bytes = [0u8; 32];
    std::fs::File::open("/dev/urandom")
        .and_then(|mut file| std::io::Read::read_exact(&mut file, &mut bytes))
        .map_err(|error| format!("/dev/urandom: cannot be read: {error}"))?;
    Ok(blake3::hash(&bytes).to_hex().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_have_rights() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        assert!(Keys::open(folder.path()).expect("none").is_empty());
        let read = Keys::add(folder.path(), "reader", Right::Read, &[]).expect("written");
        let one = Keys::add(folder.path(), "site", Right::Write, &["news".to_owned()]).expect("written");
        assert!(Keys::add(folder.path(), "site", Right::Read, &[]).is_err(), "the name is taken");
        let keys = Keys::open(folder.path()).expect("just written");
        let status = |key, right, model| keys.check(key, right, model).map_err(|refusal| refusal.status);
        assert_eq!(status(None, Right::Read, None), Err(401));
        assert_eq!(status(Some("guess"), Right::Read, None), Err(401));
        assert_eq!(status(Some(&read), Right::Read, Some("any")), Ok(()));
        assert_eq!(status(Some(&read), Right::Write, Some("any")), Err(403));
        assert_eq!(status(Some(&one), Right::Write, Some("news")), Ok(()));
        assert_eq!(status(Some(&one), Right::Read, Some("news")), Ok(()));
        assert_eq!(status(Some(&one), Right::Write, Some("other")), Err(403));
        assert_eq!(status(Some(&one), Right::Admin, Some("news")), Err(403));
        assert_eq!((keys.only_model(Some(&one)), keys.only_model(Some(&read))), (Some("news"), None));
        let file = std::fs::read_to_string(folder.path().join(FILE)).expect("written");
        assert!(!file.contains(&read) && !file.contains(&one), "keys are kept as hashes");
    }
}
