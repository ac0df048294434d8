import { APP_OPTION, loadChosenApp } from '../app.ts'
import type { Command } from '../command.ts'

export const promote: Command = {
  name: 'promote',
  usage: 'promote <version>',
  summary: 'Make a version the one that new installations get',
  help: `Makes a published version the one that new installations get. Existing installations stay on their version until their
organization upgrades. Once the app is approved, a version needs a moderator’s approval first.

  <version>           the version in the manifest, such as 1.2.0
${APP_OPTION}
  --json              print the version

Examples:
  aip promote 1.2.0
  aip promote 1.2.0 --app stock-helper --json`,
  options: { app: { type: 'string' } },
  positionals: 1,
  async run(invocation) {
    const { positionals, out } = invocation
    const [version = ''] = positionals
    const api = invocation.api()
    out.progress(`Promoting ${version}`)
    const app = await loadChosenApp(invocation, api, 'promote')
    const path = `/api/v1/dev/apps/${app.id}/versions/${encodeURIComponent(version)}/promote`
    const promoted = await api.insist('POST', path)
    out.result(promoted, `${out.paint('green', 'promoted')} ${app.slug} v${version}`)
    return 0
  },
}
