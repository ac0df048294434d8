import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { operatorWork } from './admin/table.ts'
import { OperatorError, readCommandLine, runCommand } from './command.ts'
import { readStage, serviceStackOf, stackOutputs } from './stage.ts'
import { pendingUpgrades, runUpgrades } from './upgrade/run.ts'
import { UPGRADES } from './upgrade/upgrades.ts'

const HELP = `npm run upgrade -- --stage <stage>

Upgrades the records of a deployed stage to the shape of this version, after its deployment (docs/upgrades.md). Completed upgrades
are skipped. You can stop it at any time, and it continues where it was.

  --stage     name of the deployed stage (dev)
  --check     only list pending upgrades; exits with 2 if there are any
  --dry-run   only count the records that would change
  --segments  parts of the table to walk in parallel (4)
  --rate      read units per second (1000)
  --table     name of the table; default: the stack’s output TableName
  --audit-table  name of the audit’s table; default: the stack’s output AuditTableName
  --help      show this help`

const whole = (name: string, text: string): number => {
  if (!/^[1-9]\d{0,5}$/.test(text))
    throw new OperatorError(`--${name} must be a whole number of at least 1, not ${text}.`)
  return Number(text)
}

async function main(): Promise<void> {
  const { values } = readCommandLine(HELP, {
    options: {
      stage: { type: 'string' },
      check: { type: 'boolean', default: false },
      'dry-run': { type: 'boolean', default: false },
      segments: { type: 'string', default: '4' },
      rate: { type: 'string', default: '1000' },
      table: { type: 'string' },
      'audit-table': { type: 'string' },
    },
  })
  const segments = whole('segments', values.segments)
  const rate = whole('rate', values.rate)
  const config = readStage({ stage: values.stage })
  const given = values.table !== undefined && values['audit-table'] !== undefined
  const outputs = given ? undefined : await stackOutputs(serviceStackOf(config), ['TableName', 'AuditTableName'])
  const tableName = values.table ?? outputs?.TableName ?? ''
  const auditTableName = values['audit-table'] ?? outputs?.AuditTableName ?? ''
  const work = operatorWork({ tableName, auditTableName }, config)
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
