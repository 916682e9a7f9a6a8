/** This process is no member any more, and must end: others do its work. */
export class MemberError extends Error {
  override readonly name = "MemberError";
}
