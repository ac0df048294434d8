import { createObjects } from '#shared/adapters/objects.ts'
import { systemClock } from '#shared/kernel/clock.ts'
import { verifyAudit } from '#shared/staff/audit/index.ts'
import { operatorWork } from './admin/table.ts'
import { describeVerification, readRange } from './audit/verify.ts'
import { chooseCommand, readCommandLine, runCommand } from './command.ts'
import { readStage, serviceStackOf, stackOutputs } from './stage.ts'

const HELP = `npm run audit -- verify --stage <stage> [--scope <workspace or platform>] [--from <day>] [--to <day>]

Verifies the hash chain of the audit over days, against its anchors in the bucket, and names the first broken entry. Exits with 2 if
there is one. Needs permission to describe the stack, to query both tables, and to read the audit’s bucket.

  --stage     name of the deployed stage (dev)
  --scope     a workspace’s ID, or platform (platform)
  --from      first day, such as 2026-11-01; default: 30 days ago
  --to        last day; default: today
  --table, --audit-table, --bucket  default: the stack’s outputs
  --help      show this help`

async function main(): Promise<void> {
  const { values, positionals } = readCommandLine(HELP, {
    allowPositionals: true,
    options: {
      stage: { type: 'string' },
      scope: { type: 'string', default: 'platform' },
      from: { type: 'string' },
      to: { type: 'string' },
      table: { type: 'string' },
      'audit-table': { type: 'string' },
      bucket: { type: 'string' },
    },
  })
  const { command } = chooseCommand({ verify }, positionals, HELP)
  await command(values)
}

type Given = Partial<Record<'stage' | 'from' | 'to' | 'table' | 'audit-table' | 'bucket', string | undefined>> & {
  scope: string
}

async function verify(given: Given): Promise<void> {
  const now = systemClock.now()
  const range = readRange(given, now)
  const config = readStage({ stage: given.stage })
  const outputs =
    given.table !== undefined && given['audit-table'] !== undefined && given.bucket !== undefined
      ? undefined
      : await stackOutputs(serviceStackOf(config), ['TableName', 'AuditTableName', 'AuditBucketName'])
  const tableName = given.table ?? outputs?.TableName ?? ''
  const auditTableName = given['audit-table'] ?? outputs?.AuditTableName ?? ''
  const { table } = operatorWork({ tableName, auditTableName }, config)
  const objects = createObjects(given.bucket ?? outputs?.AuditBucketName, process.env)
  const result = await verifyAudit({ table, objects }, { ...range, now })
  for (const line of describeVerification(range, result)) console.log(line)
  if (result.broken) process.exitCode = 2
}

runCommand(main)
