import { readFileSync } from 'node:fs'
import { ZodError } from 'zod'
import { COMMANDS } from './admin/operate.ts'
import { operatorWork } from './admin/table.ts'
import { chooseCommand, readCommandLine, runCommand } from './command.ts'
import { readStage, tableOf } from './stage.ts'

const HELP = `npm run admin -- <command> --stage <stage> --email <address>
npm run admin -- recover-workspace --stage <stage> --workspace <ws_…>

Manages the admins of a deployed stage: creates the first superadmin, and restores lost access, also to workspaces. Needs permission to describe the
stack and to read and write its table. Changes are in the audit, with the operator as their author.

  create          create a superadmin account, or a moderator with --role moderator; --name is the displayed name
  reset-password  give an account a new password, and end its sessions and keys
  reset-passkeys  remove the passkeys of an account whose owner lost them, and end its sessions
  key             create an admin key (X-Admin-Key) for an account; --name is its name in the audit, --days its lifetime (90)
  keys            list an account’s keys
  rotate          replace the key --key aky_…; the old key stops working at once
  remove-key      remove the key --key aky_…
  recover-workspace
                  invite a new owner to a workspace whose owners are lost or hostile; accepting makes members of them

  --stage          name of the deployed stage (dev)
  --password-file  file with the password, at least 12 characters; without it, a password is generated and shown
  --table          name of the table; default: the stack’s output TableName
  --help           show this help`

function readOptions() {
  return readCommandLine(HELP, {
    allowPositionals: true,
    options: {
      stage: { type: 'string' },
      email: { type: 'string' },
      name: { type: 'string' },
      role: { type: 'string' },
      'password-file': { type: 'string' },
      key: { type: 'string' },
      workspace: { type: 'string' },
      days: { type: 'string' },
      table: { type: 'string' },
    },
  })
}

async function main(): Promise<void> {
  const { values, positionals } = readOptions()
  const { command } = chooseCommand(COMMANDS, positionals, HELP)
  const { email, role, key, days, workspace, 'password-file': file } = values
  const config = readStage({ stage: values.stage })
  const table = values.table ?? (await tableOf(config))
  const password = file === undefined ? undefined : readFileSync(file, 'utf8').trim()
  const order = {
    email,
    workspace,
    name: values.name,
    role,
    password,
    key,
    days: days === undefined ? undefined : Number(days),
  }
  console.log((await command(operatorWork({ tableName: table }, config), order)).join('\n'))
}

/** Formats an error without quoting the input, which may be a password. */
const explained = (error: unknown): unknown => {
  if (error instanceof ZodError) {
    return error.issues.map(({ path, message }) => `${path.join('.') || 'password'}: ${message}`).join('\n')
  }
  return error instanceof Error ? error.message : error
}

runCommand(main, explained)
