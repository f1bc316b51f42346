/** Chooses ports for the embedded server. */
import { once } from 'node:events';
import { createServer, connect } from 'node:net';
import { ConfigError } from '../config/environment/variables.ts';
import { freePort } from '../process/free-port.ts';

const HOST = '127.0.0.1';

/** @param wanted 0 = any free port. @throws ConfigError for a port that is in use */
export async function choosePort(option: string, wanted: number): Promise<number> {
  if (wanted === 0) return freePort();
  const server = createServer();
  try {
    server.listen({ port: wanted, host: HOST });
    await once(server, 'listening');
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
    throw new ConfigError(`port ${wanted} cannot be used (${code}): choose another port with ${option}`);
  }
  server.close();
  await once(server, 'close');
  return wanted;
}

/** @returns whether a process listens on the port */
export async function listens(port: number): Promise<boolean> {
  const socket = connect(port, HOST);
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
