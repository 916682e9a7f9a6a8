/** Returns the kind of a subject: `Job` of `Job default/pi`. */
export function kindOfObject(subject: string): string {
  return subject.split(" ", 1)[0]!;
}
