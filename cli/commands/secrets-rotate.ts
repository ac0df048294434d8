import { APP_OPTION, loadChosenApp } from '../app.ts'
import { type Command, textOf, UsageError } from '../command.ts'
import { setInEnvFile } from '../env-file.ts'

export const rotateSecret: Command = {
  name: 'secrets rotate',
  usage: 'secrets rotate <client|signing>',
  summary: 'Replace the client secret or the signing secret',
  help: `Replaces a secret of the app and prints the new one, which isn’t shown again. A new client secret ends all access tokens at
once; refresh tokens keep working with it. A new signing secret replaces the old one at once, unless both sign for a while.

  <client|signing>    which secret
  --overlap-hours <n> hours in which the old signing secret also signs, 1 to 168
  --save <file>       write it to this file as CLIENT_SECRET or SIGNING_SECRET instead of printing it
${APP_OPTION}
  --json              print {"client_secret"} or {"signing_secret"}; with --save {"saved"}

Examples:
  aip secrets rotate signing --overlap-hours 24
  aip secrets rotate client --save .env`,
  options: { app: { type: 'string' }, 'overlap-hours': { type: 'string' }, save: { type: 'string' } },
  positionals: 1,
  suggests: ['client', 'signing'],
  async run(invocation) {
    const { positionals, values, out } = invocation
    const [kind = ''] = positionals
    if (kind !== 'client' && kind !== 'signing') {
      throw new UsageError('Choose the secret: client or signing.', 'secrets rotate')
    }
    const hours = textOf(values['overlap-hours'])
    if (hours !== undefined && (kind === 'client' || !/^\d+$/.test(hours))) {
      throw new UsageError('--overlap-hours is a number, for the signing secret only.', 'secrets rotate')
    }
    const api = invocation.api()
    out.progress('Rotating')
    const app = await loadChosenApp(invocation, api, 'secrets rotate')
    const path = `/api/v1/dev/apps/${app.id}/rotate-${kind === 'client' ? 'secret' : 'signing-secret'}`
    const answer = await api.insist('POST', path, {
      body: hours === undefined ? {} : { overlap_hours: Number(hours) },
    })
    const field = `${kind}_secret`
    const secret = String(answer[field])
    const file = textOf(values.save)
    if (file === undefined) {
      out.result({ [field]: secret }, secret)
      out.note('It isn’t shown again.')
      return 0
    }
    const name = field.toUpperCase()
    setInEnvFile(file, { [name]: secret })
    out.result({ saved: file }, `${out.paint('green', 'rotated')} ${name} in ${file}`)
    return 0
  },
}
