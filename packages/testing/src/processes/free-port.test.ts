import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";

import { expect, onTestFinished, test } from "vitest";

import { freePort } from "./free-port.js";

test("a free port is outside of the ephemeral ranges, and a server can listen on it", async () => {
  const given: number[] = [];
  for (let round = 0; round < 20; round++) {
    const server = createServer().listen(await freePort(), "127.0.0.1");
    await once(server, "listening");
    onTestFinished(() => void server.close());
    given.push((server.address() as AddressInfo).port);
  }
  expect(new Set(given).size).toBe(20);
  // The ephemeral range is 32768 to 60999 on Linux, and 49152 to 65535 elsewhere.
  for (const port of given) expect(port).toSatisfy((one: number) => one >= 20_000 && one < 32_768);
});
