//! Limits of a service.

/// Limits of a service.
#[derive(Clone, Debug, PartialEq)]
pub struct Limits {
    /// Largest body, in bytes.
    pub body: usize,
    /// Largest model file that is imported, in bytes.
    pub import: usize,
    /// Largest number of features of a row, and of columns of a model.
    pub columns: usize,
    /// Longest name of a feature, in bytes.
    pub name: usize,
    /// Largest number of labels of a model, and on offer.
    pub labels: usize,
    /// Largest number of models.
    pub models: usize,
    /// Largest state of a new model, in bytes.
    pub model_bytes: usize,
    /// Number of bytes by which a model of decisions may grow for new columns; beyond it they are shared.
    pub growth: usize,
    /// Largest number of pending decisions of a model; beyond it the oldest is discarded.
    pub waiting: usize,
    /// Largest number of queued requests for one model.
    pub queue: usize,
    /// Largest number of requests of one client per second; `None` for no limit.
    pub rate: Option<u32>,
    /// Whether models that cannot be recovered bit for bit are learnt again from their logs.
    pub rebuild: bool,
    /// Number of events between snapshots.
    pub snapshot_every: u64,
    /// Number of seconds after which a model that nobody asks for rests: its memory is freed, and the next
    /// request reads it again.
    pub rest_seconds: u64,
    /// Number of bytes of the process's memory beyond which models rest sooner; `None` for half of the memory
    /// that there is.
    pub resident: Option<usize>,
    /// Time limit for receiving a body, in seconds.
    pub body_seconds: u64,
    /// Time in which a client has to take a part of its answer, in seconds.
    pub answer_seconds: u64,
    /// Largest number of connections.
    pub connections: usize,
    /// Time limit for idle connections and for receiving a request's head, in seconds.
    pub idle_seconds: u64,
}

impl Limits {
    /// The same for what was accepted before: the limits of models and rows may have been wider then.
    pub(crate) fn wide(&self) -> Self {
        let most = u32::MAX as usize;
        Self { columns: most, name: most, labels: most, model_bytes: usize::MAX, ..self.clone() }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body: 8 << 20,
            import: 256 << 20,
            columns: 4096,
            name: 1024,
            labels: 1000,
            models: 1000,
            model_bytes: 1 << 30,
            growth: 16 << 20,
            waiting: 100_000,
            queue: 4096,
            rate: None,
            rebuild: false,
            snapshot_every: 20_000,
            rest_seconds: 60,
            resident: None,
            body_seconds: 30,
            answer_seconds: 30,
            connections: 16_000,
            idle_seconds: 75,
        }
    }
}
