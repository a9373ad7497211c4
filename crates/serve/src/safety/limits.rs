//! How much of everything there may be.

/// Limits of a service.
#[derive(Clone, Debug, PartialEq)]
pub struct Limits {
    /// Bytes of a body.
    pub body: usize,
    /// Features of a row, and columns of a model.
    pub columns: usize,
    /// Labels of a model, and on offer.
    pub labels: usize,
    /// Models.
    pub models: usize,
    /// Bytes of a model's state when it is made.
    pub model_bytes: usize,
    /// Decisions of a model that wait at one time; beyond that, the oldest is forgotten.
    pub waiting: usize,
    /// Requests that wait for one model.
    pub queue: usize,
    /// Requests of one client in a second; `None`: as many as it likes.
    pub rate: Option<u32>,
    /// After so many events a model is saved.
    pub snapshot_every: u64,
    /// How long a body may take to arrive, in seconds.
    pub body_seconds: u64,
    /// Connections at one time.
    pub connections: usize,
    /// How long a connection may be without a request, or a request without all of its head, in seconds.
    pub idle_seconds: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body: 8 << 20,
            columns: 4096,
            labels: 1000,
            models: 1000,
            model_bytes: 1 << 30,
            waiting: 100_000,
            queue: 4096,
            rate: None,
            snapshot_every: 20_000,
            body_seconds: 30,
            connections: 16_000,
            idle_seconds: 75,
        }
    }
}
