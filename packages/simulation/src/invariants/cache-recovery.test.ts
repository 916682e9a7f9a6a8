import { describe, expect, it } from "vitest";

import { History } from "../../test/history.js";
import { cachesRecover } from "./cache-recovery.js";

const MINUTE = 60_000;
const cache = { controller: "job-controller", kinds: ["Pod"] };
const events = [
  { at: "+0s", for: "20m", watchSilent: cache },
  { at: "+0s", for: "20m", staleList: { ...cache, by: "5m" } },
  { at: "+0s", for: "15m", apiServerSlow: { by: "1s" } },
] as const;
const difference = { component: "job-controller", resource: "pods", difference: "default/p is not cached" };

describe("L8 caches recover", () => {
  function after(minutes: number, ...indexes: readonly number[]): readonly string[] {
    const history = new History(cachesRecover, { events });
    const kinds = ["watchSilent", "staleList", "apiServerSlow"] as const;
    for (const index of indexes) history.happen(index, kinds[index]!, "begin");
    history.stale = [difference];
    for (let minute = 0; minute < minutes; minute++) history.pass(MINUTE);
    return history.violations;
  }

  it("gives a cache the time in which a silent watch may be found out, and bears with what else is wrong", () => {
    expect(after(12, 0)).toEqual([]);
    expect(after(1, 1)).toEqual([]);
    expect(after(14, 0, 2)).toEqual([]);
    expect(after(30)).toEqual([]);
  });

  it("refuses a cache that is still behind then", () => {
    const wrong = "job-controller's pods: has not been found out to be old: default/p is not cached";
    expect(after(13, 0)[0]).toBe(wrong);
    expect(after(3, 1)[0]).toBe(wrong);
  });
});
