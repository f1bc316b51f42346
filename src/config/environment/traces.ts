/** Where traces go, in the variables that every exporter of OpenTelemetry reads. */
import { ConfigError } from './config-error.ts';
import { parseUrl } from './service-url.ts';
import { given, type Environment } from './variables.ts';

/** Whether traces are exported. @throws ConfigError for an address that the exporter could not use */
export function exportsTraces(env: Environment = process.env): boolean {
  for (const name of ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'OTEL_EXPORTER_OTLP_ENDPOINT'] as const) {
    const address = given(name, env);
    if (address === null) continue;
    if (/^https?:$/.test(parseUrl(name, address).protocol)) return true;
    throw new ConfigError(`${name} must begin with http:// or https://: Belay exports traces by OTLP over HTTP`);
  }
  return false;
}
