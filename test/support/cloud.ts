/** A namespace behind a front that asks for credentials, and programs that have them in files. */
import type { SearchAttributeMode } from '../../src/config/environment/environment.ts';
import { startWorker } from '../../src/worker/start.ts';
import { atEnd } from './at-end.ts';
import { startFront, type Front } from './front.ts';
import { createAuthority, type Authority, type Certificate } from './certificates.ts';
import { mountSecret, type MountedSecret } from './mounted-secret.ts';
import { newPlace, type Place } from './shared-temporal.ts';
import { testBundle } from './workflow-bundle.ts';
import { fixedPolicy } from '../../src/config/live-policy.ts';
import { log } from './runtime.ts';
import { fresh, temporalEnv, TOKEN } from './world.ts';

export interface Cloud {
  front: Front;
  secret: MountedSecret;
  /** For the programs. */
  env: Record<string, string>;
}

export interface PlainCloud extends Pick<Cloud, 'front' | 'env'> {
  /** The namespace, with the address behind the front. */
  place: Place;
  /** Through the front. */
  connectionOptions: { address: string; tls: { serverRootCACertificate: Buffer } };
}

/** The front asks for no credentials. */
export async function startPlainCloud(): Promise<PlainCloud> {
  const place = await newPlace();
  const front = await startFront(place.address);
  const { address, authority } = front;
  const tls = { serverRootCACertificate: Buffer.from(authority.cert) };
  const env = { ...temporalEnv({ ...place, address }), TEMPORAL_TLS_SERVER_CA_CERT_DATA: authority.cert };
  return { front, place, env, connectionOptions: { address, tls } };
}

/** Starts a worker in this process that reaches Temporal through the front. @returns its task queue */
export async function startWorkerBehind(
  { connectionOptions, place: { namespace } }: PlainCloud,
  serviceUrl: string,
  searchAttributes: SearchAttributeMode = 'register',
): Promise<string> {
  const taskQueue = fresh('behind-front');
  const worker = await startWorker(
    {
      temporal: { connectionOptions, namespace },
      taskQueue,
      service: { baseUrl: serviceUrl, token: () => Promise.resolve(TOKEN) },
      policy: fixedPolicy({}),
      log,
      workflowBundle: await testBundle(),
      searchAttributes,
    },
    'poll',
  );
  atEnd(() => worker.stop());
  return taskQueue;
}

export interface CloudWithCertificates extends Cloud {
  /** Whose certificates the front accepts at first. */
  clients: Authority;
  put(certificate: Certificate): void;
}

/** @param name in the certificate of the front */
export async function startCertifiedCloud(name = 'localhost'): Promise<CloudWithCertificates> {
  const place = await newPlace();
  const clients = createAuthority('First authority of the clients');
  const front = await startFront(place.address, { name, clients });
  const files = ({ cert, key }: Certificate) => ({ 'tls.crt': cert, 'tls.key': key, 'ca.crt': front.authority.cert });
  const secret = await mountSecret(files(clients.issue('belay')));
  const env = {
    ...temporalEnv({ ...place, address: front.address }),
    TEMPORAL_TLS_SERVER_CA_CERT_PATH: secret.path('ca.crt'),
    TEMPORAL_TLS_CLIENT_CERT_PATH: secret.path('tls.crt'),
    TEMPORAL_TLS_CLIENT_KEY_PATH: secret.path('tls.key'),
  };
  return { front, secret, env, clients, put: (certificate) => secret.write(files(certificate)) };
}

export interface CloudWithKeys extends Cloud {
  /** Writes the key into the profile file. */
  put(apiKey: string): void;
}

export async function startKeyedCloud(apiKey: string): Promise<CloudWithKeys> {
  const { address, namespace } = await newPlace();
  const front = await startFront(address);
  front.accept([apiKey]);
  const profile = (key: string) =>
    [
      '[profile.default]',
      `address = "${front.address}"`,
      `namespace = "${namespace}"`,
      `api_key = "${key}"`,
      '[profile.default.tls]',
      `server_ca_cert_data = """${front.authority.cert}"""`,
    ].join('\n');
  const secret = await mountSecret({ 'temporal.toml': profile(apiKey) });
  const env = { TEMPORAL_CONFIG_FILE: secret.path('temporal.toml'), TEMPORAL_PROFILE: 'default' };
  return { front, secret, env, put: (key) => secret.write({ 'temporal.toml': profile(key) }) };
}
