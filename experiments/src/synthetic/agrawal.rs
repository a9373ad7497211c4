//! Loan applications: Rakesh Agrawal, Tomasz Imielinski, Arun Swami, *Database Mining: A Performance
//! Perspective*, IEEE Transactions on Knowledge and Data Engineering 5(6), 1993, appendix.
//!
//! Nine features of an applicant: salary, commission, age, level of education, make of the car, zip
//! code, value of the house, years that it has been owned, and the loan. One of ten functions of
//! them says whether class 0, *group A*, gets the loan. Then numbers are perturbed: each is moved
//! by up to `perturbation` of its range. At every change of concept the next function is used.

use noregret::param::{ParamError, Params as _, Values};
use noregret::params;
use noregret::rng::{Rng, Uniforms};

use super::{Blocks, Made, Synthetic, fill, within};

/// Functions.
const FUNCTIONS: u64 = 10;

params! {
    /// Parameters of the stream of loan applications.
    pub(super) struct AgrawalParams {
        /// The function, from 1 to 10, with which the stream begins.
        function: u64 = "1",
        /// The largest part of its range by which a number is moved, in [0, 1].
        perturbation: f64 = "0.05",
        /// Number of changes to the next function; 0 is no drift.
        drift: u64 = "0",
    }
}

/// An applicant.
#[derive(Clone, Copy)]
struct Person {
    salary: f64,
    commission: f64,
    age: f64,
    education: u64,
    car: u64,
    zip: u64,
    house: f64,
    years: f64,
    loan: f64,
}

impl Person {
    fn draw(rng: &mut Rng) -> Self {
        let salary = 20_000.0 + 130_000.0 * rng.uniform();
        let commission = if salary >= 75_000.0 { 0.0 } else { 10_000.0 + 65_000.0 * rng.uniform() };
        let age = 20.0 + rng.below(61) as f64;
        let (education, car, zip) = (rng.below(5), rng.below(20), rng.below(9));
        let house = (9 - zip) as f64 * 100_000.0 * (0.5 + rng.uniform());
        let years = 1.0 + rng.below(30) as f64;
        Self { salary, commission, age, education, car, zip, house, years, loan: 500_000.0 * rng.uniform() }
    }

    /// A value for ages below 40, below 60, and above.
    fn by_age<T>(&self, young: T, middle: T, old: T) -> T {
        if self.age < 40.0 {
            young
        } else if self.age < 60.0 {
            middle
        } else {
            old
        }
    }

    /// Whether the person is in group A, by `function` from 1 to 10.
    fn is_in_group_a(&self, function: u64) -> bool {
        let thousand =
            |low: u32, high: u32, x: f64| (1000.0 * f64::from(low)..=1000.0 * f64::from(high)).contains(&x);
        let total = self.salary + self.commission;
        let salary = |(low, high): (u32, u32)| thousand(low, high, self.salary);
        let loan = |(low, high): (u32, u32)| thousand(low, high, self.loan);
        let schools = self.by_age(0..=1, 1..=3, 2..=4);
        let spare = 2.0 * total / 3.0;
        let education = 5000.0 * self.education as f64;
        match function {
            1 => !(40.0..60.0).contains(&self.age),
            2 => salary(self.by_age((50, 100), (75, 125), (25, 75))),
            3 => schools.contains(&self.education),
            4 if schools.contains(&self.education) => salary(self.by_age((25, 75), (50, 100), (50, 100))),
            4 => salary(self.by_age((50, 100), (75, 125), (25, 75))),
            5 if salary(self.by_age((50, 100), (75, 125), (25, 75))) => {
                loan(self.by_age((100, 300), (200, 400), (300, 500)))
            }
            5 => loan(self.by_age((200, 400), (300, 500), (100, 300))),
            6 => {
                let (low, high) = self.by_age((50, 100), (75, 125), (25, 75));
                thousand(low, high, total)
            }
            7 => spare - self.loan / 5.0 - 20_000.0 > 0.0,
            8 => spare - education - 20_000.0 > 0.0,
            9 => spare - education - self.loan / 5.0 - 10_000.0 > 0.0,
            _ => {
                let equity = if self.years >= 20.0 { self.house * (self.years - 20.0) / 10.0 } else { 0.0 };
                spare - education + equity / 5.0 - 10_000.0 > 0.0
            }
        }
    }
}

pub(super) fn make(values: &Values, rows: u64, seed: u64) -> Made {
    let params = AgrawalParams::from_values("agrawal", values)?;
    let first = params.function.unwrap_or(1);
    if !(1..=FUNCTIONS).contains(&first) {
        return Err(ParamError::invalid("function", first, "from 1 to 10"));
    }
    let perturbation = within("perturbation", params.perturbation.unwrap_or(0.05), 0.0, 1.0)?;
    let mut blocks = Blocks::new(params.drift.unwrap_or(0), rows);
    let mut rng = Rng::new(seed, 0);
    Ok(Synthetic::new(2, 9, move |row| {
        let function = (first - 1 + blocks.next()) % FUNCTIONS + 1;
        let person = Person::draw(&mut rng);
        // `x`, moved by up to the perturbation of its range, within that.
        let mut moved = |x: f64, low: f64, high: f64| {
            if perturbation == 0.0 {
                return x;
            }
            let by = perturbation * (high - low) * (2.0 * rng.uniform() - 1.0);
            (x + by).clamp(low, high)
        };
        let commission = match person.commission {
            0.0 => 0.0,
            commission => moved(commission, 10_000.0, 75_000.0),
        };
        let zip = (9 - person.zip) as f64;
        let x = [
            moved(person.salary, 20_000.0, 150_000.0),
            commission,
            moved(person.age, 20.0, 80.0).round(),
            person.education as f64,
            person.car as f64,
            person.zip as f64,
            moved(person.house, 50_000.0 * zip, 150_000.0 * zip),
            moved(person.years, 1.0, 30.0).round(),
            moved(person.loan, 0.0, 500_000.0),
        ];
        fill(row, usize::from(!person.is_in_group_a(function)), &x);
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Salary 60,000 and commission 30,000, age 45, education 2, a loan of 250,000, a house of 400,000 for 25
    /// years.
    #[test]
    fn functions_by_hand() {
        let person = Person {
            salary: 60_000.0,
            commission: 30_000.0,
            age: 45.0,
            education: 2,
            car: 0,
            zip: 5,
            house: 400_000.0,
            years: 25.0,
            loan: 250_000.0,
        };
        // 7: 60,000 - 50,000 - 20,000; 8: 60,000 - 10,000 - 20,000; 9: 60,000 - 10,000 - 50,000 - 10,000; 10:
        // 60,000 - 10,000 + 40,000 - 10,000.
        let want = [false, false, true, true, false, true, false, true, false, true];
        for (function, want) in (1..).zip(want) {
            assert_eq!(person.is_in_group_a(function), want, "function {function}");
        }
        let young = Person { age: 25.0, ..person };
        assert!(young.is_in_group_a(1) && young.is_in_group_a(2) && !young.is_in_group_a(3));
        assert!(young.is_in_group_a(5), "the loan is between 100,000 and 300,000");
    }
}
