//! A matrix $A = \lambda I + S^\top S$ whose part $S$ has few rows, and the products with $A^{-1}$: frequent
//! directions (Ghashami, Liberty, Phillips, Woodruff, 2016).
//!
//! Rows $\sqrt w\ r \otimes x$ are appended to $S \in \mathbb{R}^{2m \times n}$. Once all $2m$ are in use,
//! the $m + 1$-st largest squared singular value $\delta$ is subtracted from all, which leaves $m$ rows: with
//! $SS^\top = U \Sigma^2 U^\top$, in descending order,
//!
//! $$ S \leftarrow \sqrt{(\Sigma^2 - \delta)_+}\ \Sigma^{-1} U^\top S, \qquad
//!    \delta = \sigma_{m+1}^2, \tag{1} $$
//!
//! so that $S^\top S$ is at most the sum of the outer products of all rows, and $\sum \delta$ less at most
//! (theory: sketches 1.1, 1.3). By Woodbury's identity,
//!
//! $$ v^\top A^{-1} u = \frac1\lambda \bigl(v^\top u - (Sv)^\top c\bigr), \qquad
//!    c = (\lambda I + SS^\top)^{-1} Su. \tag{2} $$
//!
//! Vectors $G$ that grow by multiples of the rows are kept with the matrix, and the products $SG^\top$ with
//! them, so that no round but those of (1) reads more than the features of its row.

use super::cells::Cells;
use super::eigen::jacobi;
use super::vector::{axpy, dot, widen};
use super::weights::scores_by_feature;
use crate::example::Features;
use crate::state::Tensor;

/// A difference that is smaller than this, relative to the terms of which it is the difference, is 0: it is
/// the result of rounding. In (2) this means that $A$ is infinite, as after a huge row.
const LEAST_DIFFERENCE: f64 = 1e-12;

/// See the [module](self). The dimension $n$ is `blocks` times the number of features.
#[derive(Clone, Debug)]
pub(crate) struct SketchedInverse {
    /// $m$.
    rank: usize,
    blocks: usize,
    vectors: usize,
    /// $\lambda$.
    regularization: f64,
    /// For every feature its column of $S$, $2m$ numbers for each block; then its entry of every $G$, block
    /// by block.
    cells: Cells<f64>,
    /// Number of rows of $S$ in use; the others are 0.
    used: u64,
    /// $SS^\top$.
    gram: Vec<f64>,
    /// $SG^\top$, $2m$ numbers for each $G$.
    products: Vec<f64>,
    /// $\sum \delta$.
    discarded: f64,
    /// $L$ with $LL^\top = \lambda I + SS^\top$, by row.
    factor: Vec<f64>,
    /// Buffers of (1).
    rotation: Vec<f64>,
    correction: Vec<f64>,
    values: Vec<f64>,
    order: Vec<usize>,
}

/// $a - b$, or 0 if that is the result of rounding; `terms` is the sum of the terms' absolute values.
pub(crate) fn difference(a: f64, b: f64, terms: f64) -> f64 {
    let difference = a - b;
    if difference.is_finite() && difference.abs() > LEAST_DIFFERENCE * terms { difference } else { 0.0 }
}

impl SketchedInverse {
    /// $A = \lambda I$ with `regularization` $= \lambda > 0$, for a sketch of `rank` $= m \ge 1$, and
    /// `vectors` vectors $G = 0$.
    pub(crate) fn new(
        rank: usize,
        blocks: usize,
        vectors: usize,
        features: usize,
        regularization: f64,
    ) -> Self {
        let rows = 2 * rank;
        let width = blocks * (rows + vectors);
        Self {
            rank,
            blocks,
            vectors,
            regularization,
            cells: Cells::new(width, features, usize::MAX),
            used: 0,
            gram: vec![0.0; rows * rows],
            products: vec![0.0; vectors * rows],
            discarded: 0.0,
            factor: vec![0.0; rows * rows],
            rotation: vec![0.0; rows * rows],
            correction: vec![0.0; vectors * rows],
            values: vec![0.0; rows],
            order: (0..rows).collect(),
        }
    }

    /// 8-byte numbers of state.
    pub(crate) fn numbers(rank: usize, blocks: usize, vectors: usize, features: usize) -> usize {
        let rows = rank.saturating_mul(2);
        let cells = rows.saturating_add(vectors).saturating_mul(blocks).saturating_mul(features);
        cells.saturating_add(Self::numbers_at_first(rank, vectors))
    }

    /// The part of them that is allocated before the first row.
    pub(crate) fn numbers_at_first(rank: usize, vectors: usize) -> usize {
        let rows = rank.saturating_mul(2);
        rows.saturating_mul(rows).saturating_mul(3).saturating_add(rows.saturating_mul(vectors))
    }

    /// $2m$.
    fn rows(&self) -> usize {
        2 * self.rank
    }

    /// Up to this squared length a row is lost beside $\lambda$ in double precision.
    fn least(&self) -> f64 {
        f64::EPSILON * self.regularization
    }

    /// The number of rows of $S$ in use.
    pub(crate) fn used(&self) -> usize {
        self.used as usize
    }

    /// $\lambda$.
    pub(crate) fn regularization(&self) -> f64 {
        self.regularization
    }

    /// $\sum \delta$: the matrix is at most this much smaller than the exact one, in every direction.
    pub(crate) fn discarded(&self) -> f64 {
        self.discarded
    }

    /// Length of the products of a row, see [`SketchedInverse::project`].
    pub(crate) fn width(&self) -> usize {
        self.cells.width()
    }

    /// Writes to `seen` the products with `x`: those of $S$, which are read by [`SketchedInverse::image`],
    /// then those of the vectors, block by block, which are read by [`SketchedInverse::value`].
    pub(crate) fn project(&self, x: Features<'_>, seen: &mut [f64]) {
        scores_by_feature(&self.cells, 0, x, seen);
    }

    /// $S(e_b \otimes x)$ for block `block` $= b$.
    pub(crate) fn image<'a>(&self, seen: &'a [f64], block: usize) -> &'a [f64] {
        &seen[block * self.rows()..][..self.used()]
    }

    /// $\langle G, e_b \otimes x \rangle$ for the vector `vector` and block `block` $= b$.
    pub(crate) fn value(&self, seen: &[f64], vector: usize, block: usize) -> f64 {
        seen[self.blocks * self.rows() + vector * self.blocks + block]
    }

    /// $SG$ for the vector `vector`.
    pub(crate) fn product(&self, vector: usize) -> &[f64] {
        &self.products[vector * self.rows()..][..self.used()]
    }

    /// Solves $(\lambda I + SS^\top) c = b$ in place.
    pub(crate) fn solve(&self, b: &mut [f64]) {
        self.solve_with(&self.factor, b);
    }

    /// Solves $LL^\top c = b$ in place, for a `factor` $= L$ of [`SketchedInverse::factorise`].
    pub(crate) fn solve_with(&self, factor: &[f64], b: &mut [f64]) {
        let side = self.rows();
        solve_lower(factor, side, b);
        for i in (0..b.len()).rev() {
            let (above, here) = b.split_at_mut(i);
            here[0] /= factor[i * side + i];
            axpy(-here[0], &factor[i * side..][..i], above);
        }
    }

    /// Writes $L$ with $LL^\top = \lambda' I + SS^\top$ for `shift` $= \lambda'$ to `factor`, of $4m^2$
    /// numbers.
    pub(crate) fn factorise(&self, shift: f64, factor: &mut [f64]) {
        (0..self.used()).for_each(|at| extend_factor(factor, &self.gram, self.rows(), at, shift));
    }

    /// Writes $SS^\top a$ to `out`.
    pub(crate) fn gram_times(&self, a: &[f64], out: &mut [f64]) {
        for (out, row) in out.iter_mut().zip(self.gram.chunks_exact(self.rows())) {
            *out = dot(&row[..a.len()], a);
        }
    }

    /// $u^\top A^{-1} u \ge 0$ for $u$ of squared length `square`, `image` $= Su$ and `solved` $= c$: (2).
    pub(crate) fn quadratic(&self, square: f64, image: &[f64], solved: &[f64]) -> f64 {
        difference(square, dot(image, solved), square).max(0.0) / self.regularization
    }

    /// $G^\top A^{-1} u$ for $\langle G, u \rangle$ `value`, `product` $= SG$ and `solved` $= c$: (2).
    pub(crate) fn applied(&self, value: f64, product: &[f64], solved: &[f64]) -> f64 {
        let terms = product.iter().zip(solved).map(|(a, b)| (a * b).abs()).sum::<f64>();
        difference(value, dot(product, solved), value.abs() + terms) / self.regularization
    }

    /// Writes $\langle A^{-1}G, e_b \otimes x \rangle$ for every block $b$ to `out`, for the vector `vector`
    /// $= G$ and `solved` $= (\lambda I + SS^\top)^{-1} SG$. A coordinate of $A^{-1}G$ that is the result of
    /// rounding is 0.
    pub(crate) fn applied_by_block(&self, vector: usize, solved: &[f64], x: Features<'_>, out: &mut [f64]) {
        let (rows, start) = (self.rows(), self.blocks * (self.rows() + vector));
        out.fill(0.0);
        for (value, cell) in x.iter().filter_map(|(i, value)| Some((value, self.cells.get(i)?))) {
            let columns = cell.chunks_exact(rows);
            for ((out, own), column) in out.iter_mut().zip(&cell[start..]).zip(columns) {
                let other = dot(&column[..solved.len()], solved);
                *out += value * difference(*own, other, own.abs() + other.abs());
            }
        }
        out.iter_mut().for_each(|out| *out /= self.regularization);
    }

    /// $\sum_G G^\top A^{-1} G$, reading all features.
    pub(crate) fn square(&self) -> f64 {
        let mut square = 0.0;
        let start = self.blocks * self.rows();
        self.cells.each(|cell| square += dot(&cell[start..], &cell[start..]));
        let within: f64 = (0..self.vectors)
            .map(|vector| {
                let mut solved = self.product(vector).to_vec();
                self.solve(&mut solved);
                dot(self.product(vector), &solved)
            })
            .sum();
        difference(square, within, square).max(0.0) / self.regularization
    }

    /// $G \mathrel{+}= c \otimes x$ for every $G$; `coefficients` are the $c$, with a number for each block,
    /// one after another. `seen` are the products of `x`, which are brought up to date.
    pub(crate) fn add(&mut self, coefficients: &[f64], x: Features<'_>, seen: &mut [f64]) {
        let (rows, used, start) = (self.rows(), self.used(), self.blocks * self.rows());
        for (i, value) in x.iter().filter(|(_, value)| *value != 0.0) {
            axpy(value, coefficients, &mut self.cells.get_mut(i)[start..]);
        }
        let by_vector = coefficients.chunks_exact(self.blocks).zip(self.products.chunks_exact_mut(rows));
        for (coefficients, products) in by_vector {
            for (c, image) in coefficients.iter().zip(seen.chunks_exact(rows)) {
                axpy(*c, &image[..used], &mut products[..used]);
            }
        }
        axpy(x.norm_squared(), coefficients, &mut seen[start..]);
    }

    /// Appends the row $\sqrt w\ r \otimes x$ to $S$, for `weight` $= w \ge 0$ and `row` $= r$, with a number
    /// for each block. `seen` are the products of `x`, which are brought up to date. Afterwards
    /// [`SketchedInverse::shrink`] makes room for the next row.
    ///
    /// A row that is lost beside $\lambda$ is left out.
    pub(crate) fn append(&mut self, row: &[f64], weight: f64, x: Features<'_>, seen: &mut [f64]) {
        let (rows, at, root) = (self.rows(), self.used(), weight.sqrt());
        let norm_squared = x.norm_squared();
        let square = weight * dot(row, row) * norm_squared;
        if square <= self.least() {
            return;
        }
        for i in 0..at {
            let product = row.iter().zip(seen.chunks_exact(rows)).map(|(r, image)| r * image[i]).sum::<f64>();
            (self.gram[at * rows + i], self.gram[i * rows + at]) = (root * product, root * product);
        }
        self.gram[at * rows + at] = square;
        let values = seen[self.blocks * rows..].chunks_exact(self.blocks);
        for (values, products) in values.zip(self.products.chunks_exact_mut(rows)) {
            products[at] = root * dot(row, values);
        }
        for (i, value) in x.iter().filter(|(_, value)| *value != 0.0) {
            for (r, column) in row.iter().zip(self.cells.get_mut(i).chunks_exact_mut(rows)) {
                column[at] = root * r * value;
            }
        }
        for (r, image) in row.iter().zip(seen.chunks_exact_mut(rows)) {
            image[at] = root * r * norm_squared;
        }
        self.used += 1;
        extend_factor(&mut self.factor, &self.gram, rows, at, self.regularization);
    }

    /// Whether [`SketchedInverse::shrink`] will change the rows.
    pub(crate) fn is_full(&self) -> bool {
        self.used() == self.rows()
    }

    /// Calls `change` with the columns of $S$ (blocks of $2m$ numbers) and the entries of the vectors of
    /// every feature; it may change the latter.
    pub(crate) fn rewrite(&mut self, mut change: impl FnMut(&[f64], &mut [f64])) {
        let (rows, blocks, products) = (self.rows(), self.blocks, &mut self.products);
        products.fill(0.0);
        self.cells.each_mut(|cell| {
            let (columns, entries) = cell.split_at_mut(blocks * rows);
            change(columns, entries);
            for (block, column) in columns.chunks_exact(rows).enumerate() {
                let entries = entries.iter().skip(block).step_by(blocks);
                for (entry, products) in entries.zip(products.chunks_exact_mut(rows)) {
                    axpy(*entry, column, products);
                }
            }
        });
    }

    /// (1), if no row is free.
    pub(crate) fn shrink(&mut self) {
        if self.is_full() {
            self.correction.fill(0.0);
            self.turn(self.rank, false);
        }
    }

    /// As [`SketchedInverse::shrink`], for vectors $G$ that are the linear terms of quadratics
    /// $W^\top AW + G^\top W$. With $D$ the part of $A$ that is lost and $C = -\tfrac12 A^{-1}G$ the
    /// quadratic's minimiser, what is subtracted is $(W - C)^\top D(W - C)$, so that minimiser and minimum
    /// stay (theory: sketches 1.4): $G \mathrel{-}= DA^{-1}G$. Returns the sum of the constants $C^\top DC$.
    pub(crate) fn shrink_about_minimum(&mut self) -> f64 {
        if !self.is_full() {
            return 0.0;
        }
        self.correction.fill(0.0);
        self.turn(self.rank, true)
    }

    /// (1), with `rank` rows left.
    fn turn(&mut self, rank: usize, about_minimum: bool) -> f64 {
        self.diagonalise();
        let delta = self.values[self.order[rank]];
        self.discarded += delta;
        let constants = if about_minimum && delta > 0.0 { self.correct(delta) } else { 0.0 };
        self.write_rotation(rank, delta);
        self.rotate(rank);
        self.refactorise();
        constants
    }

    /// Computes the eigenvalues of $SS^\top$ with their vectors, and their order, the largest first. The
    /// factor is overwritten.
    fn diagonalise(&mut self) {
        let rows = self.rows();
        let eigen = &mut self.factor;
        eigen.copy_from_slice(&self.gram);
        jacobi(eigen, rows, &mut self.rotation);
        for (i, (value, vector)) in self.values.iter_mut().zip(self.rotation.chunks_exact(rows)).enumerate() {
            // What is left of rows that depend on each other is not a direction.
            let terms = vector.iter().enumerate().map(|(j, u)| u * u * self.gram[j * rows + j]).sum::<f64>();
            *value = eigen[i * rows + i];
            if *value <= 4.0 * rows as f64 * f64::EPSILON * terms {
                *value = 0.0;
            }
        }
        let values = &self.values;
        self.order.sort_unstable_by(|a, b| values[*b].total_cmp(&values[*a]).then(a.cmp(b)));
    }

    /// Adds to the corrections what has to be subtracted from the vectors if every eigenvalue falls by
    /// `delta`, see [`SketchedInverse::shrink_about_minimum`]. Returns the sum of the constants.
    fn correct(&mut self, delta: f64) -> f64 {
        let rows = self.rows();
        let mut constants = 0.0;
        for (value, u) in self.values.iter().zip(self.rotation.chunks_exact(rows)) {
            if *value <= 0.0 {
                continue;
            }
            let share = value.min(delta) / value;
            let vectors = self.products.chunks_exact(rows).zip(self.correction.chunks_exact_mut(rows));
            for (product, correction) in vectors {
                let along = dot(u, product) / (self.regularization + value);
                constants += 0.25 * share * along * along;
                axpy(share * along, u, correction);
            }
        }
        constants
    }

    /// Writes the rows of (1)'s rotation, of which `rank` are left, in place of the factor.
    fn write_rotation(&mut self, rank: usize, delta: f64) {
        let (rows, least) = (self.rows(), self.least());
        self.used = 0;
        for (row, at) in self.factor.chunks_exact_mut(rows).zip(&self.order[..rank]) {
            let (value, left) = (self.values[*at], self.values[*at] - delta); // eq. (1)
            let scale = if left > least { (left / value).sqrt() } else { 0.0 };
            self.used += u64::from(scale > 0.0);
            for (entry, u) in row.iter_mut().zip(&self.rotation[at * rows..]) {
                *entry = scale * u;
            }
        }
    }

    /// Turns the rows of every feature into `rank` rows, corrects its vectors, and sums up the products anew.
    fn rotate(&mut self, rank: usize) {
        let (rows, blocks) = (self.rows(), self.blocks);
        let (correction, rotation) = (&self.correction, &self.factor[..rank * rows]);
        let (gram, products, turned) = (&mut self.gram, &mut self.products, &mut self.values[..rank]);
        gram.fill(0.0);
        products.fill(0.0);
        self.cells.each_mut(|cell| {
            let (columns, entries) = cell.split_at_mut(blocks * rows);
            for (block, column) in columns.chunks_exact_mut(rows).enumerate() {
                let corrections = correction.chunks_exact(rows);
                for (entry, correction) in entries.iter_mut().skip(block).step_by(blocks).zip(corrections) {
                    *entry -= dot(column, correction);
                }
                for (turned, row) in turned.iter_mut().zip(rotation.chunks_exact(rows)) {
                    *turned = dot(row, column);
                }
                column.fill(0.0);
                column[..rank].copy_from_slice(turned);
                for (i, value) in turned.iter().enumerate() {
                    axpy(*value, &turned[..=i], &mut gram[i * rows..][..=i]);
                }
                for (entry, products) in
                    entries.iter().skip(block).step_by(blocks).zip(products.chunks_exact_mut(rows))
                {
                    axpy(*entry, turned, &mut products[..rank]);
                }
            }
        });
        for i in 0..rank {
            for j in 0..i {
                self.gram[j * rows + i] = self.gram[i * rows + j];
            }
        }
    }

    /// The sum of the quadratics $W^\top AW + G^\top W$ of `parts`, of equal sizes and $\lambda$: it has the
    /// rows of all of them, and the sums of their vectors. Where these are $2m$ rows or more, they shrink to
    /// $m$ as in [`SketchedInverse::shrink_about_minimum`]. `regularization` is the $\lambda$ of the sum, of
    /// so many parts with this $\lambda$. The second result is the sum of the constants
    /// (theory: sketches 1.5).
    pub(crate) fn merged(parts: &[&Self], regularization: impl Fn(f64, usize) -> f64) -> (Self, f64) {
        let mut sum = parts[0].clone();
        let mut constants = 0.0;
        for (taken, part) in (2..).zip(&parts[1..]) {
            constants += sum.take_in(part, regularization(part.regularization, taken));
        }
        (sum, constants)
    }

    /// Adds the rows and vectors of `other`, with `regularization` as the sum's $\lambda$. Returns the
    /// constants.
    fn take_in(&mut self, other: &Self, regularization: f64) -> f64 {
        // Room for the rows of both.
        let Self { rank, blocks, vectors, .. } = *self;
        let mut both = Self::new(2 * rank, blocks, vectors, self.cells.features(), regularization);
        for (at, part) in [(0, &*self), (self.used(), other)] {
            both.cells.take_in(&part.cells, |own, sum| add_cell(own, sum, blocks, [2 * rank, 4 * rank], at));
        }
        both.used = self.used + other.used;
        both.discarded = self.discarded + other.discarded;
        let (rows, gram) = (both.rows(), &mut both.gram);
        both.cells.each(|cell| {
            for column in cell[..blocks * rows].chunks_exact(rows) {
                for (i, value) in column.iter().enumerate() {
                    axpy(*value, column, &mut gram[i * rows..][..rows]);
                }
            }
        });
        both.rewrite(|_, _| ());
        let constants = if both.used() < 2 * rank { 0.0 } else { both.turn(rank, true) };
        *self = Self::new(rank, blocks, vectors, both.cells.features(), regularization);
        self.cells.take_in(&both.cells, |own, sum| add_cell(own, sum, blocks, [4 * rank, 2 * rank], 0));
        (self.used, self.discarded) = (both.used, both.discarded);
        let rows = self.rows();
        for (mine, wide) in self.gram.chunks_exact_mut(rows).zip(both.gram.chunks_exact(2 * rows)) {
            mine.copy_from_slice(&wide[..rows]);
        }
        for (mine, wide) in self.products.chunks_exact_mut(rows).zip(both.products.chunks_exact(2 * rows)) {
            mine.copy_from_slice(&wide[..rows]);
        }
        self.refactorise();
        constants
    }

    /// Computes $L$.
    fn refactorise(&mut self) {
        let mut factor = std::mem::take(&mut self.factor);
        factor.fill(0.0);
        self.factorise(self.regularization, &mut factor);
        self.factor = factor;
    }

    /// Appends blocks, vectors and features, with $A$ equal to $\lambda$ and $G = 0$ there.
    pub(crate) fn grow(&mut self, blocks: usize, vectors: usize, features: usize) {
        let (rows, old_blocks) = (self.rows(), self.blocks);
        self.cells.grow(blocks * (rows + vectors), features, |old, new| {
            let (columns, entries) = old.split_at(old_blocks * rows);
            new[..columns.len()].copy_from_slice(columns);
            widen(entries, old_blocks, &mut new[blocks * rows..], blocks);
        });
        self.products.resize(vectors * rows, 0.0);
        self.correction.resize(vectors * rows, 0.0);
        (self.blocks, self.vectors) = (blocks, vectors);
    }

    /// The state.
    pub(crate) fn tensors(&mut self) -> [Tensor<'_>; 5] {
        let rows = self.rows();
        [
            Tensor::listed("cells", &mut self.cells),
            Tensor::symmetric("sketch_gram", rows, &mut self.gram),
            Tensor::real("sketch_products", vec![self.vectors, rows], &mut self.products),
            Tensor::count("sketch_rows", &mut self.used),
            Tensor::number("discarded", &mut self.discarded),
        ]
    }

    /// Recomputes what is derived from the state; false if the state is inconsistent.
    pub(crate) fn restored(&mut self) -> bool {
        let rows = self.rows();
        let valid = self.used() < rows
            && self.discarded >= 0.0
            && (0..self.used()).all(|i| self.gram[i * rows + i] >= 0.0);
        if valid {
            self.refactorise();
        }
        valid
    }
}

/// Adds the cell `own` of a sketch with `rows[0]` rows to the cell `sum` of one with `rows[1]`, of which the
/// row `at` is that of the first row of `own`.
fn add_cell(own: &[f64], sum: &mut [f64], blocks: usize, rows: [usize; 2], at: usize) {
    let (columns, entries) = own.split_at(blocks * rows[0]);
    let (sums, sums_of_entries) = sum.split_at_mut(blocks * rows[1]);
    for (column, sum) in columns.chunks_exact(rows[0]).zip(sums.chunks_exact_mut(rows[1])) {
        // Rows beyond those in use are 0.
        column.iter().zip(&mut sum[at..]).for_each(|(own, sum)| *sum += own);
    }
    axpy(1.0, entries, sums_of_entries);
}

/// Computes row `at` of $L$ with $LL^\top = \lambda I + N$ from those above it, for `shift` $= \lambda$ and
/// `gram` $= N$, whose rows have `side` numbers.
fn extend_factor(factor: &mut [f64], gram: &[f64], side: usize, at: usize, shift: f64) {
    let (above, row) = factor.split_at_mut(at * side);
    row[..at].copy_from_slice(&gram[at * side..][..at]);
    solve_lower(above, side, &mut row[..at]);
    let square = gram[at * side + at];
    // What is left of a row that depends on those above it is not known better than this. A larger number
    // makes A smaller, as (1) does.
    let least = (at + 1) as f64 * f64::EPSILON * square;
    let left = (square - dot(&row[..at], &row[..at])).max(least);
    row[at] = (shift + left).sqrt();
}

/// Solves $Lx = b$ in place for the lower triangular `factor` $= L$, whose rows have `side` numbers.
fn solve_lower(factor: &[f64], side: usize, b: &mut [f64]) {
    for i in 0..b.len() {
        let (above, here) = b.split_at_mut(i);
        here[0] = (here[0] - dot(&factor[i * side..][..i], above)) / factor[i * side + i];
    }
}

#[cfg(test)]
mod tests;
