import { SQSClient } from '@aws-sdk/client-sqs'
import { OperatorError, readCommandLine, runCommand } from './command.ts'
import { type DeadLetters, findQueues } from './redrive/queues.ts'
import { describeMessage, readMessages } from './redrive/read-messages.ts'
import { depthOf, redrive } from './redrive/redrive.ts'
import { readStage, serviceStackOf } from './stage.ts'

const HELP = `npm run redrive -- --stage <stage> [--queue <name> | --all] [--look] [--rate <n>]

Lists or redrives the dead letters of a deployed stage. Without options it lists their queues, with the number of messages in each.
With --queue or --all it redrives them. Fix the cause first: docs/runbook.md#dead-letters.

  --stage  name of the deployed stage (dev)
  --queue  one queue, by its name in the list: failed, undelivered or unrelayed
  --all    every queue except unrelayed, which has to be named
  --look   show types and ids of the first 100 messages instead, never their content
  --rate   maximum messages per second, 1 to 500
  --help   show this help`

const SHOWN = 100
const MOST_A_SECOND = 500

function readOptions() {
  const { values } = readCommandLine(HELP, {
    options: {
      stage: { type: 'string' },
      queue: { type: 'string' },
      all: { type: 'boolean', default: false },
      look: { type: 'boolean', default: false },
      rate: { type: 'string' },
    },
  })
  const rate = values.rate === undefined ? undefined : Number(values.rate)
  if (rate !== undefined && !(Number.isInteger(rate) && rate >= 1 && rate <= MOST_A_SECOND)) {
    throw new OperatorError(`--rate is a whole number from 1 to ${MOST_A_SECOND}.`)
  }
  if (values.all && values.queue !== undefined) throw new OperatorError('Give --queue or --all.')
  return { ...values, rate }
}

function chosen(
  all: readonly DeadLetters[],
  { queue, look, all: every }: ReturnType<typeof readOptions>,
): DeadLetters[] {
  if (queue === undefined) return every && !look ? all.filter(({ from }) => from !== 'stream') : [...all]
  const found = all.filter(({ name }) => name === queue)
  if (found.length > 0) return found
  throw new OperatorError(`There is no ${queue}; there are ${all.map(({ name }) => name).join(', ')}.`)
}

async function main(): Promise<void> {
  const options = readOptions()
  const queues = await findQueues(serviceStackOf(readStage({ stage: options.stage })))
  const sqs = new SQSClient({})
  const acts = options.all || options.queue !== undefined
  for (const dead of chosen(queues.deadLetters, options)) {
    const depth = await depthOf(sqs, dead.url)
    if (options.look) {
      if (depth > 0) console.log(`${dead.name}: ${depth}`)
      for (const message of await readMessages(sqs, dead.url, SHOWN)) console.log(`  ${describeMessage(message)}`)
    } else if (!acts) console.log(`${dead.name.padEnd(24)} ${depth}`)
    else if (depth > 0) {
      const { moved, note } = await redrive(sqs, dead, { queues, rate: options.rate })
      console.log(`${dead.name}: ${moved} ${dead.from === 'stream' ? 'removed' : 'redriven'}.${note ? ` ${note}` : ''}`)
    } else console.log(`${dead.name}: empty.`)
  }
}

runCommand(main)
