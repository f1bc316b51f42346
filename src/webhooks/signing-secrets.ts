/** The secrets that senders sign with: read for every delivery, so that one can be replaced without a restart. */
import { ConfigError, secretSource, type SecretPlace } from '../config/environment/environment.ts';

/** As they are at the moment: files change. */
export interface Secrets {
  usable: string[];
  /** Why another one isn't; null where all are. */
  problem: string | null;
}

/** What is wrong with a secret, with the remedy, or null. */
type SecretForm = (secret: string) => string | null;

const NOT_STANDARD =
  'what stands there is no Standard Webhooks secret: write it as the sender shows it, whsec_ and the base64 of 24 to 64 bytes';
const NOT_HMAC = 'what stands there could be guessed: a secret is one line of 16 characters at least';

export const standardForm: SecretForm = (secret) => (isStandardSecret(secret) ? null : NOT_STANDARD);
export const hmacForm: SecretForm = (secret) => (/^.{16,}$/.test(secret) ? null : NOT_HMAC);

function isStandardSecret(secret: string): boolean {
  const [, base64 = ''] = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(secret) ?? [];
  const { length } = Buffer.from(base64, 'base64');
  return base64.length % 4 === 0 && length >= 24 && length <= 64;
}

/** @throws ConfigError at once where a variable isn't set */
export function secretsIn(key: string, places: readonly SecretPlace[], problemOf: SecretForm): () => Promise<Secrets> {
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
