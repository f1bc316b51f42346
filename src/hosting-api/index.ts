/** The HTTP interface of the hosting service, as a package of its own: it imports nothing of Belay. */
export {
  createServiceClient,
  type OperationStatus,
  type ReadOptions,
  type ServiceClient,
  type TriggerOptions,
} from './client.ts';
export { ServiceError, type ServiceErrorKind } from './errors.ts';
export type { HttpOptions } from './exchange.ts';
