import { readFile } from 'node:fs/promises'
import type { Api } from '../api.ts'
import { APP_OPTION, loadChosenApp } from '../app.ts'
import { type Command, type Invocation, textOf, UsageError } from '../command.ts'

interface Shown {
  id: string
  caption: string
}

interface Screenshot extends Shown {
  width: number
  height: number
}

interface Listing {
  id: string
  slug: string
  screenshots: Screenshot[]
  pending_revision: { changes: { screenshots?: Screenshot[] } } | null
}

const load = async (invocation: Invocation, api: Api, command: string) => {
  const { id } = await loadChosenApp(invocation, api, command)
  const app: Listing = await api.insist('GET', `/api/v1/dev/apps/${id}`)
  // A change is made to what waits for review, as the portal does.
  return { app, shown: app.pending_revision?.changes.screenshots ?? app.screenshots }
}

/** Changes the screenshots of the chosen app and prints them. @param change returns them in their new order */
const edit = async (
  invocation: Invocation,
  command: string,
  progress: string,
  change: (shown: Screenshot[], app: Listing, api: Api) => Shown[] | Promise<Shown[]>,
): Promise<number> => {
  const { out } = invocation
  const api = invocation.api()
  out.progress(progress)
  const { app, shown } = await load(invocation, api, command)
  const screenshots = (await change(shown, app, api)).map(({ id, caption }) => ({ id, caption }))
  const changed: Listing = await api.insist('PATCH', `/api/v1/dev/apps/${app.id}`, { body: { screenshots } })
  const pending = changed.pending_revision?.changes.screenshots
  print(invocation, pending ?? changed.screenshots)
  if (pending) out.note('A moderator has to approve the change. The live listing doesn’t change until then.')
  return 0
}

const print = ({ out }: Invocation, shown: readonly Screenshot[]): void => {
  for (const [i, one] of shown.entries()) {
    const position = i + 1
    const size = `${one.width} × ${one.height}`
    out.result({ position, ...one }, `${String(position).padStart(2)}  ${size.padEnd(11)}  ${one.caption}`)
  }
}

/** Reads a position in the list, from 1. @throws {UsageError} */
const positionOf = (text: string | undefined, shown: readonly unknown[], command: string): number => {
  const position = Number(text)
  if (Number.isInteger(position) && position >= 1 && position <= shown.length) return position - 1
  const places = shown.length === 0 ? 'The app has no screenshots.' : `Positions are 1 to ${shown.length}.`
  throw new UsageError(`No screenshot has the position ${JSON.stringify(text)}. ${places}`, command)
}

const OPTIONS = { app: { type: 'string' } } as const

const OUTPUT = `${APP_OPTION}
  --json              print one screenshot per line`

export const screenshots: Command = {
  name: 'screenshots',
  usage: 'screenshots',
  summary: 'List the screenshots of an app’s listing',
  help: `Lists the screenshots in the order in which customers see them, with their positions. On an approved app, shows those
that wait for review, if any do.

${OUTPUT}

Examples:
  aip screenshots
  aip screenshots --json | jq -r .caption`,
  options: OPTIONS,
  positionals: 0,
  async run(invocation) {
    const { shown } = await load(invocation, invocation.api(), 'screenshots')
    print(invocation, shown)
    if (shown.length === 0) invocation.out.note('The app has no screenshots. Add one with aip screenshots add.')
    return 0
  },
}

export const addScreenshot: Command = {
  name: 'screenshots add',
  usage: 'screenshots add <file> --caption <text>',
  summary: 'Upload an image and show it in the listing',
  help: `Uploads an image and adds it at the end. An app shows up to eight. On an approved app, a moderator approves the change.

  <file>              a PNG, JPEG or WebP of 320 to 3840 pixels a side and at most 2 MB
  --caption <text>    shown below the image, and read to people who can’t see it; up to 120 characters
${OUTPUT}

Examples:
  aip screenshots add shelves.png --caption 'The shelves of a shop, with what is running out'`,
  options: { ...OPTIONS, caption: { type: 'string' } },
  positionals: 1,
  async run(invocation) {
    const [file = ''] = invocation.positionals
    const caption = textOf(invocation.values.caption)
    if (caption === undefined) throw new UsageError('Say with --caption what the image shows.', 'screenshots add')
    const image = await readFile(file)
    return edit(invocation, 'screenshots add', `Uploading ${file}`, async (shown, app, api) => {
      const body = { image: image.toString('base64') }
      const { id } = await api.insist('POST', `/api/v1/dev/apps/${app.id}/screenshots`, { body })
      return [...shown.filter((one) => one.id !== id), { id, caption }]
    })
  },
}

export const removeScreenshot: Command = {
  name: 'screenshots remove',
  usage: 'screenshots remove <position>',
  summary: 'Take a screenshot out of the listing',
  help: `Takes a screenshot out of the listing. On an approved app, a moderator approves the change.

  <position>          as aip screenshots shows it
${OUTPUT}

Examples:
  aip screenshots remove 2`,
  options: OPTIONS,
  positionals: 1,
  run: (invocation) =>
    edit(invocation, 'screenshots remove', 'Removing the screenshot', (shown) => {
      const at = positionOf(invocation.positionals[0], shown, 'screenshots remove')
      return shown.filter((_, i) => i !== at)
    }),
}

export const moveScreenshot: Command = {
  name: 'screenshots move',
  usage: 'screenshots move <from> <to>',
  summary: 'Change the order of the screenshots',
  help: `Moves a screenshot to another position. On an approved app, a moderator approves the change.

  <from>, <to>        positions, as aip screenshots shows them
${OUTPUT}

Examples:
  aip screenshots move 3 1`,
  options: OPTIONS,
  positionals: 2,
  run: (invocation) =>
    edit(invocation, 'screenshots move', 'Moving the screenshot', (shown) => {
      const [from, to] = invocation.positionals.map((one) => positionOf(one, shown, 'screenshots move'))
      const moved = [...shown]
      moved.splice(to ?? 0, 0, ...moved.splice(from ?? 0, 1))
      return moved
    }),
}
