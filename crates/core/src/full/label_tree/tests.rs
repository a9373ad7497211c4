use super::*;
use crate::facts::RunFacts;
use crate::full::aioli::{Aioli, AioliParams};
use crate::model::Archive;
use crate::rng::{Rng, Uniforms as _};
use crate::testing::{assert_close, unit_rows};

fn tree(classes: usize, features: usize, settings: &[(&str, f64)]) -> LabelTree {
    let values = settings.iter().map(|(name, value)| ((*name).to_owned(), Value::Float(*value))).collect();
    let params: LabelTreeParams = crate::registry::LEARNERS.read("label-tree", &values).expect("known names");
    LabelTree::new(params, Problem::new(classes, features).with_radius(1.0), 0).expect("valid parameters")
}

/// Rows whose class is the cell of a grid that contains them.
fn rows(count: usize, classes: usize) -> Vec<(Vec<f64>, usize)> {
    let mut rng = Rng::new(4, 0);
    let label = |x: &[f64]| {
        let bits = x.iter().skip(1).fold(0, |bits, x| 2 * bits + usize::from(*x > 0.0));
        bits % classes
    };
    let mut rows: Vec<Vec<f64>> = unit_rows(3, count, 4);
    rows.iter_mut().for_each(|x| x[0] = 0.5 + 0.1 * rng.uniform());
    rows.into_iter()
        .map(|x| (x.iter().map(|x| 0.8 * x).collect::<Vec<f64>>(), x))
        .map(|(x, y)| (x, label(&y)))
        .collect()
}

/// K = 3. Round 1: 1/3 each. After class 2: q = (1 + ½)/2 = ¾, so 1/4 for class 2 and 3/8 for each of the
/// others. After class 0: one node, which has learnt that round only, and q = (2 + ½)/3.
#[test]
fn first_rounds_by_hand() {
    let mut tree = tree(3, 1, &[]);
    let x = Features::Dense(&[1.0]);
    let mut at = tree.prediction();
    tree.predict(x, &mut at);
    assert_eq!(at.probabilities, [1.0 / 3.0; 3]);
    tree.update(x, Target::class(2), &at);
    tree.predict(x, &mut at);
    assert_eq!(at.probabilities, [0.375, 0.375, 0.25]);
    tree.update(x, Target::class(0), &at);
    assert_close(tree.kept_back, 3f64.ln() - 0.375f64.ln(), 1e-15, "kept back");
    let mut node =
        Aioli::new(AioliParams::default(), Problem::new(2, 1).with_radius(1.0), 0).expect("defaults");
    let mut own = node.prediction();
    node.predict(x, &mut own);
    node.update(x, Target::class(1), &own);
    node.predict(x, &mut own);
    tree.predict(x, &mut at);
    let q = 2.5 / 3.0;
    assert_close(at.probabilities[1], q, 1e-15, "the class that has not occurred");
    assert_close(at.probabilities[2], (1.0 - q) * own.probabilities[0], 1e-15, "left");
    assert_close(at.probabilities[0], (1.0 - q) * own.probabilities[1], 1e-15, "right");
}

/// A tree of plain nodes, identified by the path to them, each with its own AIOLI; twelve classes occur one
/// after another in the first rounds.
#[test]
fn it_equals_a_naive_tree() {
    use std::collections::BTreeMap;
    let (classes, balance) = (12, 0.25);
    let mut tree = tree(classes, 4, &[("balance", balance)]);
    let aioli =
        || Aioli::new(AioliParams::default(), Problem::new(2, 4).with_radius(1.0), 0).expect("defaults");
    // The path of every label, and the learner of every inner path.
    let mut paths: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    let mut learners: BTreeMap<Vec<usize>, Aioli> = BTreeMap::new();
    let right = |learner: &Aioli, x: &[f64]| {
        let mut at = learner.prediction();
        learner.predict(Features::Dense(x), &mut at);
        at.probabilities[1]
    };
    let mut at = tree.prediction();
    for (t, (x, class)) in rows(600, classes).into_iter().enumerate() {
        tree.predict(Features::Dense(&x), &mut at);
        let known = paths.len();
        let q = if known == 0 {
            1.0
        } else if known == classes {
            0.0
        } else {
            (known as f64 + 0.5) / (t as f64 + 1.0)
        };
        for label in 0..classes {
            let want = paths.get(&label).map_or(q / (classes - known).max(1) as f64, |path| {
                (0..path.len()).fold(1.0 - q, |p, depth| {
                    let right = right(&learners[&path[..depth]], &x);
                    p * if path[depth] == 1 { right } else { 1.0 - right }
                })
            });
            assert_close(at.probabilities[label], want, 1e-9, "probability");
        }
        assert_close(at.probabilities.iter().sum(), 1.0, 1e-12, "sum");
        if !paths.contains_key(&class) {
            let mut path: Vec<usize> = Vec::new();
            while let Some(learner) = learners.get(&path) {
                let side = |side: usize| {
                    let below: Vec<usize> = [&path[..], &[side]].concat();
                    paths.values().filter(|path| path.starts_with(&below)).count() as f64
                };
                let score =
                    (1.0 - balance) * (2.0 * right(learner, &x) - 1.0) + balance * (side(0) / side(1)).log2();
                path.push(usize::from(score > 0.0));
            }
            if let Some((_, other)) = paths.iter_mut().find(|(_, other)| **other == path) {
                other.push(0);
                learners.insert(path.clone(), aioli());
                path.push(1);
            }
            paths.insert(class, path);
        }
        let path = &paths[&class];
        for depth in 0..path.len() {
            let learner = learners.get_mut(&path[..depth]).expect("an inner path");
            let mut at = learner.prediction();
            learner.predict(Features::Dense(&x), &mut at);
            learner.update(Features::Dense(&x), Target::class(path[depth]), &at);
        }
        tree.update(Features::Dense(&x), Target::class(class), &at);
    }
    assert_eq!(tree.known, paths.len());
    assert!(tree.known >= 8, "{} classes occurred", tree.known);
}

/// Best-first search finds the labels that sorting all probabilities finds, before and after all classes have
/// occurred.
#[test]
fn the_best_labels_are_those_of_all() {
    for classes in [2, 9, 12] {
        let mut tree = tree(classes, 4, &[]);
        let (mut at, mut few, mut best) = (tree.prediction(), Prediction::default(), Vec::new());
        for (x, class) in rows(300, classes) {
            let x = Features::Dense(&x);
            tree.predict(x, &mut at);
            tree.best(x, classes + 1, &mut few, &mut best);
            assert_eq!(best.len(), classes);
            assert!(best.is_sorted_by(|a, b| a.1 >= b.1), "{best:?}");
            for (label, p) in &best {
                assert_eq!(*p, at.probabilities[label.index()]);
                assert_close(tree.probability(x, *label, &mut few), *p, 1e-14, "one alone");
            }
            assert_eq!(best[0].1, at.probabilities[at.top().index()]);
            tree.update(x, Target::class(class), &at);
        }
    }
}

/// Learning after a forecast of few labels equals learning after a forecast of all labels.
#[test]
fn few_forecasts_lead_to_the_same_update() {
    let (mut full, mut few) = (tree(9, 4, &[]), tree(9, 4, &[]));
    let (mut all, mut room, mut best) = (full.prediction(), few.prediction(), Vec::new());
    for (x, class) in rows(200, 9) {
        let x = Features::Dense(&x);
        full.predict(x, &mut all);
        full.update(x, Target::class(class), &all);
        few.best(x, 1, &mut room, &mut best);
        few.probability(x, Label::from(class), &mut room);
        few.update(x, Target::class(class), &room);
    }
    assert_eq!(full.packed(), few.packed());
    assert_eq!(full.kept_back, few.kept_back);
}

#[test]
fn a_list_is_a_saved_tree_or_none() {
    let mut tree = tree(12, 4, &[]);
    let mut at = tree.prediction();
    for (x, class) in rows(550, 12) {
        tree.predict(Features::Dense(&x), &mut at);
        tree.update(Features::Dense(&x), Target::class(class), &at);
    }
    let list = tree.packed();
    for (at, value) in [(0, 13.0), (1, 12.0), (2, 0.5), (0, list[0] - 1.0)] {
        let mut wrong = list.clone();
        wrong[at] = value;
        assert!(tree.clone().unpack(&wrong).is_none(), "{value} at {at}");
    }
    assert!(tree.clone().unpack(&list[..list.len() - 1]).is_none());
    assert!(tree.unpack(&list).is_some());
    assert_eq!(tree.packed(), list);
}

/// Eight classes in the cells of three signs, with a random class in a third of the rows, so that the best
/// weights are within the ball. The tree's loss minus that of nodes with the best weights is at most the
/// certificate, and the certificate at most the closed form.
#[test]
fn the_regret_is_within_the_certificate() {
    let mut tree = tree(8, 4, &[("node.norm", 8.0)]);
    let mut rng = Rng::new(11, 0);
    let mut rows = rows(2000, 8);
    for (_, class) in rows.iter_mut().step_by(3) {
        *class = (8.0 * rng.uniform()) as usize;
    }
    let (mut at, mut loss) = (tree.prediction(), 0.0);
    for (x, class) in &rows {
        tree.predict(Features::Dense(x), &mut at);
        loss += Target::class(*class).log_loss(&at.probabilities);
        tree.update(Features::Dense(x), Target::class(*class), &at);
    }
    let certificate = tree.certificate().expect("nodes have certificates").expect("valid curvature");
    let bound = tree.guarantee().and_then(|guarantee| guarantee.regret_bound()).expect("a theorem");
    let bound = bound.expect("a bound");
    assert!(certificate <= bound, "{certificate} {bound}");
    // Comparators: in each node the weights in the ball with the least loss on its rounds, by plain gradient
    // descent.
    let sides = |class: usize| {
        let mut walk = tree.places[class].expect("all classes occurred");
        let mut path = Vec::new();
        while let Some((node, side)) = walk {
            path.push((node as usize, side));
            walk = tree.nodes[node as usize].above;
        }
        path
    };
    let mut best = 0.0;
    for node in 0..tree.nodes.len() {
        let mine: Vec<(&[f64], f64)> = (rows.iter())
            .filter_map(|(x, class)| {
                let (_, side) = sides(*class).into_iter().find(|(on_path, _)| *on_path == node)?;
                Some((&x[..], if side == 1 { 1.0 } else { -1.0 }))
            })
            .collect();
        let mut theta = [0.0; 4];
        let loss = |theta: &[f64]| -> f64 {
            let margin = |x: &[f64], y: f64| y * x.iter().zip(theta).map(|(x, w)| x * w).sum::<f64>();
            mine.iter().map(|(x, y)| (-margin(x, *y)).exp().ln_1p()).sum()
        };
        for _ in 0..500 {
            let mut gradient = [0.0; 4];
            for (x, y) in &mine {
                let margin: f64 = y * x.iter().zip(&theta).map(|(x, w)| x * w).sum::<f64>();
                let slope = -y / (1.0 + margin.exp());
                gradient.iter_mut().zip(*x).for_each(|(g, x)| *g += slope * x);
            }
            // For rows of norm at most 1 the loss is smooth with constant 1/4 per row.
            let rate = 4.0 / mine.len() as f64;
            theta.iter_mut().zip(&gradient).for_each(|(w, g)| *w -= rate * g);
            let norm = theta.iter().map(|w| w * w).sum::<f64>().sqrt();
            theta.iter_mut().for_each(|w| *w *= (8.0 / norm).min(1.0));
        }
        best += loss(&theta);
    }
    // The nodes also learn the splits of classes' first rounds, so that upper nodes learn a few more rounds
    // than those of the present paths.
    let regret = loss - best;
    assert!(regret <= certificate, "{regret} {certificate}");
    assert!(regret > 0.02 * certificate, "the certificate is not vacuous: {regret} {certificate}");
}

fn learn(tree: &mut LabelTree, rows: &[(Vec<f64>, usize)]) {
    let mut at = tree.prediction();
    for (x, class) in rows {
        tree.predict(Features::Dense(x), &mut at);
        tree.update(Features::Dense(x), Target::class(*class), &at);
    }
}

/// Class by class; the labels of the leaves from left to right.
fn with_classes(classes: usize, order: &[usize]) -> LabelTree {
    let mut tree = tree(classes, 1, &[]);
    learn(&mut tree, &order.iter().map(|class| (vec![1.0], *class)).collect::<Vec<_>>());
    tree
}

fn forecast(tree: &dyn Model, x: &[f64]) -> Vec<f64> {
    let mut at = tree.prediction();
    tree.predict(Features::Dense(x), &mut at);
    at.probabilities
}

/// Parts that continue one tree with all labels: every node is the sum of the parts' nodes.
#[test]
fn nodes_of_equal_trees_add_up() {
    use crate::merge::{Merge, merge};
    let mut base = tree(8, 4, &[("node.norm", 8.0)]);
    let rows = rows(600, 8);
    learn(&mut base, &rows[..200]);
    assert_eq!(base.known, 8);
    let mut parts = [base.clone(), base.clone()];
    learn(&mut parts[0], &rows[200..350]);
    learn(&mut parts[1], &rows[350..]);
    for how in Merge::ALL {
        let mut merged = LabelTree::merge(&[&parts[0], &parts[1]], how).expect("equal trees");
        let mut certificate = parts[0].kept_back + parts[1].kept_back;
        // Nodes may have another order: the same labels are on their right.
        let right = |tree: &LabelTree, node: usize| -> Vec<usize> {
            let on = |class: &usize| {
                let mut walk = tree.places[*class].expect("known");
                while let Some((at, side)) = walk {
                    if at as usize == node {
                        return side == 1;
                    }
                    walk = tree.nodes[at as usize].above;
                }
                false
            };
            (0..8).filter(on).collect()
        };
        for node in 0..7 {
            let same =
                |part: &LabelTree| (0..7).find(|at| right(part, *at) == right(&merged, node)).expect("equal");
            let learners = parts.each_ref().map(|part| part.nodes[same(part)].learner.as_ref());
            let mut sum = merge(&learners, how).expect("aioli");
            let mut own = merged.nodes[node].learner.boxed_clone();
            assert_eq!(Archive::of(&mut *own).digest(), Archive::of(&mut *sum).digest());
            assert_eq!(
                merged.nodes[node].leaves.iter().sum::<u32>() as usize - 1,
                nodes_below(&merged, node)
            );
            certificate += sum.certificate().expect("aioli").expect("holds");
        }
        assert_eq!((merged.rounds, merged.known), (800, 8));
        let own = merged.certificate().expect("aioli").expect("holds");
        assert_close(own, certificate, 1e-12, "certificate");
        let saved = Archive::of(&mut merged);
        let mut again = saved.model().expect("just saved");
        assert_eq!(forecast(again.as_ref(), &rows[0].0), forecast(&merged, &rows[0].0));
        assert_eq!(Archive::of(again.as_mut()).digest(), saved.digest());
    }
}

/// The number of nodes in the subtree of `node`.
fn nodes_below(tree: &LabelTree, node: usize) -> usize {
    let children = tree.nodes[node].below.iter();
    1 + children
        .map(|child| if let Child::Node(at) = child { nodes_below(tree, *at as usize) } else { 0 })
        .sum::<usize>()
}

/// (0|1) and (0|1), each with a new label of its own at a place that the other tree does not contradict;
/// trees without common labels; and trees of one label.
#[test]
fn trees_of_different_labels_are_joined() {
    use crate::merge::Merge;
    let classes = 5;
    let depth = |tree: &LabelTree, class: usize| {
        let (mut walk, mut depth) = (tree.places[class].expect("known"), 0);
        while let Some((node, _)) = walk {
            (walk, depth) = (tree.nodes[node as usize].above, depth + 1);
        }
        depth
    };
    for orders in [
        [&[0, 1, 2][..], &[0, 1, 3][..]],
        [&[0, 1], &[2, 3, 4]],
        [&[0], &[1]],
        [&[0], &[0, 1]],
        [&[], &[3, 0]],
        [&[2, 2], &[2]],
    ] {
        let parts = orders.map(|order| with_classes(classes, order));
        let merged = LabelTree::merge(&[&parts[0], &parts[1]], Merge::SumAll).expect("they agree");
        let mut labels = orders.concat();
        labels.sort_unstable();
        labels.dedup();
        assert_eq!(merged.known, labels.len(), "{orders:?}");
        assert_eq!(merged.nodes.len() + 1, labels.len(), "{orders:?}");
        assert!((0..classes).all(|class| merged.places[class].is_some() == labels.contains(&class)));
        let p = forecast(&merged, &[1.0]);
        assert_close(p.iter().sum::<f64>(), 1.0, 1e-12, "sum");
        // A label's depth is at least that in the parts, and its path leads to the root.
        for (part, order) in parts.iter().zip(orders) {
            assert!(order.iter().all(|class| depth(&merged, *class) >= depth(part, *class)), "{orders:?}");
        }
    }
}

#[test]
fn trees_that_differ_are_refused() {
    use crate::merge::Merge;
    let refused = |orders: [&[usize]; 2]| {
        let parts = orders.map(|order| with_classes(4, order));
        let error =
            LabelTree::merge(&[&parts[0], &parts[0], &parts[1]], Merge::SumAll).expect_err("they differ");
        assert_eq!(error.part(), Some(2));
        error.to_string()
    };
    let want = "class 0 (from 0) has another place in its tree of labels than in the models before it: all parts \
                must continue one model that has seen every label";
    assert_eq!(refused([&[0, 1], &[1, 0]]), want);
    let node = |name: &str| {
        let values = [("node".to_owned(), Value::from(name))].into_iter().collect();
        let params: LabelTreeParams =
            crate::registry::LEARNERS.read("label-tree", &values).expect("known names");
        LabelTree::new(params, Problem::new(3, 1).with_radius(1.0), 0).expect("valid parameters")
    };
    let error =
        |name: &str| LabelTree::merge(&[&node(name)], Merge::SumAll).map(drop).map_err(|e| e.to_string());
    assert_eq!(error("ogd"), Err("ogd cannot be merged: what it learns does not add up".to_owned()));
    assert_eq!(error("folklore-diag"), Ok(()));
}

#[test]
fn nodes_have_parameters_of_their_own() {
    let new = |values: &[(&str, &str)], features| {
        let values = values.iter().map(|(name, value)| ((*name).to_owned(), Value::parse(value))).collect();
        let params: LabelTreeParams = crate::registry::LEARNERS.read("label-tree", &values)?;
        LabelTree::new(params, Problem::new(5, features), 0)
    };
    let node = |features| new(&[], features).expect("defaults").params().node.expect("resolved");
    assert_eq!((node(10), node(100_000)), ("aioli".to_owned(), "folklore-diag".to_owned()));
    let error = |values: &[(&str, &str)]| new(values, 3).expect_err("bad").to_string();
    assert_eq!(error(&[("node.norm", "-1")]), "node.norm = -1: must be a finite number > 0");
    for node in ["vaw", "auto", "label-tree"] {
        assert_eq!(
            error(&[("node", node)]),
            format!(
                "node = {node}: must be a learner that forecasts probabilities of two classes, learns from labels, takes weights and is no mixture"
            )
        );
    }
    assert_eq!(error(&[("balance", "2")]), "balance = 2: must be in [0, 1]");
}

/// Nodes without matrices tell labels apart by three of four words of their own among seven others, of 4,096.
#[test]
fn labels_with_words_of_their_own() {
    const LABELS: usize = 50;
    const OTHERS: usize = 4096;
    let mut tree = tree(LABELS, OTHERS + 4 * LABELS, &[]);
    let mut rng = Rng::new(8, 0);
    let (mut at, mut errors) = (tree.prediction(), 0);
    let values = [0.1f64.sqrt(); 10];
    for round in 0..2500 {
        let label = rng.below(LABELS as u64) as usize;
        let absent = rng.below(4) as usize;
        let own = (0..4).filter(|word| *word != absent).map(|word| (OTHERS + 4 * label + word) as u32);
        let mut indices: Vec<u32> = (0..7).map(|_| rng.below(OTHERS as u64) as u32).chain(own).collect();
        indices.sort_unstable();
        indices.dedup();
        let x = Features::Sparse { indices: &indices, values: &values[..indices.len()] };
        tree.predict(x, &mut at);
        errors += usize::from(round >= 1500 && at.top().index() != label);
        tree.update(x, Target::class(label), &at);
    }
    assert!(errors < 50, "{errors} errors in the last 1,000 rounds");
}

/// The margin for rounding errors, and what nodes need besides, is that of the nodes' learners: the sum of
/// their certificates is withheld where theirs would be.
#[test]
fn the_certificate_is_withheld_where_that_of_a_node_is() {
    let promised = |node: &str, regularization: Option<f64>, weight: f64| {
        let mut values = Values::from([("node".to_owned(), Value::from(node))]);
        values.extend(regularization.map(|value| ("node.regularization".to_owned(), Value::Float(value))));
        let params = crate::registry::LEARNERS.read("label-tree", &values).expect("known names");
        let mut tree =
            LabelTree::new(params, Problem::new(3, 4).with_radius(1.0), 0).expect("valid parameters");
        let (mut facts, mut at) = (RunFacts::default(), tree.prediction());
        for (x, class) in rows(600, 3) {
            let (x, y) = (Features::Dense(&x), Target::class(class).weighted(weight));
            tree.predict(x, &mut at);
            facts.note(tree.problem(), x, weight);
            tree.update(x, y, &at);
        }
        let plain = tree.certificate().expect("keeps one").expect("the nodes' theorems hold");
        facts.certificate(&tree).expect("keeps one").map(|certificate| certificate - plain)
    };
    for node in ["aioli", "folklore"] {
        let margin = promised(node, None, 1.0).expect("nothing cancels");
        assert!(margin > 0.0 && margin < 1e-3, "{node}: {margin}");
        let why = promised(node, Some(1e-13), 1.0).expect_err("terms cancel").to_string();
        assert!(why.contains("the regularization 1e-13 is too small"), "{node}: {why}");
    }
    // A weighted round is within the theorem of FOLKLORE, and beyond that of a mixture of some.
    assert!(promised("folklore", None, 0.5).is_ok());
    let why = promised("folklore-intervals", None, 0.5).expect_err("weights").to_string();
    assert_eq!(why, "rounds had importance weights");
}

/// The bound of a node that draws samples may fail, and with more nodes some of them more often.
#[test]
fn bounds_that_may_fail_are_not_added() {
    let bound = |set: &str| {
        let values = crate::testing::values(set);
        let params = crate::registry::LEARNERS.read("label-tree", &values).expect("known names");
        let mut tree =
            LabelTree::new(params, Problem::new(3, 4).with_radius(1.0), 0).expect("valid parameters");
        let mut at = tree.prediction();
        for (x, class) in rows(20, 3) {
            tree.predict(Features::Dense(&x), &mut at);
            tree.update(Features::Dense(&x), Target::class(class), &at);
        }
        let of = |learner: &dyn Model| learner.guarantee().and_then(|guarantee| guarantee.regret_bound());
        assert!(tree.nodes.iter().all(|node| of(&*node.learner).is_some_and(|bound| bound.is_ok())), "{set}");
        of(&tree).expect("it has a theorem")
    };
    assert!(bound("node=gaf").is_ok(), "quadrature");
    let why = bound("node=gaf node.samples=20000 node.smoothing=0.5").expect_err("samples").to_string();
    assert!(why.ends_with("where it draws samples, and not in all nodes at once"), "{why}");
}
