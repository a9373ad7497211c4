//! Decisions that wait one behind the other are looked at together.

use std::sync::mpsc::Receiver;

use super::Writer;
use crate::model::event::{Decide, Event};
use crate::model::shared::Command;

impl Writer {
    /// Where `first` is a decision that takes long, reads those that wait behind it, at most `most` commands,
    /// and lets the engine find what the learner says of all.
    pub(super) fn look_ahead(&mut self, first: &Event, commands: &Receiver<Command>, most: usize) {
        let Event::Decide(first) = first else { return };
        if !self.engine.pays_to_look_ahead() {
            return;
        }
        while self.read.len() < most {
            let Ok(command) = commands.try_recv() else { break };
            let goes_on = decide_of(&command).is_some();
            self.read.push_back(command);
            if !goes_on {
                break;
            }
        }
        let behind = self.read.iter().filter_map(decide_of);
        let waiting: Vec<&Decide> = std::iter::once(first).chain(behind).collect();
        self.engine.look_ahead(&waiting);
    }
}

fn decide_of(command: &Command) -> Option<&Decide> {
    let Command::Do(event, _) = command else { return None };
    let Event::Decide(decide) = &**event else { return None };
    Some(decide)
}
