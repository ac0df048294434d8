import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager'
import { systemClock } from '#shared/kernel/clock.ts'
import { reseal } from './keys/reseal.ts'
import { isRing, RINGS, type RingName } from './keys/rings.ts'
import { describeRing, type Operation, type Reseal, resealAll, retire, rotate } from './keys/rotate.ts'
import { ringStore } from './keys/secret.ts'
import { chosenOf, OperatorError, runCommand } from './operator/command.ts'
import { readStage, serviceStackOf, stackOutputs } from './operator/stage.ts'

const HELP = `npm run keys -- <command> --stage <stage> --ring <tokens|admin|data>

The keyrings of a deployed stage. No command shows a key. Needs the rights to describe the stack, and secretsmanager:GetSecretValue,
PutSecretValue and UpdateSecretVersionStage on the ring's secret; for the ring data also to scan the table and update its items.

  list    the ids of the keys, and what each is for; without --ring of every ring
  rotate  add a key, wait until every function has read it (6 minutes), and use it. Nobody is signed out. May be stopped and run again
  reseal  encrypt anew what older keys of the ring data encrypted
  retire  remove the keys that are out of use, once nothing needs them: the tokens have ended, or nothing in the table and in its
          backups is encrypted with them

  --stage   as it was deployed (dev)
  --now     rotate without waiting: until a function has read the ring again (within half a minute for tokens, five for page
            cursors) it may refuse what another one made with the new key
  --again   rotate once more within the hour
  --leaked  retire at once: whoever holds a token of an old key is signed out
  --secret-id, --table  instead of asking CloudFormation for the stack's outputs
  --help    this`

function readOptions() {
  return parseArgs({
    allowPositionals: true,
    options: {
      stage: { type: 'string' },
      ring: { type: 'string' },
      now: { type: 'boolean', default: false },
      again: { type: 'boolean', default: false },
      leaked: { type: 'boolean', default: false },
      'secret-id': { type: 'string' },
      table: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  })
}

type Given = ReturnType<typeof readOptions>['values']

const COMMANDS: Record<string, (operation: Operation, given: Given, reseal: Reseal) => Promise<void>> = {
  list: async (operation) => {
    for (const line of await describeRing(operation)) operation.say(line)
  },
  rotate: (operation, { now, again }) => rotate(operation, { now, again }),
  reseal: (operation, _, walk) => resealAll(operation, walk),
  retire: (operation, { leaked }, walk) => retire(operation, walk, { leaked }),
}

/** The rings that a command is for. */
function ringsOf(command: string, { ring, 'secret-id': id }: Given): RingName[] {
  if (ring === undefined && command === 'list' && id === undefined) return Object.keys(RINGS).filter(isRing)
  if (ring === undefined || !isRing(ring)) throw new OperatorError('Give --ring tokens, admin or data.')
  if (command === 'reseal' && ring !== 'data') throw new OperatorError('Only the ring data encrypts: give --ring data.')
  return [ring]
}

async function main(): Promise<void> {
  const { values, positionals } = readOptions()
  if (values.help) return console.log(HELP)
  const { name, command } = chosenOf(COMMANDS, positionals, HELP)
  const rings = ringsOf(name, values)
  const stack = serviceStackOf(readStage({ stage: values.stage }))
  const find = async (given: string | undefined, output: string) =>
    given ?? (await stackOutputs(stack, [output]))[output] ?? ''
  const walk: Reseal = async (text, options) =>
    reseal({ client: new DynamoDBClient({}), tableName: await find(values.table, 'TableName') }, text, options)
  for (const ring of rings) {
    const store = ringStore(new SecretsManagerClient({}), await find(values['secret-id'], RINGS[ring].output))
    await command({ ring, store, clock: systemClock, sleep, say: console.log }, values, walk)
  }
}

runCommand(main)
