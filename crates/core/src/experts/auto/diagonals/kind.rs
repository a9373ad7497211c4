//! The kind of member.

use crate::param::ParamError;
use crate::problem::Problem;

use super::super::kind::{Kind, Settings, Traits, count, stored};
use super::super::member::Member;
use super::super::row::View;
use super::{Diagonals, HEADS};

/// The settings are the number of learners, the first ones of a fixed list, and the number of cells; further
/// features share them by hashing. 0: a cell for every feature.
pub(in super::super) struct DiagonalsKind;

/// The settings as whole numbers.
fn whole([heads, cells]: Settings) -> (usize, usize) {
    (heads as usize, if cells > 0.0 { cells as usize } else { usize::MAX })
}

impl Kind for DiagonalsKind {
    fn traits(&self) -> &'static Traits {
        static TRAITS: Traits = Traits {
            view: View::Both,
            // Their regularizations differ.
            similar_heads: false,
            is_diagonal: true,
            ..Traits::usual("diagonals")
        };
        &TRAITS
    }

    fn read(&self, heads: Option<&str>, cells: Option<&str>) -> Option<Settings> {
        let cells = cells.map(|cells| count(cells, u32::MAX as usize - 1));
        Some([count(heads?, HEADS)?, cells.unwrap_or(Some(0.0))?])
    }

    fn title(&self, [heads, _]: Settings) -> String {
        format!("{heads} diagonal linear learners")
    }

    /// None: these are chosen where there is no family.
    fn candidates(&self, _: &Problem) -> Vec<Settings> {
        Vec::new()
    }

    fn make(&self, settings: Settings, problem: &Problem, _: u64) -> Result<Box<dyn Member>, ParamError> {
        let (heads, cells) = whole(settings);
        Ok(Box::new(Diagonals::new(problem, heads, cells)))
    }

    fn heads(&self, settings: Settings) -> usize {
        whole(settings).0
    }

    fn columns(&self, settings: Settings) -> usize {
        whole(settings).0
    }

    fn work(&self, settings: Settings, problem: &Problem) -> f64 {
        let ((heads, _), k) = (whole(settings), problem.classes as f64);
        let blocks = Diagonals::blocks(problem.sparse, heads) as f64;
        2.0 * blocks * k * stored(problem) + heads as f64 * 300.0 * k
    }

    fn numbers(&self, settings: Settings, problem: &Problem) -> usize {
        let (heads, cells) = whole(settings);
        Diagonals::numbers(problem, heads, cells)
    }

    fn numbers_at_first(&self, settings: Settings, problem: &Problem) -> usize {
        whole(settings).0.saturating_mul(problem.classes)
    }

    fn made_smaller(&self, settings: Settings, problem: &Problem) -> Vec<String> {
        let (heads, cells) = whole(settings);
        let mut smaller = Vec::new();
        if heads < HEADS {
            smaller.push(format!("{} of {HEADS} diagonals", HEADS - heads));
        }
        if cells < problem.features {
            smaller.push(format!("room for more than {cells} of {} features", problem.features));
        }
        smaller
    }
}
