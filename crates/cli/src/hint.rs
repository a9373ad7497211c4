//! Adds suggested options to the libraries' errors.

use noregret_stream::decisions::replay::ReplayError;
use noregret_stream::encode::survey::SurveyError;
use noregret_stream::{ReadError, ReadErrorKind};

/// The sentence of `error`, with the option that may help.
pub(crate) fn read_error(error: &ReadError) -> String {
    let hint = match error.kind() {
        ReadErrorKind::UnknownFormat => "pass --format".to_owned(),
        ReadErrorKind::SingleColumn { delimiter: None, .. } => "pass --delimiter if it has more".to_owned(),
        ReadErrorKind::SingleColumn { seen: Some('\t'), .. } => "pass --delimiter tab".to_owned(),
        ReadErrorKind::SingleColumn { seen: Some(seen), .. } => format!("pass --delimiter '{seen}'"),
        ReadErrorKind::SingleColumn { seen: None, .. } => "pass another --delimiter".to_owned(),
        ReadErrorKind::NotANumber { column, .. } => {
            format!("pass --categorical \"{}\" to read the column as text", column.escape_debug())
        }
        ReadErrorKind::IndexZero => "pass --index-base 0 if they begin at 0".to_owned(),
        ReadErrorKind::IndexTooLarge(_) => "pass --hash-bits to hash such indices".to_owned(),
        _ => return error.to_string(),
    };
    format!("{error}; {hint}")
}

/// The same for a first pass over `data`.
pub(crate) fn survey_error(data: &str, error: &SurveyError) -> String {
    match error {
        SurveyError::Read(error) => read_error(error),
        SurveyError::TooManyColumns(_) => {
            format!("{data}: {error}, with --hash-bits BITS or --set features=D")
        }
        other => format!("{data}: {other}"),
    }
}

/// The same for a log that is replayed.
pub(crate) fn replay_error(log: &str, error: &ReplayError) -> String {
    match error {
        ReplayError::Read(error) => read_error(error),
        ReplayError::NeedsModel(_) => format!("{log}: {error}; pass it with --load"),
        ReplayError::NeedsNoModel => format!("{log}: {error}; leave out --load"),
        ReplayError::TooLarge(bytes) => {
            format!("{log}: {error}; allow it with --memory {}", (bytes >> 20) + 1)
        }
        other => format!("{log}: {other}"),
    }
}
