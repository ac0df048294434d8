import { randomUUID } from 'node:crypto'
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
import { AWS_CALLS, withoutUserAgent } from '../kernel/aws-calls.ts'
import { fromWire, toWire } from './attribute-values.ts'

type Protocol = AwsJson1_0Protocol
type Answer = Pick<GetItemCommandOutput, '$metadata'>

/**
 * The SDK's protocol for items in the form in which the document client takes and returns them. The SDK walks through the schema
 * of every attribute, twice, and this through the items only.
 */
class DocumentProtocol extends AwsJson1_0Protocol {
  override async serializeRequest(...[operation, input, context]: Parameters<Protocol['serializeRequest']>) {
    const request = await super.serializeRequest(operation, {}, context)
    const fields = toWire(input) as Record<string, unknown>
    // Lets a transaction whose answer was lost be repeated.
    if (operation.name === 'TransactWriteItems') fields.ClientRequestToken ??= randomUUID()
    request.body = JSON.stringify(fields)
    return request
  }

  override async deserializeResponse<Output extends Answer>(
    ...[operation, context, response]: Parameters<Protocol['deserializeResponse']>
  ): Promise<Output> {
    if (this.isErrorResponse(response.statusCode)) return super.deserializeResponse(operation, context, response)
    const bytes = await context.streamCollector(response.body)
    const output = fromWire(JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString()))
    return { ...output, $metadata: this.deserializeMetadata(response) } as object as Output
  }
}

/** The commands of the SDK's client by those of its document client, which can't keep the resolved middleware. */
const COMMANDS = new Map<unknown, new (input: never) => GetItemCommand>([
  [GetCommand, GetItemCommand],
  [BatchGetCommand, BatchGetItemCommand],
  [QueryCommand, QueryItemsCommand],
  [PutCommand, PutItemCommand],
  [BatchWriteCommand, BatchWriteItemCommand],
  [UpdateCommand, UpdateItemCommand],
  [DeleteCommand, DeleteItemCommand],
  [TransactWriteCommand, TransactWriteItemsCommand],
] as never)

/** Client of the table, which takes the document client's commands. */
export type StoreClient = Pick<DynamoDBDocumentClient, 'send'>

/**
 * Creates the DynamoDB client for the table. It answers as the SDK's document client does, at 60 % of its CPU (architecture.md#choices).
 * @param where overrides for the environment's endpoint and credentials
 */
export const createStoreClient = (
  where: Pick<DynamoDBClientConfig, 'endpoint' | 'region' | 'credentials'> = {},
): StoreClient => {
  const client = withoutUserAgent(new DynamoDBClient({ ...where, ...AWS_CALLS, protocol: DocumentProtocol }))
  const send = async (command: { constructor: unknown; input: object }): Promise<object> => {
    const Command = COMMANDS.get(command.constructor)
    if (Command === undefined) throw new Error('This command is no operation on items')
    return client.send(new Command(command.input as never))
  }
  return { send } as unknown as StoreClient
}
