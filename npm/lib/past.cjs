"use strict";

const { subscribe, unsubscribe } = require("node:diagnostics_channel");

const CHANNEL = "net.client.socket";

/** Notes each connection of this process but those to `retape`, whichever client makes it, until the function that
 *  it returns is called. */
function watch(retape, note) {
  let own;
  retape.then((url) => (own = new URL(url).host)).catch(() => {});
  const seen = ({ socket }) => {
    let name;
    socket.once("lookup", (error, address, family, host) => (name = host));
    socket.on("connectionAttempt", (address, port) => {
      const hosts = [name, address].filter(Boolean);
      if (!hosts.some((host) => `${host}:${port}` === own)) note(hosts[0], port);
    });
  };
  subscribe(CHANNEL, seen);
  return () => unsubscribe(CHANNEL, seen);
}

exports.watch = watch;
