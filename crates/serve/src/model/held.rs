//! What a model holds only while it is awake: its state in memory, and its open database. A model rests when
//! nobody has asked for it in a while: its snapshot has all of it, and the next command reads that.

use std::ops::{Deref, DerefMut};

/// See the [module](self).
pub(crate) struct Held<T>(Option<Box<T>>);

impl<T> Held<T> {
    pub(crate) fn new(held: T) -> Self {
        Self(Some(Box::new(held)))
    }

    /// Of a model that rests.
    pub(crate) fn none() -> Self {
        Self(None)
    }

    /// Whether the model rests.
    pub(crate) fn rests(&self) -> bool {
        self.0.is_none()
    }

    /// Lets go of it. The state must be on the disk.
    pub(crate) fn rest(&mut self) {
        self.0 = None;
    }

    /// What was held, if the model was awake.
    pub(crate) fn into_inner(self) -> Option<Box<T>> {
        self.0
    }
}

const AWAKE: &str = "the writer wakes a model before it is used";

impl<T> Deref for Held<T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.0.as_deref().expect(AWAKE)
    }
}

impl<T> DerefMut for Held<T> {
    fn deref_mut(&mut self) -> &mut T {
        self.0.as_deref_mut().expect(AWAKE)
    }
}
