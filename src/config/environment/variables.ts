/**
 * Every environment variable. `belay help environment` and docs/reference/environment.md print this table, and only a variable
 * with a row can be read.
 */
import { BelayError } from '../../contract/errors.ts';
import { DEFAULT_EPOCH, DEFAULT_TASK_QUEUE } from '../../contract/names.ts';

interface VariableRow {
  name: string;
  /** In Markdown. */
  meaning: string;
  /** The value if the variable is unset or blank. */
  default?: string;
  /** In words, if the default is not a single value. */
  fallback?: string;
  /** Keep it out of logs and argument lists. */
  secret?: true;
}

/** In the order of the printed table. */
export const VARIABLE_SECTIONS = [
  {
    title: 'The hosting service: `worker`, `dev`, `doctor`, `check`, `board` and `top --site` read these',
    rows: [
      {
        name: 'BELAY_API_URL',
        meaning:
          'Base URL of the hosting service, without `/v1`, user or query. It begins with https://, except on loopback.',
        fallback: '`dev` starts the sandbox; `worker` needs it',
      },
      {
        name: 'BELAY_PROXY',
        meaning:
          'Proxy for requests to the service, like `http://proxy.internal:3128`. It has to allow a tunnel (`CONNECT`), even to a service with an http:// address. `HTTPS_PROXY` and the like are not read.',
        fallback: 'no proxy',
        secret: true,
      },
      {
        name: 'BELAY_MAX_RPS',
        meaning:
          'Ceiling of requests per second to the service, like `10` or `0.5`. The workers of a task queue share it; reads wait for triggers. `top --site` and the board each keep to a tenth of it.',
        fallback: 'no ceiling',
      },
      { name: 'BELAY_API_TOKEN', meaning: 'API token of the service.', secret: true },
      {
        name: 'BELAY_API_TOKEN_FILE',
        meaning: 'File with the API token, instead of `BELAY_API_TOKEN`. Belay reads it for every request.',
      },
      {
        name: 'BELAY_ALLOW_HTTP',
        meaning:
          '`1` allows http:// addresses beyond loopback: of the service, of notifications, of sites with a check, and of gates that send a secret.',
      },
      {
        name: 'BELAY_EPOCH',
        meaning:
          "A word to change after Temporal's database was restored, or failed over to a replica that lagged; preferably the time of the restore, such as `2027-03-01T12:00Z`. Runs, rollouts and slots of another epoch send nothing.",
        default: DEFAULT_EPOCH,
      },
      {
        name: 'BELAY_METRICS_ADDRESS',
        meaning:
          '`host:port` where a worker serves `/healthz`, `/readyz` and `/metrics`, like `127.0.0.1:9464`, or `:9464` for every address of the machine. They need no password.',
        fallback: 'not served',
      },
      {
        name: 'TEMPORAL_DEPLOYMENT_NAME',
        meaning:
          'Name of the worker deployment, like `belay`. With `TEMPORAL_WORKER_BUILD_ID`, the worker is versioned: it gets new runs only once its build is the current version. Set both or neither.',
        fallback: 'not versioned',
      },
      {
        name: 'TEMPORAL_WORKER_BUILD_ID',
        meaning: 'Build of this worker, such as the tag of its image.',
        fallback: 'not versioned',
      },
    ],
  },
  {
    title: 'Belay itself',
    rows: [
      {
        name: 'BELAY_SERVICE',
        meaning: 'The service that starters mean, and whose events a receiver gets. `--service` overrides it.',
        fallback: '`service:` in belay.yaml, else the one that the workers serve',
      },
      {
        name: 'BELAY_ACCOUNT',
        meaning:
          'Account, if one URL serves several. It becomes part of what identifies the service: `https://…#account`.',
      },
      { name: 'BELAY_CONFIG', meaning: 'The configuration file.', default: 'belay.yaml' },
      {
        name: 'BELAY_HOME',
        meaning:
          'Folder of the embedded Temporal server: its database and the record of a running `belay dev`, which holds the token of its own sandbox.',
        default: '.belay',
      },
      {
        name: 'BELAY_TASK_QUEUE',
        meaning: 'Task queue that workers poll and that runs are started on.',
        default: DEFAULT_TASK_QUEUE,
      },
      {
        name: 'BELAY_UI_URL',
        meaning: 'Address where people reach the Temporal UI, for links, without user or password.',
        fallback: 'the UI of a running `belay dev`, else no links',
      },
      {
        name: 'BELAY_SEARCH_ATTRIBUTES',
        meaning:
          "Belay's search attributes in the namespace: `register` lets a worker register what is missing, and use none if it may not; `assume` uses them without asking; `off` uses none: `belay list` cannot filter, and `belay approvals` finds no question. Set it for workers and starters.",
        default: 'register',
      },
      {
        name: 'BELAY_CODEC_KEYS_FILE',
        meaning:
          'File with the keys that encrypt what Belay stores in Temporal: every worker, starter, receiver and codec server needs it. Belay reads it again when it changes.',
        fallback: 'nothing is encrypted',
      },
      {
        name: 'BELAY_CODEC_ACCEPT_PLAIN',
        meaning:
          '`1` accepts payloads that are not encrypted, as long as Temporal keeps workflows from before encryption.',
      },
      {
        name: 'XDG_CACHE_HOME',
        meaning: 'Folder for caches: Belay keeps the Temporal server that it downloaded or built in `belay` below it.',
        default: '~/.cache',
      },
    ],
  },
  {
    title: 'Traces: the variables of OpenTelemetry',
    rows: [
      {
        name: 'OTEL_EXPORTER_OTLP_ENDPOINT',
        meaning:
          'Base URL of a collector that takes OTLP over HTTP, like `http://127.0.0.1:4318`: traces go to `/v1/traces`.',
        fallback: 'no traces',
      },
      {
        name: 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
        meaning: 'The whole URL for traces, instead.',
        fallback: 'no traces',
      },
      {
        name: 'OTEL_EXPORTER_OTLP_HEADERS',
        meaning: 'Headers of these requests, like `authorization=Bearer%20KEY`.',
        secret: true,
      },
      {
        name: 'OTEL_SERVICE_NAME',
        meaning: 'Service name of the spans.',
        fallback: '`belay-worker`, `belay-webhooks`, or `belay` for commands and programs',
      },
      {
        name: 'OTEL_TRACES_SAMPLER',
        meaning:
          '`traceidratio` exports a part of the runs, `OTEL_TRACES_SAMPLER_ARG` of them: the same in every program.',
        fallback: 'all runs',
      },
    ],
  },
  {
    title: "Temporal: the variables of Temporal's own tools, read by `@temporalio/envconfig`",
    rows: [
      {
        name: 'TEMPORAL_ADDRESS',
        meaning:
          '`host:port` of Temporal. `https_proxy` and the like are not read: the connection of workers knows no proxy, and every program takes the same way.',
        fallback: 'the Temporal of a running `belay dev`, else `127.0.0.1:7233`',
      },
      { name: 'TEMPORAL_NAMESPACE', meaning: 'Namespace of all runs.', default: 'default' },
      {
        name: 'TEMPORAL_CONFIG_FILE',
        meaning:
          "File with Temporal's connection profiles. An API key or certificate in it is read again when it changes. Set `TEMPORAL_PROFILE` too: a running `belay dev` wins over a profile that is not named.",
        fallback: '`temporalio/temporal.toml` in the configuration folder of the user',
      },
      { name: 'TEMPORAL_PROFILE', meaning: 'Profile in that file.', default: 'default' },
      {
        name: 'TEMPORAL_API_KEY',
        meaning:
          'API key of Temporal, for the address or profile that is set: a running `belay dev` is used without it. It turns TLS on. Rotating it here needs a restart; in a profile file, it does not.',
        secret: true,
      },
      {
        name: 'TEMPORAL_TLS',
        meaning: '`1` or `true` turns TLS on, any other value turns it off.',
        fallback: 'on if an API key or another TLS variable is set',
      },
      {
        name: 'TEMPORAL_TLS_CLIENT_CERT_PATH',
        meaning:
          'File with the client certificate (PEM). Read again when it changes, as are the key and the CA certificate.',
      },
      { name: 'TEMPORAL_TLS_CLIENT_CERT_DATA', meaning: 'The client certificate itself (PEM).' },
      {
        name: 'TEMPORAL_TLS_CLIENT_KEY_PATH',
        meaning: 'File with the key of the client certificate.',
      },
      {
        name: 'TEMPORAL_TLS_CLIENT_KEY_DATA',
        meaning: 'The key of the client certificate itself.',
        secret: true,
      },
      {
        name: 'TEMPORAL_TLS_SERVER_CA_CERT_PATH',
        meaning: "File with the CA certificate for Temporal's own certificate (PEM).",
      },
      { name: 'TEMPORAL_TLS_SERVER_CA_CERT_DATA', meaning: 'That CA certificate itself (PEM).' },
      {
        name: 'TEMPORAL_TLS_SERVER_NAME',
        meaning: "Name to expect in Temporal's certificate.",
        fallback: 'the host of `TEMPORAL_ADDRESS`',
      },
      {
        name: 'TEMPORAL_GRPC_META_*',
        meaning: 'Header for every request to Temporal: `TEMPORAL_GRPC_META_X_TEAM=web` sends `x-team: web`.',
      },
    ],
  },
] as const satisfies readonly { title: string; rows: readonly VariableRow[] }[];

export const VARIABLES: readonly Row[] = VARIABLE_SECTIONS.flatMap(({ rows }): readonly Row[] => rows);

type Row = (typeof VARIABLE_SECTIONS)[number]['rows'][number];
export type VariableName = Row['name'];
/** Only variables of the table can be read. */
export type Environment = { readonly [name in VariableName]?: string | undefined };

/** Null if the variable is unset or blank. */
export function given(name: VariableName, env: Environment = process.env): string | null {
  return nonEmpty(env[name]);
}

/** The value that is set, else the default of the table. */
export function setting(name: Extract<Row, { default: string }>['name'], env: Environment = process.env): string {
  return given(name, env) ?? defaultOf(name);
}

export function defaultOf(name: Extract<Row, { default: string }>['name']): string {
  const row: VariableRow | undefined = VARIABLES.find((it) => it.name === name);
  return row?.default ?? '';
}

/** The value without surrounding spaces; null if nothing is left. */
export function nonEmpty(value: string | undefined): string | null {
  return value === undefined || value.trim() === '' ? null : value.trim();
}

/** An error in the configuration. The message names the variable or key, and how to fix it. */
export class ConfigError extends BelayError {
  static {
    Object.defineProperty(this, 'name', { value: 'ConfigError' });
  }
  override readonly name = 'ConfigError';

  constructor(message: string, options?: ErrorOptions) {
    super('Usage', message, null, options);
  }
}

/** Says that a file cannot be read, and what to do about it. */
export const unreadableFile = (
  file: string,
  { code, message }: Pick<NodeJS.ErrnoException, 'code'> & { message?: string },
  remedy = code === 'ENOENT' ? 'create it, or correct the path' : 'let this user read it, or correct the path',
): string => `${file} cannot be read (${code ?? message}): ${remedy}`;
