/** Finds a port of this machine that no program uses. */
import { once } from 'node:events';
import { connect, createServer, type AddressInfo } from 'node:net';

const HOST = '127.0.0.1';

/**
 * The system soon hands a freed port to the next process that asks for any port, and the program that is to listen here
 * may ask for several ports first. A connection in TIME_WAIT, left behind on purpose, keeps the port from whoever asks for
 * any; a program that names it can still listen.
 */
export async function freePort(): Promise<number> {
  const server = createServer().listen({ port: 0, host: HOST });
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.once('connection', (socket) => socket.end());
  const client = connect(port, HOST).resume();
  await once(client, 'close');
  server.close();
  await once(server, 'close');
  return port;
}
