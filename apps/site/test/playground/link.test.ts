import { deflateRawSync } from "node:zlib";

import { assert, asyncProperty, integer, record, string } from "fast-check";
import { describe, expect, test } from "vitest";

import { MAX_LINK, LinkError, linkTo, stateOf } from "../../playground/page/state/link.ts";
import { NOTHING } from "../../playground/page/state/playground-state.ts";

const linkWith = (value: unknown, version = 1): string =>
  `#${version}.${deflateRawSync(JSON.stringify(value)).toString("base64url")}`;

describe("a link", () => {
  test("restores the state that it was made from", async () => {
    await assert(
      asyncProperty(
        record({
          manifests: string({ unit: "grapheme" }),
          scenario: string(),
          kubernetes: string({ maxLength: 10 }),
          futures: integer({ min: 1, max: 1000 }),
        }),
        async (state) => {
          const link = await linkTo(state);
          expect(link).toMatch(/^#1\.[\w-]+$/);
          expect(await stateOf(link)).toEqual(state);
        },
      ),
      { numRuns: 50 },
    );
  });

  test("reports its maximum length", async () => {
    const manifests = Array.from({ length: 20_000 }, (_, index) =>
      ((index * 2_654_435_761) % 4_294_967_296).toString(36),
    ).join();
    await expect(linkTo({ ...NOTHING, manifests })).rejects.toThrow(/of 32,000 at most/);
    expect(MAX_LINK).toBe(32_000);
  });

  test.each([
    ["words", "#readme"],
    ["nothing behind the version", "#1."],
    ["half of it", linkWith({ m: "kind: Job\nmetadata: {}\n" }).slice(0, -7)],
    ["other letters", linkWith({ m: "kind: Job" }).replace(/.{4}$/, "____")],
    ["no base64", "#1.a"],
    ["no JSON", `#1.${deflateRawSync("{").toString("base64url")}`],
    ["null", linkWith(null)],
    ["a number", linkWith({ m: 1 })],
    ["no manifests", linkWith({ s: "" })],
    ["a release that is no text", linkWith({ m: "", k: 1.35 })],
    ["more futures than there are", linkWith({ m: "", f: 1_000_000 })],
  ])("that is damaged is reported: %s", async (_, fragment) => {
    const failure = await stateOf(fragment).then(
      () => undefined,
      (error: unknown) => error,
    );
    expect(failure).toBeInstanceOf(LinkError);
    expect((failure as LinkError).message).toMatch(/^This link is damaged/);
  });

  test("of a later version is reported", async () => {
    await expect(stateOf(linkWith({ m: "" }, 2))).rejects.toThrow(/version 2/);
  });

  test("that would unpack to more than a million characters is not unpacked", async () => {
    await expect(stateOf(linkWith({ m: "a".repeat(5_000_000) }))).rejects.toThrow(/a million characters/);
  });

  test("is none when there is none", async () => {
    expect(await stateOf("")).toBeUndefined();
    expect(await stateOf("#")).toBeUndefined();
  });
});
