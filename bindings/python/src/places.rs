//! The names of the columns of a first table, in the model files of learners and bandits that know columns by
//! their places.

use noregret::model::Archive;

use crate::error::Done;

/// The text of a model file.
const PLACES: &str = "places";

/// Writes the names, if there are any.
pub(crate) fn write(places: Option<&[String]>, archive: &mut Archive) {
    if let Some(places) = places {
        archive.set_text(PLACES, serde_json::to_string(places).expect("plain texts"));
    }
}

/// The names in a model file; files from before have none.
pub(crate) fn read(archive: &Archive) -> Done<Option<Vec<String>>> {
    Ok(archive.text(PLACES).map(|_| archive.json(PLACES)).transpose()?)
}
