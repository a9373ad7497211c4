//! Locks that outlive a panic: the thread that panicked while it held one fails alone, and not also every
//! thread that asks for the lock later.

use std::sync::{LockResult, PoisonError};

/// What asking for a lock returns.
pub(crate) trait Unpoisoned {
    /// What the lock guards.
    type Guard;

    /// What the lock guards, as a thread that panicked may have left it.
    fn unpoisoned(self) -> Self::Guard;
}

impl<G> Unpoisoned for LockResult<G> {
    type Guard = G;

    fn unpoisoned(self) -> G {
        self.unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    #[test]
    fn a_panic_leaves_the_lock_to_others() {
        let lock = Mutex::new(0);
        std::thread::scope(|scope| {
            let fails = scope.spawn(|| {
                *lock.lock().unpoisoned() = 1;
                let _held = lock.lock().unpoisoned();
                panic!("while the lock is held");
            });
            assert!(fails.join().is_err());
        });
        assert!(lock.is_poisoned());
        assert_eq!(*lock.lock().unpoisoned(), 1);
    }
}
