/** The HTTP interface of the hosting service, as a package of its own: of Belay, it imports only what hides secrets. */
export {
  createHostingApiClient,
  type OperationStatus,
  type ReadOptions,
  type HostingApiClient,
  type TriggerOptions,
} from './client.ts';
export { type RequestReport, type SendPermit } from './exchange.ts';
export { HostingApiError } from './errors.ts';
export { createPacer, type Pacer } from './pacer.ts';
export { retryAfterMs } from './exchange.ts';
export { httpDateMs } from './http-date.ts';
