/** Reads OpenSSH's file of allowed signers, and judges signatures by it. It refuses a line that it cannot judge. */
import { plainText } from '../../contract/safe-text.ts';
import { ApprovalError, parseSshKey, fingerprint, verifySshSignature } from './proof-ssh.ts';
import { APPROVAL_NAMESPACE } from './text.ts';

export interface Signer {
  principals: string[];
  key: Buffer;
  /** Null if the key may sign for any namespace. */
  namespaces: string[] | null;
  /** In milliseconds since 1970, infinite without a bound. */
  validFromMs: number;
  validToMs: number;
}

const MAX_BYTES = 1_048_576;

/** @throws ApprovalError that names the line */
export function parseAllowedSigners(text: string): Signer[] {
  if (text.length > MAX_BYTES) throw new ApprovalError('the file of signers is larger than 1 MiB');
  const signers = text.split(/\r?\n/).flatMap((line, index): Signer[] => {
    const content = line.trim();
    if (content === '' || content.startsWith('#')) return [];
    try {
      return [parseLine(content)];
    } catch (error) {
      if (!(error instanceof ApprovalError)) throw error;
      throw new ApprovalError(`line ${index + 1}: ${error.message}`);
    }
  });
  if (signers.length === 0) throw new ApprovalError('it has no signer: write one per line, PRINCIPAL KEY-TYPE KEY');
  return signers;
}

/** A quoted word may contain blanks. */
const WORD = /^((?:"(?:\\.|[^"\\])*"|[^\s"])+)\s*/;

function parseLine(line: string): Signer {
  const { word: names, rest } = nextWord(line);
  const principals = unquoted(names).split(',');
  if (principals.includes('')) throw new ApprovalError('a principal is empty');
  refusePatterns(principals, 'principals');
  const first = nextWord(rest);
  const hasOptions = !isKeyType(first.word);
  const type = hasOptions ? nextWord(first.rest) : first;
  if (!isKeyType(type.word)) throw new ApprovalError(`"${plainText(type.word, 50)}" is not a type of key`);
  const key = Buffer.from(nextWord(type.rest).word, 'base64');
  const found = parseSshKey(key);
  if (found.type !== type.word) throw new ApprovalError(`the key is of the type ${found.type}, not ${type.word}`);
  return { principals, key, ...optionsOf(hasOptions ? first.word : '') };
}

const isKeyType = (word: string): boolean => /^(ssh-|ecdsa-|sk-)/.test(word);

function nextWord(line: string): { word: string; rest: string } {
  const [whole = '', word] = WORD.exec(line) ?? [];
  if (word === undefined) throw new ApprovalError('it ends too early: write PRINCIPAL [OPTIONS] KEY-TYPE KEY');
  return { word, rest: line.slice(whole.length) };
}

const unquoted = (word: string): string => word.replace(/^"(.*)"$/, '$1').replace(/\\(.)/g, '$1');

/** One pattern could make everyone a signer, and would hide whom a key stands for. */
function refusePatterns(words: readonly string[], what: string): void {
  const pattern = words.find((it) => /[*?!]/.test(it));
  if (pattern !== undefined)
    throw new ApprovalError(`${what} must not be patterns, as "${pattern}" is: write each out`);
}

const OPTION = /^([a-zA-Z-]+)(?:=("(?:\\.|[^"\\])*"))?(?:,|$)/;

function optionsOf(text: string): Omit<Signer, 'principals' | 'key'> {
  const options: Omit<Signer, 'principals' | 'key'> = { namespaces: null, validFromMs: -Infinity, validToMs: Infinity };
  for (let left = text; left !== '';) {
    const [whole = '', name = '', quoted] = OPTION.exec(left) ?? [];
    if (name === '') throw new ApprovalError(`the options "${plainText(left, 50)}" cannot be read`);
    left = left.slice(whole.length);
    const value = quoted === undefined ? undefined : unquoted(quoted);
    switch (name.toLowerCase()) {
      case 'cert-authority':
        throw new ApprovalError('cert-authority is not supported: write the keys of the people');
      case 'namespaces':
        options.namespaces = valueOf(name, value).split(',');
        refusePatterns(options.namespaces, 'namespaces');
        break;
      case 'valid-after':
        options.validFromMs = instantOf(valueOf(name, value));
        break;
      case 'valid-before':
        options.validToMs = instantOf(valueOf(name, value));
        break;
      default:
        throw new ApprovalError(`the option ${name} is not known`);
    }
  }
  if (options.validFromMs >= options.validToMs) throw new ApprovalError('valid-before is not after valid-after');
  return options;
}

function valueOf(name: string, value: string | undefined): string {
  if (value === undefined || value === '') throw new ApprovalError(`${name} needs a value in quotes`);
  return value;
}

const TIME = /^(\d{4})(\d\d)(\d\d)(?:(\d\d)(\d\d)(\d\d)?)?(Z)?$/;

/** Takes the formats of ssh-keygen: `YYYYMMDD`, `YYYYMMDDHHMM` or `YYYYMMDDHHMMSS`, local unless it ends in Z. */
function instantOf(text: string): number {
  const found = TIME.exec(text);
  const error = new ApprovalError(`"${text}" is not a time like 20261224 or 202612241800Z`);
  if (found === null) throw error;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = found
    .slice(1, 7)
    .map((it?: string) => Number(it ?? 0));
  const utc = new Date(Date.UTC(year, month - 1, day, hour, minute, second));
  const isReal = utc.toISOString().replace(/\D/g, '').startsWith(found.slice(1, 7).join(''));
  if (!isReal) throw error;
  return found[7] === 'Z' ? utc.getTime() : new Date(year, month - 1, day, hour, minute, second).getTime();
}

/** @returns the fingerprint of the key. @throws ApprovalError if the signature proves nothing at this time */
export function proveBySsh(
  signers: readonly Signer[],
  { signature, text, principal }: { signature: string; text: string; principal: string },
  atMs: number,
): string {
  const key = verifySshSignature(signature, text);
  const name = fingerprint(key);
  const ofKey = signers.filter((it) => it.key.equals(key));
  if (ofKey.length === 0)
    throw new ApprovalError(`the key ${name} is not in the file of signers: sign with one that is, or add it there`);
  const named = ofKey.filter(({ principals }) => principals.includes(principal));
  if (named.length === 0)
    throw new ApprovalError(
      `the key ${name} is not one of ${principal}: sign with a key that the file of signers has for ${principal}, ` +
        `or give --by the name that the file has for this key`,
    );
  const forUse = signersForApprovals(named);
  if (forUse.length === 0) throw new ApprovalError(`the key ${name} is not for ${APPROVAL_NAMESPACE}`);
  if (forUse.some(({ validFromMs, validToMs }) => validFromMs <= atMs && atMs < validToMs)) return name;
  throw new ApprovalError(`the key ${name} of ${principal} is not valid now`);
}

/** Includes keys that are not valid yet or no longer. */
export const signersForApprovals = (signers: readonly Signer[]): Signer[] =>
  signers.filter(({ namespaces }) => namespaces === null || namespaces.includes(APPROVAL_NAMESPACE));
