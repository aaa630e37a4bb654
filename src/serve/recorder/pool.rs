//! Connections that are kept for the next request.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use super::connection::Connection;

/// Shorter than any server's patience with an idle connection that we know of.
const KEPT_FOR: Duration = Duration::from_secs(1);

/// A server that leaves an idle connection open for that long does not close it after each answer.
const KEEPS_AFTER: Duration = Duration::from_millis(100);

/// So many idle connections are kept: more than a test suite has clients.
const KEPT: usize = 256;

/// So many are kept of a server of which nobody knows yet what it does with them: one that is used, and one that is
/// watched. A server may allow few connections.
const WATCHED: usize = 2;

/// Connections that are kept for the next request, the last used behind.
#[derive(Debug, Clone, Default)]
pub(super) struct Pool(Arc<Mutex<Idle>>);

#[derive(Debug, Default)]
struct Idle {
    connections: Vec<(Instant, Connection)>,
    manners: Manners,
    /// Whether a task removes what was idle for too long.
    swept: bool,
}

/// How the server was seen to treat connections that it had not said it would close.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Manners {
    #[default]
    Unknown,
    Keeps,
    Closes,
}

/// Whether a request may be sent twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Repeatable {
    Yes,
    /// It gets a kept connection only of a server that was seen to keep them.
    No,
}

impl Pool {
    /// A connection on which the server waits for a request.
    pub(super) fn take(&self, repeatable: Repeatable) -> Option<Connection> {
        let mut idle = self.idle();
        idle.purge();
        if repeatable == Repeatable::No && idle.manners != Manners::Keeps {
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
        let most = if idle.manners == Manners::Unknown { WATCHED } else { KEPT };
        if connection.is_closed() || idle.connections.len() >= most {
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
    /// Removes what is of no use any more, and learns from it what the server does.
    fn purge(&mut self) {
        let Self { connections, manners, .. } = self;
        let now = Instant::now();
        connections.retain(|(since, connection)| {
            let idle = now.duration_since(*since);
            if connection.is_closed() {
                *manners = Manners::Closes;
                return false;
            }
            if *manners == Manners::Unknown && idle >= KEEPS_AFTER {
                *manners = Manners::Keeps;
            }
            idle < KEPT_FOR
        });
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
