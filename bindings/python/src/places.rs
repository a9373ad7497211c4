//! What the model files of learners and bandits say of columns: the names of those of a first table, where
//! columns count by their places, and whether later tables may bring others.

use noregret::model::Archive;

use crate::error::Done;

/// The text of a model file with the names.
const PLACES: &str = "places";

/// The text of the model file of a learner that takes in columns of later tables.
const OPEN: &str = "open";

/// Writes the names, if there are any, and whether others may come.
pub(crate) fn write(places: Option<&[String]>, open: bool, archive: &mut Archive) {
    if open {
        archive.set_text(OPEN, "columns");
    }
    if let Some(places) = places {
        archive.set_text(PLACES, serde_json::to_string(places).expect("plain texts"));
    }
}

/// The names in a model file; files from before have none.
pub(crate) fn read(archive: &Archive) -> Done<Option<Vec<String>>> {
    Ok(archive.text(PLACES).map(|_| archive.json(PLACES)).transpose()?)
}

/// Whether later tables may bring columns; none may in files from before.
pub(crate) fn are_open(archive: &Archive) -> bool {
    archive.text(OPEN).is_some()
}
