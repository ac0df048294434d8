import { miniApp } from '../../session/config.ts'
import { forget, keep, read } from '../../session/store.ts'
import { clean, webAddress } from '../../session/text.ts'
import { tg } from './config.ts'
import { $, element, say, show } from './dom.ts'
import { listScopes } from './scopes.ts'
import { session } from './session.ts'
import type { ConsentRequest, Workspace } from './types.ts'

/** What the person chose so far; it outlives a sign-in that leaves the page. */
interface Choices {
  workspace?: string
  refused: string[]
}

const KEY = `choices-${tg}`
let request: ConsentRequest
let choices: Choices = { refused: [] }

export const forgetChoices = (): void => forget(KEY)
export const redirectHost = (): string => request.redirect_host
export const chosenPlace = (): Workspace | undefined =>
  request.workspaces.find(({ id }) => id === $<HTMLSelectElement>('place').value)

const WHY = {
  admin_required: ['only admins install apps here', 'Ask somebody with the role admin or owner there to install it.'],
  app_not_approved: [
    'the app is not approved, or no longer offered: sandbox workspaces only',
    'The platform has not approved the app yet, or offers it no longer. It can be tried in a sandbox workspace; ask its developer.',
  ],
  installation_suspended: [
    'suspended',
    'The workspace, or the app in it, is suspended. Ask its owner, or the platform’s support.',
  ],
} as const

const listWorkspaces = (): void => {
  const usable = request.workspaces.filter((one) => !one.blocked_by)
  const wanted = choices.workspace ?? session()?.workspace
  const first = usable.find(({ id }) => id === wanted) ?? usable[0]
  $('place').replaceChildren(
    ...request.workspaces.map((one) => {
      const why = one.blocked_by ? ` – ${WHY[one.blocked_by][0]}` : ''
      const option = element('option', '', one.name + (one.is_sandbox ? ' (sandbox)' : '') + why)
      option.value = one.id
      option.disabled = Boolean(one.blocked_by)
      option.selected = one === first
      return option
    }),
  )
  const none = usable.length === 0
  $('place-choice').hidden = none
  $('place-problem').hidden = !none
  say('place-problem', none ? `You cannot install this app in any of your workspaces. ${reasons()}` : '')
  $<HTMLButtonElement>('approve').disabled = none
}

/** Why none can be chosen and whom to ask, each reason once with the workspaces that it holds for. */
const reasons = (): string => {
  const places = new Map<string, string[]>()
  for (const { name, blocked_by } of request.workspaces) {
    const why = blocked_by ? WHY[blocked_by][1] : ''
    places.set(why, [...(places.get(why) ?? []), name])
  }
  return [...places].map(([why, names]) => `${names.join(', ')}: ${why}`).join(' ')
}

/** Shows the scopes for the chosen workspace. */
const showScopes = (): void =>
  listScopes(request.scopes, chosenPlace(), {
    refused: new Set(choices.refused),
    onRefuse(scope, refused) {
      choices.refused = choices.refused.filter((one) => one !== scope).concat(refused ? scope : [])
      keep(KEY, choices)
    },
  })

const showApp = ({ app }: ConsentRequest): void => {
  document.title = `Give access to ${clean(app.name)}`
  say('app-name', app.name)
  say('initial', (clean(app.name).match(/[\p{L}\p{N}]/u)?.[0] ?? '?').toUpperCase())
  say('summary', app.summary)
  say('developer', app.developer_name || 'an unnamed developer')
  $('badge').classList.toggle('verified', app.verified)
  say('badge', app.verified ? 'Verified developer' : 'Not verified by the platform')
  const logo = webAddress(app.logo_url)
  if (logo) {
    const image = $<HTMLImageElement>('logo-image')
    image.onload = () => {
      image.hidden = false
    }
    image.src = logo
  }
  const privacy = webAddress(app.privacy_url)
  $('privacy').hidden = !privacy
  if (privacy) $<HTMLAnchorElement>('privacy-link').href = privacy
}

/** Shows what is asked, with the choices made before. */
export const showRequest = (asked: ConsentRequest): void => {
  request = asked
  choices = read<Choices>(KEY) ?? { refused: [] }
  showApp(asked)
  say('host', asked.redirect_host)
  say('person', session()?.name ?? '')
  $('switch').hidden = miniApp
  $('problem').hidden = true
  listWorkspaces()
  showScopes()
  show('request')
}

$('place').onchange = () => {
  choices.workspace = $<HTMLSelectElement>('place').value
  keep(KEY, choices)
  showScopes()
}
