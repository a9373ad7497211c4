//! Errors of requests: one sentence, the field concerned, and the status; and how a sentence repeats what a
//! request has.

use std::fmt;

use serde_json::Value;

/// Number of characters of untrusted text shown in messages.
const MOST_SHOWN: usize = 60;

/// An error of a request.
#[derive(Clone, Debug, PartialEq)]
pub struct Refusal {
    /// The HTTP status.
    pub status: u16,
    /// The invalid field of the body, as a path (`labels[1].features`).
    pub field: Option<String>,
    /// One sentence.
    pub detail: String,
    /// Number of seconds after which to retry.
    pub retry_after: Option<u32>,
}

impl Refusal {
    fn of(status: u16, detail: impl Into<String>) -> Self {
        Self { status, field: None, detail: detail.into(), retry_after: None }
    }

    /// The same about another field: the one of the request that it comes from.
    #[must_use]
    pub fn about(self, field: &str) -> Self {
        Self { field: Some(field.to_owned()), ..self }
    }

    /// The request cannot be parsed.
    pub fn malformed(detail: impl Into<String>) -> Self {
        Self::of(400, detail)
    }

    /// An invalid value: 422.
    pub fn invalid(field: &str, detail: impl Into<String>) -> Self {
        Self { field: Some(field.to_owned()), ..Self::of(422, detail) }
    }

    /// The thing does not exist.
    pub fn unknown(detail: impl Into<String>) -> Self {
        Self::of(404, detail)
    }

    /// The request contradicts an earlier one.
    pub fn conflict(detail: impl Into<String>) -> Self {
        Self::of(409, detail)
    }

    /// The thing no longer exists.
    pub fn gone(detail: impl Into<String>) -> Self {
        Self::of(410, detail)
    }

    /// A valid key is needed.
    pub fn unauthorised(detail: impl Into<String>) -> Self {
        Self::of(401, detail)
    }

    /// The key does not have the right.
    pub fn forbidden(detail: impl Into<String>) -> Self {
        Self::of(403, detail)
    }

    /// The body is larger than the limit.
    pub fn too_large(detail: impl Into<String>) -> Self {
        Self::of(413, detail)
    }

    /// Overloaded.
    pub fn busy(detail: impl Into<String>) -> Self {
        Self { retry_after: Some(1), ..Self::of(503, detail) }
    }

    /// More requests than the client's limit.
    pub fn too_often(detail: impl Into<String>) -> Self {
        Self { retry_after: Some(1), ..Self::of(429, detail) }
    }

    /// The disk or the model has failed.
    pub fn failed(detail: impl Into<String>) -> Self {
        Self { retry_after: Some(5), ..Self::of(503, detail) }
    }

    /// Not supported.
    pub fn not_offered(detail: impl Into<String>) -> Self {
        Self::of(501, detail)
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.field {
            Some(field) => write!(f, "{field}: {}", self.detail),
            None => f.write_str(&self.detail),
        }
    }
}

/// An untrusted text, quoted and truncated.
pub(crate) fn shown(text: &str) -> String {
    match text.char_indices().nth(MOST_SHOWN) {
        Some((end, _)) => format!("{:?}…", &text[..end]),
        None => format!("{text:?}"),
    }
}

/// An untrusted value, as truncated JSON.
pub(crate) fn shown_value(value: &Value) -> String {
    cut(&value.to_string(), MOST_SHOWN)
}

/// The text, truncated after `most` characters.
pub(crate) fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
