import { createDynamodbCall, type DynamodbCall } from './dynamodb/client.ts'
import { startDynoxide } from './dynamodb/process.ts'
import { type LookPast, maintainStreamRecords } from './dynamodb/stream-records.ts'
import { ensureTable } from './dynamodb/tables.ts'
import { createTtlSweeper, type TtlSweeper } from './dynamodb/ttl.ts'
import type { TableModel } from './template/model.ts'

/** The local DynamoDB server, without tables yet. */
export interface DynamodbServer {
  /** Loopback address, for `AWS_ENDPOINT_URL_DYNAMODB`. */
  endpoint: string
  call: DynamodbCall
  /** Returns a number that grows with each record of a stream. Absent for another server, whose streams have to be polled. */
  lastRecord?: (() => number) | undefined
  /** Looks for records in a stream. Absent for another server. */
  lookPast?: LookPast | undefined
  stop(): Promise<void>
}

export interface DynamodbOptions {
  dataDir: string
  external?: string | undefined
  onExit: (code: number | null) => void
  onError: (error: unknown) => void
}

/** The template's tables in the server. */
export interface Tables {
  /** Maps a stream ARN of the template to the server's ARN of that stream. */
  streamArn(templateArn: string): string | undefined
  ttl: TtlSweeper[]
  stop(): void
}

/**
 * Starts dynoxide, or uses the server at `AWS_ENDPOINT_URL_DYNAMODB` (any DynamoDB Local) if it is set.
 *
 * @param options.onExit called when the server exits by itself; nothing works after that
 */
export const startDynamodb = async (options: DynamodbOptions): Promise<DynamodbServer> => {
  const server = options.external
    ? { endpoint: options.external, lastRecord: undefined, lookPast: undefined, stop: async () => undefined }
    : await startOwn(options)
  const { call, close } = createDynamodbCall(server.endpoint)
  return {
    endpoint: server.endpoint,
    call,
    lastRecord: server.lastRecord,
    lookPast: server.lookPast,
    stop: async () => {
      close()
      await server.stop()
    },
  }
}

const startOwn = async (options: Pick<DynamodbOptions, 'dataDir' | 'onExit' | 'onError'>) => {
  const server = await startDynoxide(options)
  try {
    const records = maintainStreamRecords(server.database, options.onError)
    return {
      endpoint: server.endpoint,
      lastRecord: records.last,
      lookPast: records.lookPast,
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
