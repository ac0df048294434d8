import { connect, type Socket } from 'node:net'

const REQUEST =
  'POST / HTTP/1.1\r\nhost: store\r\nx-amz-target: DynamoDB_20120810.ListTables\r\ncontent-length: 2\r\n\r\n{}'

/**
 * Opens connections to the store, closes every other one, and leaves the rest idle until the store stops. Its allocator (musl's)
 * maps memory for each call and unmaps it afterwards, unless blocks of the same size remain in use and have free ones between
 * them. That is what the remaining connections' buffers are for: they save a third of the store's CPU.
 */
export const holdIdleConnections = async (port: number): Promise<void> => {
  const open = () =>
    new Promise<Socket>((resolve) => {
      // Not from 127.0.0.1, where their ports would be taken from servers. Systems without this address do without connections.
      const from = { host: '127.0.0.1', port, localAddress: '127.0.0.2' }
      const socket = connect(from, () => socket.write(REQUEST))
      socket.unref().on('error', () => {})
      const done = () => resolve(socket)
      socket.once('data', done).once('close', done)
    })
  const sockets = await Promise.all(Array.from({ length: 200 }, open))
  for (const [n, socket] of sockets.entries()) if (n % 2 === 0) socket.destroy()
}
