import { stringify } from "yaml";

/** An object in YAML, as kubectl reads it: what YAML 1.1 takes for something else, such as `on` or `12:30`, is quoted. */
export function toYaml(object: object): string {
  return stringify(object, { version: "1.1", lineWidth: 0, aliasDuplicateObjects: false });
}
