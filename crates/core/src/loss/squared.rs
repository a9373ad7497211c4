//! The squared loss of a real-valued forecast.

/// $(\hat y - y)^2$.
pub fn squared(forecast: f64, value: f64) -> f64 {
    let error = forecast - value;
    error * error
}
