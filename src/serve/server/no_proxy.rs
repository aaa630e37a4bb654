//! In the place of the proxy, in a build without it.

use super::listen::Handler;
use super::via::{Connection, Tunnel, Via};
use crate::config::{HostRule, Hosts};
use crate::error::{Error, Result};

/// No proxy.
#[derive(Debug)]
pub enum Proxy {}

impl Proxy {
    pub fn new(_: Hosts) -> Result<Self> {
        Err(Error::not_built("proxy"))
    }

    pub fn rule(&self, _: &str) -> HostRule {
        match *self {}
    }
}

pub(super) async fn open(
    tunnel: Tunnel,
    _: impl Connection + 'static,
    _: &impl Handler,
) -> Option<(Box<dyn Connection>, Via)> {
    let Tunnel { authority, session, proxy } = tunnel;
    drop((authority, session));
    match *proxy {}
}
