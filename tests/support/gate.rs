//! Something that one side waits for and the other side tells.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::LIMIT;

/// Opens once for each [`open`](Gate::open); [`pass`](Gate::pass) waits for it.
#[derive(Debug, Clone)]
pub struct Gate {
    teller: Sender<()>,
    told: Arc<Mutex<Receiver<()>>>,
}

impl Gate {
    pub fn new() -> Self {
        let (teller, told) = channel();
        Self { teller, told: Arc::new(Mutex::new(told)) }
    }

    pub fn open(&self) {
        self.teller.send(()).unwrap();
    }

    #[track_caller]
    pub fn pass(&self) {
        self.told.lock().unwrap().recv_timeout(LIMIT).expect("the other side never came this far");
    }

    /// Whether nothing opens it for that long.
    pub fn is_closed_for(&self, time: Duration) -> bool {
        self.told.lock().unwrap().recv_timeout(time).is_err()
    }
}
