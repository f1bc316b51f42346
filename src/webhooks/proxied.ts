/** Recognizes requests that were forwarded to this machine. Pure. */
import type { IncomingHttpHeaders } from 'node:http';
import { isLoopback } from '../config/environment/service-url.ts';

const ADDED_BY_PROXIES = /^(forwarded|via|x-real-ip|x-forwarded-.+)$/;

/** Some proxies leave no sign: this is a second check, after that of the address the receiver listens on. */
export function isProxied(headers: IncomingHttpHeaders): boolean {
  // A web page reaches this machine under a name of its own (DNS rebinding).
  const host = (headers.host ?? '').toLowerCase().replace(/:\d*$/, '');
  return !isLoopback(host) || Object.keys(headers).some((name) => ADDED_BY_PROXIES.test(name));
}
