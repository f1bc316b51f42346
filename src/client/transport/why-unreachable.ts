/** Tells people why there is no connection to Temporal. */
import { messageOf, plainText } from '../../contract/safe-text.ts';
import { CHECK_CREDENTIALS, proxiesNotUsed, START_TEMPORAL } from './grpc-errors.ts';

export interface Unreachable {
  /** Completes a sentence that begins with Temporal. */
  problem: string;
  remedy: string;
}

/** Matched against messages of the SDK's core, which workers use, and of gRPC for Node, which commands use. */
const REASONS: readonly [pattern: RegExp, problem: string, remedy: string][] = [
  [
    /Name resolution failed|failed to lookup address|dns error|ENOTFOUND/i,
    'is at no address that this machine can find',
    'correct TEMPORAL_ADDRESS, or the address of the profile',
  ],
  [/ConnectionRefused|ECONNREFUSED/, 'does not answer: connection refused', START_TEMPORAL],
  [/authentication credentials|unauthorized|permission/i, 'denies access', CHECK_CREDENTIALS],
  [
    /NotValidForName|does not match certificate/,
    'has a certificate for another name',
    'set TEMPORAL_TLS_SERVER_NAME to the name in it',
  ],
  [
    /InvalidCertificate\(Expired|certificate has expired/,
    'has an expired certificate',
    'renew it, or check the clock of this machine',
  ],
  [
    /UnknownIssuer|BadSignature|self.signed certificate|unable to (get|verify)|signature failure/i,
    'has a certificate of an unknown authority',
    'set TEMPORAL_TLS_SERVER_CA_CERT_PATH',
  ],
  [/InvalidContentType|wrong version number/, 'does not speak TLS', 'unset TEMPORAL_TLS, or check the port'],
  [
    /BrokenPipe|UnexpectedEof|ConnectionReset|connection closed|ECONNRESET|socket hang up|Protocol error|Last error: Failed to connect/,
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
