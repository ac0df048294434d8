import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { ZodError } from 'zod'
import { COMMANDS } from './admin/operate.ts'
import { operatorWork } from './admin/table.ts'
import { chosenOf, OperatorError, runCommand } from './operator/command.ts'
import { readStage, tableOf } from './operator/stage.ts'

const HELP = `npm run admin -- <command> --stage <stage> --email <address>

The platform’s staff of a deployed stage: its first superadmin, and a way back in. Needs the rights to describe the stack and to read
and write its table; what it does is in the audit as done by the operator.

  create          make an account: a superadmin, unless --role moderator; --name as people see it
  reset-password  give an account a new password; its sessions end
  key             make an admin key (X-Admin-Key) for an account; --name names it in the audit, --days says for how long (90)
  keys            list an account’s keys
  rotate          replace the key --key aky_…; the old one is refused at once
  remove-key      remove the key --key aky_…

  --stage          as it was deployed (dev)
  --password-file  the password, at least 12 characters; without it one is made and shown
  --table          the table, instead of asking CloudFormation for the stack’s output TableName
  --help           this`

function readOptions() {
  return parseArgs({
    allowPositionals: true,
    options: {
      stage: { type: 'string' },
      email: { type: 'string' },
      name: { type: 'string' },
      role: { type: 'string' },
      'password-file': { type: 'string' },
      key: { type: 'string' },
      days: { type: 'string' },
      table: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  })
}

async function main(): Promise<void> {
  const { values, positionals } = readOptions()
  if (values.help) return console.log(HELP)
  const { command } = chosenOf(COMMANDS, positionals, HELP)
  const { email, role, key, days, 'password-file': file } = values
  if (email === undefined) throw new OperatorError('Give --email <address>.')
  const config = readStage({ stage: values.stage })
  const table = values.table ?? (await tableOf(config))
  const password = file === undefined ? undefined : readFileSync(file, 'utf8').trim()
  const order = { email, name: values.name, role, password, key, days: days === undefined ? undefined : Number(days) }
  console.log((await command(operatorWork(table, config), order)).join('\n'))
}

/** Never quotes what was given: it may be a password. */
const explained = (error: unknown): unknown => {
  if (error instanceof ZodError) {
    return error.issues.map(({ path, message }) => `${path.join('.') || 'password'}: ${message}`).join('\n')
  }
  return error instanceof Error ? error.message : error
}

runCommand(main, explained)
