use super::*;

fn trees(params: &TreeParams, problem: &Problem, count: u64) -> Trees {
    Trees::new(params, problem, 3..3 + count).expect("valid")
}

/// Trees of one feature and two classes.
fn one(params: &TreeParams) -> Trees {
    trees(params, &Problem::new(2, 1), 1)
}

fn learn(trees: &mut Trees, x: f64, y: usize) {
    let mut costs = [0.5; 2];
    costs[y] = 0.0;
    trees.keep(Features::Dense(&[x]), y);
    trees.update(0, Features::Dense(&[x]), &costs, &Prediction::default());
}

fn says(trees: &Trees, x: f64) -> u32 {
    let mut named = [0];
    trees.predict(Features::Dense(&[x]), &mut named, &mut [Prediction::default()]);
    named[0]
}

/// Four rows, -1 and -1 of class 1, 1 and 1 of class 0: every threshold in [-1, 1) separates the classes,
/// the gain is (2 + 2 - 2)/4 = 1/2. Hoeffding's bound for n = 4 is 1/2 at δ = e⁻²: for a slightly smaller
/// δ there is no split.
#[test]
fn a_split_worked_by_hand() {
    for (delta, leaves) in [(0.136, 2), (0.135, 1)] {
        let params = TreeParams::new().grace(4).confidence(delta).tries(1);
        let mut trees = one(&params);
        assert_eq!(says(&trees, -1.0), 0, "the first of equals");
        [(-1.0, 1), (1.0, 0), (-1.0, 1)].into_iter().for_each(|(x, y)| learn(&mut trees, x, y));
        assert_eq!((says(&trees, 1.0), trees.trees[0].leaves()), (1, 1), "one leaf, one answer");
        learn(&mut trees, 1.0, 0);
        let tree = &trees.trees[0];
        assert_eq!(tree.leaves(), leaves, "δ = {delta}");
        if leaves == 2 {
            assert_eq!((says(&trees, -1.0), says(&trees, 1.0)), (1, 0));
            assert_eq!([tree.sizes(1), tree.sizes(2)], [(2, 2), (2, 2)], "every row is in one half");
            assert_eq!(tree.costs(0), [1.0, 0.0]);
        }
    }
}

/// Eq. (1) for three classes: weights 0.25 of class 0 and 0.5 and 0.125 of class 2 in a leaf.
#[test]
fn costs_of_a_new_leaf_worked_by_hand() {
    let params = TreeParams::new().grace(6).tries(64);
    let mut trees = trees(&params, &Problem::new(3, 1), 1);
    let rows =
        [(-1.0, 0, 0.25), (-1.0, 2, 0.5), (1.0, 1, 0.5), (1.0, 1, 0.5), (1.0, 1, 0.5), (-1.0, 2, 0.125)];
    for (x, y, weight) in rows {
        let mut costs = [weight / 4.0; 3];
        costs[(y + 1) % 3] = 3.0 * weight / 4.0;
        costs[y] = 0.0;
        trees.keep(Features::Dense(&[x]), y);
        trees.update(0, Features::Dense(&[x]), &costs, &Prediction::default());
    }
    let tree = &trees.trees[0];
    assert_eq!(tree.leaves(), 2);
    assert_eq!(tree.costs(0), [0.625 / 2.0, 0.875 / 2.0, 0.25 / 2.0]);
    assert_eq!(tree.costs(1), [1.5 / 2.0, 0.0, 1.5 / 2.0]);
}

/// Trees of different depths, more than are followed together: each answers as its own path.
#[test]
fn all_trees_answer_as_each() {
    let problem = Problem::new(3, 2);
    let mut trees = trees(&TreeParams::default(), &problem, 70);
    let row = |t: u64| [(t * 7 % 23) as f64, (t * 5 % 17) as f64];
    for t in 0..350 {
        let (x, y) = (row(t), (t % 23 / 8) as usize);
        let costs: Vec<f64> = (0..3).map(|class| if class == y { 0.0 } else { 0.5 }).collect();
        trees.keep(Features::Dense(&x), y);
        for copy in (t as usize / 5)..70 {
            trees.update(copy, Features::Dense(&x), &costs, &Prediction::default());
        }
    }
    assert!(trees.trees[0].leaves() == 1 && trees.trees[69].leaves() > 4);
    let (mut named, mut rooms) = (vec![9; 70], vec![Prediction::default(); 70]);
    for t in 0..50 {
        let x = row(t);
        let x = Features::Dense(&x);
        trees.predict(x, &mut named, &mut rooms);
        for ((tree, named), room) in trees.trees.iter().zip(&named).zip(&rooms) {
            let node = tree.find(x, 0);
            assert_eq!(room.indices, [node as u32]);
            assert_eq!(*named as usize, cheapest(tree.costs(tree.nodes[NODE * node + 1] as usize)));
        }
    }
}

/// Numbers of 8 bytes that a tree of two classes takes for a leaf.
const LEAF_NUMBERS: u64 = 4 + 2 + 16;

fn zigzag(trees: &mut Trees, rounds: u64) {
    let mut t = 0.0;
    for round in 0..rounds {
        t = (t + 0.618_033_988_749) % 1.0;
        let noisy = round % 5 == 0;
        learn(trees, t, usize::from(((t * 40.0) as usize).is_multiple_of(2)) ^ usize::from(noisy));
    }
}

#[test]
fn memory_is_bounded() {
    let params = TreeParams::new().memory(50 * LEAF_NUMBERS + 5).rows(100);
    let mut trees = one(&params);
    zigzag(&mut trees, 5000);
    assert_eq!(trees.trees[0].leaves(), 50);
    let lengths = trees.tensors().into_iter().map(|tensor| match tensor.slot {
        crate::state::Slot::Singles(list) => 4 * list.len(),
        crate::state::Slot::Words(list) => 4 * list.len(),
        crate::state::Slot::List(list) => 8 * list.len(),
        _ => 0,
    });
    assert!(lengths.sum::<usize>() as u64 <= 8 * (50 * LEAF_NUMBERS + 100));
    assert!(trees.restored());
}

/// Leaves whose rows are no longer stored continue with later rows.
#[test]
fn lists_forget_overwritten_rows() {
    let mut trees = one(&TreeParams::new().rows(20));
    zigzag(&mut trees, 3000);
    let few = trees.trees[0].leaves();
    let mut all = one(&TreeParams::default());
    zigzag(&mut all, 3000);
    let many = all.trees[0].leaves();
    assert!(3 < few && few < many, "{few} and {many}");
}

/// Values beyond single precision are stored as its largest ones, so that thresholds are finite.
#[test]
fn huge_values_are_split() {
    let mut trees = one(&TreeParams::default());
    (0..40).for_each(|t| learn(&mut trees, if t % 2 == 0 { -1e300 } else { 1e300 }, t % 2));
    assert!(trees.restored());
    assert_eq!((says(&trees, -1e300), says(&trees, 1e300)), (0, 1));
}

#[test]
fn contradictions_are_noticed() {
    let mut grown = one(&TreeParams::new().grace(2));
    (0..40).for_each(|t| learn(&mut grown, f64::from(t % 7), (t % 7 > 3) as usize));
    assert!(grown.trees[0].leaves() > 1 && grown.restored());
    let broken = |change: fn(&mut Tree)| {
        let mut trees = grown.clone();
        change(&mut trees.trees[0]);
        !trees.restored()
    };
    assert!(broken(|tree| tree.nodes[2] = 0), "a node that is its own child");
    assert!(broken(|tree| tree.nodes[0] = 1), "a feature that is not there");
    assert!(broken(|tree| tree.nodes[1] = f32::NAN.to_bits()), "a threshold that is not a number");
    assert!(broken(|tree| tree.nodes[NODE + 1] = tree.nodes[2 * NODE + 1]), "a leaf in two places");
    assert!(broken(|tree| tree.nodes[NODE + 3] = 17), "more rows than there is room for");
    assert!(broken(|tree| tree.costs.truncate(3)), "half a leaf");
    assert!(broken(|tree| tree.most = 1), "more leaves than the limit");
    let mut rows = grown.clone();
    rows.keep(Features::Dense(&[0.0]), 2);
    assert!(!rows.restored(), "a class that is not there");
}
