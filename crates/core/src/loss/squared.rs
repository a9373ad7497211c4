//! The squared loss of a real-valued forecast.

/// $(\hat y - y)^2$.
pub fn squared(forecast: f64, value: f64) -> f64 {
    let error = forecast - value;
    error * error
}

/// The derivative $2(\hat y - y)$ of [`squared`] in the forecast.
pub fn squared_slope(forecast: f64, value: f64) -> f64 {
    2.0 * (forecast - value)
}

#[cfg(test)]
mod tests {
    use super::super::finite_difference;
    use super::*;

    #[test]
    fn by_hand_and_by_difference() {
        assert_eq!(squared(3.0, 1.0), 4.0);
        finite_difference::check(|s| squared(s[0], 1.0), &[3.0], &[squared_slope(3.0, 1.0)]);
    }
}
