//! What a request is refused with: one sentence, the field that it is about, and the status of the answer.

use std::fmt;

/// Why a request is refused.
#[derive(Clone, Debug, PartialEq)]
pub struct Refusal {
    /// The status of the answer.
    pub status: u16,
    /// The field of the body that is wrong, as a path (`labels[1].features`).
    pub field: Option<String>,
    /// One sentence.
    pub detail: String,
    /// After how many seconds the same request may be answered.
    pub retry_after: Option<u32>,
}

impl Refusal {
    fn of(status: u16, detail: impl Into<String>) -> Self {
        Self { status, field: None, detail: detail.into(), retry_after: None }
    }

    /// What was sent cannot be understood.
    pub fn malformed(detail: impl Into<String>) -> Self {
        Self::of(400, detail)
    }

    /// A value that cannot be: 422.
    pub fn invalid(field: &str, detail: impl Into<String>) -> Self {
        Self { field: Some(field.to_owned()), ..Self::of(422, detail) }
    }

    /// There is no such thing.
    pub fn unknown(detail: impl Into<String>) -> Self {
        Self::of(404, detail)
    }

    /// It contradicts what was said before.
    pub fn conflict(detail: impl Into<String>) -> Self {
        Self::of(409, detail)
    }

    /// It was there, and is no more.
    pub fn gone(detail: impl Into<String>) -> Self {
        Self::of(410, detail)
    }

    /// A key is needed, or another one.
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

    /// More than can be done, for now.
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

    /// This service cannot do it at all.
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
