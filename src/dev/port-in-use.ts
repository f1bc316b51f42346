/** Ports of this machine. */
import { once } from 'node:events';
import { connect } from 'node:net';

/** @returns whether a process listens on the port */
export async function listens(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
