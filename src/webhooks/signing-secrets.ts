/** The secrets that senders sign with. They are read for every delivery, so rotating one needs no restart. */
import { ConfigError } from '../config/environment/config-error.ts';
import { problemOfStandardSecret, secretSource, type SecretRef } from '../config/environment/secrets.ts';

/** The secrets at this moment; files can change. */
export interface Secrets {
  usable: string[];
  /** Why one of them is unusable; null if all are usable. */
  problem: string | null;
}

/** Describes what is wrong with a secret and how to fix it, or returns null. */
type SecretForm = (secret: string) => string | null;

const NOT_HMAC = 'the secret is too weak: use one line of at least 16 characters';

export const standardForm: SecretForm = problemOfStandardSecret;
export const hmacForm: SecretForm = (secret) => (/^.{16,}$/.test(secret) ? null : NOT_HMAC);

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
