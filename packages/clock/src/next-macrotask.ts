/** Resolves when all that is ready has run, and sockets, signals and the like have had their turn. */
export function nextMacrotask(): Promise<void> {
  return new Promise((resolve) => {
    if (typeof setImmediate === "function") setImmediate(resolve);
    else nextMessage(resolve);
  });
}

/** Browsers have no `setImmediate`, and make timers wait for 4 ms; messages come at once. */
function nextMessage(callback: () => void): void {
  const { port1, port2 } = new MessageChannel();
  port1.addEventListener("message", () => {
    port1.close();
    callback();
  });
  port1.start();
  port2.postMessage(undefined);
}
