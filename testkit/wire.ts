import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import { UNSIGNED } from '#local/dynamodb/client.ts'
import { fromWire, toWire } from '#shared/table/attribute-values.ts'

type Fields = Record<string, unknown>

/**
 * Creates a document client that calls the store over plain sockets. The store answers in 0.1 ms, and a call through the SDK
 * takes 1 ms of CPU, most of it for endpoints, retries, signing and `node:http`. What tests add to the store client's middleware
 * runs here too. Tests of the table, of bundles and of whole runs use the SDK itself.
 */
export const createWireClient = (client: DynamoDBClient, endpoint: string) => {
  const { hostname, port } = new URL(endpoint)
  const free: Socket[] = []
  const open = new Set<Socket>()
  const take = async (): Promise<Socket> => {
    const idle = free.pop()
    if (idle) return idle
    const socket = connect({ host: hostname, port: Number(port), noDelay: true })
    open.add(socket)
    socket.on('error', () => {}).once('close', () => open.delete(socket))
    await once(socket, 'connect')
    return socket
  }
  const call = async (operation: string, input: Fields): Promise<Fields> => {
    const socket = await take()
    const { status, body } = await exchange(socket, operation, JSON.stringify(toWire(input)))
    free.push(socket)
    const output = JSON.parse(body) as Fields
    if (status !== 200) throw failure(output)
    return { ...fromWire(output), $metadata: { attempts: 1 } }
  }
  const ofSdk = namesIn(client)
  const resolve = (operation: string) => {
    const stack = client.middlewareStack.clone()
    for (const own of ofSdk) stack.remove(own)
    return stack.resolve(
      async ({ input }) => ({ response: {}, output: await call(operation, input as Fields) }) as never,
      {
        commandName: `${operation}Command`,
      },
    )
  }
  const handlers = keptUntilChange(client.middlewareStack, resolve)
  const send = async (command: { constructor: { name: string }; input: object }): Promise<unknown> => {
    const name = command.constructor.name.replace(/\d*$/, '')
    const operation = OPERATIONS[name]
    if (!operation) throw new Error(`${name}: not an operation on items`)
    return (await handlers(operation)({ input: command.input as never })).output
  }
  return {
    documents: { send, middlewareStack: client.middlewareStack } as unknown as DynamoDBDocumentClient,
    close: () => {
      for (const socket of open) socket.destroy()
    },
  }
}

const OPERATIONS: Record<string, string> = {
  GetCommand: 'GetItem',
  BatchGetCommand: 'BatchGetItem',
  QueryCommand: 'Query',
  PutCommand: 'PutItem',
  BatchWriteCommand: 'BatchWriteItem',
  UpdateCommand: 'UpdateItem',
  DeleteCommand: 'DeleteItem',
  TransactWriteCommand: 'TransactWriteItems',
}

/** Returns the names of the middleware that the SDK itself adds to a client. `identify` leaves out those with a relative place. */
const namesIn = (client: DynamoDBClient): string[] => [
  'httpAuthSchemeMiddleware',
  ...client.middlewareStack.identify().map((line) => line.split(' ')[0] ?? ''),
]

/** Keeps what `resolve` returns until middleware is added or removed. Resolving takes longer than the rest of a call. */
const keptUntilChange = <Resolved>(
  stack: DynamoDBClient['middlewareStack'],
  resolve: (operation: string) => Resolved,
): ((operation: string) => Resolved) => {
  const kept = new Map<string, Resolved>()
  for (const change of ['add', 'addRelativeTo', 'remove', 'removeByTag', 'use'] as const) {
    const original = stack[change] as (...args: unknown[]) => unknown
    Object.assign(stack, {
      [change]: (...args: unknown[]) => {
        kept.clear()
        return original(...args)
      },
    })
  }
  return (operation) => {
    const known = kept.get(operation) ?? resolve(operation)
    kept.set(operation, known)
    return known
  }
}

/** Returns the error that the SDK throws: named by its type, with the response's fields in wire form. */
const failure = ({ __type, message, Message, ...fields }: Fields): Error =>
  Object.assign(new Error(String(message ?? Message)), fields, {
    name: String(__type).replace(/^.*#/, ''),
    $metadata: { attempts: 1 },
  })

const exchange = (socket: Socket, operation: string, input: string) =>
  new Promise<{ status: number; body: string }>((resolve, reject) => {
    const pieces: Buffer[] = []
    let missing = Number.NaN
    let status = 0
    const end = () => socket.off('data', take).off('close', lost)
    const lost = () => {
      end()
      reject(new Error('the store closed the connection'))
    }
    const take = (piece: Buffer) => {
      pieces.push(piece)
      missing -= piece.length
      if (Number.isNaN(missing)) {
        const received = Buffer.concat(pieces)
        const at = received.indexOf('\r\n\r\n')
        if (at < 0) return
        const head = received.toString('latin1', 0, at)
        status = Number(head.slice(9, 12))
        pieces.splice(0, pieces.length, received.subarray(at + 4))
        missing = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1]) - (received.length - at - 4)
      }
      if (missing > 0) return
      end()
      resolve({ status, body: Buffer.concat(pieces).toString() })
    }
    socket.on('data', take).once('close', lost)
    const headers = {
      host: 'store',
      'content-type': 'application/x-amz-json-1.0',
      'x-amz-target': `DynamoDB_20120810.${operation}`,
      'content-length': Buffer.byteLength(input),
      ...UNSIGNED,
    }
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
    socket.write(`POST / HTTP/1.1\r\n${lines.join('')}\r\n${input}`)
  })
