//! Connections that are kept for the next request.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use super::connection::Connection;

/// Shorter than any server's patience with an idle connection that we know of.
const KEPT_FOR: Duration = Duration::from_secs(1);

/// So many idle connections are kept: more than a test suite has clients.
const KEPT: usize = 256;

/// Connections that are kept for the next request, the last used behind.
#[derive(Debug, Clone, Default)]
pub(super) struct Pool(Arc<Mutex<Idle>>);

#[derive(Debug, Default)]
struct Idle {
    connections: Vec<(Instant, Connection)>,
    /// Whether a task removes what was idle for too long.
    swept: bool,
}

/// Whether a request may be sent twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Repeatable {
    Yes,
    /// It gets a connection of its own: the server may close a kept one just as the request comes.
    No,
}

impl Pool {
    /// A connection on which the server waits for a request.
    pub(super) fn take(&self, repeatable: Repeatable) -> Option<Connection> {
        let mut idle = self.idle();
        idle.purge();
        if repeatable == Repeatable::No {
            return None;
        }
        let at = idle.connections.iter().rposition(|(_, connection)| connection.is_ready())?;
        match idle.connections[at].1.shared() {
            Some(shared) => Some(shared),
            None => Some(idle.connections.remove(at).1),
        }
    }

    /// Keeps a connection once its last answer is read.
    pub(super) fn put(&self, mut connection: Connection) {
        if connection.is_ready() {
            self.keep(connection);
        } else if !connection.is_closed() {
            let pool = self.clone();
            tokio::spawn(async move {
                connection.ready().await;
                pool.keep(connection);
            });
        }
    }

    /// What a connection calls when it has ended.
    pub(super) fn on_end(&self) -> impl FnOnce() + Send + use<> {
        let idle = Arc::downgrade(&self.0);
        move || {
            if let Some(idle) = idle.upgrade() {
                Self(idle).idle().purge();
            }
        }
    }

    fn keep(&self, connection: Connection) {
        let mut idle = self.idle();
        let is_shared = connection.shared().is_some();
        idle.connections.retain(|(_, kept)| !is_shared || kept.shared().is_none());
        if connection.is_closed() || idle.connections.len() == KEPT {
            return;
        }
        idle.connections.push((Instant::now(), connection));
        if !std::mem::replace(&mut idle.swept, true) {
            tokio::spawn(sweep(Arc::downgrade(&self.0)));
        }
    }

    fn idle(&self) -> MutexGuard<'_, Idle> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Idle {
    /// Removes what is of no use any more.
    fn purge(&mut self) {
        let is_of_use = |(since, connection): &(Instant, Connection)| {
            !connection.is_closed() && since.elapsed() < KEPT_FOR
        };
        self.connections.retain(is_of_use);
    }
}

/// Removes connections that nobody used, until there are none.
async fn sweep(idle: Weak<Mutex<Idle>>) {
    loop {
        tokio::time::sleep(KEPT_FOR).await;
        let Some(idle) = idle.upgrade() else { return };
        let mut idle = idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.purge();
        if idle.connections.is_empty() {
            idle.swept = false;
            return;
        }
    }
}
