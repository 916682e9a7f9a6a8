import * as fc from "fast-check";
import { expect, test } from "vitest";

import { parseGoTime } from "./go-time.js";

const RFC3339 = "2006-01-02T15:04:05Z07:00";
const MICRO = "2006-01-02T15:04:05.000000Z07:00";

test("every time that is printed is read again, whatever its zone", () => {
  const inMilliseconds = fc.date({ min: new Date(0), max: new Date("9999-12-31T00:00:00Z"), noInvalidDate: true });
  fc.assert(
    fc.property(inMilliseconds, fc.integer({ min: -14 * 60, max: 14 * 60 }), (date, offset) => {
      const seconds = Math.floor(date.getTime() / 1000) * 1000;
      const local = new Date(seconds + offset * 60_000).toISOString().slice(0, 19);
      const minutes = Math.abs(offset);
      const zone = `${offset < 0 ? "-" : "+"}${String(Math.floor(minutes / 60)).padStart(2, "0")}:${String(minutes % 60).padStart(2, "0")}`;
      expect(parseGoTime(`${local}${zone}`, 0)).toEqual({ epochMs: seconds, fraction: "" });
      expect(parseGoTime(`${local}.123456${zone}`, 6)).toEqual({ epochMs: seconds, fraction: ".123456" });
    }),
  );
});

test.each([
  ["", 0, `parsing time "" as "${RFC3339}": cannot parse "" as "2006"`],
  ["soon", 6, `parsing time "soon" as "${MICRO}": cannot parse "soon" as "2006"`],
  ["2024-01-01", 0, `parsing time "2024-01-01" as "${RFC3339}": cannot parse "" as "T"`],
  ["2024/01/01", 0, `parsing time "2024/01/01" as "${RFC3339}": cannot parse "/01/01" as "-"`],
  ["2024-1-01T", 0, `parsing time "2024-1-01T" as "${RFC3339}": cannot parse "1-01T" as "01"`],
  ["2024-13-01T00:00:00Z", 0, 'parsing time "2024-13-01T00:00:00Z": month out of range'],
  ["2024-02-30T00:00:00Z", 0, 'parsing time "2024-02-30T00:00:00Z": day out of range'],
  ["2024-01-01T24:00:00Z", 0, 'parsing time "2024-01-01T24:00:00Z": hour out of range'],
  ["2024-01-01T00:60:00Z", 0, 'parsing time "2024-01-01T00:60:00Z": minute out of range'],
  ["2024-01-01T00:00:00", 0, `parsing time "2024-01-01T00:00:00" as "${RFC3339}": cannot parse "" as "Z07:00"`],
  ["2024-01-01T00:00:00Z", 6, `parsing time "2024-01-01T00:00:00Z" as "${MICRO}": cannot parse "Z" as ".000000"`],
  [
    "2024-01-01T00:00:00.1234567Z",
    6,
    `parsing time "2024-01-01T00:00:00.1234567Z" as "${MICRO}": cannot parse "7Z" as "Z07:00"`,
  ],
  ["2024-01-01T00:00:00Zulu", 0, 'parsing time "2024-01-01T00:00:00Zulu": extra text: "ulu"'],
] as const)("%j is refused as Go refuses it", (text, digits, error) => {
  expect(parseGoTime(text, digits)).toEqual({ error });
});
