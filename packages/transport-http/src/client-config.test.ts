import { expect, test } from "vitest";

import { loadClientConfig } from "./client-config.js";

test.each([
  ["127.0.0.1:8001", "http://127.0.0.1:8001"],
  ["localhost:8001", "http://localhost:8001"],
  ["https://api.example.com:6443/prefix", "https://api.example.com:6443/prefix"],
])("--master %s is %s", async (master, server) => {
  expect(await loadClientConfig({ kubeconfig: "", master, env: {} })).toMatchObject({ server });
});

test("--master that is no address is refused by name", async () => {
  await expect(loadClientConfig({ kubeconfig: "", master: "ftp://a", env: {} })).rejects.toThrow(
    'server "ftp://a" is not an http or https URL',
  );
});
