/** `Job` of `Job default/pi`. */
export function kindOfObject(about: string): string {
  return about.split(" ", 1)[0]!;
}
