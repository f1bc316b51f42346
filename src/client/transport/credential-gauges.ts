/** Metrics about the credentials for Temporal, for every long-running program. */
import { Gauge, type Registry } from 'prom-client';
import type { CredentialsState } from './open-connection.ts';

/** @returns a function to call after each look at the credentials */
export function createCredentialGauges(registry: Registry): (state: CredentialsState) => void {
  let endMs: number | null = null;
  const good = new Gauge({
    name: 'belay_temporal_credentials_good',
    help: 'Whether the credentials for Temporal that are in their files are in use',
    registers: [registry],
  });
  good.set(1);
  const expires = new Gauge({
    name: 'belay_certificate_expires_seconds',
    help: 'Seconds until the client certificate for Temporal expires',
    registers: [registry],
    collect() {
      if (endMs === null) this.remove();
      else this.set((endMs - Date.now()) / 1_000);
    },
  });
  expires.remove();
  return ({ areGood, certificateEndMs }) => {
    good.set(areGood ? 1 : 0);
    endMs = certificateEndMs;
  };
}
