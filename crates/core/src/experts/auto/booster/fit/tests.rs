use super::*;
use crate::boosting::mixed_uniform;
use crate::example::Features;

const PLAN: Plan =
    Plan { times: 1.0, columns: 1.0, growth: GROWTH, least_second: 1.0, by_levels: 0.4, more_leaves: true };

/// Rows of three classes: two numbers, one of them missing in a third of the rows, and a category.
fn store(rows: u64) -> Store {
    let mut store = Store::default();
    for t in 0..rows {
        let [a, b] = [1, 2].map(|seed| mixed_uniform(seed, t));
        let mut x = [1.0, a, if t % 3 == 0 { 0.0 } else { b }, f64::from(u8::from(t % 3 == 0)), 0.0, 0.0];
        x[4 + (t % 2) as usize] = 1.0;
        let class = if t % 3 == 0 { 2 } else { usize::from((a > 0.5) == (t % 2 == 0)) };
        store.push(Features::Dense(&x), class, 1.0 + (t % 2) as f64);
    }
    store
}

fn fitted(store: &Store, portion: u64) -> Box<Trees> {
    let mut fit = Fit::new(PLAN, store, store.len(), 3, 6, 7);
    loop {
        if let Some(trees) = fit.advance(store, portion) {
            return trees;
        }
    }
}

#[test]
fn portions_change_no_bit() {
    let store = store(700);
    let at_once = fitted(&store, u64::MAX);
    for portion in [1, 5_000, 100_000] {
        assert_eq!(fitted(&store, portion), at_once, "{portion}");
    }
    let (mut list, mut bins) = (Vec::new(), Vec::new());
    at_once.list(&mut list);
    let rest = &mut &list[..];
    assert_eq!(Trees::from_list(rest, 3, 6).as_ref(), Some(&*at_once));
    assert!(rest.is_empty());
    // The classes follow from the row.
    for (x, class) in [([1.0, 0.9, 0.0, 1.0, 1.0, 0.0], 2), ([1.0, 0.9, 0.3, 0.0, 1.0, 0.0], 1)] {
        at_once.columns.of(&&[Features::Dense(&x)][..], &mut bins);
        let mut scores = at_once.base.clone();
        at_once.add(&bins, 0, at_once.rounds(), &mut scores);
        let mut p = [0.0; 3];
        write_probabilities(&scores, &mut [0.0; 3], &mut p);
        assert!(p[class] > 0.95, "{x:?}: {p:?}");
    }
}

/// All leaves of a depth have one rule, so that a tree has at most five; trees that grow leaf by leaf come
/// after them, and find more in noise.
#[test]
fn the_first_trees_grow_by_levels() {
    let mut store = Store::default();
    for t in 0..2000 {
        let [a, b, noise] = [1, 2, 3].map(|seed| mixed_uniform(seed, t));
        store.push(Features::Dense(&[1.0, a, b]), usize::from(a + b + noise > 1.5), 1.0);
    }
    let trees = Fit::whole(PLAN, &store, 2, 3, 7);
    let rules: Vec<usize> = (0..trees.rounds()).map(|tree| trees.rules(tree)).collect();
    let (by_levels, others) = rules.split_at((0.4 * trees.rounds() as f64).ceil() as usize);
    assert!(by_levels.iter().all(|rules| (1..=5).contains(rules)), "{by_levels:?}");
    assert!(others.iter().all(|rules| *rules > 5), "{others:?}");
}

#[test]
fn many_rows_have_more_leaves() {
    let leaves = |rows, sums| PLAN.leaves(rows, sums);
    assert_eq!([10_000, 20_480, 65_536].map(|rows| leaves(rows, 1000)), [31, 40, 127]);
    // Wide rows have no room for them.
    assert_eq!(leaves(65_536, 1 << 13), 64);
    assert_eq!(leaves(65_536, 1 << 16), 31);
    assert_eq!(Plan { more_leaves: false, ..PLAN }.leaves(65_536, 1000), 31);
}

/// No step takes much longer than a portion.
#[test]
fn portions_are_equal() {
    let store = store(5000);
    let mut fit = Fit::new(PLAN, &store, 5000, 3, 6, 7);
    let mut rounds = 0;
    while fit.advance(&store, fit.portion()).is_none() {
        assert!(fit.ahead < fit.portion() / 2, "{} ahead of {}", fit.ahead, fit.portion());
        rounds += 1;
    }
    assert!(rounds as f64 <= 1.5 * DONE * PLAN.rounds_between(5000) as f64, "{rounds} rounds");
}
