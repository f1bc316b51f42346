/** Whether a signature proves that a principal wrote a text. */
import type { Signer } from './proof-signers.ts';
import { ApprovalError } from './errors.ts';
import { fingerprint } from './proof-ssh.ts';
import { verifySshSignature } from './ssh-signature.ts';

export interface SignedBy {
  signature: string;
  text: string;
  namespace: string;
  principal: string;
}

/** @returns the fingerprint of the key. @throws ApprovalError if it proves nothing at this time */
export function proveBySsh(signers: readonly Signer[], signed: SignedBy, atMs: number): string {
  const { signature, text, namespace, principal } = signed;
  const key = verifySshSignature(signature, text, namespace);
  const name = fingerprint(key);
  const ofKey = signers.filter((it) => it.key.equals(key));
  if (ofKey.length === 0) throw new ApprovalError(`the key ${name} is not in the file of signers`);
  const named = ofKey.filter(({ principals }) => principals.includes(principal));
  if (named.length === 0) throw new ApprovalError(`the key ${name} is not one of ${principal}`);
  const forUse = named.filter(({ namespaces }) => namespaces === null || namespaces.includes(namespace));
  if (forUse.length === 0) throw new ApprovalError(`the key ${name} is not for ${namespace}`);
  if (forUse.some(({ validFromMs, validToMs }) => validFromMs <= atMs && atMs < validToMs)) return name;
  throw new ApprovalError(`the key ${name} of ${principal} is not valid now`);
}

/** Those that may sign this at any time. */
export const signersFor = (signers: readonly Signer[], namespace: string): Signer[] =>
  signers.filter(({ namespaces }) => namespaces === null || namespaces.includes(namespace));
