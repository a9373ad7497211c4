//! # FOLKLORE begun again and again: a bound on the regret in every interval, useful in long ones
//!
//! A stream that changes has another best predictor before and after. Here one [FOLKLORE](super::folklore)
//! learns all rounds, and others begin anew at times that are spaced geometrically, so that a logarithmic
//! number of them is alive. Their forecasts are mixed, and the regret is logarithmic squared in *every*
//! interval of rounds, against the linear predictor that is best in that interval.
//!
//! ## Reference
//!
//! Naman Agarwal, Satyen Kale, Julian Zimmert, *Efficient Methods for Online Multiclass Logistic Regression*,
//! ALT 2022, arXiv:2110.03020: Algorithm 1 for the members. Yoav Freund, Robert E. Schapire, Yoram Singer,
//! Manfred K. Warmuth, *Using and combining predictors that specialize*, STOC 1997, for the mixture.
//! `references.bib`: `agarwal2022folklore`, `freund1997specialists`; theory: mixtures 4.1, 4.2, 4.3.
//!
//! ## Symbols
//!
//! | paper | here | meaning |
//! |---|---|---|
//! | $b$ | `block` | learners begin with blocks of $b$ rounds |
//! | | `members` | the lasting learner, then the one of every level $0, 1, \dots$ |
//! | $p^i$ | | forecasts of those that are alive |
//! | $w^i$ | `log_weights` | weights, as logarithms; 1 for a learner that begins |
//! | $n$ | `begun` | learners that have begun so far |
//! | $B, R, \lambda, \gamma$ | `folklore` | as in FOLKLORE |
//!
//! With block $u 2^k$, $u$ odd, the learner of level $k$ begins anew, so that it learns $2^{k+1}$ blocks. A
//! round is
//!
//! $$ \bar p = \textstyle\sum_i w^i p^i / \sum_i w^i, \qquad w^i \leftarrow w^i p^i_y / \bar p_y. \tag{1} $$
//!
//! With the bound $F(T)$ of FOLKLORE for $T$ rounds, in the rounds from $r$ to $s$ and against every $W$ with
//! rows of norm at most $B$
//!
//! $$ \mathrm{Regret}(W) \le P\ (F(T) + \ln n) + b \ln K, \quad T = \max(b, s - r + 1), \quad
//!    P = 2 + \lfloor \log_2 \lceil (s - r + 1)/b \rceil \rfloor, \tag{2} $$
//!
//! and $F(T) + \ln n$ in all rounds together. With the lasting learner's certificate for $F(T)$ this is the
//! certificate.
//!
//! ## Deviations
//!
//! * Importance weights multiply a round's losses; (1) and (2) hold for weights up to 1, the closed form
//!   without.
//! * Late feedback changes the learners and weights that are alive when it comes, at the scores that were
//!   played.
//! * A row whose norm is more than $10^{30} R$ is forecast and not learnt; theorems are void then.
//! * Models do not merge: learners of one level began at different rows.
//!
//! ## Cost
//!
//! That of $2 + \log_2(t/b)$ FOLKLOREs in round $t$, in time and memory.

use super::folklore::{Folklore, FolkloreParams};
use crate::algorithm::{About, Algorithm, Forecast, Paper};
use crate::bounds;
use crate::capability::Inside;
use crate::example::{Features, Target};
use crate::guarantee::{Guarantee, Promise, Terms, setting};
use crate::learner::{Accepts, Classes, OnlineLearner, Predictor, own};
use crate::loss::curvature::Curvature;
use crate::param::ParamError;
use crate::params;
use crate::prediction::Prediction;
use crate::problem::Problem;
use crate::state::{State, Tensor, pack, unpack};

/// Rows with a larger square of the norm, in multiples of $R^2$, are not learnt: rounding alone would decide
/// what they teach.
const LARGEST_ROW: f64 = 1e60;

/// The default number of rounds in a block.
const BLOCK: u64 = 16;

/// The number of rounds that is assumed for the memory, if the horizon is unknown.
const HORIZON: u64 = 1_000_000;

params! {
    /// Parameters of [`FolkloreIntervals`].
    pub struct FolkloreIntervalsParams {
        /// Number $b$ of rounds after which another learner begins, >= 1: a larger one takes less time.
        block: u64 = "16",
        /// Bound $B$ on the Euclidean norm of every row of the comparator, > 0.
        norm: f64 = "30 / radius",
        /// Bound $R$ on the Euclidean norm of every row of data, > 0.
        radius: f64 = "the stream's, or 1",
        /// Weight $\lambda$ of the comparator's squared Frobenius norm, > 0; the guarantee needs at least
        /// $\gamma R^2$.
        regularization: f64 = "2 radius / norm",
        /// Curvature $\gamma$ of the surrogates: `safe`, `tight`, `paper` (no guarantee) or a number > 0.
        curvature: Curvature = "safe: 1 / (2 + 2 norm radius + ln(classes - 1))",
    }
}

/// See the [module](self).
#[derive(Clone)]
pub struct FolkloreIntervals {
    block: u64,
    /// With defaults computed.
    folklore: FolkloreParams,
    problem: Problem,
    /// The lasting learner, then that of every level.
    members: Vec<Folklore>,
    log_weights: Vec<f64>,
    rounds: u64,
    /// For members that a prediction lacks, and for predictions of an earlier state.
    spare: Prediction,
    /// The members as a list, while they are saved or loaded.
    saved: Vec<f64>,
}

impl std::fmt::Debug for FolkloreIntervals {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FolkloreIntervals")
            .field("block", &self.block)
            .field("rounds", &self.rounds)
            .field("members", &self.members.len())
            .finish_non_exhaustive()
    }
}

/// The number of levels after `blocks` blocks have begun.
fn levels(blocks: u64) -> usize {
    blocks.checked_ilog2().map_or(0, |most| most as usize + 1)
}

impl FolkloreIntervals {
    /// The number of blocks that have begun, the one of the coming round included.
    fn blocks(&self) -> u64 {
        self.rounds / self.block + 1
    }

    /// $n$, those that begin with the coming round included.
    fn begun(&self) -> u64 {
        self.blocks() + 1
    }

    /// A learner that has learnt nothing.
    fn new_member(&self) -> Folklore {
        Folklore::new(self.folklore.clone(), self.problem.clone(), 0)
            .expect("made before with these parameters")
    }

    /// Begins the learner of the block of the coming round.
    fn begin(&mut self) {
        let level = 1 + self.blocks().trailing_zeros() as usize;
        let member = self.new_member();
        if level < self.members.len() {
            self.members[level] = member;
            self.log_weights[level] = 0.0;
        } else {
            self.members.push(member);
            self.log_weights.push(0.0);
        }
    }

    /// Ends a round, after which a learner may begin.
    fn count_round(&mut self) {
        self.rounds += 1;
        if self.rounds.is_multiple_of(self.block) {
            self.begin();
        }
    }

    /// The first round of every member, the lasting one first.
    fn beginnings(&self) -> impl Iterator<Item = u64> {
        let (blocks, block) = (self.blocks(), self.block);
        let of_level = move |level: usize| {
            // The latest block that is an odd multiple of 2^level.
            let odd = (((blocks >> level) - 1) / 2) * 2 + 1;
            ((odd << level) - 1) * block + 1
        };
        std::iter::once(1).chain((0..self.members.len() - 1).map(of_level))
    }

    /// The weights of the members that are alive, of sum 1.
    fn shares(&self) -> impl Iterator<Item = f64> {
        let most = self.log_weights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let total: f64 = self.log_weights.iter().map(|weight| (weight - most).exp()).sum();
        self.log_weights.iter().map(move |weight| (weight - most).exp() / total)
    }
}

impl Algorithm for FolkloreIntervals {
    type Params = FolkloreIntervalsParams;

    const ABOUT: About = About {
        name: "folklore-intervals",
        summary: "FOLKLOREs that begin anew: a bound on regret in long intervals",
        paper: Paper { key: "agarwal2022folklore", place: "Algorithm 1, begun at geometric times" },
        guarantee: "regret <= F + ln n in all rounds, and in every interval (2 + log2(T/b)) (F + ln n) + b ln K, F that of folklore, n learners begun so far",
        cost: "that of 2 + log2(t/b) folklores in round t",
        memory: "that of 2 + log2(t/b) folklores after t rounds",
        forecast: Forecast::Probabilities,
        accepts: Accepts { classes: Classes::Any, soft_labels: true, weights: true, plain: false },
    };

    fn new(params: FolkloreIntervalsParams, problem: Problem, seed: u64) -> Result<Self, ParamError> {
        let block = params.block.unwrap_or(BLOCK);
        if block == 0 {
            return Err(ParamError::invalid("block", block, "at least 1"));
        }
        let FolkloreIntervalsParams { norm, radius, regularization, curvature, .. } = params;
        let folklore = FolkloreParams { norm, radius, regularization, curvature, linear_term: None };
        let lasting = Folklore::new(folklore, problem, seed)?;
        let mut learner = Self {
            block,
            folklore: lasting.params(),
            problem: lasting.problem().clone(),
            spare: lasting.prediction(),
            members: vec![lasting],
            log_weights: vec![0.0],
            rounds: 0,
            saved: Vec::new(),
        };
        learner.begin();
        Ok(learner)
    }

    fn params(&self) -> FolkloreIntervalsParams {
        let FolkloreParams { norm, radius, regularization, curvature, .. } = self.folklore.clone();
        FolkloreIntervalsParams { block: Some(self.block), norm, radius, regularization, curvature }
    }

    own! { numbers }

    fn numbers_for(params: &FolkloreIntervalsParams, problem: &Problem) -> usize {
        let blocks = problem.horizon.unwrap_or(HORIZON) / params.block.unwrap_or(BLOCK).max(1) + 1;
        Folklore::numbers(problem).saturating_mul(1 + levels(blocks))
    }

    fn numbers_at_first(_params: &FolkloreIntervalsParams, problem: &Problem) -> usize {
        Folklore::numbers(problem).saturating_mul(2)
    }
}

impl Predictor for FolkloreIntervals {
    own! { problem }

    fn prediction(&self) -> Prediction {
        let mut prediction = Prediction::sized(self.problem.classes, 0);
        prediction.members = self.members.iter().map(Predictor::prediction).collect();
        prediction
    }

    fn predict(&self, x: Features<'_>, out: &mut Prediction) {
        let Prediction { probabilities, members, .. } = &mut *out;
        members.truncate(self.members.len());
        let known = members.len();
        members.extend(self.members[known..].iter().map(Predictor::prediction));
        probabilities.fill(0.0);
        for ((member, share), at) in self.members.iter().zip(self.shares()).zip(members) {
            member.predict(x, at);
            for (p, own) in probabilities.iter_mut().zip(&at.probabilities) {
                *p += share * own; // eq. (1)
            }
        }
        out.set_scores_to_logarithms();
        out.stamp = Some(self.rounds);
    }
}

impl OnlineLearner for FolkloreIntervals {
    /// Members learn at the scores that they had when the round was predicted, and those that have begun
    /// since at those that they have now.
    fn update(&mut self, x: Features<'_>, y: Target<'_>, at: &Prediction) {
        let fresh = at.is_fresh(self.rounds);
        let radius = self.problem.radius.unwrap_or(1.0);
        if x.norm_squared() > LARGEST_ROW * radius * radius {
            self.count_round();
            return;
        }
        let mut spare = std::mem::take(&mut self.spare);
        let played = y.log_loss(&at.probabilities);
        for (index, (member, weight)) in self.members.iter_mut().zip(&mut self.log_weights).enumerate() {
            let then = match at.members.get(index) {
                Some(then) if fresh => then,
                Some(then) => {
                    spare.keep(then);
                    &spare
                }
                None => {
                    spare = member.prediction();
                    member.predict(x, &mut spare);
                    &spare
                }
            };
            if index < at.members.len() {
                *weight += played - y.log_loss(&then.probabilities); // eq. (1)
            }
            member.update(x, y, then);
        }
        self.spare = spare;
        self.count_round();
    }

    own! { rounds }

    fn grow(&mut self, classes: usize, features: usize) -> bool {
        let Some(problem) = self.problem.grown(classes, features) else { return false };
        let grown = self.members.iter_mut().all(|member| member.grow(classes, features));
        assert!(grown, "a larger problem is never refused");
        self.problem = problem;
        self.spare = self.members[0].prediction();
        true
    }

    /// Equation (2), of which the bound for all rounds is the smallest, and that for any interval within them
    /// the largest.
    fn guarantee(&self) -> Option<Guarantee<'_>> {
        let Some(Guarantee::Regret { ball: Some(ball), norm, bound }) = self.members[0].guarantee() else {
            unreachable!("FOLKLORE has a theorem about a ball");
        };
        let every = bound.clone().map(|_| {
            let setting = setting(&self.problem, norm, self.rounds);
            let FolkloreParams { regularization, curvature, .. } = self.folklore.clone();
            let (Some(regularization), Some(Curvature::Value(gamma))) = (regularization, curvature) else {
                unreachable!("parameters in use are numbers");
            };
            bounds::folklore_interval(&setting, regularization, gamma, self.block, 2, self.rounds.max(2))
        });
        let bound = bound.map(|bound| bound + (self.begun() as f64).ln());
        Some(Guarantee::IntervalRegret { ball, norm, bound, every })
    }

    /// That of the lasting learner, and what the mixture costs.
    fn certificate(&self) -> Option<Promise> {
        let certificate = self.members[0].certificate()?;
        Some(certificate.map(|certificate| certificate + (self.begun() as f64).ln()))
    }

    fn certificate_terms(&self) -> Option<Terms> {
        // Weights above 1 are beyond the theorem of the mixture.
        Some(Terms { weights: false, ..self.members[0].certificate_terms()? })
    }

    fn inside(&self) -> Option<&dyn Inside> {
        Some(self)
    }
}

impl Inside for FolkloreIntervals {
    /// The weight of every member that is alive.
    fn weights(&self) -> Vec<(String, f64)> {
        self.beginnings()
            .zip(self.shares())
            .map(|(first, share)| (format!("since round {first}"), share))
            .collect()
    }
}

impl State for FolkloreIntervals {
    fn tensors(&mut self) -> Vec<Tensor<'_>> {
        self.saved.clear();
        self.members.iter_mut().for_each(|member| pack(member, &mut self.saved));
        vec![
            Tensor::list("members", &mut self.saved),
            Tensor::list("log_weights", &mut self.log_weights),
            Tensor::count("rounds", &mut self.rounds),
        ]
    }

    fn restored(&mut self) -> bool {
        let saved = std::mem::take(&mut self.saved);
        let members = 1 + levels(self.blocks());
        let least = Folklore::numbers(&self.problem).saturating_mul(members) / 2;
        if self.log_weights.len() != members || least > saved.len().max(1 << 20) {
            return false;
        }
        self.members = (0..members).map(|_| self.new_member()).collect();
        let mut rest = saved.iter().copied();
        let filled = self.members.iter_mut().all(|member| unpack(member, &mut rest).is_some());
        filled && rest.next().is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{assert_close, plays};

    fn learner(params: FolkloreIntervalsParams, problem: Problem) -> FolkloreIntervals {
        FolkloreIntervals::new(params, problem, 0).expect("valid")
    }

    /// K = 2, d = 1, x = 1, λ = 3/4, γ = 1/2, b = 1, as in FOLKLORE's example: after the label 0, a member
    /// that has learnt it forecasts σ(D) with D = ½ - ½ tanh(D/2), a new one ½.
    ///
    /// Round 1: the lasting member and level 0, both new. Round 2: level 1 begins; weights 1, 1 and 1, since
    /// both forecast as the mixture did. Round 3: level 0 begins anew with weight 1; the others have p_i/p̄.
    #[test]
    fn three_rounds_by_hand() {
        let params = FolkloreIntervalsParams {
            block: Some(1),
            norm: Some(1.0),
            regularization: Some(0.75),
            curvature: Some(Curvature::Value(0.5)),
            ..Default::default()
        };
        let mut learner = learner(params, Problem::new(2, 1));
        let (x, mut at) = (Features::Dense(&[1.0]), learner.prediction());
        learner.predict(x, &mut at);
        assert_eq!((learner.members.len(), &at.probabilities[..]), (2, &[0.5; 2][..]));
        learner.update(x, Target::class(0), &at);
        learner.predict(x, &mut at);
        let mut logit: f64 = 0.3;
        for _ in 0..60 {
            logit = 0.5 - 0.5 * (0.5 * logit).tanh();
        }
        let learnt = 1.0 / (1.0 + (-logit).exp());
        let mixed = (2.0 * learnt + 0.5) / 3.0;
        assert_eq!(learner.members.len(), 3);
        assert_close(at.probabilities[0], mixed, 1e-12, "p");
        learner.update(x, Target::class(0), &at);
        let weights: Vec<f64> = learner.log_weights.iter().map(|weight| weight.exp()).collect();
        assert_close(weights[0], learnt / mixed, 1e-12, "the lasting one");
        assert_close(weights[1], 1.0, 1e-15, "level 0");
        assert_close(weights[2], 0.5 / mixed, 1e-12, "level 1");
        assert_eq!(learner.beginnings().collect::<Vec<_>>(), [1, 3, 2]);
    }

    /// One member of each level, begun at the last odd multiple of $2^k$ blocks; rounds keep the sum of the
    /// weights.
    #[test]
    fn members_begin_when_they_should() {
        let params = FolkloreIntervalsParams { block: Some(3), norm: Some(2.0), ..Default::default() };
        let mut learner = learner(params, Problem::new(3, 4));
        let sum =
            |learner: &FolkloreIntervals| learner.log_weights.iter().map(|weight| weight.exp()).sum::<f64>();
        for t in 0..200u64 {
            let (before, levels) = (sum(&learner), learner.members.len());
            let ages: Vec<u64> = learner.members.iter().map(|member| member.rounds()).collect();
            let firsts: Vec<u64> = learner.beginnings().collect();
            let want: Vec<u64> = firsts.iter().map(|first| t + 1 - first).collect();
            assert_eq!(ages, want, "round {t}");
            plays(&mut learner, 1);
            let (after, begins) = (sum(&learner), (t + 1) % 3 == 0);
            if begins && learner.members.len() == levels {
                // That of the member which ended is no longer there.
                assert!(after < before + 1.0, "round {t}: {after}");
            } else {
                assert_close(after, before + f64::from(u8::from(begins)), 1e-9, "weights");
            }
            assert_eq!(learner.begun(), 2 + (t + 1) / 3);
        }
        let weights = learner.weights();
        assert_eq!(weights[0].0, "since round 1");
        assert_close(weights.iter().map(|(_, share)| share).sum(), 1.0, 1e-12, "shares");
    }
}
