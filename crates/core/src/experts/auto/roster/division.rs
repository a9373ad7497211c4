//! Members divided among processes, see [`Divided`].

use crate::capability::Divided;
use crate::problem::Problem;
use crate::state::State as _;

use super::super::description::Description;
use super::super::record::Record;
use super::Roster;
use super::home::Home;
use super::seat::Seat;

/// The length of what a member forecasts in a round: the logarithms of the mixture of its heads, and the
/// heads' probabilities.
fn length(member: Description, problem: &Problem) -> usize {
    problem.classes * (1 + member.heads())
}

impl Roster {
    /// Whether members are in other processes.
    pub(in crate::experts::auto) fn is_divided(&self) -> bool {
        self.seats.iter().any(|seat| !matches!(seat.home, Home::Here))
    }

    /// Whether members are lent to the process that has the mixture.
    pub(in crate::experts::auto) fn is_lent(&self) -> bool {
        self.seats.iter().any(|seat| matches!(seat.home, Home::Lent(_) | Home::Away))
    }

    /// The places of the members that can be divided.
    fn divisible(&self) -> Vec<usize> {
        // The others compare themselves with the counts of labels.
        let counting = self.counting();
        let active = self.seats.iter().enumerate().filter(|(_, seat)| seat.member.is_some());
        active.map(|(at, _)| at).filter(|at| Some(*at) != counting).collect()
    }

    /// A seat with the state that [`Divided::member`] wrote; `None` if it is not one of this member.
    fn unpacked(&self, place: usize, state: &[f64]) -> Option<Seat> {
        let description = self.seats.get(place)?.description;
        let mut member = self.workshop().make(description).ok()?;
        let mut record = Record::new(description);
        let ([given, start, end], rest) = state.split_first_chunk::<3>()?;
        let mut rest = rest.iter().copied();
        let fits = (record.tensors().into_iter().chain(member.tensors()))
            .all(|tensor| tensor.unpack(&mut rest).is_some());
        let valid = fits && rest.next().is_none() && record.restored() && member.restored();
        let portion = (*given > 0.0).then_some(*start as usize..*end as usize);
        valid.then(|| Seat { record, portion, ..Seat::new(description, Some(member)) })
    }
}

impl Divided for Roster {
    /// Before the unit is constant, members may have to learn rows again.
    fn costs(&self) -> Option<Vec<f64>> {
        if !self.unit.is_constant() {
            return None;
        }
        let mut costs = vec![0.0; self.seats.len()];
        for at in self.divisible() {
            costs[at] = self.costs.work(self.seats[at].description, &self.problem);
        }
        Some(costs)
    }

    fn lend(&mut self, members: &[usize]) {
        for at in self.divisible() {
            let lent = members.contains(&at);
            self.seats[at].home = if lent { Home::Lent(Vec::new()) } else { Home::Away };
        }
    }

    fn lent(&mut self, member: usize) -> Vec<f64> {
        match self.seats.get_mut(member).map(|seat| &mut seat.home) {
            Some(Home::Lent(forecasts)) => std::mem::take(forecasts),
            _ => Vec::new(),
        }
    }

    fn borrow(&mut self, members: &[usize]) {
        for at in self.divisible().into_iter().filter(|at| members.contains(at)) {
            self.seats[at].home = Home::Borrowed(Vec::new(), 0);
        }
    }

    fn foresee(&mut self, member: usize, rounds: usize, forecasts: Vec<f64>) -> bool {
        let Some(seat) = self.seats.get_mut(member) else { return false };
        let fits = forecasts.len() == rounds * length(seat.description, &self.problem);
        match &mut seat.home {
            Home::Borrowed(numbers, next) if fits && *next == numbers.len() => {
                (*numbers, *next) = (forecasts, 0);
                true
            }
            _ => false,
        }
    }

    fn member(&mut self, member: usize) -> Vec<f64> {
        let Some(Seat { member: Some(member), record, portion, .. }) = self.seats.get_mut(member) else {
            return Vec::new();
        };
        let given = portion.as_ref().map(|rows| [1.0, rows.start as f64, rows.end as f64]);
        let mut state = Vec::from(given.unwrap_or_default());
        record.tensors().into_iter().chain(member.tensors()).for_each(|tensor| tensor.pack(&mut state));
        state
    }

    fn set_member(&mut self, member: usize, state: &[f64]) -> bool {
        let Some(seat) = self.unpacked(member, state) else { return false };
        let home = std::mem::take(&mut self.seats[member].home);
        self.seats[member] = Seat { home, ..seat };
        true
    }

    fn unite(&mut self) {
        self.seats.iter_mut().for_each(|seat| seat.home = Home::Here);
    }
}
