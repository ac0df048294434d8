import { readFile } from 'node:fs/promises'
import { APP_OPTION, loadChosenApp } from '../app.ts'
import { type Command, UsageError } from '../command.ts'

export const publish: Command = {
  name: 'publish',
  usage: 'publish [<manifest>]',
  summary: 'Publish a manifest as a new version',
  help: `Publishes a manifest as a version of the app. Versions can’t be changed: to publish again, raise the manifest’s version.
New installations get it once you promote it.

  <manifest>          a file; default: agent.json
${APP_OPTION}
  --json              print the version

Examples:
  aip publish agent.json
  aip publish agent.json --app stock-helper && aip promote 1.2.0 --app stock-helper`,
  options: { app: { type: 'string' } },
  positionals: [0, 1],
  async run(invocation) {
    const { positionals, out } = invocation
    const [file = 'agent.json'] = positionals
    const api = invocation.api()
    const manifest = await read(file)
    out.progress('Publishing')
    const app = await loadChosenApp(invocation, api, 'publish')
    const version = await api.insist('POST', `/api/v1/dev/apps/${app.id}/versions`, { body: manifest })
    out.result(version, `${out.paint('green', 'published')} ${app.slug} v${version.version} (${version.status})`)
    return 0
  },
}

/** @throws {UsageError} */
const read = async (file: string): Promise<unknown> => {
  try {
    return JSON.parse(await readFile(file, 'utf8'))
  } catch (error) {
    throw new UsageError(`${file} can’t be read: ${(error as Error).message}.`, 'publish')
  }
}
