//! The table of the kinds of members.

use super::context::{LabelsKind, PairsKind};
use super::diagonal::DiagonalKind;
use super::diagonals::kind::DiagonalsKind;
use super::family::kind::FamilyKind;
use super::forest::ForestKind;
use super::kind::Kind;
use super::neighbours::NeighboursKind;
use super::trees::TreesKind;

/// Every kind of member, in order of preference.
pub(super) const KINDS: [&dyn Kind; 11] = [
    &LabelsKind,
    &PairsKind,
    &TreesKind,
    &ForestKind,
    &NeighboursKind,
    &FamilyKind::Shared,
    &FamilyKind::Waves,
    &FamilyKind::Products,
    &FamilyKind::Full,
    &DiagonalsKind,
    &DiagonalKind,
];
