import * as fc from "fast-check";
import { expect, test } from "vitest";

import { ListReader } from "./list-reader.js";

const encoder = new TextEncoder();

function read(bytes: Uint8Array, cuts: readonly number[] = [], take = (item: unknown): unknown => item): unknown {
  const reader = new ListReader(JSON.parse, take);
  let from = 0;
  for (const cut of [...cuts.map((cut) => cut % (bytes.length + 1)).toSorted((a, b) => a - b), bytes.length]) {
    reader.push(bytes.subarray(from, cut));
    from = cut;
  }
  return reader.end();
}

function outcome(read: () => unknown): unknown {
  try {
    return { value: read() };
  } catch (error) {
    return (error as Error).name;
  }
}

test("items are taken one by one, as they arrive, and what is made of them is in the list", () => {
  const taken: unknown[] = [];
  const reader = new ListReader(JSON.parse, (item) => {
    taken.push(item);
    return taken.length;
  });
  reader.push(encoder.encode('{"kind":"List","items":[{"a":"}{\\"["},'));
  expect(taken).toEqual([{ a: '}{"[' }]);
  reader.push(encoder.encode('{"b":[[{}]]}],"metadata":{"resourceVersion":"7"}}'));
  expect(taken).toEqual([{ a: '}{"[' }, { b: [[{}]] }]);
  expect(reader.end()).toEqual({ kind: "List", items: [1, 2], metadata: { resourceVersion: "7" } });
});

test.each([
  '{"items":[{"a":1},null,0,"{",[{"b":2}],{}]}',
  '{"items":null}',
  '{"items":{"items":[{"a":1}]}}',
  '{"spec":{"items":[{"a":1}]},"items":[{"b":2}]}',
  '{"items":[{"a":1}],"items":[{"b":2},{"c":3}]}',
  '{"items":[{"a":1}],"items":3}',
  '{"items":[{"a":1}],"it\\u0065ms":[{"b":2}]}',
  '{"note":"items","x":[{"a":1}],"\\\\":"\\"","items":[]}',
  '{"a":1,"__proto__":{"b":2},"items":[{"__proto__":{"c":3}}]}',
  ' \n{ "items" :\t[ { "a" : "\\\\" } , { } ] } ',
  '["items",[{"a":1}]]',
  '"items"',
  '\u{feff}{"items":[{"a":"\u{feff}grün-🚀"}]}',
])("%s is what JSON.parse makes of it, wherever chunks end", (text) => {
  const bytes = encoder.encode(text);
  const expected: unknown = JSON.parse(text.replace(/^\u{feff}/u, ""));
  for (let cut = 0; cut <= bytes.length; cut++) expect(read(bytes, [cut])).toEqual(expected);
  expect(
    read(
      bytes,
      Array.from(bytes, (_, index) => index),
    ),
  ).toEqual(expected);
});

test.each([
  "",
  "{",
  '{"items":[{"a":1}',
  '{"items":[{"a":1}{"b":2}]}',
  '{"items":[{"a":1},]}',
  '{"items":[,{"a":1}]}',
  '{"items":[{"a":1]}]}',
  '{"items":[{"a":1}]]}',
  '{"items":[{a:1}]}',
  '{"items":[{}{}]}',
  '{"items":[{"a":1}]}{',
  '{"items"[{"a":1}]}',
  '{"\\x":[{"a":1}]}',
  "<html>{}</html>",
])("%j is refused", (text) => {
  expect(() => JSON.parse(text) as unknown).toThrow(SyntaxError);
  expect(() => read(encoder.encode(text))).toThrow(SyntaxError);
});

const member = fc.oneof(fc.constantFrom("items", "kind", "metadata", "__proto__"), fc.string({ unit: "grapheme" }));
const list = fc.dictionary(member, fc.oneof(fc.jsonValue(), fc.array(fc.jsonValue(), { maxLength: 5 })), {
  noNullPrototype: true,
});
const cuts = fc.array(fc.nat(5000), { maxLength: 6 });

test("any document is what JSON.parse makes of it, however it is cut", () => {
  const document = fc.oneof({ weight: 4, arbitrary: list }, fc.jsonValue());
  fc.assert(
    fc.property(document, cuts, fc.constantFrom(undefined, 1, "\t"), (value, at, space) => {
      const text = JSON.stringify(value, undefined, space);
      expect(read(encoder.encode(text), at)).toEqual(JSON.parse(text));
    }),
    { numRuns: 2000 },
  );
});

test("any document with a byte that is not right is what JSON.parse makes of it, or refused where it refuses", () => {
  // Bytes with a meaning for the reader or for UTF-8.
  const wrong = fc.constantFrom(...encoder.encode('{}[]",:\\ 0e\n'), 0x80, 0xc3, 0xff);
  fc.assert(
    fc.property(list, fc.nat(5000), wrong, fc.boolean(), cuts, (value, place, byte, inserted, at) => {
      const bytes = encoder.encode(JSON.stringify(value));
      const where = place % bytes.length;
      const spoilt = Uint8Array.from([...bytes.slice(0, where), byte, ...bytes.slice(inserted ? where : where + 1)]);
      const text = new TextDecoder().decode(spoilt);
      expect(outcome(() => read(spoilt, at))).toEqual(outcome(() => JSON.parse(text) as unknown));
    }),
    { numRuns: 5000 },
  );
});
