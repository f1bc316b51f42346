/** The encoding of SSH (RFC 4251): numbers and strings in a row. Every length is checked. */
import { ApprovalError } from './errors.ts';

export interface WireReader {
  uint32(): number;
  byte(): number;
  bytes(length: number): Buffer;
  string(): Buffer;
  text(): string;
  /** A positive number without leading zeros. */
  positive(): Buffer;
  /** @throws ApprovalError if anything is left */
  end(): void;
}

/** @param what for errors */
export function readWire(source: Buffer, what: string): WireReader {
  let at = 0;
  const bytes = (length: number): Buffer => {
    if (length > source.length - at) throw new ApprovalError(`${what} is cut off`);
    at += length;
    return source.subarray(at - length, at);
  };
  const uint32 = () => bytes(4).readUInt32BE();
  const string = () => bytes(uint32());
  return {
    uint32,
    byte: () => bytes(1).readUInt8(),
    bytes,
    string,
    text: () => string().toString('latin1'),
    positive() {
      const found = string();
      const first = found[0] ?? 0x80;
      if (first >= 0x80) throw new ApprovalError(`${what} holds a number that is not positive`);
      return first === 0 ? found.subarray(1) : found;
    },
    end() {
      if (at < source.length) throw new ApprovalError(`${what} has ${source.length - at} bytes too many`);
    },
  };
}

export function wireString(content: Buffer | string): Buffer {
  const bytes = Buffer.from(content as string);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  return Buffer.concat([length, bytes]);
}
