import { type Rules, isEmpty } from "./rules.js";
import { type Shape, isSame } from "./shape.js";

/** Splits rules into those of map values and all others. Rules of map values may stand only beside the map's type. */
export function splitMapValueRules(rules: Rules): { readonly ofValues: Rules; readonly others: Rules } {
  const { values, properties, items, ...rest } = rules;
  const members = Object.entries(properties ?? {}).map(([name, each]) => [name, splitMapValueRules(each)] as const);
  const item = items === undefined ? undefined : splitMapValueRules(items);
  const parts = (of: "ofValues" | "others"): Rules => {
    const present = members.flatMap(([name, split]) => (isEmpty(split[of]) ? [] : [[name, split[of]] as const]));
    return {
      ...(present.length === 0 ? {} : { properties: Object.fromEntries(present) }),
      ...(item === undefined || isEmpty(item[of]) ? {} : { items: item[of] }),
    };
  };
  return {
    ofValues: { ...(values === undefined ? {} : { values }), ...parts("ofValues") },
    others: { ...rest, ...parts("others") },
  };
}

/** Whether the map value rules of one alternative differ from those of another alternative that has the same maps. */
export function disagree(ofValues: Rules, other: Shape | undefined, ofOther: Rules | undefined): boolean {
  if (other === undefined) return false;
  if (ofValues.values !== undefined && !isSame(ofValues.values, ofOther?.values)) return true;
  if (ofValues.items !== undefined && disagree(ofValues.items, other.items, ofOther?.items)) return true;
  return Object.entries(ofValues.properties ?? {}).some(([name, rules]) =>
    disagree(rules, other.properties?.get(name), ofOther?.properties?.[name]),
  );
}
