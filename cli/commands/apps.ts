import type { App } from '../app.ts'
import type { Command } from '../command.ts'

interface ListedApp extends App {
  status: string
  promoted_version: string | null
}

export const apps: Command = {
  name: 'apps',
  usage: 'apps',
  summary: 'List your apps',
  help: `Lists your apps with their status and the version that new installations get.

  --json              print one app per line

Examples:
  aip apps
  aip apps --json | jq -r 'select(.status == "draft") | .slug'`,
  options: {},
  positionals: 0,
  async run(invocation) {
    const { out } = invocation
    const api = invocation.api()
    const done = out.progress('Listing your apps')
    try {
      // One page, because a developer has at most twenty apps.
      const { items } = (await api.insist('GET', '/api/v1/dev/apps?limit=100')) as { items: ListedApp[] }
      done()
      for (const app of items) {
        const version = app.promoted_version === null ? 'no version' : `v${app.promoted_version}`
        out.result(app, `${app.id}  ${app.status.padEnd(9)}  ${version.padEnd(10)}  ${app.slug}`)
      }
      if (items.length === 0) out.note('You don’t have an app yet.')
      return 0
    } finally {
      done()
    }
  },
}
