//! Adds suggested options to the libraries' errors.

use noregret::model::ModelError;
use noregret_stream::decisions::replay::ReplayError;
use noregret_stream::encode::survey::{Survey, SurveyError};
use noregret_stream::run::RunError;
use noregret_stream::save::file::ModelFileError;
use noregret_stream::{Format, ReadError, ReadErrorKind};

/// The sentence of `error`, with the option that may help.
pub(crate) fn read_error(error: &ReadError) -> String {
    let hint = match error.kind() {
        ReadErrorKind::UnknownFormat => {
            format!("pass --format {}", Format::names(|format| format != Format::Parquet))
        }
        ReadErrorKind::SingleColumn { delimiter: None, .. } => {
            "pass --delimiter if it has more, or --label NAME if it is the label".to_owned()
        }
        ReadErrorKind::SingleColumn { seen: Some('\t'), .. } => "pass --delimiter tab".to_owned(),
        ReadErrorKind::SingleColumn { seen: Some(seen), .. } => format!("pass --delimiter '{seen}'"),
        ReadErrorKind::SingleColumn { seen: None, .. } => "pass another --delimiter".to_owned(),
        // A number of hundreds of digits is no word.
        ReadErrorKind::NotFinite { cell, .. } if cell.len() > 40 => {
            "pass --categorical COLUMN if it is a code, or --on-bad-row skip".to_owned()
        }
        ReadErrorKind::NotFinite { cell, .. } => {
            format!("pass --missing={cell} if it stands for a missing one")
        }
        ReadErrorKind::InvalidUtf8 => {
            "text in the encoding of Windows is converted by iconv -f WINDOWS-1252 -t UTF-8".to_owned()
        }
        ReadErrorKind::Width { .. } => "--on-bad-row skip leaves out rows that cannot be read".to_owned(),
        ReadErrorKind::NotFound if error.source_name().contains("://") => {
            "an address is not opened: save what is there, or hand it over by a pipe, as in curl -L ADDRESS | noregret run -".to_owned()
        }
        ReadErrorKind::IndexZero => "pass --index-base 0 if they begin at 0".to_owned(),
        ReadErrorKind::IndexTooLarge(_) => "pass --hash-bits to hash such indices".to_owned(),
        _ => return error.to_string(),
    };
    format!("{error}; {hint}")
}

/// The same for a first pass over `data`, with the way out if its label is the wrong column.
pub(crate) fn survey_error(data: &str, other_label: &str, error: &SurveyError) -> String {
    match error {
        SurveyError::Read(error) => read_error(error),
        SurveyError::TooManyColumns(_) => {
            format!("{data}: {error}, with --hash-bits BITS or --set features=D")
        }
        SurveyError::LabelsHardlyRepeat(..) => {
            format!("{data}: {error}; --learner vaw learns the latter{other_label}")
        }
        other => format!("{data}: {other}"),
    }
}

/// A remark on labels that may be numbers to forecast.
pub(crate) fn many_numbers(survey: &Survey) -> Option<String> {
    Some(format!("{}; --learner vaw forecasts numbers", survey.many_numbers()?))
}

/// The same for a model that is saved.
pub(crate) fn saving_error(error: &ModelFileError) -> String {
    match error {
        ModelFileError::Model { source: ModelError::TooLong, .. } => {
            format!("{error}; pass --hash-bits to hash the features")
        }
        _ => error.to_string(),
    }
}

/// The same for a run over `data`, unless reading or writing failed.
pub(crate) fn run_error(data: &str, error: &RunError) -> String {
    match error {
        RunError::Reward(..) => {
            format!("{data}: {error}; `noregret list` shows the learners that learn from rewards")
        }
        _ => format!("{data}: {error}"),
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The sentence of the library, and the option behind it.
    #[test]
    fn options_are_added_here() {
        let source = ModelError::TooLong;
        assert!(!source.to_string().contains("--"), "{source}");
        let said = saving_error(&ModelFileError::Model { path: "m".into(), source });
        assert!(
            said.starts_with("m: not written: ") && said.ends_with("; pass --hash-bits to hash the features")
        );
        let said = run_error("a.csv", &RunError::Reward(3, 0.5));
        assert!(
            said.starts_with("a.csv: row 3 has the reward 0.5, ") && said.contains("; `noregret list` shows")
        );
    }
}
