import { randomUUID } from 'node:crypto'
import type { Readable } from 'node:stream'
import {
  BatchGetItemCommand,
  BatchWriteItemCommand,
  DeleteItemCommand,
  DynamoDBClient,
  type DynamoDBClientConfig,
  GetItemCommand,
  type GetItemCommandOutput,
  PutItemCommand,
  QueryCommand as QueryItemsCommand,
  TransactWriteItemsCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb'
import { AwsJson1_0Protocol } from '@aws-sdk/core/protocols'
import {
  BatchGetCommand,
  BatchWriteCommand,
  DeleteCommand,
  type DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  QueryCommand,
  TransactWriteCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb'
import { HttpRequest } from '@smithy/core/transport'
import { NodeHttpHandler } from '@smithy/node-http-handler'
import { AWS_CALLS, withoutUserAgent } from '../kernel/aws-calls.ts'
import { DaySigner } from '../kernel/aws-signature.ts'
import { fromWire, toWire } from './attribute-values.ts'

type Protocol = AwsJson1_0Protocol
type Answer = Pick<GetItemCommandOutput, '$metadata'>
type Fields = Record<string, unknown>

const bodyOf = (input: Fields): string => JSON.stringify(toWire(input))

const outputOf = (text: string): Fields => fromWire(JSON.parse(text))

/**
 * The SDK's protocol for items in the form in which the document client takes and returns them. The SDK walks through the schema
 * of every attribute, twice, and this through the items only.
 */
class DocumentProtocol extends AwsJson1_0Protocol {
  override async serializeRequest(...[operation, input, context]: Parameters<Protocol['serializeRequest']>) {
    const request = await super.serializeRequest(operation, {}, context)
    request.body = bodyOf(input as Fields)
    return request
  }

  override async deserializeResponse<Output extends Answer>(
    ...[operation, context, response]: Parameters<Protocol['deserializeResponse']>
  ): Promise<Output> {
    if (this.isErrorResponse(response.statusCode)) return super.deserializeResponse(operation, context, response)
    const bytes = await context.streamCollector(response.body)
    const output = outputOf(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString())
    return { ...output, $metadata: this.deserializeMetadata(response) } as object as Output
  }
}

type Handled = ReturnType<NodeHttpHandler['handle']>
type Options = NonNullable<Parameters<NodeHttpHandler['handle']>[1]> & { first?: Handled }

/** Parts that all requests share. */
interface Common {
  address: Pick<HttpRequest, 'protocol' | 'hostname' | 'port' | 'path' | 'method'>
  headers: Record<string, string>
  /** First part of `x-amz-target`. */
  service: string
}

const commonOf = ({ protocol, hostname, port, path, method, headers }: HttpRequest): Common => ({
  address: { protocol, hostname, port, path, method },
  headers: { host: headers.host ?? '', 'content-type': headers['content-type'] ?? '' },
  service: headers['x-amz-target']?.split('.')[0] ?? '',
})

/** The SDK's connections, to which the outcome of a first attempt can be given that was made without the SDK. */
class Connections extends NodeHttpHandler {
  /** Parts that all of the SDK's requests share, once it has sent one. */
  common: Common | undefined

  override handle(request: HttpRequest, options: Options = {}): Handled {
    this.common ??= commonOf(request)
    const { first } = options
    if (!first) return super.handle(request, options)
    options.first = undefined
    return first
  }

  /** Sends a request that isn't the SDK's. */
  sendOwn(request: HttpRequest): Handled {
    return super.handle(request)
  }
}

/** Operations by the document client's commands, with the commands of the SDK's client, which can keep the resolved middleware. */
const OPERATIONS = new Map<unknown, readonly [name: string, new (input: never) => GetItemCommand]>([
  [GetCommand, ['GetItem', GetItemCommand]],
  [BatchGetCommand, ['BatchGetItem', BatchGetItemCommand]],
  [QueryCommand, ['Query', QueryItemsCommand]],
  [PutCommand, ['PutItem', PutItemCommand]],
  [BatchWriteCommand, ['BatchWriteItem', BatchWriteItemCommand]],
  [UpdateCommand, ['UpdateItem', UpdateItemCommand]],
  [DeleteCommand, ['DeleteItem', DeleteItemCommand]],
  [TransactWriteCommand, ['TransactWriteItems', TransactWriteItemsCommand]],
] as never)

/** Client of the table, which takes the document client's commands. */
export type StoreClient = Pick<DynamoDBDocumentClient, 'send'>

/** Reads the rest of an answer. @throws the connection's error if it ended before */
const textOf = (body: Readable): Promise<string> =>
  new Promise((resolve, reject) => {
    const pieces: Buffer[] = []
    body.on('data', (piece: Buffer) => pieces.push(piece))
    body.once('end', () => resolve(Buffer.concat(pieces).toString()))
    body.once('error', reject)
    body.once('close', () => {
      if (!body.readableEnded) reject(Object.assign(new Error('the answer ended too early'), { code: 'ECONNRESET' }))
    })
  })

/** Returns the SDK's budget for repeated attempts, and what a call without any takes from it. */
const budgetOf = async (config: DynamoDBClient['config']) => {
  const strategy = await config.retryStrategy()
  if (!('recordSuccess' in strategy)) return { strategy: undefined, token: undefined as never }
  return { strategy, token: await strategy.acquireInitialRetryToken('') }
}

/**
 * Makes the first attempts of calls without the SDK's middleware, which takes half of a call's CPU. The requests are like those
 * that the SDK makes, beginning with the client's first. Every outcome but success is left to the SDK, as that of its own
 * first attempt: errors, retries, and the correction of the clock.
 */
const firstAttempts = ({ config }: DynamoDBClient, connections: Connections) => {
  const signer = new DaySigner({ region: config.region, service: 'dynamodb', credentials: config.credentials })
  /** Tells the SDK of a success, which lets it repeat more of the calls that fail. */
  const recordSuccess = async () => {
    budget ??= await budgetOf(config)
    budget.strategy?.recordSuccess(budget.token)
  }
  let budget: Awaited<ReturnType<typeof budgetOf>> | undefined
  const requestOf = ({ address, headers, service }: Common, operation: string, body: string) =>
    new HttpRequest({
      ...address,
      headers: {
        ...headers,
        'content-length': String(Buffer.byteLength(body)),
        'x-amz-target': `${service}.${operation}`,
      },
      body,
    } as object)
  /** @returns the output, or how the attempt failed, or nothing if the SDK has to make it */
  return async (operation: string, input: Fields): Promise<{ output: Fields } | { first?: Handled }> => {
    if (!connections.common) return {}
    const request = requestOf(connections.common, operation, bodyOf(input))
    try {
      await signer.sign(request, { signingDate: new Date(Date.now() + config.systemClockOffset) })
    } catch {
      return {}
    }
    const first = connections.sendOwn(request)
    const answered = await first.catch(() => undefined)
    if (answered?.response.statusCode !== 200) return { first }
    const { headers, body } = answered.response
    try {
      const output = outputOf(await textOf(body))
      await recordSuccess()
      const $metadata = { httpStatusCode: 200, requestId: headers['x-amzn-requestid'], attempts: 1, totalRetryDelay: 0 }
      return { output: { ...output, $metadata } }
    } catch (error) {
      const failed: Handled = Promise.reject(error)
      failed.catch(() => {})
      return { first: failed }
    }
  }
}

/**
 * Creates the DynamoDB client for the table. It answers as the SDK's document client does, at a third of its CPU (architecture.md#choices).
 * @param where overrides for the environment's endpoint and credentials
 */
export const createStoreClient = (
  where: Pick<DynamoDBClientConfig, 'endpoint' | 'region' | 'credentials'> = {},
): StoreClient => {
  const connections = new Connections(AWS_CALLS.requestHandler)
  const client = withoutUserAgent(
    new DynamoDBClient({ ...where, ...AWS_CALLS, requestHandler: connections, protocol: DocumentProtocol }),
  )
  const attempt = firstAttempts(client, connections)
  const send = async (command: { constructor: unknown; input: object }): Promise<object> => {
    const operation = OPERATIONS.get(command.constructor)
    if (operation === undefined) throw new Error('This command is no operation on items')
    const [name, Command] = operation
    const input: Fields = { ...command.input }
    // Lets a transaction whose answer was lost be repeated.
    if (name === 'TransactWriteItems') input.ClientRequestToken ??= randomUUID()
    const made = await attempt(name, input)
    if ('output' in made) return made.output
    return client.send(new Command(input as never), made.first && ({ first: made.first } as object))
  }
  return { send } as unknown as StoreClient
}
