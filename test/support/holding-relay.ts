/** Stands between workers and the sandbox, and keeps back every POST until it is told otherwise. */
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { atEnd } from './at-end.ts';

export interface HoldingRelay {
  url: string;
  /** The POSTs that were kept back. The service never saw them. */
  readonly held: number;
  /** From now on, every POST reaches the service. */
  letPass(): void;
}

export async function holdPosts(serviceUrl: string): Promise<HoldingRelay> {
  const { port, hostname } = new URL(serviceUrl);
  const sockets = new Set<Socket>();
  let [held, passes] = [0, false];
  const server = createServer((socket) => {
    sockets.add(socket.once('close', () => sockets.delete(socket)));
    socket.on('error', () => undefined);
    // A POST has a connection of its own, so its first bytes name it.
    socket.once('data', (first: Buffer) => {
      if (!passes && first.toString('latin1').startsWith('POST ')) return void (held += 1);
      const onward = connect(Number(port), hostname, () => onward.write(first));
      socket.on('close', () => onward.destroy());
      onward.on('error', () => socket.destroy()).on('close', () => socket.destroy());
      socket.pipe(onward).pipe(socket);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  atEnd(async () => {
    sockets.forEach((socket) => socket.destroy());
    server.close();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get held() {
      return held;
    },
    letPass: () => void (passes = true),
  };
}
