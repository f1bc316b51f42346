/** Ports for the embedded server. */
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server } from 'node:net';
import { ConfigError } from '../config/environment/environment.ts';

const HOST = '127.0.0.1';

/** @param wanted 0 = any free port. @throws ConfigError for one somebody else listens on */
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
    throw new ConfigError(`port ${port} cannot be used (${code}): choose another one with ${option}`);
  }
}

/**
 * The system soon gives a free port to the next who asks for any, and the Temporal server asks for several before it
 * listens on the two it was given. A connection that the listening side closed first, in TIME_WAIT, prevents that.
 */
async function keepFromOthers(server: Server, port: number): Promise<void> {
  server.once('connection', (socket) => socket.end());
  const client = connect(port, HOST).resume();
  await once(client, 'close');
}

/** Whether somebody listens there. */
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
