//! The threads that the members of mixtures are divided among. All models have them in common: a service of
//! one busy model uses the processors that it has, and one of thousands has no more threads for it.

use std::sync::OnceLock;

use noregret::parallel::Workers;
use noregret_stream::run::threads::{processors, shared_workers};

/// A round of a mixture has no use for more.
const MOST: usize = 8;

/// As many as there are processors, at most [`MOST`]; started for the first model.
pub(crate) fn shared() -> Workers {
    static SHARED: OnceLock<Workers> = OnceLock::new();
    SHARED.get_or_init(|| shared_workers(processors().min(MOST))).clone()
}
