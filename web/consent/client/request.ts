import { miniApp, resolveUrl } from '../../session/config.ts'
import { loadItem, removeItem, saveItem } from '../../session/store.ts'
import { safeUrl, sanitize } from '../../session/text.ts'
import { t } from '../../ui/messages.ts'
import { consentPath, isHost, tg } from './config.ts'
import { $, element, setText, showSection } from './dom.ts'
import { renderScopes } from './scopes.ts'
import { session } from './session.ts'
import type { AppRequest, ConsentRequest, HostRequest, Workspace } from './types.ts'

/** Choices made so far. They survive a sign-in that leaves the page. */
interface Choices {
  workspace?: string
  refused: string[]
}

const KEY = `choices-${tg}`
let request: ConsentRequest
let choices: Choices = { refused: [] }

export const clearChoices = (): void => removeItem(KEY)
/** Returns true if no one else can open this link any more. */
export const isClaimed = (): boolean => request.claimed
export const redirectHost = (): string => request.redirect_host
export const selectedWorkspace = (): Workspace | undefined =>
  request.workspaces.find(({ id }) => id === $<HTMLSelectElement>('place').value)

const WHY = {
  admin_required: [
    t('only admins can install apps'),
    t('Only admins and owners can install apps here. Ask one of them.'),
  ],
  app_not_approved: [
    t('app not approved, sandbox only'),
    t(
      'This app isn’t approved yet or is no longer listed. You can try it in a sandbox workspace, or ask its developer.',
    ),
  ],
  installation_suspended: [
    'suspended',
    t('This workspace, or the app in it, is suspended. Ask the workspace owner or contact support.'),
  ],
  hosts_disabled: [t('assistants are off'), t('The owner has turned assistants off here. Ask them to turn them on.')],
  host_not_allowed: [t('not allowed'), t('The owner doesn’t allow this assistant here. Ask them to add its host.')],
  workspace_suspended: [t('suspended'), t('This workspace is suspended or about to be deleted.')],
} as const

const listWorkspaces = (): void => {
  const usable = request.workspaces.filter((one) => !one.blocked_by)
  const wanted = choices.workspace ?? session()?.workspace
  const first = usable.find(({ id }) => id === wanted) ?? usable[0]
  $('place').replaceChildren(
    ...request.workspaces.map((one) => {
      const why = one.blocked_by ? ` – ${WHY[one.blocked_by][0]}` : ''
      const option = element('option', '', one.name + (one.is_sandbox ? t(' (sandbox)') : '') + why)
      option.value = one.id
      option.disabled = Boolean(one.blocked_by)
      option.selected = one === first
      return option
    }),
  )
  const none = usable.length === 0
  $('place-choice').hidden = none
  $('place-problem').hidden = !none
  setText(
    'place-problem',
    none
      ? t(
          'You can’t {asks, select, host {use this assistant} other {install this app}} in any of your workspaces. {reasons}',
          {
            asks: isHost ? 'host' : 'app',
            reasons: reasons(),
          },
        )
      : '',
  )
  $<HTMLButtonElement>('approve').disabled = none
}

/** Explains why no workspace can be selected. Each reason appears once, with the workspaces it applies to. */
const reasons = (): string => {
  const places = new Map<string, string[]>()
  for (const { name, blocked_by } of request.workspaces) {
    const why = blocked_by ? WHY[blocked_by][1] : ''
    places.set(why, [...(places.get(why) ?? []), name])
  }
  return [...places].map(([why, names]) => `${names.join(', ')}: ${why}`).join(' ')
}

const showScopes = (): void =>
  renderScopes(request.scopes, selectedWorkspace(), {
    refused: new Set(choices.refused),
    onRefuse(scope, refused) {
      choices.refused = choices.refused.filter((one) => one !== scope).concat(refused ? scope : [])
      saveItem(KEY, choices)
    },
  })

/** Warns about apps that the name could be confused with. */
const similarNames = ({ similar_to: similar }: AppRequest['app']): string => {
  const names = similar.map((app) =>
    t('“{name}” by {developer_name}', {
      name: app.name,
      developer_name: app.developer_name || t('an unnamed developer'),
    }),
  )
  return t('This isn’t {names}, although the name is similar. Check the developer before you allow access.', {
    names: names.join(t(' or ')),
  })
}

const showName = (name: string): void => {
  document.title = t('Allow access for {name}', { name: sanitize(name) })
  setText('app-name', name)
  setText('next-app', name)
  setText('initial', (sanitize(name).match(/[\p{L}\p{N}]/u)?.[0] ?? '?').toUpperCase())
}

/** Says what is known of an assistant: its host. Its name is only its own claim. */
const showHost = ({ client: { name, host, kind }, agent, protocol, loopback, redirect_host }: HostRequest): void => {
  showName(name)
  setText('developer', host)
  setText('badge', t('Unverified name'))
  const all = protocol === 'a2a' ? t('the workspace’s agents, over A2A') : t('the workspace’s tools and agents')
  const reach = agent === null ? all : t('the agent {agent}', { agent })
  setText('summary', t('It asks to use {reach} for you. What it does counts as done by you.', { reach }))
  const warnings = [
    kind === 'registered' &&
      t('Anyone can register under this name. All that is certain is that you return to {redirect_host}.', {
        redirect_host,
      }),
    loopback && t('You return to a program on this device. Approve only if you started it there just now.'),
  ].filter((text) => text !== false)
  $('similar').hidden = warnings.length === 0
  setText('similar', warnings.join(' '))
}

const showApp = ({ app }: AppRequest): void => {
  showName(app.name)
  setText('summary', app.summary)
  setText('developer', app.developer_name || t('an unnamed developer'))
  $('badge').classList.toggle('verified', app.verified)
  setText('badge', app.verified ? t('Verified developer') : t('Unverified developer'))
  $('similar').hidden = app.similar_to.length === 0
  setText('similar', similarNames(app))
  const image = $<HTMLImageElement>('logo-image')
  image.onload = () => {
    image.hidden = false
  }
  image.src = resolveUrl(app.logo_path.slice(1))
  const privacy = safeUrl(app.privacy_url)
  $('privacy').hidden = !privacy
  if (privacy) $<HTMLAnchorElement>('privacy-link').href = privacy
}

/** Shows the request and restores earlier choices. */
export const showRequest = (asked: ConsentRequest): void => {
  request = asked
  // An assistant gets sensitive permissions only if the person ticks them.
  const refused = isHost ? asked.scopes.filter(({ dangerous }) => dangerous).map(({ scope }) => scope) : []
  choices = loadItem<Choices>(KEY) ?? { refused }
  if ('app' in asked) showApp(asked)
  else showHost(asked)
  setText('next-host', asked.redirect_host)
  setText('person', session()?.name ?? '')
  $('switch').hidden = miniApp
  $('problem').hidden = true
  $('pass-on').hidden = asked.claimed
  setText('pass-on-state', '')
  listWorkspaces()
  showScopes()
  showSection('request')
}

$('pass-on-copy').onclick = async () => {
  const link = resolveUrl(`${consentPath}?tg=${tg}`)
  try {
    await navigator.clipboard.writeText(link)
    setText('pass-on-state', t('Link copied.'))
  } catch {
    setText('pass-on-state', t('Couldn’t copy the link. Copy it from here: {link}', { link }))
  }
}
$('place').onchange = () => {
  choices.workspace = $<HTMLSelectElement>('place').value
  saveItem(KEY, choices)
  showScopes()
}
