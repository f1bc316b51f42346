/** Checks what proves to Temporal who connects: that it can be used, and for how long. */
import { dayOf, type Credentials } from '../../config/credentials.ts';
import type { TemporalEndpoint } from '../../config/find-temporal.ts';
import { DAY_MS } from '../../contract/duration.ts';
import { counted } from '../../contract/tally-text.ts';
import type { Check, Finding } from '../../cli/doctor-check.ts';

/** As in the alert BelayCertificateExpires. */
const WARN_DAYS = 21;

/** Empty if the connection needs no credentials. */
export function credentialChecks({ credentials }: Pick<TemporalEndpoint, 'credentials'>): Check[] {
  return credentials === null ? [] : [{ name: "Temporal's credentials", run: async () => inspect(credentials) }];
}

/** @throws ConfigError */
function inspect(credentials: Credentials): Finding {
  const { connectionOptions, certificateEndMs } = credentials.read();
  const key = connectionOptions.apiKey === undefined ? [] : ['an API key'];
  if (certificateEndMs === null) return { state: 'ok', message: key[0] ?? 'none, over TLS' };
  const days = Math.floor((certificateEndMs - Date.now()) / DAY_MS);
  const until = `a client certificate until ${dayOf(certificateEndMs)}, ${counted(days, 'day')} from now`;
  const message = [...key, until].join(', and ');
  if (days >= WARN_DAYS) return { state: 'ok', message };
  const remedy = 'put a new certificate and its key in their files: no program needs a restart';
  return { state: 'warning', message, remedy };
}
