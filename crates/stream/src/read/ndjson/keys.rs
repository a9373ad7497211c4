//! The keys of an object, and what they mean.

/// The key of the labels on offer.
pub(crate) const LABELS: &str = "labels";

/// Where an object has its features.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    Array,
    Object,
    Flat,
}

/// The roles of the keys.
#[derive(Debug)]
pub(crate) struct Keys {
    pub(crate) shape: Shape,
    pub(crate) label: Option<String>,
    pub(crate) weight: Option<String>,
    /// The key that names the row, if `tag` and `id` do not.
    pub(crate) id: Option<String>,
    /// The key of the labels on offer, if rows may state them.
    pub(crate) offers: Option<String>,
    /// In a log of decisions, the keys of probability and reward.
    pub(crate) played: Option<[String; 2]>,
}

impl Keys {
    /// Whether `key` has the probability or the reward of a label that was played.
    pub(crate) fn plays(&self, key: &str) -> bool {
        self.played.as_ref().is_some_and(|keys| keys.iter().any(|of| of == key))
    }
}
