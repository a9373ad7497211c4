//! Online mean and variance.

/// Mean and variance, by Welford's updates.
#[derive(Clone, Copy, Debug, Default)]
pub struct Mean {
    count: f64,
    mean: f64,
    squares: f64,
}

impl Mean {
    /// Adds a term.
    pub fn add(&mut self, term: f64) {
        self.count += 1.0;
        let before = term - self.mean;
        self.mean += before / self.count;
        self.squares += before * (term - self.mean);
    }

    /// The number of terms.
    pub fn count(&self) -> f64 {
        self.count
    }

    /// The mean.
    pub fn value(&self) -> f64 {
        self.mean
    }

    /// The unbiased estimate of the terms' variance; 0 for fewer than two.
    pub fn variance(&self) -> f64 {
        if self.count < 2.0 { 0.0 } else { (self.squares / (self.count - 1.0)).max(0.0) }
    }

    /// The square root of the variance.
    pub fn deviation(&self) -> f64 {
        self.variance().sqrt()
    }

    /// The standard error of the mean.
    pub fn standard_error(&self) -> f64 {
        (self.variance() / self.count.max(1.0)).sqrt()
    }
}
