//! Learners with bandit feedback: only the reward of the played label is revealed. One file each.
//!
//! A round is a [`Decision`](crate::prediction::Decision): written by
//! [`predict`](crate::learner::BanditLearner::predict), completed by
//! [`play`](crate::learner::BanditLearner::play), and passed to
//! [`learn`](crate::learner::BanditLearner::learn) with the reward. It is plain data, and feedback may come
//! late and in any order. Importance weights use the probability in the decision, also if the learner has
//! changed since. The theorems assume feedback before the next row; late feedback is learnt as follows.
//!
//! | learner | learns from wrong guesses | late feedback |
//! |---|---|---|
//! | `auto` with `mode = bandit` | yes | as if the row came with its feedback; the exploration scales use the
//! probabilities of the decision |
//! | `banditron` | yes | subtracts the row from the class that was greedy at the decision |
//! | `confidit`, `confidit-diag` | yes | updates the class that was played |
//! | `bandit-reduction` | no | uses the coin, scores and forecast of the decision: as exact as the base
//! learner's own |
//! | `offers`, `squarecb`, `fastcb`, `relative-gaps` | yes | as if the row came with its feedback |
//! | `exp4` | yes | uses the probability of the decision; policies do not change |
//! | `soba-reduction` | no | margin of the current weights against the class that was greedy at the decision |
//! | `soba`, `soba-diag`, `soba-sketch` | no | $\bar y$, $m$ and $z$ with the current weights; $\sum n m \ge 0$ stays true |
//! | `gaptron-*` with `mode = bandit` | no | gradient at the scores that were played: delayed gradient descent |
//! | `newtron`, `pnewtron` | yes | $q$ and $p$ of the decision, centred at the current weights |
//!
//! Classes and features can be added ([`grow`](crate::learner::BanditLearner::grow)) to `banditron`, `soba`,
//! `soba-diag`, `soba-sketch`, `gaptron-*`, and to `bandit-reduction`, `squarecb`, `fastcb` and
//! `relative-gaps` if this is possible for their base learner or oracle. The others return false.
//!
//! A round is counted when it is learnt. For learners that do not learn from wrong guesses, omitting a
//! message equals a wrong guess, except that adaptive exploration does not count the round.

pub mod auto;
pub mod banditron;
pub mod confidit;
pub mod exp4;
pub mod fastcb;
pub mod gaps;
pub mod gaptron;
pub mod newtron;
pub mod offers;
pub mod oracle;
mod pooled;
#[doc(hidden)]
pub mod quadratic_leader;
mod rare;
pub mod reduction;
pub mod relative_gaps;
mod scales;
pub mod soba;
pub mod soba_reduction;
pub mod soba_sketch;
pub mod squarecb;
