import { configMaps } from "@kubewright/api";
import { createApiServer } from "@kubewright/apiserver";
import { Client } from "@kubewright/client";
import { SimulatedClock, seededRandom } from "@kubewright/clock";
import { expect, test } from "vitest";

import { readClusterAuthorities } from "./cluster-authorities.js";

const NOBODY = { clientCA: undefined, requestHeader: undefined };

async function authoritiesIn(data: Record<string, string> | undefined) {
  const clock = new SimulatedClock("2026-01-01T00:00:00Z");
  const { transport } = createApiServer({ clock, random: seededRandom(1) });
  const client = new Client({ transport, clock });
  const metadata = { name: "extension-apiserver-authentication", namespace: "kube-system" };
  if (data !== undefined) await client.resource(configMaps).create({ metadata, data });
  return readClusterAuthorities(client);
}

test("without the ConfigMap, or without authorities in it, no client certificate is trusted", async () => {
  expect(await authoritiesIn(undefined)).toEqual(NOBODY);
  expect(await authoritiesIn({ "requestheader-username-headers": '["X-Remote-User"]' })).toEqual(NOBODY);
});

test("lists are JSON, names of headers know no case, and what is missing is empty", async () => {
  const data = {
    "client-ca-file": "clients",
    "requestheader-client-ca-file": "proxies",
    "requestheader-username-headers": '["X-Remote-User"]',
    "requestheader-group-headers": "null",
    "requestheader-allowed-names": '["Front"]',
  };
  expect(await authoritiesIn(data)).toEqual({
    clientCA: "clients",
    requestHeader: {
      authorities: "proxies",
      usernameHeaders: ["x-remote-user"],
      uidHeaders: [],
      groupHeaders: [],
      extraHeaderPrefixes: [],
      allowedNames: ["Front"],
    },
  });
});

test.each(["nonsense", "[1]", "{}"])("a list that reads %s is refused, by its name", async (text) => {
  const data = { "requestheader-client-ca-file": "proxies", "requestheader-allowed-names": text };
  await expect(authoritiesIn(data)).rejects.toThrow(
    "requestheader-allowed-names in ConfigMap kube-system/extension-apiserver-authentication is no JSON list of strings",
  );
});
