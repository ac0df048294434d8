import { parseArgs } from 'node:util'
import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { operatorWork } from './admin/table.ts'
import { OperatorError, runCommand } from './operator/command.ts'
import { readStage, tableOf } from './operator/stage.ts'
import { pendingUpgrades, runUpgrades } from './upgrade/run.ts'
import { UPGRADES } from './upgrade/upgrades.ts'

const HELP = `npm run upgrade -- --stage <stage>

Brings the records of a deployed stage into the shape of this version, after it was deployed (docs/upgrades.md). What is done
already is left alone; it may be stopped at any time and goes on where it was.

  --stage     as it was deployed (dev)
  --check     only tell which upgrades are not done; exit code 2 if there are any
  --dry-run   only count the records that would change
  --segments  parts of the table walked at the same time (4)
  --rate      read units a second (1000)
  --table     the table, instead of asking CloudFormation for the stack’s output TableName
  --help      this`

const whole = (name: string, text: string): number => {
  if (!/^[1-9]\d{0,5}$/.test(text)) throw new OperatorError(`--${name} is a whole number from 1, not ${text}.`)
  return Number(text)
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      stage: { type: 'string' },
      check: { type: 'boolean', default: false },
      'dry-run': { type: 'boolean', default: false },
      segments: { type: 'string', default: '4' },
      rate: { type: 'string', default: '1000' },
      table: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) return console.log(HELP)
  const segments = whole('segments', values.segments)
  const rate = whole('rate', values.rate)
  const config = readStage({ stage: values.stage })
  const tableName = values.table ?? (await tableOf(config))
  const work = operatorWork(tableName, config)
  const pending = await pendingUpgrades(work, UPGRADES)
  if (pending.length === 0) return console.log('Every upgrade is done.')
  if (values.check) {
    for (const { id, title } of pending) console.log(`${id}: ${title}`)
    process.exitCode = 2
    return
  }
  await runUpgrades(pending, {
    work,
    walk: { client: new DynamoDBClient({}), tableName, rate },
    segments,
    dryRun: values['dry-run'],
    say: console.log,
  })
}

runCommand(main)
