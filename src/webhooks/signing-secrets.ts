/** The secrets that senders sign with. They are read for every delivery, so rotating one needs no restart. */
import { ConfigError } from '../config/environment/config-error.ts';
import { secretSource, type SecretRef } from '../config/environment/secrets.ts';

/** The secrets at this moment; files can change. */
export interface Secrets {
  usable: string[];
  /** Why one of them is unusable; null if all are usable. */
  problem: string | null;
}

/** Describes what is wrong with a secret and how to fix it, or returns null. */
type SecretForm = (secret: string) => string | null;

const NOT_STANDARD =
  'not a Standard Webhooks secret: copy it from the sender, whsec_ followed by the base64 of 24 to 64 bytes';
const NOT_HMAC = 'the secret is too weak: use one line of at least 16 characters';

export const standardForm: SecretForm = (secret) => (isStandardSecret(secret) ? null : NOT_STANDARD);
export const hmacForm: SecretForm = (secret) => (/^.{16,}$/.test(secret) ? null : NOT_HMAC);

function isStandardSecret(secret: string): boolean {
  const [, base64 = ''] = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(secret) ?? [];
  const { length } = Buffer.from(base64, 'base64');
  return base64.length % 4 === 0 && length >= 24 && length <= 64;
}

/** @throws ConfigError at once if a variable is not set */
export function secretsIn(key: string, places: readonly SecretRef[], problemOf: SecretForm): () => Promise<Secrets> {
  const reads = places.map((place, index) => [`${key}.${index}`, secretSource(`${key}.${index}`, place)] as const);
  return async () => {
    const secrets: Secrets = { usable: [], problem: null };
    for (const [place, read] of reads) {
      try {
        const secret = await read();
        const problem = problemOf(secret);
        if (problem === null) secrets.usable.push(secret);
        else secrets.problem ??= `${place}: ${problem}`;
      } catch (error) {
        if (!(error instanceof ConfigError)) throw error;
        secrets.problem ??= error.message;
      }
    }
    return secrets;
  };
}
