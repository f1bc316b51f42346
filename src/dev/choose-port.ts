/** Chooses ports for the embedded server. */
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server } from 'node:net';
import { ConfigError } from '../config/environment/config-error.ts';

const HOST = '127.0.0.1';

/** @param wanted 0 = any free port. @throws ConfigError for a port that is in use */
export async function choosePort(option: string, wanted: number): Promise<number> {
  const server = createServer();
  await listen(server, option, wanted);
  const { port } = server.address() as AddressInfo;
  if (wanted === 0) await keepFromOthers(server, port);
  server.close();
  await once(server, 'close');
  return port;
}

async function listen(server: Server, option: string, port: number): Promise<void> {
  try {
    server.listen({ port, host: HOST });
    await once(server, 'listening');
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
    throw new ConfigError(`port ${port} cannot be used (${code}): choose another port with ${option}`);
  }
}

/**
 * The system soon hands a freed port to the next process that asks for any port. The Temporal server itself asks for
 * several before it listens on the two it was given. A connection left in TIME_WAIT keeps the port from being reused.
 */
async function keepFromOthers(server: Server, port: number): Promise<void> {
  server.once('connection', (socket) => socket.end());
  const client = connect(port, HOST).resume();
  await once(client, 'close');
}
