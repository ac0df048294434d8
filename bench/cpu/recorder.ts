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

/** Command that went through the client. */
interface Recorded {
  command: string
  input: Input
  start: number
  end: number
}

/** Commands of one request, in waves. Waves run one after the other, the commands of a wave in parallel. */
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

/** Records every command that goes through a client. */
export class Recorder {
  #recorded: Recorded[] = []

  /** @param stack middleware stack of the client, which its document client shares */
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

  /** Returns the commands recorded since the last call. */
  take(): Recorded[] {
    return this.#recorded.splice(0)
  }
}

/**
 * Builds a script that sends the recorded commands of one request to another table.
 *
 * @throws Error for a kind of command that isn't supported yet
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

/** Groups commands into waves. A command belongs to the current wave if it was sent before anything of that wave was answered. */
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

/** Changes the table of an input. */
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
