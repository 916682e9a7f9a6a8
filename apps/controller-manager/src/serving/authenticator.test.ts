import { SimulatedClock } from "@kubewright/clock";
import { expect, test } from "vitest";

import { peer, request } from "../../test/operations-bench.js";
import { type ClientAuthorities, type Authentication, RequestAuthenticator } from "./authenticator.js";
import type { HttpRequest } from "./http-message.js";

const ANONYMOUS = { user: { username: "system:anonymous", groups: ["system:unauthenticated"] } };
const PROXY = {
  authorities: "proxy CA",
  usernameHeaders: ["x-remote-user", "x-user"],
  uidHeaders: ["x-remote-uid"],
  groupHeaders: ["x-remote-group"],
  extraHeaderPrefixes: ["x-remote-extra-"],
  allowedNames: ["front"],
};

function authenticate(
  given: Partial<HttpRequest>,
  authorities: Partial<ClientAuthorities> = { clientCA: "client CA", requestHeader: PROXY },
  isKnown = true,
  now = "2026-01-01T00:00:00Z",
): Promise<Authentication> {
  const tokens = {
    authenticate: async (token: string) => {
      if (token === "down") throw new Error("no API server");
      return token === "good" ? { username: "jane", groups: ["devs"] } : "invalid bearer token";
    },
  };
  return new RequestAuthenticator({
    authorities: () => ({ clientCA: undefined, requestHeader: undefined, ...authorities }),
    tokens: isKnown ? tokens : undefined,
    clock: new SimulatedClock(now),
  }).authenticate(request("/metrics", given));
}

const bearer = (token: string): Partial<HttpRequest> => ({ headers: { authorization: [`Bearer ${token}`] } });

test("who shows nothing is anonymous", async () => {
  expect(await authenticate({})).toEqual(ANONYMOUS);
  expect(await authenticate({ headers: { authorization: ["Basic abc"] } })).toEqual(ANONYMOUS);
});

test("a token is a user, is wrong, or cannot be asked about", async () => {
  expect(await authenticate(bearer("good"))).toEqual({
    user: { username: "jane", groups: ["devs", "system:authenticated"] },
  });
  expect(await authenticate(bearer("bad"))).toEqual({ error: "invalid bearer token" });
  expect(await authenticate(bearer("down"))).toEqual({ error: "no API server" });
});

test("without a review client, tokens and certificates are ignored", async () => {
  expect(await authenticate({ ...bearer("bad"), peer: peer("eve", "other CA") }, {}, false)).toEqual(ANONYMOUS);
});

test("a client certificate is a user by its common name, with its organizations as groups", async () => {
  expect(await authenticate({ peer: peer("ann", "client CA", { organizations: ["ops"] }) })).toEqual({
    user: {
      username: "ann",
      groups: ["ops", "system:authenticated"],
      extra: { "authentication.kubernetes.io/credential-id": ["X509SHA256=abc"] },
    },
  });
});

test("a certificate of an unknown authority is refused, unless a token is valid", async () => {
  const unknown = peer("eve", "other CA");
  expect(await authenticate({ peer: unknown })).toHaveProperty("error");
  expect(await authenticate({ peer: peer("eve", "client CA") }, undefined, true, "2027-01-02T00:00:00Z")).toEqual({
    error: "not from proxy CA, verifying certificate failed: expired",
  });
  expect(await authenticate({ ...bearer("good"), peer: unknown })).toMatchObject({ user: { username: "jane" } });
});

test("a front proxy says who it is: that comes first, and only from a proxy that may", async () => {
  const headers = {
    authorization: ["Bearer bad"],
    "x-user": ["bob"],
    "x-remote-uid": ["42"],
    "x-remote-group": ["a", "b"],
    "x-remote-extra-scopes": ["x", "y"],
    "x-remote-extra-a%2fb": ["z"],
    "x-remote-extra-constructor": ["c"],
  };
  expect(await authenticate({ headers, peer: peer("front", "proxy CA") })).toEqual({
    user: {
      username: "bob",
      uid: "42",
      groups: ["a", "b", "system:authenticated"],
      extra: { scopes: ["x", "y"], "a/b": ["z"], constructor: ["c"] },
    },
  });
  expect(await authenticate({ headers, peer: peer("back", "proxy CA") })).toHaveProperty("error");
  expect(
    await authenticate({ headers, peer: peer("front", "proxy CA") }, undefined, true, "2027-01-02T00:00:00Z"),
  ).toEqual({ error: "expired, verifying certificate failed: not from client CA, invalid bearer token" });
  expect(await authenticate({ headers: { "x-remote-user": ["root"] }, peer: peer("ann", "client CA") })).toMatchObject({
    user: { username: "ann" },
  });
  expect(await authenticate({ headers: { "x-remote-user": ["root"] } })).toEqual(ANONYMOUS);
});
