import { parseArgs } from 'node:util'
import { SQSClient } from '@aws-sdk/client-sqs'
import { OperatorError, runCommand } from './operator/command.ts'
import { readStage, serviceStackOf } from './operator/stage.ts'
import { described, lookAt } from './redrive/look.ts'
import { type DeadLetters, findQueues } from './redrive/queues.ts'
import { depthOf, redrive } from './redrive/redrive.ts'

const HELP = `npm run redrive -- --stage <stage> [--queue <name> | --all] [--look] [--rate <n>]

The dead letters of a deployed stage. Alone it lists their queues with how many are in each; with --queue or --all it has them done
again. Mend first what made them fail: docs/runbook.md#dead-letters.

  --stage  as it was deployed (dev)
  --queue  one queue, as the list calls it: delivery-failed, undelivered, …
  --all    every queue but unrelayed, whose notes are removed only by its name
  --look   show the first 100 messages by type and ids instead, never what is in them
  --rate   at most so many messages a second, 1 to 500
  --help   this`

const SHOWN = 100
const MOST_A_SECOND = 500

function readOptions() {
  const { values } = parseArgs({
    options: {
      stage: { type: 'string' },
      queue: { type: 'string' },
      all: { type: 'boolean', default: false },
      look: { type: 'boolean', default: false },
      rate: { type: 'string' },
      help: { type: 'boolean', default: false },
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
  if (options.help) return console.log(HELP)
  const queues = await findQueues(serviceStackOf(readStage({ stage: options.stage })))
  const sqs = new SQSClient({})
  const acts = options.all || options.queue !== undefined
  for (const dead of chosen(queues.deadLetters, options)) {
    const depth = await depthOf(sqs, dead.url)
    if (options.look) {
      if (depth > 0) console.log(`${dead.name}: ${depth}`)
      for (const message of await lookAt(sqs, dead.url, SHOWN)) console.log(`  ${described(message)}`)
    } else if (!acts) console.log(`${dead.name.padEnd(24)} ${depth}`)
    else if (depth > 0) {
      const { moved, note } = await redrive(sqs, dead, { queues, rate: options.rate })
      console.log(
        `${dead.name}: ${moved} ${dead.from === 'stream' ? 'removed' : 'on their way again'}.${note ? ` ${note}` : ''}`,
      )
    } else console.log(`${dead.name}: empty.`)
  }
}

runCommand(main)
