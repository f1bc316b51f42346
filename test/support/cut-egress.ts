/** The environment of a process that can no longer connect to this service after a SIGUSR2. */
export function cutBySignal(serviceUrl: string): Record<string, string> {
  const code = `import net from 'node:net';
const open = new Set();
let isCut = false;
process.on('SIGUSR2', () => {
  isCut = true;
  for (const socket of open) socket.destroy();
});
const connect = net.Socket.prototype.connect;
net.Socket.prototype.connect = function (...given) {
  const options = Array.isArray(given[0]) ? given[0][0] : given[0];
  if (String(options?.port) === '${new URL(serviceUrl).port}') {
    open.add(this.once('close', () => open.delete(this)));
    if (isCut) options.port = 1;
  }
  return connect.apply(this, given);
};`;
  return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(code)}` };
}
