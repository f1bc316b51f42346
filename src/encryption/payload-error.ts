/** A payload that this process cannot or must not read. The message names the key and the remedy, never its content. */
export class PayloadError extends Error {
  override readonly name = 'PayloadError';
}
