/** Addresses of receivers. Those that are secrets are read again at each use. */
import { checkAddress, secretSource, type SecretRef } from '../../config/environment/secrets.ts';

export type Address = () => Promise<string>;

/** @throws ConfigError if it is missing or invalid */
export async function addressAt(key: string, place: SecretRef): Promise<Address> {
  const source = secretSource(key, place);
  const address = async () => checkAddress(key, await source());
  await address();
  return address;
}

/** Without a slash at its end. @throws ConfigError */
export const checkedAddress = (key: string, address: string): string => checkAddress(key, address).replace(/\/+$/, '');
