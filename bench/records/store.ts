import { execFile } from 'node:child_process'
import { createWriteStream } from 'node:fs'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import { constants, createGzip } from 'node:zlib'
import { marshall } from '@aws-sdk/util-dynamodb'
import { createDynamodbCall } from '#local/dynamodb/client.ts'
import { type DynamodbProcess, dynoxideBinary, startDynoxide } from '#local/dynamodb/process.ts'

type Item = Record<string, unknown>

/** Items per file of an export. The importer reads each file as a whole. */
const PER_FILE = 50_000
/** Lines per piece. */
const PER_PIECE = 500

/**
 * Fills a table of a new store and starts it. The items are written as a DynamoDB export (compressed JSON lines) for the local
 * store's importer, which is a hundred times faster than its API.
 *
 * @param options.folder folder for the export, which is deleted again, and for the store's file
 * @param options.like address of a store that has the table, whose keys and indexes the new one gets
 * @throws Error with the importer's message
 */
export const startFilledStore = async (options: {
  folder: string
  like: string
  tableName: string
  items: Iterable<Item>
}): Promise<DynamodbProcess> => {
  const { folder, tableName } = options
  const exported = path.join(folder, 'export')
  const schema = path.join(folder, 'schema.json')
  await mkdir(path.join(exported, tableName, 'data'), { recursive: true })
  await writeFile(schema, JSON.stringify(await describe(options.like, tableName)))
  let files = 0
  for (const lines of inParts(options.items)) {
    const file = path.join(exported, tableName, 'data', `${files++}.json.gz`)
    await pipeline(Readable.from(lines), createGzip({ level: constants.Z_BEST_SPEED }), createWriteStream(file))
  }
  const output = path.join(folder, 'dynamodb.db')
  await promisify(execFile)(dynoxideBinary(), ['import', '--source', exported, '--schema', schema, '--output', output])
  await rm(exported, { recursive: true })
  return startDynoxide({
    dataDir: folder,
    onExit: (code) => {
      throw new Error(`The store ended by itself (code ${code})`)
    },
  })
}

const describe = async (endpoint: string, TableName: string): Promise<object> => {
  const { call, close } = createDynamodbCall(endpoint)
  try {
    return await call<object>('DynamoDB_20120810.DescribeTable', { TableName })
  } finally {
    close()
  }
}

/** Splits the lines of an export into pieces, file by file. */
function* inParts(items: Iterable<Item>): Generator<Iterable<string>> {
  const iterator = items[Symbol.iterator]()
  let ended = false
  function* file(): Generator<string> {
    let piece = ''
    for (let n = 1; n <= PER_FILE; n++) {
      const next = iterator.next()
      ended = next.done ?? false
      if (ended) break
      piece += `${JSON.stringify({ Item: marshall(next.value, { removeUndefinedValues: true }) })}\n`
      if (n % PER_PIECE > 0) continue
      yield piece
      piece = ''
    }
    yield piece
  }
  while (!ended) yield file()
}
