//! Support tickets: a typical raw table, with free text, times, amounts and twelve queues of
//! unequal frequency.
//!
//! A ticket consists of phrases: words of its queue, words that two queues share, and common words.
//! One ticket in twenty-five has the wrong queue as its label, and one in fifty has common words
//! only, so that about five in a hundred cannot be predicted.

use std::fmt::Write as _;

use noregret::param::{ParamError, Params as _, Values};
use noregret::params;
use noregret::rng::{Rng, Uniforms as _};

use super::Table;

/// Queues, their frequencies, and their words.
const QUEUES: [(&str, f64, &str); 13] = [
    (
        "billing",
        0.30,
        "invoice charged twice billing statement VAT receipt overcharged debit payment declined balance instalment",
    ),
    (
        "login",
        0.15,
        "password login reset locked authenticator username sign-in two-factor verification credentials lockout captcha",
    ),
    (
        "delivery",
        0.12,
        "parcel courier delivery tracking shipment delayed doorstep depot customs package warehouse pickup",
    ),
    (
        "returns",
        0.09,
        "return refund exchange unwanted label restocking swap sent-back wrong-size unopened warranty replacement",
    ),
    (
        "technical",
        0.08,
        "crash error freezes bug update install driver firmware timeout stacktrace reboot blank-screen",
    ),
    (
        "cancellation",
        0.06,
        "cancel terminate subscription quit unsubscribe notice period expire renewal auto-renew downgrade leaving",
    ),
    (
        "sales",
        0.05,
        "quote pricing licence upgrade demo volume discount seats enterprise trial purchase order",
    ),
    (
        "privacy",
        0.045,
        "GDPR erase personal data consent privacy export profile deletion cookies disclosure anonymise",
    ),
    (
        "partners",
        0.035,
        "reseller affiliate commission partner portal referral co-marketing agreement margin distributor rebate payout",
    ),
    (
        "hardware",
        0.03,
        "battery screen cracked charger hinge keyboard overheats fan noise cable broken adapter",
    ),
    (
        "legal",
        0.025,
        "lawyer contract clause liability subpoena breach dispute court settlement terms signed compliance",
    ),
    (
        "careers",
        0.015,
        "application vacancy interview résumé internship hiring position recruiter salary onboarding role candidate",
    ),
    // Only from the second day on.
    (
        "recycling",
        0.08,
        "recycle e-waste disposal collection trade-in scrap environmental recycling bin take-back sustainability certificate",
    ),
];

/// Common words.
const COMMON: &str = "please help hello thanks regards team since yesterday today again still need want would could when after \
before account order number customer service question issue problem urgent waiting answer called phone email website app page \
morning week month twice nobody reply soon possible kindly dear support month's really very now been have with this that my the";

/// Openings and endings of tickets.
const OPENINGS: [&str; 8] =
    ["Hello,", "Hi!", "Dear team,", "Good morning,", "URGENT:", "hey", "Guten Tag,", "😀 hi"];
const ENDINGS: [&str; 8] = ["Thanks!", "Regards", "please help 🙏", "", "", "thx", "Best wishes.", "!!!"];

const CHANNELS: [&str; 4] = ["email", "web", "phone", "chat"];
const PRIORITIES: [&str; 4] = ["low", "normal", "high", "urgent"];
const FIRMS: [&str; 12] = [
    "Nordlicht",
    "Blue River",
    "Casa Verde",
    "Müller & Söhne",
    "Acme",
    "Kestrel",
    "Fjord",
    "Lotus",
    "Atlas",
    "Quartz",
    "Harbour",
    "Sable",
];
const FORMS: [&str; 4] = ["GmbH", "Ltd", "SARL", "Inc"];

/// Least and largest number of common words of a ticket.
const FILLERS: (u64, u64) = (6, 22);

params! {
    /// Parameters of the tickets.
    pub(super) struct TicketParams {
        /// 1, or 2 for the tickets of the next day: they continue after the first day's `after`
        /// tickets, and have an additional queue and no column `priority`.
        day: u64 = "1",
        /// Number of tickets of the first day.
        after: u64 = "10000",
    }
}

/// See the [module](self).
pub(super) struct Tickets {
    rng: Rng,
    next_day: bool,
    number: u64,
    words: Vec<Vec<&'static str>>,
    common: Vec<&'static str>,
}

impl Tickets {
    pub(super) fn make(values: &Values, seed: u64) -> Result<Box<dyn Table>, ParamError> {
        let params = TicketParams::from_values("tickets", values)?;
        let (day, after) = (params.day.unwrap_or(1), params.after.unwrap_or(10_000));
        if !(1..=2).contains(&day) {
            return Err(ParamError::invalid("day", day, "1 or 2"));
        }
        let words = QUEUES.iter().map(|(_, _, words)| words.split(' ').collect()).collect();
        let number = if day == 2 { after } else { 0 };
        let common = COMMON.split_whitespace().collect();
        Ok(Box::new(Self { rng: Rng::new(seed, day - 1), next_day: day == 2, number, words, common }))
    }

    fn one_of<'a, T: ?Sized>(&mut self, list: &[&'a T]) -> &'a T {
        list[self.rng.below(list.len() as u64) as usize]
    }

    /// Draws a queue by frequency.
    fn queue(&mut self) -> usize {
        let queues = &QUEUES[..if self.next_day { QUEUES.len() } else { QUEUES.len() - 1 }];
        let total: f64 = queues.iter().map(|(_, share, _)| share).sum();
        let mut u = self.rng.uniform() * total;
        let found = queues.iter().position(|(_, share, _)| {
            u -= share;
            u < 0.0
        });
        found.unwrap_or(0)
    }

    /// The text of a ticket for `queue`.
    fn text(&mut self, queue: usize) -> String {
        let vague = self.rng.uniform() < 0.02;
        let own = if vague { 0 } else { 2 + self.rng.below(4) };
        let fillers = FILLERS.0 + self.rng.below(FILLERS.1 - FILLERS.0 + 1);
        let mut words: Vec<&str> = vec![];
        let topic = self.words[queue].clone();
        for _ in 0..own {
            // Occasionally a word shared with another queue.
            let from = if self.rng.uniform() < 0.12 { self.queue() } else { queue };
            let list = if from == queue { topic.clone() } else { self.words[from].clone() };
            let word = self.one_of(&list);
            words.push(word);
        }
        let common = self.common.clone();
        for _ in 0..fillers {
            let at = self.rng.below(words.len() as u64 + 1) as usize;
            let word = self.one_of(&common);
            words.insert(at, word);
        }
        let mut text = self.one_of(&OPENINGS).to_owned();
        for word in words {
            let capital = self.rng.uniform() < 0.1;
            let word = if capital { word.to_uppercase() } else { word.to_owned() };
            let mark = match self.rng.below(12) {
                0 => ",",
                1 => ".",
                _ => "",
            };
            write!(text, " {word}{mark}").expect("writing to a string does not fail");
        }
        let ending = self.one_of(&ENDINGS);
        if !ending.is_empty() {
            text = format!("{text} {ending}");
        }
        text
    }
}

impl Table for Tickets {
    fn header(&self) -> Vec<&'static str> {
        let all = ["id", "created_at", "customer", "channel", "text", "priority", "amount", "queue"];
        all.into_iter().filter(|name| !(self.next_day && *name == "priority")).collect()
    }

    fn next(&mut self, row: &mut Vec<String>) {
        row.clear();
        self.number += 1;
        let queue = self.queue();
        // One in twenty-five has a wrong label.
        let said = if self.rng.uniform() < 0.04 { self.queue() } else { queue };
        let text = self.text(queue);
        let minutes = self.number * 7 + self.rng.below(7);
        let (day, minute) = (minutes / 1440, minutes % 1440);
        let (month, day) = (1 + day / 28 % 12, 1 + day % 28);
        let firm = self.rng.below(FIRMS.len() as u64) as usize;
        let form = FORMS[self.rng.below(FORMS.len() as u64) as usize];
        let branch = 1 + self.rng.below(15);
        let urgent = if queue == 4 { 1 } else { 0 };
        let priority = PRIORITIES[(self.rng.below(3) + urgent) as usize];
        let amount = (3.0 + 1.4 * self.rng.normal() + if queue == 0 { 0.7 } else { 0.0 }).exp();
        row.push(format!("T-{:06}", self.number));
        row.push(format!("2026-{month:02}-{day:02} {:02}:{:02}:00", minute / 60, minute % 60));
        row.push(format!("{} {form} {branch}", FIRMS[firm]));
        row.push(self.one_of(&CHANNELS).to_owned());
        row.push(text);
        if !self.next_day {
            row.push(priority.to_owned());
        }
        // Some tickets have no amount.
        row.push(if self.rng.uniform() < 0.15 { String::new() } else { grouped(amount) });
        row.push(QUEUES[said].0.to_owned());
    }
}

/// An amount as 1,234.50.
fn grouped(amount: f64) -> String {
    let text = format!("{amount:.2}");
    let (whole, cents) = text.split_once('.').expect("it has two decimals");
    let mut out = String::new();
    for (at, digit) in whole.chars().enumerate() {
        if at > 0 && (whole.len() - at) % 3 == 0 {
            out.push(',');
        }
        out.push(digit);
    }
    format!("{out}.{cents}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(values: &[(&str, u64)], count: usize) -> Vec<Vec<String>> {
        let values = values
            .iter()
            .map(|(name, value)| ((*name).to_owned(), noregret::param::Value::Integer(*value)))
            .collect();
        let mut table = Tickets::make(&values, 3).expect("valid parameters");
        let mut row = vec![];
        (0..count)
            .map(|_| {
                table.next(&mut row);
                assert_eq!(row.len(), table.header().len());
                row.clone()
            })
            .collect()
    }

    #[test]
    fn one_queue_in_three_is_billing() {
        let rows = rows(&[], 4000);
        let share = rows.iter().filter(|row| row[7] == "billing").count() as f64 / 4000.0;
        assert!((0.27..0.33).contains(&share), "{share}");
        assert!(rows.iter().all(|row| row[7] != "recycling"));
        assert!(rows.iter().any(|row| row[6].contains(',')), "grouped numbers");
    }

    #[test]
    fn the_next_day_continues() {
        let rows = rows(&[("day", 2), ("after", 500)], 400);
        assert_eq!(rows[0][0], "T-000501");
        assert!(rows.iter().any(|row| row[6] == "recycling"));
        assert_eq!(grouped(1_234_567.891), "1,234,567.89");
        assert_eq!(grouped(12.0), "12.00");
    }
}
