import { createDynamodbCall, type DynamodbCall } from './dynamodb/client.ts'
import { startDynoxide } from './dynamodb/process.ts'
import { keepStreamRecords } from './dynamodb/stream-records.ts'
import { ensureTable } from './dynamodb/tables.ts'
import { createTtlSweeper, type TtlSweeper } from './dynamodb/ttl.ts'
import type { TableModel } from './template/model.ts'

/** The local DynamoDB server, without tables yet. */
export interface DynamodbServer {
  /** Loopback address, for `AWS_ENDPOINT_URL_DYNAMODB`. */
  endpoint: string
  call: DynamodbCall
  stop(): Promise<void>
}

export interface DynamodbOptions {
  dataDir: string
  external?: string | undefined
  onExit: (code: number | null) => void
  onError: (error: unknown) => void
}

/** The tables of the template in it. */
export interface Tables {
  /** The ARN by which the server knows the stream that the template calls by another. */
  streamArn(templateArn: string): string | undefined
  ttl: TtlSweeper[]
  stop(): void
}

/**
 * Starts dynoxide, or takes the server at `AWS_ENDPOINT_URL_DYNAMODB` (any DynamoDB Local) where that is set.
 *
 * @param options.onExit told when the server ends by itself: nothing works from there on
 */
export const startDynamodb = async (options: DynamodbOptions): Promise<DynamodbServer> => {
  const server = options.external
    ? { endpoint: options.external, stop: async () => undefined }
    : await startOwn(options)
  const { call, close } = createDynamodbCall(server.endpoint)
  return {
    endpoint: server.endpoint,
    call,
    stop: async () => {
      close()
      await server.stop()
    },
  }
}

const startOwn = async (options: Pick<DynamodbOptions, 'dataDir' | 'onExit' | 'onError'>) => {
  const server = await startDynoxide(options)
  try {
    const records = keepStreamRecords(server.database, options.onError)
    return {
      endpoint: server.endpoint,
      stop: async () => {
        records.close()
        await server.stop()
      },
    }
  } catch (error) {
    await server.stop()
    throw error
  }
}

/** Creates the tables with their indexes, streams and TTL. */
export const ensureTables = async (
  server: DynamodbServer,
  models: TableModel[],
  onError: (error: unknown) => void,
): Promise<Tables> => {
  const streams = new Map<string, string>()
  for (const model of models) {
    const arn = await ensureTable(server.call, model)
    if (arn) streams.set(model.streamArn, arn)
  }
  const ttl = models.map((model) => createTtlSweeper(server.call, model, onError))
  return {
    streamArn: (templateArn) => streams.get(templateArn),
    ttl,
    stop: () => {
      for (const sweeper of ttl) sweeper.stop()
    },
  }
}
