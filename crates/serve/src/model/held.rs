//! The state of a model in memory, or nothing while the model rests: nobody has asked for it in a while, its
//! snapshot has all of it, and the next command reads that.

use std::ops::{Deref, DerefMut};

use super::engine::Engine;

/// See the [module](self).
pub(super) struct Held(Option<Box<Engine>>);

impl Held {
    pub(super) fn new(engine: Engine) -> Self {
        Self(Some(Box::new(engine)))
    }

    /// Whether the model rests.
    pub(super) fn rests(&self) -> bool {
        self.0.is_none()
    }

    /// Frees the memory. The state must be on the disk.
    pub(super) fn rest(&mut self) {
        self.0 = None;
    }
}

const AWAKE: &str = "the writer wakes a model before it is used";

impl Deref for Held {
    type Target = Engine;

    fn deref(&self) -> &Engine {
        self.0.as_deref().expect(AWAKE)
    }
}

impl DerefMut for Held {
    fn deref_mut(&mut self) -> &mut Engine {
        self.0.as_deref_mut().expect(AWAKE)
    }
}
