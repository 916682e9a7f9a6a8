import { stringify } from "yaml";

/**
 * Formats an object as YAML for kubectl: strings that YAML 1.1 parses as other types, such as `on` or `12:30`, are
 * quoted.
 */
export function toYaml(object: object): string {
  return stringify(object, { version: "1.1", lineWidth: 0, aliasDuplicateObjects: false });
}
