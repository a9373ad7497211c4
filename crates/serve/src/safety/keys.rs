//! Keys and their rights. Only hashes are stored, and keys are never logged.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, RwLock};
use std::time::SystemTime;

use noregret_stream::{Fault, Replacement};
use serde::{Deserialize, Serialize};

use crate::locks::Unpoisoned;
use crate::refusal::{Refusal, shown};

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

impl Right {
    /// As it is given when a key is made.
    fn word(self) -> &'static str {
        match self {
            Right::Read => "read",
            Right::Write => "write",
            Right::Admin => "admin",
        }
    }
}

/// A stored key. A field that is misspelt, such as `model` for `models`, must not open what it was to close.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Key {
    /// Its name.
    name: String,
    /// The BLAKE3 hash of the key, in hexadecimal.
    hash: String,
    right: Right,
    /// The models that it may access; all if empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    models: Vec<String>,
    /// Largest number of requests per second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rate: Option<u32>,
}

/// The keys of a service. Without keys everything is allowed.
#[derive(Clone, Debug, Default)]
pub struct Keys(Vec<Key>);

const FILE: &str = "keys.json";

impl Keys {
    /// Reads the keys of the folder `dir`.
    ///
    /// # Errors
    /// If their file is invalid.
    pub fn open(dir: &Path) -> Result<Self, Fault> {
        let path = dir.join(FILE);
        match std::fs::read(&path) {
            Ok(bytes) => serde_json::from_slice(&bytes)
                .map(Self)
                .map_err(|error| format!("{}: is not a list of keys: {error}", path.display()).into()),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(format!("{}: cannot be read: {error}", path.display()).into()),
        }
    }

    /// Whether there are none: then everybody may do everything.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Creates a key in the folder `dir` and returns it. Only its hash is stored. At most `rate` requests a
    /// second may be made with it, if that is given.
    ///
    /// # Errors
    /// If writing fails, or the name exists.
    pub fn add(
        dir: &Path,
        name: &str,
        right: Right,
        models: &[String],
        rate: Option<u32>,
    ) -> Result<String, Fault> {
        let is_name =
            |name: &str| !name.trim().is_empty() && !name.contains(char::is_control) && name.len() <= 128;
        if !is_name(name) {
            return Err(format!("a key is to be called {name:?}; a name of one line was needed").into());
        }
        for model in models {
            super::names::check("the model's", model).map_err(|refusal| refusal.detail)?;
        }
        let mut keys = Self::open(dir)?;
        if keys.0.iter().any(|key| key.name == name) {
            return Err(format!("there is a key called {name} already").into());
        }
        let key = random()?;
        let (name, models) = (name.to_owned(), models.to_vec());
        keys.0.push(Key { name, hash: hash(&key), right, models, rate });
        keys.write(dir)
            .map_err(|error| format!("{}: cannot be written: {error}", dir.join(FILE).display()))?;
        Ok(key)
    }

    /// Writes the keys to the folder `dir`; removes the file if there are none.
    /// Fails if writing fails.
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
    /// Refused with 401 for an unknown or missing key, 403 without the right.
    pub(crate) fn check(&self, key: Option<&str>, right: Right, model: Option<&str>) -> Result<(), Refusal> {
        let Some(key) = self.known(key)? else { return Ok(()) };
        let fits =
            key.models.is_empty() || model.is_some_and(|model| key.models.iter().any(|one| one == model));
        if !fits {
            let (mine, asked) = (key.models.join(", "), model.unwrap_or("all models"));
            let what =
                format!("the key {} is for {mine} alone; one for {asked} was needed", shown(&key.name));
            return Err(Refusal::forbidden(what));
        }
        if key.right < right {
            let (mine, needed) = (key.right.word(), right.word());
            let what = format!("the key {} has the right {mine}; {needed} was needed", shown(&key.name));
            return Err(Refusal::forbidden(what));
        }
        Ok(())
    }

    /// The key that was given; `None` if there are no keys, and everything is allowed.
    /// Refused with 401 for an unknown or missing key.
    fn known(&self, given: Option<&str>) -> Result<Option<&Key>, Refusal> {
        if self.is_empty() {
            return Ok(None);
        }
        let Some(given) = given else {
            return Err(Refusal::unauthorised("a key is needed, as Authorization: Bearer KEY"));
        };
        let hash = hash(given);
        // A comparison in constant time is not needed, since the timing of hashes reveals nothing
        // about keys.
        let key = self.0.iter().find(|key| key.hash == hash);
        let what = "the key is none of the service's: it is mistyped, or was removed";
        key.map(Some).ok_or_else(|| Refusal::unauthorised(what))
    }

    /// The models that may be read with `key`; `None` for all.
    /// Refused with 401 for an unknown or missing key.
    pub(crate) fn models_of(&self, key: Option<&str>) -> Result<Option<Vec<String>>, Refusal> {
        let models = self.known(key)?.map(|key| key.models.clone());
        Ok(models.filter(|models| !models.is_empty()))
    }
}

impl Keys {
    /// The model of `key`, if it is for a single one.
    pub(crate) fn only_model(&self, key: Option<&str>) -> Option<String> {
        let hash = hash(key?);
        match &self.0.iter().find(|key| key.hash == hash)?.models[..] {
            [one] => Some(one.clone()),
            _ => None,
        }
    }

    /// The name of `key`.
    pub(crate) fn name_of(&self, key: Option<&str>) -> Option<String> {
        if self.is_empty() {
            return None;
        }
        let hash = hash(key?);
        self.0.iter().find(|key| key.hash == hash).map(|key| key.name.clone())
    }

    /// The name of `key` and the largest number of requests per second, if it has one.
    pub(crate) fn rate_of(&self, key: Option<&str>) -> Option<(String, u32)> {
        if self.0.iter().all(|key| key.rate.is_none()) {
            return None;
        }
        let hash = hash(key?);
        let key = self.0.iter().find(|key| key.hash == hash)?;
        Some((key.name.clone(), key.rate?))
    }

    /// A line for every key, never with the key: name, right, models and rate, if it has one, separated by
    /// tabs.
    pub fn lines(&self) -> Vec<String> {
        let models =
            |key: &Key| if key.models.is_empty() { "all models".to_owned() } else { key.models.join(",") };
        let rate = |key: &Key| key.rate.map_or_else(String::new, |rate| format!("\t{rate} a second"));
        let line = |key: &Key| format!("{}\t{}\t{}{}", key.name, key.right.word(), models(key), rate(key));
        self.0.iter().map(line).collect()
    }

    /// Removes the key called `name` from the folder `dir`; a running service refuses it from then on.
    ///
    /// # Errors
    /// If writing fails, there is no such key, or it is the last one: without keys everything is allowed.
    pub fn remove(dir: &Path, name: &str) -> Result<(), Fault> {
        let mut keys = Self::open(dir)?;
        let place = keys.0.iter().position(|key| key.name == name);
        let place = place.ok_or_else(|| format!("there is no key called {name}; --list-keys shows all"))?;
        if keys.0.len() == 1 {
            return Err(format!(
                "{name} is the last key, without which everybody may do everything; add another one first, or stop the service and delete {}",
                dir.join(FILE).display()
            )
            .into());
        }
        keys.0.remove(place);
        keys.write(dir)
            .map_err(|error| format!("{}: cannot be written: {error}", dir.join(FILE).display()).into())
    }
}

/// The keys of a running service: those in the file now, which is read again whenever it has changed.
#[derive(Debug)]
pub(crate) struct LiveKeys {
    dir: PathBuf,
    held: RwLock<(Option<Stamp>, Arc<Keys>)>,
}

/// What changes with the content of a file.
type Stamp = (SystemTime, u64);

impl LiveKeys {
    /// The keys of the folder `dir`, of which `keys` have been read.
    pub(crate) fn new(dir: &Path, keys: Keys) -> Self {
        // Without a stamp the first request reads the file again, which may have changed since.
        Self { dir: dir.to_owned(), held: RwLock::new((None, Arc::new(keys))) }
    }

    /// The keys in force. A file that has become unreadable, or is gone, changes nothing: a service never
    /// opens itself to everybody by a mishap.
    pub(crate) fn now(&self) -> Arc<Keys> {
        let stamp =
            std::fs::metadata(self.dir.join(FILE)).and_then(|file| Ok((file.modified()?, file.len()))).ok();
        {
            let held = self.held.read().unpoisoned();
            if stamp.is_none() || held.0 == stamp {
                return Arc::clone(&held.1);
            }
        }
        let mut held = self.held.write().unpoisoned();
        if held.0 != stamp {
            match Keys::open(&self.dir) {
                Ok(keys) if keys.is_empty() && !held.1.is_empty() => {
                    tracing::error!(
                        "{} has no key any more; those of before stay in force",
                        self.dir.join(FILE).display()
                    );
                }
                Ok(keys) => held.1 = Arc::new(keys),
                Err(what) => tracing::error!("{what}; the keys of before stay in force"),
            }
            held.0 = stamp;
        }
        Arc::clone(&held.1)
    }
}

fn hash(key: &str) -> String {
    blake3::hash(key.as_bytes()).to_hex().to_string()
}

/// A key of 256 random bits.
fn random() -> Result<String, Fault> {
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
        let read = Keys::add(folder.path(), "reader", Right::Read, &[], None).expect("written");
        let one =
            Keys::add(folder.path(), "site", Right::Write, &["news".to_owned()], None).expect("written");
        assert!(Keys::add(folder.path(), "site", Right::Read, &[], None).is_err(), "the name is taken");
        for name in ["", " ", "a\nb"] {
            assert!(Keys::add(folder.path(), name, Right::Read, &[], None).is_err(), "{name:?} is no name");
        }
        assert!(
            Keys::add(folder.path(), "c", Right::Read, &[" m".to_owned()], None).is_err(),
            "no model's name"
        );
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
        let why = |key: &str, right, model| keys.check(Some(key), right, model).expect_err("refused").detail;
        let read_only = why(&read, Right::Admin, None);
        assert_eq!(read_only, "the key \"reader\" has the right read; admin was needed");
        let of_one = why(&one, Right::Read, None);
        assert_eq!(of_one, "the key \"site\" is for news alone; one for all models was needed");
        assert_eq!(
            (keys.only_model(Some(&one)), keys.only_model(Some(&read))),
            (Some("news".to_owned()), None)
        );
        let file = std::fs::read_to_string(folder.path().join(FILE)).expect("written");
        assert!(!file.contains(&read) && !file.contains(&one), "keys are kept as hashes");
    }

    #[test]
    fn a_running_service_knows_the_keys_of_the_file() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let live = LiveKeys::new(folder.path(), Keys::open(folder.path()).expect("none"));
        assert!(live.now().is_empty());
        let first = Keys::add(folder.path(), "first", Right::Read, &[], None).expect("written");
        let status =
            |key: &str| live.now().check(Some(key), Right::Read, None).map_err(|refusal| refusal.status);
        assert_eq!((status(&first), status("guess")), (Ok(()), Err(401)));
        let second =
            Keys::add(folder.path(), "second", Right::Admin, &["news".to_owned()], Some(9)).expect("written");
        assert_eq!(live.now().lines(), ["first\tread\tall models", "second\tadmin\tnews\t9 a second"]);
        Keys::remove(folder.path(), "first").expect("there are two");
        assert_eq!(status(&first), Err(401));
        // The last key stays, and so do all keys when the file is damaged or gone.
        assert!(
            Keys::remove(folder.path(), "second").expect_err("the last").to_string().contains("last key")
        );
        let file = std::fs::read_to_string(folder.path().join(FILE)).expect("written");
        let misspelt = file.replace("\"models\"", "\"model\"");
        std::fs::write(folder.path().join(FILE), &misspelt).expect("written");
        let refused = Keys::open(folder.path()).expect_err("it is no list of keys").to_string();
        assert!(refused.contains("unknown field `model`"), "{refused}");
        for damage in [&*misspelt, "[", "[]"] {
            std::fs::write(folder.path().join(FILE), damage).expect("written");
            assert!(!live.now().is_empty(), "{damage}");
        }
        std::fs::remove_file(folder.path().join(FILE)).expect("removed");
        let right = live.now().check(Some(&second), Right::Admin, Some("news"));
        assert_eq!(right, Ok(()));
    }
}
