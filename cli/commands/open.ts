import { APP_OPTION, loadChosenApp } from '../app.ts'
import { openBrowser } from '../browser.ts'
import { type Command, type Invocation, UsageError } from '../command.ts'

/** Screens of the portal for one app. */
const SCREENS = ['test', 'versions', 'runs', 'webhooks', 'figures', 'reviews', 'settings']

export const open: Command = {
  name: 'open',
  usage: 'open [<place>]',
  summary: 'Open the developer portal or the documentation in the browser',
  help: `Opens the app in the developer portal, or another place, and prints the address.

  <place>             ${SCREENS.join(', ')} of the app; a run’s ID (run_…);
                      apps, sandbox, account, docs or reference
${APP_OPTION}
  --print             only print the address
  --json              print {"url"} without opening it

Examples:
  aip open
  aip open run_01kae5m1v8w6c3x9q2r7t4y0zn
  aip open docs`,
  options: { app: { type: 'string' }, print: { type: 'boolean' } },
  positionals: [0, 1],
  suggests: [...SCREENS, 'apps', 'sandbox', 'account', 'docs', 'reference'],
  async run(invocation) {
    const { values, out, env } = invocation
    const url = await addressOf(invocation)
    out.result({ url }, url)
    if (!out.json && values.print !== true && !(await openBrowser(url, env))) {
      out.note('No browser could be started. Open the address yourself.')
    }
    return 0
  },
}

const addressOf = async (invocation: Invocation): Promise<string> => {
  const [place] = invocation.positionals
  const base = invocation.baseUrl()
  if (place === 'docs') return `${base}/docs`
  if (place === 'reference') return `${base}/docs/reference`
  if (place === 'apps') return `${base}/developers#/`
  if (place === 'sandbox' || place === 'account') return `${base}/developers#/${place}`
  const isRun = place !== undefined && /^run_\w+$/.test(place)
  if (place !== undefined && !isRun && !SCREENS.includes(place)) {
    throw new UsageError(`There is no place ${JSON.stringify(place)}.`, 'open')
  }
  const { id } = await loadChosenApp(invocation, invocation.api(), 'open')
  const within = place === undefined ? '' : isRun ? `/runs/${place}` : `/${place}`
  return `${base}/developers#/apps/${id}${within}`
}
