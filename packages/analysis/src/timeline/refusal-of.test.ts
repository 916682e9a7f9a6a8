import { expect, test } from "vitest";

import { causeOf, refusalOf } from "./refusal-of.js";

test.each([
  ["exceeded quota: compute, requested: pods=1, used: pods=2, limited: pods=2", "ResourceQuota shop/compute"],
  ["failed quota: compute: must specify requests.cpu for: c", "ResourceQuota shop/compute"],
  ["maximum cpu usage per Container is 1, but limit is 2", "LimitRange of namespace shop"],
  ["[minimum memory usage per Pod is 1Gi.  No request is specified, x]", "LimitRange of namespace shop"],
  ["cpu max limit to request ratio per Container is 2, but provided ratio is 4", "LimitRange of namespace shop"],
  [
    "ValidatingAdmissionPolicy 'own-images' with binding 'all' denied request: no",
    "ValidatingAdmissionPolicy own-images",
  ],
  ["no PriorityClass with name urgent was found", "PriorityClass urgent"],
  ["unable to create new content in namespace shop because it is being terminated", "Namespace shop"],
  ["it is Friday", undefined],
])("%s: the refusing object is %s", (text, object) => {
  const refusal = refusalOf(`pods "report-1-abcde" is forbidden: ${text}`, "shop");
  expect(refusal).toEqual({ text, ...(object === undefined ? {} : { object }) });
});

test("a webhook that denies, or does not answer, is the refusing object", () => {
  for (const message of [
    `admission webhook "own.example.com" denied the request: no`,
    `Internal error occurred: failed calling webhook "own.example.com": failed to call webhook: Post "x": refused`,
  ])
    expect(refusalOf(message, "shop")).toEqual({ object: "webhook own.example.com", text: message });
});

test("an error of the connection is no refusal", () => {
  expect(refusalOf("the connection was lost", "shop")).toBeUndefined();
  expect(refusalOf(`jobs.batch "report-1" already exists`, "shop")).toBeUndefined();
});

test("amounts that change from retry to retry belong to one cause", () => {
  const cause = (text: string): string => causeOf(refusalOf(`pods "x" is forbidden: ${text}`, "shop")!);
  expect(cause("exceeded quota: q, requested: cpu=2,pods=1, used: cpu=1, limited: cpu=2")).toBe(
    cause("exceeded quota: q, requested: cpu=1,pods=1, used: cpu=2, limited: cpu=2"),
  );
  expect(cause("exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1")).not.toBe(
    cause("exceeded quota: q, requested: cpu=1, used: cpu=2, limited: cpu=2"),
  );
});
