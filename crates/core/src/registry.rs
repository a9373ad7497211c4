//! The list of algorithms, used by the command line, help, tables, bindings and law tests.

use crate::algorithm::Algorithm as _;
use crate::bandit::auto::BanditAuto;
use crate::bandit::banditron::Banditron;
use crate::bandit::confidit::{Confidit, DiagonalRidge, FullRidge};
use crate::bandit::exp4::Exp4;
use crate::bandit::fastcb::FastCb;
use crate::bandit::gaptron::BanditGaptron;
use crate::bandit::newtron::Newtron;
use crate::bandit::offers::Offers;
use crate::bandit::quadratic_leader::{DiagonalLeader, FullLeader};
use crate::bandit::reduction::BanditReduction;
use crate::bandit::relative_gaps::RelativeGaps;
use crate::bandit::soba::Soba;
use crate::bandit::soba_reduction::SobaReduction;
use crate::bandit::soba_sketch::SobaSketch;
use crate::bandit::squarecb::SquareCb;
use crate::boosting::adaboost_olm::AdaBoostOlm;
pub use crate::entry::{Entry, Learners, Practice, Slowing, Wraps};
use crate::experts::abstention::AdaHedgeAbstain;
use crate::experts::adahedge::AdaHedge;
use crate::experts::auto::Auto;
use crate::full::aggregating::Aggregating;
use crate::full::aioli::Aioli;
use crate::full::conditional_logit::ConditionalLogit;
use crate::full::folklore::Folklore;
use crate::full::folklore_diag::FolkloreDiag;
use crate::full::folklore_intervals::FolkloreIntervals;
use crate::full::folklore_sketch::FolkloreSketch;
use crate::full::ftrl::Ftrl;
use crate::full::gaf::Gaf;
use crate::full::gaptron::{Gaptron, Hinge, Logistic, Smooth};
use crate::full::kernel_aioli::KernelAioli;
use crate::full::kernel_aioli_landmarks::KernelAioliLandmarks;
use crate::full::label_tree::LabelTree;
use crate::full::ogd::Ogd;
use crate::full::ons::Ons;
use crate::full::ons_diag::OnsDiag;
use crate::full::ons_sketch::OnsSketch;
use crate::full::perceptron::Perceptron;
use crate::full::second_order_margin::{DiagonalMetric, FullMetric};
use crate::full::second_order_perceptron::SecondOrderPerceptron;
use crate::full::vaw::Vaw;
use crate::param::{ParamError, nearest};

/// Every algorithm, in display order.
pub static ALGORITHMS: &[Entry] = &[
    Entry::either::<Auto, BanditAuto>().mixture(),
    Entry::full::<Folklore>(),
    Entry::full::<FolkloreDiag>().in_practice(
        "curvature=0.1",
        "on 20,000 ratings with users and films as categories the log-loss is 1.57 where guessing has 1.47, and 1.43 with it",
    ),
    Entry::full::<FolkloreSketch>(),
    Entry::full::<FolkloreIntervals>(),
    Entry::full::<ConditionalLogit>().in_blocks(),
    Entry::full::<Aioli>().in_practice(
        "curvature=0.1",
        "where one label is rare it forecasts worse than guessing: as the oracle of squarecb on 20,000 rounds of generated clicks it earns 0.012 a round, as uniform play does, and 0.025 with it",
    ),
    Entry::full::<KernelAioli>().slowing("kernel-aioli-landmarks", Some("max_rounds")),
    Entry::full::<KernelAioliLandmarks>(),
    Entry::full::<LabelTree>().wrapping(LEARNERS),
    Entry::full::<Gaf>().in_practice(
        "regularization=1",
        "on 2,000 rows of segment the certificate is 4,032,000 nats where guessing loses 3,892, and the log-loss is 1.94, that of guessing, and 0.42 with it",
    ),
    Entry::full::<Vaw>(),
    Entry::full::<Ogd>(),
    Entry::full::<Ons>().in_practice(
        "rate=0.3 regularization=1",
        "on 2,000 rows of segment the log-loss is 1.95, which is that of guessing, and 0.74 with it",
    ),
    Entry::full::<OnsDiag>().in_practice(
        "rate=0.3 regularization=1",
        "on 2,000 rows of segment the log-loss is 1.95, which is that of guessing, and 0.79 with it",
    ),
    Entry::full::<OnsSketch>().in_practice(
        "rate=0.3 regularization=1 rank=30",
        "on 2,000 rows of segment the log-loss is 1.95, which is that of guessing, and 0.85 with it",
    ),
    Entry::full::<Ftrl>().slowing("folklore", None),
    Entry::full::<Aggregating>(),
    Entry::full::<Perceptron>(),
    Entry::full::<SecondOrderPerceptron<FullMetric>>(),
    Entry::full::<SecondOrderPerceptron<DiagonalMetric>>(),
    Entry::either::<Gaptron<Logistic>, BanditGaptron<Logistic>>()
        .in_practice("rate=0.3", "on 2,000 rows of segment 0.81 of the labels are wrong, and 0.18 with it"),
    Entry::either::<Gaptron<Hinge>, BanditGaptron<Hinge>>()
        .in_practice("rate=0.3", "on 2,000 rows of segment 0.48 of the labels are wrong, and 0.17 with it"),
    Entry::either::<Gaptron<Smooth>, BanditGaptron<Smooth>>()
        .in_practice("rate=0.3", "on 2,000 rows of segment 0.59 of the labels are wrong, and 0.16 with it"),
    Entry::bandit::<Banditron>(),
    Entry::bandit::<Newtron<FullLeader>>().among_all_labels(),
    Entry::bandit::<Newtron<DiagonalLeader>>().among_all_labels(),
    Entry::bandit::<Soba<FullMetric>>().in_practice(
        "exploration=0.3",
        "on 2,000 rows of segment every label is drawn at random and 0.86 are wrong, and 0.42 with it",
    ),
    Entry::bandit::<Soba<DiagonalMetric>>().in_practice(
        "exploration=0.3",
        "on 2,000 rows of segment every label is drawn at random and 0.86 are wrong, and 0.47 with it",
    ),
    Entry::bandit::<SobaSketch>().in_practice(
        "exploration=0.3",
        "on 2,000 rows of segment 0.55 of the labels are wrong, and 0.45 with it",
    ),
    Entry::bandit::<SobaReduction>().among_all_labels().in_practice(
        "exploration=0.3",
        "on 2,000 rows of segment every label is drawn at random and 0.86 are wrong, and 0.53 with it",
    ),
    Entry::bandit::<Confidit<FullRidge>>(),
    Entry::bandit::<Confidit<DiagonalRidge>>(),
    Entry::bandit::<BanditReduction>().wrapping(LEARNERS).among_all_labels().in_practice(
        "exploration=0.3",
        "on 2,000 rows of segment every label is drawn at random and 0.85 are wrong, and 0.66 with it",
    ),
    Entry::bandit::<SquareCb>().wrapping(LEARNERS).in_practice(
        "oracle=pooled",
        "on generated clicks, 60,000 rounds, it earns 0.35 of the best policy's clicks, and 0.82 with it; where rewards are common, \
         schedule=root in its place: on pendigits 0.47 of the labels are wrong, 0.10 with that, and 0.17 with the pooled oracle",
    ),
    Entry::bandit::<FastCb>().wrapping(LEARNERS).in_practice(
        "oracle=pooled",
        "on generated clicks, 60,000 rounds, it earns 0.35 of the best policy's clicks, and 0.84 with it; where rewards are common, \
         schedule=root in its place: on pendigits 0.13 of the labels are wrong, 0.10 with that, and 0.18 with the pooled oracle",
    ),
    Entry::bandit::<RelativeGaps>().wrapping(LEARNERS),
    Entry::bandit::<Offers>().wrapping(LEARNERS).in_blocks(),
    Entry::bandit::<Exp4>().among_all_labels(),
    Entry::full::<AdaBoostOlm>().wrapping(LEARNERS),
    Entry::experts::<AdaHedge>(),
    Entry::experts::<AdaHedgeAbstain>(),
];

/// The name of the learner where none is asked for.
pub const DEFAULT: &str = Auto::ABOUT.name;

/// The learners of the registry, for wrappers.
pub const LEARNERS: Learners = Learners::found_by(find);

/// The default estimator of rewards: with a full matrix if there are few features.
pub fn of_rewards(features: usize) -> &'static Entry {
    const MOST_FEATURES_WITH_MATRIX: usize = 64;
    static FULL: Entry = Entry::full::<Folklore>();
    static DIAGONAL: Entry = Entry::full::<FolkloreDiag>();
    if features <= MOST_FEATURES_WITH_MATRIX { &FULL } else { &DIAGONAL }
}

/// The learner for labels with features, which change from round to round.
pub fn of_offers() -> &'static Entry {
    static OFFERS: Entry = Entry::bandit::<Offers>().wrapping(LEARNERS).in_blocks();
    &OFFERS
}

/// The algorithm called `name`.
pub fn find(name: &str) -> Result<&'static Entry, ParamError> {
    let names = || ALGORITHMS.iter().map(|entry| entry.about.name);
    ALGORITHMS.iter().find(|entry| entry.about.name == name).ok_or_else(|| ParamError::UnknownLearner {
        name: name.to_owned(),
        near: nearest(name, names()).map(str::to_owned),
        known: names().collect::<Vec<_>>().join(", "),
    })
}
