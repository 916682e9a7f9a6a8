/** Writes a protobuf message field by field; counterpart of {@link WireReader}. Fields may be written in any order. */
export class WireWriter {
  readonly #pieces: Uint8Array[] = [];
  #length = 0;

  get bytes(): Uint8Array {
    const whole = new Uint8Array(this.#length);
    let at = 0;
    for (const piece of this.#pieces) {
      whole.set(piece, at);
      at += piece.byteLength;
    }
    return whole;
  }

  /** Writes an integer that a double represents exactly. A negative one takes ten bytes, as protobuf's `int64` does. */
  integer(field: number, value: number): void {
    this.#tag(field, 0);
    this.#varint(value);
  }

  double(field: number, value: number): void {
    this.#tag(field, 1);
    const bytes = new Uint8Array(8);
    new DataView(bytes.buffer).setFloat64(0, value, true);
    this.#push(bytes);
  }

  text(field: number, value: string): void {
    this.bytesField(field, new TextEncoder().encode(value));
  }

  message(field: number, { bytes }: WireWriter): void {
    this.bytesField(field, bytes);
  }

  bytesField(field: number, bytes: Uint8Array): void {
    this.#tag(field, 2);
    this.#varint(bytes.byteLength);
    this.#push(bytes);
  }

  #tag(field: number, wireType: number): void {
    this.#varint(field * 8 + wireType);
  }

  #varint(value: number): void {
    const bytes: number[] = [];
    if (value >= 0 && value < 2 ** 31) {
      let rest = value;
      for (; rest > 0x7f; rest >>>= 7) bytes.push((rest & 0x7f) | 0x80);
      bytes.push(rest);
    } else {
      let rest = BigInt.asUintN(64, BigInt(value));
      for (; rest > 0x7fn; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80);
      bytes.push(Number(rest));
    }
    this.#push(Uint8Array.from(bytes));
  }

  #push(bytes: Uint8Array): void {
    this.#pieces.push(bytes);
    this.#length += bytes.byteLength;
  }
}
