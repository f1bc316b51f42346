/** Why there is no connection to Temporal, for people. */
import { CHECK_CREDENTIALS, proxiesNotUsed, START_TEMPORAL } from '../client/transport/remedies.ts';
import { plainText } from '../contract/wording/safe-text.ts';
import { messageOf } from '../contract/wording/message-of.ts';

export interface Unreachable {
  /** Completes a sentence that begins with Temporal. */
  problem: string;
  remedy: string;
}

/** By what the message of the SDK contains. */
const REASONS: readonly [pattern: RegExp, problem: string, remedy: string][] = [
  [/ConnectionRefused/, 'does not answer: connection refused', START_TEMPORAL],
  [/authentication credentials|unauthorized|permission/i, 'denies access', CHECK_CREDENTIALS],
  [/NotValidForName/, 'has a certificate for another name', 'set TEMPORAL_TLS_SERVER_NAME to the name in it'],
  [/InvalidCertificate\(Expired/, 'has an expired certificate', 'renew it, or check the clock of this machine'],
  [/UnknownIssuer|BadSignature/, 'has a certificate of an unknown authority', 'set TEMPORAL_TLS_SERVER_CA_CERT_PATH'],
  [/InvalidContentType/, 'does not speak TLS', 'unset TEMPORAL_TLS, or check the port'],
  [
    /BrokenPipe|UnexpectedEof|ConnectionReset|connection closed/,
    'ended the connection',
    'set TEMPORAL_TLS or an API key if it wants TLS; else check that it accepts the client certificate',
  ],
];

export function whyUnreachable(error: unknown): Unreachable {
  const message = messageOf(error);
  const [, problem, remedy] = REASONS.find(([pattern]) => pattern.test(message)) ?? [];
  if (problem !== undefined && remedy !== undefined) return { problem, remedy: `${remedy}${proxiesNotUsed()}` };
  return { problem: `does not answer: ${plainText(message)}`, remedy: `${START_TEMPORAL}${proxiesNotUsed()}` };
}
