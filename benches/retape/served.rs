//! A server on a thread of its own.

use std::net::SocketAddr;
use std::sync::mpsc;
use std::thread::JoinHandle;

use tokio::runtime::Builder;
use tokio::sync::oneshot;

use crate::cpu::Thread;

/// A server on a thread of its own, whose work can be measured. It is stopped when it is dropped.
pub struct Served {
    address: SocketAddr,
    thread: Thread,
    stop: Option<oneshot::Sender<()>>,
    running: Option<JoinHandle<()>>,
}

impl Served {
    /// Starts what `start` gives: the address, and what must stay alive for it to be served. A
    /// profiler shows the thread by its name.
    pub fn start<S, F>(name: &str, start: impl FnOnce() -> F + Send + 'static) -> Self
    where
        F: Future<Output = (SocketAddr, S)>,
    {
        let (tell, told) = mpsc::channel();
        let (stop, stopped) = oneshot::channel();
        let thread = std::thread::Builder::new().name(name.to_owned());
        let running = thread.spawn(move || {
            let runtime = Builder::new_current_thread().enable_all().build();
            runtime.expect("a runtime can be built").block_on(async {
                let (address, alive) = start().await;
                tell.send((address, Thread::current())).expect("it is waited for");
                let _ = stopped.await;
                drop(alive);
            });
        });
        let running = running.expect("a thread can be started");
        let (address, thread) = told.recv().expect("the server starts");
        Self { address, thread, stop: Some(stop), running: Some(running) }
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The thread that serves.
    pub fn thread(&self) -> Thread {
        self.thread.clone()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(running) = self.running.take() {
            let _ = running.join();
        }
    }
}
