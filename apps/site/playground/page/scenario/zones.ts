/** Time zones that the browser knows, with the one that nobody has to look for first. */
export function zones(): readonly string[] {
  return ["UTC", ...Intl.supportedValuesOf("timeZone").filter((zone) => zone !== "UTC")];
}
