//! What learners refuse, and how they say so: a table for all learners.

use noregret::param::{Value, Values};
use noregret::problem::Problem;
use noregret::registry::find;

/// A learner, the numbers of classes and features, its settings, and how its error begins.
type Refusal = (&'static str, (usize, usize), &'static str, &'static str);

#[rustfmt::skip]
const REFUSALS: &[Refusal] = &[
    ("aggregating", (2, 3), "", "features = 3: must be 1 or 2: the integral over more dimensions is out of reach"),
    ("aggregating", (2, 2), "nodes=1099511627776", "nodes = 1099511627776: must be between 16 and 1024 for features = 2"),
    ("aggregating", (2, 1), "smoothing=1.5", "smoothing = 1.5: must be in [0, 1]"),
    ("aioli", (2, 3), "norm=-1", "norm = -1: must be a finite number > 0"),
    ("aioli", (2, 3), "improper_weight=-1", "improper_weight = -1: must be a finite number >= 0"),
    ("aioli", (2, 3), "curvature=2000", "curvature = 2000: must be at most 1000: none above 1/2 is valid for the loss"),
    ("auto", (3, 2), "members=labels+everything", "members = labels+everything: must be words as labels, pairs, "),
    ("auto", (3, 2), "prior=0.01", "prior = 0.01: must be left out where the label is revealed"),
    ("auto", (3, 2), "mode=bandit prior=1.5", "prior = 1.5: must be above 0 and below 1: the mean reward that is expected, 1 being the largest reward"),
    ("auto", (3, 2), "mode=bandit prior_rounds=10", "prior_rounds = 10: must be left out without a prior, the mean reward that counts as of so many rounds"),
    ("auto", (3, 2), "mode=bandit prior=0.1 prior_rounds=0", "prior_rounds = 0: must be a finite number > 0"),
    ("bandit-reduction", (3, 2), "base=perceptron", "base = perceptron: must be a learner that forecasts probabilities and learns from labels, and is no mixture of learners"),
    ("bandit-reduction", (3, 2), "base=auto", "base = auto: must be a learner that forecasts probabilities and learns from labels, and is no mixture of learners"),
    ("bandit-reduction", (3, 2), "base=ogdd", "there is no learner 'ogdd' (did you mean 'ogd'?)"),
    ("bandit-reduction", (3, 2), "base=aioli", "base.classes = 3: must be 2: aioli is binary"),
    ("bandit-reduction", (3, 2), "base.norm=-1", "base.norm = -1: must be a finite number > 0"),
    ("bandit-reduction", (3, 2), "base.nrm=1", "folklore has no parameter 'nrm' (did you mean 'norm'?)"),
    ("bandit-reduction", (3, 2), "explore=1", "bandit-reduction has no parameter 'explore' (did you mean 'exploration'?); it takes classes, features, base, exploration, horizon, base.*"),
    ("banditron", (3, 2), "exploration=-0.1", "exploration = -0.1: must be in [0, 1]"),
    ("banditron", (3, 2), "exploration=1.5", "exploration = 1.5: must be in [0, 1]"),
    ("conditional-logit", (3, 6), "width=1", "width = 1: must be at least features / classes = 2"),
    ("conditional-logit", (3, 6), "norm=-1", "norm = -1: must be a finite number > 0"),
    ("confidit", (3, 2), "prior=0", "prior = 0: must be above 0 and below 1: the mean reward that is expected, 1 being the largest reward"),
    ("exp4", (3, 2), "policies=1", "policies = 1: must be from 2 to 10000"),
    ("folklore-diag", (3, 2), "regularization=-1", "regularization = -1: must be a finite number > 0"),
    ("folklore-intervals", (3, 2), "block=0", "block = 0: must be at least 1"),
    ("folklore-sketch", (3, 2), "rank=0", "rank = 0: must be between 1 and 1000"),
    ("folklore-sketch", (3, 2), "rank=1001", "rank = 1001: must be between 1 and 1000"),
    ("ons-diag", (2, 1), "radius=1e200", "radius = 1e200: must be of another size: with it and the norm 3.0e-199 derived from it the theorem's rate is 0"),
    ("ftrl", (2, 1), "regularization=0", "regularization = 0: must be a finite number > 0"),
    ("gaf", (3, 2), "smoothing=1", "smoothing = 1: must be at least 0 and less than 1"),
    ("gaf", (3, 2), "samples=0", "samples = 0: must be at least 1"),
    ("gaf", (4, 2), "samples=1000000000000000", "samples = 1000000000000000: must be at most 10000000, since a row draws them all before it can be interrupted"),
    ("gaptron-hinge", (3, 2), "norm=-1", "norm = -1: must be a finite number > 0"),
    ("gaptron-hinge", (3, 2), "rate=inf", "rate = inf: must be a finite number > 0"),
    ("gaptron-hinge", (3, 2), "exploration=1.5", "exploration = 1.5: must be in [0, 1]"),
    ("gaptron-hinge", (3, 2), "exploration=adaptive", "exploration = adaptive: must be a number in [0, 1] where every label is revealed"),
    ("gaptron-hinge", (3, 2), "mode=bandit norm=inf", "norm = inf: must be a finite number > 0"),
    ("gaptron-hinge", (3, 2), "mode=bandit exploration=0 radius=1", "exploration = 0: must be > 0 where no rate is given: nothing else bounds the probability of the true class"),
    ("gaptron-hinge", (3, 2), "mode=bandit exploration=0", "exploration = 0: must be > 0 where neither rate nor radius is given"),
    ("kernel-aioli", (2, 3), "degree=0", "degree = 0: must be from 1 to 100"),
    ("kernel-aioli", (2, 3), "offset=-1", "offset = -1: must be a finite number >= 0"),
    ("kernel-aioli", (2, 3), "length_scale=0", "length_scale = 0: must be a finite number > 0"),
    ("kernel-aioli", (2, 3), "max_rounds=0", "max_rounds = 0: must be at least 1"),
    ("kernel-aioli-landmarks", (2, 3), "landmarks=0", "landmarks = 0: must be from 1 to 10000"),
    ("kernel-aioli-landmarks", (2, 3), "tolerance=0", "tolerance = 0: must be from 1e-6 to 1"),
    ("kernel-aioli-landmarks", (2, 3), "norm=-1", "norm = -1: must be a finite number > 0"),
    ("newtron", (3, 2), "exploration=2", "exploration = 2: must be in [0, 1]"),
    ("newtron", (3, 2), "beta=-1", "beta = -1: must be a finite number >= 0"),
    ("newtron", (3, 2), "norm=0", "norm = 0: must be a finite number > 0"),
    ("offers", (3, 6), "oracle=vaw", "oracle = vaw: must be a learner that forecasts probabilities of two classes and learns from labels"),
    ("offers", (3, 6), "oracle=conditional-logit oracle.width=2", "oracle.width = 2: must be left out, since the columns of a block are those of width"),
    ("offers", (3, 6), "oracle=conditional-logit oracle.norm=-1", "oracle.norm = -1: must be a finite number > 0"),
    ("offers", (3, 6), "oracle=conditional-logit prior=0.01", "prior = 0.01: must be left out with oracle = conditional-logit, which begins at 1/2; auto begins at any rate"),
    ("offers", (3, 6), "prior=1", "prior = 1: must be above 0 and below 1: the mean reward that is expected, 1 being the largest reward"),
    ("offers", (3, 6), "prior_rounds=3", "prior_rounds = 3: must be left out without a prior, the mean reward that counts as of so many rounds"),
    ("offers", (3, 6), "schedule=certificate", "schedule = certificate: must be 'learnt', since the oracle auto has no certificate, a bound on its regret; conditional-logit has one"),
    ("ogd", (2, 1), "schedule=constant", "rate = unset: must be given when schedule = constant and the number of rounds (horizon) is unknown"),
    ("ons", (3, 2), "rate=0", "rate = 0: must be a finite number > 0"),
    ("ons-diag", (3, 2), "norm=inf", "norm = inf: must be a finite number > 0"),
    ("perceptron", (2, 1), "rate=1", "perceptron has no parameter 'rate'; it takes classes, features"),
    ("second-order-perceptron", (2, 1), "regularization=0", "regularization = 0: must be a finite number > 0"),
    ("soba", (3, 2), "exploration=1.5", "exploration = 1.5: must be in [0, 1]"),
    ("soba", (3, 2), "regularization=0", "regularization = 0: must be a finite number > 0"),
    ("soba-reduction", (3, 2), "loss_eta=1.5", "loss_eta = 1.5: must be in [0, 1]"),
    ("soba-reduction", (3, 2), "exploration=0", "exploration = 0: must be > 0 where ons_rate is not given: without exploration no mistake is repaired"),
    ("soba-reduction", (3, 2), "ons_rate=1e200", "ons_regularization = 0: must be a finite number > 0; it was not set, and its default is 1 / (ons_rate norm)^2"),
    ("soba-sketch", (3, 2), "rank=0", "rank = 0: must be between 1 and 1000"),
    ("soba-sketch", (3, 2), "exploration=-0.5", "exploration = -0.5: must be in [0, 1]"),
    ("squarecb", (2, 1), "oracle=vaw", "oracle = vaw: must be a learner that forecasts probabilities of two classes and learns from labels"),
    ("squarecb", (2, 1), "oracle=conditional-logit", "oracle = conditional-logit: must be a learner of rows without blocks of columns; offers takes this one, where labels have features of their own"),
    ("squarecb", (2, 1), "factor=0", "factor = 0: must be a finite number > 0"),
    ("squarecb", (2, 1), "oracle.norm=-1", "oracle.norm = -1: must be a finite number > 0"),
    ("squarecb", (2, 1), "oracle.rate=1", "aioli has no parameter 'rate'"),
    ("squarecb", (2, 1), "prior=0.01", "prior = 0.01: must be left out with oracle = aioli, which begins at 1/2; oracle = pooled begins at any rate"),
    ("squarecb", (2, 1), "oracle=auto schedule=certificate", "schedule = certificate: must be root, since the oracle auto has no such bound on its regret"),
    ("squarecb", (2, 1), "oracle.norm=1e200", "oracle.regularization = 0: must be a finite number > 0; it was not set, and its default is 1 / norm^2"),
    ("vaw", (1, 2), "norm=1e12", "regularization = 1e-24: must be at least 1e-15 radius^2 = 1.0e-15, since double precision loses a smaller one beside the rows; it was not set, and its default is (target_bound / norm)^2, or 1 / norm^2 without a target_bound"),
    ("vaw", (1, 2), "target_bound=0", "target_bound = 0: must be a finite number > 0"),
];

#[test]
fn what_is_refused_is_said_in_these_words() {
    for (learner, (classes, features), settings, begins) in REFUSALS {
        let pairs = settings.split_whitespace().map(|pair| pair.split_once('=').expect("name=value"));
        let values: Values = pairs.map(|(name, value)| (name.to_owned(), Value::parse(value))).collect();
        let made = find(learner).expect("listed").make_any(&values, Problem::new(*classes, *features), 0);
        let error = made.err().unwrap_or_else(|| panic!("{learner} takes {settings}")).to_string();
        assert!(error.starts_with(begins), "{learner}, {settings}: {error}");
    }
}
