import type { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import {
  BatchGetCommand,
  DeleteCommand,
  type DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  QueryCommand,
  TransactWriteCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb'

type Input = Record<string, unknown>

/** One command that went through the client. */
interface Recorded {
  command: string
  input: Input
  start: number
  end: number
}

/** Commands of one request: the waves go one after the other, the commands of a wave at the same time. */
export type Script = (() => Promise<unknown>)[][]

const COMMANDS = {
  Get: GetCommand,
  BatchGet: BatchGetCommand,
  Query: QueryCommand,
  Put: PutCommand,
  Update: UpdateCommand,
  Delete: DeleteCommand,
  TransactWrite: TransactWriteCommand,
} as const

/** Keeps every command that goes through a client, as it was given. */
export class Recorder {
  #recorded: Recorded[] = []

  /** @param stack the client's middleware stack, which its document client shares */
  constructor(stack: DynamoDBClient['middlewareStack']) {
    stack.add(
      (next, context) => async (args) => {
        const one = { command: context.commandName ?? '', input: args.input as Input, start: performance.now(), end: 0 }
        this.#recorded.push(one)
        const result = await next(args)
        one.end = performance.now()
        return result
      },
      { step: 'initialize', priority: 'low', name: 'recorder' },
    )
  }

  /** What was recorded since the last call. */
  take(): Recorded[] {
    return this.#recorded.splice(0)
  }
}

/**
 * The recorded commands of one request, to be sent literally to another table.
 *
 * @throws Error for a command of a kind that no request uses so far
 */
export const scriptOf = (recorded: readonly Recorded[], client: DynamoDBDocumentClient, tableName: string): Script =>
  wavesOf(recorded).map((wave) =>
    wave.map(({ command, input }) => {
      const kind = command.replace(/(Items?)?Command$/, '')
      const Command = COMMANDS[kind as keyof typeof COMMANDS]
      if (!Command) throw new Error(`There is no replay for ${command}`)
      const moved = toTable(input, tableName)
      return () => client.send(new Command(moved as never) as never)
    }),
  )

/** A command belongs to the wave before it when it went out before anything of that wave was answered. */
const wavesOf = (recorded: readonly Recorded[]): Recorded[][] => {
  const waves: Recorded[][] = []
  let answered = Number.NEGATIVE_INFINITY
  for (const one of recorded.toSorted((a, b) => a.start - b.start)) {
    if (one.start >= answered) {
      waves.push([])
      answered = Number.POSITIVE_INFINITY
    }
    waves.at(-1)?.push(one)
    answered = Math.min(answered, one.end)
  }
  return waves
}

/** The input for another table. */
const toTable = (input: Input, TableName: string): Input => {
  if (input.RequestItems) return { ...input, RequestItems: { [TableName]: Object.values(input.RequestItems)[0] } }
  if (!input.TransactItems) return { ...input, TableName }
  const items = input.TransactItems as Record<string, Input>[]
  return {
    ...input,
    TransactItems: items.map((item) =>
      Object.fromEntries(Object.entries(item).map(([operation, one]) => [operation, { ...one, TableName }])),
    ),
  }
}
