import { setTimeout as sleep } from 'node:timers/promises'
import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { S3Client } from '@aws-sdk/client-s3'
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager'
import { isRing, RINGS } from '#infra/rings.ts'
import { publishKeys } from '#shared/adapters/public-keys.ts'
import { systemClock } from '#shared/kernel/clock.ts'
import { parseKeyring } from '#shared/kernel/keyring.ts'
import { isSigningRing, RING_NAMES, type RingName } from '#shared/kernel/ports/keys.ts'
import { chooseCommand, OperatorError, readCommandLine, runCommand } from './command.ts'
import { keyObjectsOf } from './keys/objects.ts'
import { reseal } from './keys/reseal.ts'
import { describeRing, type Operation, type Reseal, resealAll, retire, rotate } from './keys/rotate.ts'
import { ringStore } from './keys/secret.ts'
import { readStage, serviceStackOf, stackOutputs } from './stage.ts'

const HELP = `npm run keys -- <command> --stage <stage> --ring <${RING_NAMES.join('|')}>

Manages the keyrings of a deployed stage. No command shows a key. Needs permission to describe the stack, and
secretsmanager:GetSecretValue, PutSecretValue and UpdateSecretVersionStage on the ring's secret. The ring data also needs permission
to scan the table and update its items.

  list    list the ids of the keys and their state; without --ring, for every ring
  rotate  add a key, wait until every function has read it (6 minutes), and use it. Nobody is signed out. You can stop it and run
          it again
  reseal  re-encrypt what older keys of the ring data encrypted, the data keys of workspaces included
  retire  remove keys that are out of use, once nothing needs them: their tokens have expired, or no value in the table and in its
          backups is encrypted with them

  --stage   name of the deployed stage (dev)
  --now     rotate without waiting: a function that hasn't read the new key yet may refuse what another function made with it (for
            half a minute with tokens, five minutes with page cursors)
  --again   rotate again within the hour
  --leaked  retire at once: everyone with a token of an old key is signed out
  --secret-id, --table, --bucket, --key-bucket  secret, table and buckets; default: the stack's outputs
  --help    show this help`

function readOptions() {
  return readCommandLine(HELP, {
    allowPositionals: true,
    options: {
      stage: { type: 'string' },
      ring: { type: 'string' },
      now: { type: 'boolean', default: false },
      again: { type: 'boolean', default: false },
      leaked: { type: 'boolean', default: false },
      'secret-id': { type: 'string' },
      table: { type: 'string' },
      bucket: { type: 'string' },
      'key-bucket': { type: 'string' },
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

/** Returns the rings that a command applies to. */
function ringsOf(command: string, { ring, 'secret-id': id }: Given): RingName[] {
  if (ring === undefined && command === 'list' && id === undefined) return [...RING_NAMES]
  if (ring === undefined || !isRing(ring))
    throw new OperatorError(`Give --ring ${RING_NAMES.slice(0, -1).join(', ')} or ${RING_NAMES.at(-1)}.`)
  if (command === 'reseal' && ring !== 'data')
    throw new OperatorError('Only the ring data can be resealed: give --ring data.')
  return [ring]
}

async function main(): Promise<void> {
  const { values, positionals } = readOptions()
  const { name, command } = chooseCommand(COMMANDS, positionals, HELP)
  const rings = ringsOf(name, values)
  const stack = serviceStackOf(readStage({ stage: values.stage }))
  const find = async (given: string | undefined, output: string) =>
    given ?? (await stackOutputs(stack, [output]))[output] ?? ''
  const keyObjects = async () => keyObjectsOf(new S3Client({}), await find(values.bucket, 'BucketName'))
  const dataKeys = async () => keyObjectsOf(new S3Client({}), await find(values['key-bucket'], 'KeyBucketName'))
  const walk: Reseal = async (text, options) =>
    reseal(
      {
        client: new DynamoDBClient({}),
        tableName: await find(values.table, 'TableName'),
        objects: await dataKeys(),
      },
      text,
      options,
    )
  for (const ring of rings) {
    const store = ringStore(new SecretsManagerClient({}), await find(values['secret-id'], RINGS[ring].output))
    const operation: Operation = { ring, store, clock: systemClock, sleep, say: console.log }
    if (isSigningRing(ring) && name !== 'list') {
      const objects = await keyObjects()
      operation.publish = (text) => publishKeys(objects, ring, parseKeyring(text))
    }
    await command(operation, values, walk)
  }
}

runCommand(main)
