//! The table of the kinds of members.

use super::booster::BoosterKind;
use super::context::ContextKind;
use super::diagonal::DiagonalKind;
use super::diagonals::kind::DiagonalsKind;
use super::family::kind::FamilyKind;
use super::forest::ForestKind;
use super::kind::Kind;
use super::naive_bayes::NaiveBayesKind;
use super::neighbours::NeighboursKind;
use super::part::PartKind;
use super::trees::TreesKind;

/// Every kind of member, in order of preference.
pub(super) const KINDS: &[&dyn Kind] = &[
    &ContextKind::Labels,
    &ContextKind::Pairs,
    &BoosterKind,
    &TreesKind,
    &ForestKind,
    &NeighboursKind,
    &NaiveBayesKind,
    &PartKind,
    &FamilyKind::Shared,
    &FamilyKind::Waves,
    &FamilyKind::Products,
    &FamilyKind::Full,
    &DiagonalsKind,
    &DiagonalKind,
];
